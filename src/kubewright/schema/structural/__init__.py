"""Structural schemas at work: validate, prune, default, as an API server does it. No I/O."""

__all__ = [
    "Correlated",
    "FieldError",
    "Kind",
    "Outcome",
    "RuleCompiler",
    "RuleEvaluator",
    "SchemaShapeError",
    "Structural",
    "Version",
    "json_value",
    "summary",
]

from .correlation import Correlated
from .fielderrors import FieldError, summary
from .node import SchemaShapeError
from .resource import Kind, Outcome, Version
from .schema import RuleCompiler, RuleEvaluator, Structural
from .values import json_value
