"""One rule asked plainly: does this value keep it, does this change? For tests, scripts and webhooks of users.

Values are JSON data or objects of a class, whose schema then types the rule as on a server. Without a schema `self` is
`dyn`: fields are looked up when the rule runs, and texts with formats stay texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..structural.fielderrors import FieldError
from .errors import CelError
from .rules import Rules
from .schema_values import ANYTHING

__all__ = ["RuleError", "check_rule"]


class RuleError(CelError):
    """A rule that does not compile; `str()` is the server's text, with the caret."""


def check_rule(
    rule: Mapping[str, Any], new: Any, old: Any = None, *, schema: Mapping[str, Any] | None = None
) -> list[FieldError]:
    """What a rule (as in `x-kubernetes-validations`) says of a value, or of a change from `old` to `new`.

    Fields of the errors start at `self`. A transition rule says nothing of a value without an old one.

    Raises:
        RuleError: the rule does not compile against the schema.
    """
    path, base = "self", _without_rules(schema) if schema is not None else ANYTHING
    if schema is None and rule.get("fieldPath"):
        # Nothing says whether the path leads anywhere; it is taken as it is.
        path += str(rule["fieldPath"])
        rule = {key: each for key, each in rule.items() if key != "fieldPath"}
    rules = Rules({**base, "x-kubernetes-validations": [rule]}, is_root=False)
    for compiled in rules.compiled:
        if compiled.error or compiled.message_error:
            raise RuleError(compiled.error or compiled.message_error)
    return rules.evaluate(new, old, path=path)


def _without_rules(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Rules of fields inside of the value are not asked."""
    found = {key: each for key, each in schema.items() if key != "x-kubernetes-validations"}
    if "properties" in found:
        found["properties"] = {name: _without_rules(each) for name, each in found["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), Mapping):
            found[key] = _without_rules(found[key])
    return found
