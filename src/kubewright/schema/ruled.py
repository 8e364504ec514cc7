"""Rules of classes, checked when their CRD is made: do they compile against their own schema, can a server afford them?

What a server would say when the CRD is applied is said here, of the class and field that has the rule. The engine is
imported only where a schema has rules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from .defaults import fill
from .errors import Place, Problems
from .node import Schema, rules_of

if TYPE_CHECKING:
    from .markers import Rule
    from .structural.fielderrors import FieldError

__all__ = ["check_rules"]

_ISSUE: Final = re.compile(r"ERROR: <input>:(-?\d+):(\d+): (.*)$", re.MULTILINE)
_FACTOR: Final = re.compile(r"by factor of (more than )?([0-9.]+)x")


def check_rules(schema: Schema, place: Place, problems: Problems) -> None:
    """Add what a server would object to in the rules of a version's schema.

    Defaults that rules look at are written whole: a server asks the rules of a default as it stands, before it fills in
    the defaults below it.

    Args:
        schema: of the whole object.
        place: of its class, for what concerns no single rule.
    """
    if not any(rules_of(schema)):
        return
    from .cel.default_checks import default_rule_errors
    from .cel.rule_checks import SchemaRules

    _write_whole_defaults(schema)
    checked = SchemaRules(schema)
    for rule, error, unbounded in checked.findings:
        where = problems.place_of(rule) if rule is not None else None
        if where is None:
            where = Place(place.owner, _field_of(error.field), place.source) if rule is not None else place
        said, cure = _say(rule, error, unbounded)
        problems.add(where, said, cure)
    if checked.findings:
        return  # rules that do not compile say nothing of defaults
    for error in default_rule_errors(schema, ""):
        at = Place(place.owner, _field_of(error.field.removesuffix(".default")), place.source)
        problems.add(at, f"default: {error.detail}", "change the default, or the rule")


def ask(rule: Rule, new: Any, old: Any, schema: Any) -> list[FieldError]:
    """What one rule says of a value or a change; see `Rule.check`."""
    from kubewright.model import Model
    from kubewright.model.codec import to_dict

    from .build import schema_of
    from .cel.plain import check_rule

    if schema is None and isinstance(new, Model):
        schema = type(new)
    if schema is not None and not isinstance(schema, Mapping):
        schema = schema_of(schema)
    written = {
        "rule": rule.expr,
        "message": rule.message,
        "messageExpression": rule.message_expression,
        "reason": rule.reason,
        "fieldPath": rule.field_path,
        "optionalOldSelf": rule.optional_old_self,
    }
    new, old = (to_dict(each) if isinstance(each, Model) else each for each in (new, old))
    return check_rule({key: each for key, each in written.items() if each is not None}, new, old, schema=schema)


def _write_whole_defaults(schema: Any) -> None:
    if not isinstance(schema, dict):
        return
    default = schema.get("default")
    if isinstance(default, dict) and any(rules_of(schema)):
        schema["default"] = fill(schema, default)
    for each in (schema.get("properties") or {}).values():
        _write_whole_defaults(each)
    _write_whole_defaults(schema.get("items"))
    _write_whole_defaults(schema.get("additionalProperties"))


def _field_of(path: str) -> str:
    """`a.b[]` from a path in a schema."""
    found = re.findall(r"properties\[([^\]]*)\]|\.(items)\b|\.(additionalProperties)\b", path)
    text = ""
    for name, items, values in found:
        text += f".{name}" if name else "[]" if items else "{}" if values else ""
    return text.lstrip(".")


def _say(rule: Mapping[str, Any] | None, error: FieldError, unbounded: tuple[str, ...]) -> tuple[str, str]:
    what = "its rules together" if rule is None else f"Rule({rule.get('rule', '')!r})"
    if rule is not None and error.field.endswith(".messageExpression"):
        what += f" with message_expression={rule.get('messageExpression', '')!r}"
    factor = _FACTOR.search(error.detail)
    if factor is not None:
        times = f"{'more than ' if factor[1] else ''}{factor[2]} times"
        cure = f"bound {', '.join(unbounded)}" if unbounded else "simplify it, or bound the lists and strings around it"
        return f"{what} can cost {times} what a server allows", f"{cure} (MaxLen, MaxProperties)"
    issues = _ISSUE.findall(error.detail)
    if issues:
        said = "; ".join(f"{message} (line {line}, column {column})" for line, column, message in issues)
        return f"{what} does not compile: {said}", "correct the expression; fields are named as on the wire"
    return f"{what}: {error.detail}", "correct the rule"
