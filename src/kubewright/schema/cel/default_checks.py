"""Whether the defaults of a schema keep the rules beside and below them.

A default is checked as it stands, without the defaults below it: as a change that changes nothing, so that rules with
`oldSelf` are looked at too, and then as something new.

Rule: apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go (1.37).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..node import rules_of
from ..structural.fielderrors import FieldError, child, key
from .rules import Rules

__all__ = ["default_rule_errors"]


def default_rule_errors(schema: Mapping[str, Any], path: str, *, is_root: bool = True) -> list[FieldError]:
    """What rules say of the defaults.

    Args:
        schema: otherwise right.
        path: where it stands.
        is_root: it is of a whole object, so that rules see its kind and metadata.
    """
    is_root = is_root or schema.get("x-kubernetes-embedded-resource") is True
    errors: list[FieldError] = []
    default = schema.get("default")
    if default is not None and any(rules_of(schema)):
        rules, where = Rules(schema, is_root=is_root), child(path, "default")
        errors += rules.evaluate(default, default, path=where) or rules.evaluate(default, path=where)
    if isinstance(items := schema.get("items"), Mapping):
        errors += default_rule_errors(items, child(path, "items"), is_root=False)
    for name, each in (schema.get("properties") or {}).items():
        errors += default_rule_errors(each, key(child(path, "properties"), name), is_root=False)
    return errors
