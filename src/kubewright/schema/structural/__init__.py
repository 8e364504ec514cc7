"""Structural schemas at work: validate, prune, default, check CRDs, as an API server does it. No I/O.

The names are loaded when first used: an API server without custom resources needs the rules of metadata only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from .correlation import Correlated
    from .crdcheck import CrdOutcome, RuleCheck, check_crd
    from .fielderrors import FieldError, summary
    from .node import SchemaShapeError
    from .resource import Kind, Outcome, Version
    from .schema import RuleCompiler, RuleEvaluator, Structural
    from .values import json_value

_HOME_OF = {
    "Correlated": ".correlation",
    "CrdOutcome": ".crdcheck",
    "RuleCheck": ".crdcheck",
    "check_crd": ".crdcheck",
    "FieldError": ".fielderrors",
    "summary": ".fielderrors",
    "SchemaShapeError": ".node",
    "Kind": ".resource",
    "Outcome": ".resource",
    "Version": ".resource",
    "RuleCompiler": ".schema",
    "RuleEvaluator": ".schema",
    "Structural": ".schema",
    "json_value": ".values",
}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'kubewright.schema.structural' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
