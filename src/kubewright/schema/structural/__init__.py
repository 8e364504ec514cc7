"""Structural schemas at work: validate, prune, default, check CRDs, as an API server does it. No I/O."""

__all__ = [
    "Correlated",
    "CrdOutcome",
    "FieldError",
    "Kind",
    "Outcome",
    "RuleCheck",
    "RuleCompiler",
    "RuleEvaluator",
    "SchemaShapeError",
    "Structural",
    "Version",
    "check_crd",
    "json_value",
    "summary",
]

from .correlation import Correlated
from .crdcheck import CrdOutcome, RuleCheck, check_crd
from .fielderrors import FieldError, summary
from .node import SchemaShapeError
from .resource import Kind, Outcome, Version
from .schema import RuleCompiler, RuleEvaluator, Structural
from .values import json_value
