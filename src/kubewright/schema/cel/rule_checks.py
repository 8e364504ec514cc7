"""The rules of a CRD's schema, before any object: do they compile, and can they cost more than a server allows?

`check_schema_rules(schema, path)` is the `RuleCheck` of `schema.structural.check_crd`. Costs of a rule are multiplied
by how often it can run: maxItems and maxProperties of the lists and maps around it, or else by how many of its values
fit into one request.

Rule: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, cel_validation.go (1.37).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ..structural.fielderrors import FieldError
from .default_checks import default_rule_errors
from .estimate import estimate
from .rule import CompiledRule, compile_rules, size_estimator
from .schema_meta import escape
from .schema_types import MAX_REQUEST_BYTES, SchemaType, schema_type
from .sizes import LARGEST, Range

__all__ = ["CRD_LIMIT", "RULE_LIMIT", "Finding", "SchemaRules", "check_schema_rules"]

RULE_LIMIT: Final = 10_000_000
CRD_LIMIT: Final = 100_000_000
_SHOWN_RULES: Final = 4
#: A size above this is no bound that somebody chose.
_BOUNDED: Final = 100_000


class _RuleError(FieldError, frozen=True):
    """An error whose value is a whole rule, which a server shows as its own structure."""

    @property
    def body(self) -> str:
        return f"Invalid value: {self.value}: {self.detail}"


def _shown(rule: Mapping[str, Any]) -> str:
    fields = {
        "Rule": rule.get("rule") or "",
        "Message": rule.get("message") or "",
        "MessageExpression": rule.get("messageExpression") or "",
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath") or "",
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
    text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def check_schema_rules(schema: Mapping[str, Any], path: str = "openAPIV3Schema") -> list[FieldError]:
    """What a server would object to in the rules of a schema.

    Where a default breaks a rule nothing else is said, by the server neither.

    Args:
        schema: the schema of a version, which is otherwise right.
        path: where it stands.
    """
    return default_rule_errors(schema, path) or [finding.error for finding in SchemaRules(schema, path).findings]


class Finding(NamedTuple):
    """An error, the rule that it is of (None for all together), and what that rule reads that nothing bounds."""

    rule: Mapping[str, Any] | None
    error: FieldError
    unbounded: tuple[str, ...] = ()


class SchemaRules:
    """The check of one schema; `findings` has what came of it."""

    def __init__(self, schema: Mapping[str, Any], path: str = "openAPIV3Schema") -> None:
        self.findings: list[Finding] = []
        self.total = 0
        self.expensive: list[tuple[int, str, CompiledRule, SchemaType]] = []
        self.walk(schema, path, schema_type(schema, root=True), 1, "")
        self.check_total(path)

    def walk(
        self, schema: Mapping[str, Any], path: str, seen: SchemaType | None, times: int | None, uncorrelated: str
    ) -> None:
        """Rules of the schema and below.

        Args:
            times: how often values of it occur at most in an object, None where nothing bounds it.
            uncorrelated: the path of the list or map that keeps old values from being found, if one does.
        """
        most = _max_elements(schema)
        inner_times = None if times is None or most is None else min(times * most, LARGEST)
        values = schema.get("additionalProperties")
        if isinstance(values, Mapping):
            below = None if seen is None else seen.items
            self.walk(values, f"{path}.additionalProperties", below, inner_times, uncorrelated)
        for name, each in (schema.get("properties") or {}).items():
            escaped = escape(name)
            below = None if seen is None or escaped is None else seen.fields.get(escaped)
            if below is None:
                below = schema_type(each, root=bool(each.get("x-kubernetes-embedded-resource")))
            self.walk(each, f"{path}.properties[{name}]", below, inner_times, uncorrelated)
        items = schema.get("items")
        if isinstance(items, Mapping):
            is_map = schema.get("x-kubernetes-list-type") == "map"
            below = None if seen is None else seen.items
            self.walk(items, f"{path}.items", below, inner_times, uncorrelated or ("" if is_map else path))
        rules = schema.get("x-kubernetes-validations") or ()
        if not rules:
            return
        if seen is None:
            detail = (
                "internal error: failed to construct type information for x-kubernetes-validations rules: unable to"
                " convert structural schema to CEL declarations"
            )
            where = f"{path}.x-kubernetes-validations"
            self.findings.append(Finding(rules[0], FieldError("InternalError", where, "", detail)))
            return
        repeats = times if times is not None else MAX_REQUEST_BYTES // (seen.min_size + 1)
        for place, rule in enumerate(compile_rules(rules, seen, is_new=True)):
            self.rule(rule, seen, f"{path}.x-kubernetes-validations[{place}]", repeats, uncorrelated)

    def add(self, rule: CompiledRule, error: FieldError, unbounded: tuple[str, ...] = ()) -> None:
        self.findings.append(Finding(rule.rule, error, unbounded))

    def rule(self, rule: CompiledRule, seen: SchemaType, path: str, repeats: int, uncorrelated: str) -> None:
        cost = min(rule.max_cost * repeats, LARGEST)
        self.limit(rule, seen, f"{path}.rule", "estimated rule cost", cost)
        if rule.error:
            self.add(rule, _RuleError("FieldValueInvalid", f"{path}.rule", _shown(rule.rule), rule.error))
        if rule.message_error:
            where = f"{path}.messageExpression"
            self.add(rule, _RuleError("FieldValueInvalid", where, _shown(rule.rule), rule.message_error))
        elif rule.message is not None:
            where = f"{path}.messageExpression"
            self.limit(rule, seen, where, "estimated messageExpression cost", rule.message_cost)
        if rule.uses_old and uncorrelated:
            detail = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelated}"
            self.add(rule, FieldError("FieldValueInvalid", f"{path}.rule", str(rule.rule.get("rule")), detail))
        elif not rule.uses_old and rule.rule.get("optionalOldSelf") is not None:
            detail = "may not be set if oldSelf is not used in rule"
            where = f"{path}.optionalOldSelf"
            self.add(rule, FieldError("FieldValueInvalid", where, bool(rule.rule["optionalOldSelf"]), detail))

    def limit(self, rule: CompiledRule, seen: SchemaType, path: str, name: str, cost: int) -> None:
        if cost > RULE_LIMIT:
            error = FieldError("FieldValueForbidden", path, "", _exceeds(name, cost, RULE_LIMIT))
            self.add(rule, error, _unbounded(rule, seen))
        self.total = min(self.total + cost, LARGEST)
        if cost >= CRD_LIMIT // 100:
            found = [*self.expensive, (cost, path, rule, seen)]
            self.expensive = sorted(found, key=lambda each: -each[0])[:_SHOWN_RULES]

    def check_total(self, path: str) -> None:
        if self.total <= CRD_LIMIT:
            return
        shared = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        for _, where, rule, _ in self.expensive:
            self.add(rule, FieldError("FieldValueForbidden", where, "", shared))
        name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        error = FieldError("FieldValueForbidden", path, "", _exceeds(name, self.total, CRD_LIMIT))
        self.findings.append(Finding(None, error))


def _unbounded(rule: CompiledRule, seen: SchemaType) -> tuple[str, ...]:
    """What a rule reads whose size its schema does not bound: `self.names`, `self.names[]`."""
    found: dict[str, None] = {}
    sizes = size_estimator(seen)

    def size_of(path: tuple[str, ...]) -> Range | None:
        size: Range | None = sizes(path)
        if size is not None and size.high > _BOUNDED:
            found[".".join(("self", *path[1:])).replace(".@items", "[]").replace(".@values", "{}")] = None
        return size

    for program in (rule.program, rule.message):
        if program is not None:
            estimate(program.node, size_of)
    return tuple(sorted(found))


def _max_elements(schema: Mapping[str, Any]) -> int | None:
    """How many values a list or map holds at most; 1 of everything else."""
    keyword = None
    if schema.get("type") == "array":
        keyword = "maxItems"
    elif schema.get("type") == "object" and schema.get("additionalProperties") is not None:
        keyword = "maxProperties"
    if keyword is None:
        return 1
    return None if schema.get(keyword) is None else max(int(schema[keyword]), 0)


def _exceeds(name: str, cost: int, limit: int) -> str:
    factor = float(cost) / float(limit)
    shown = "more than 100x" if factor > 100 else f"{factor:.6f}x" if factor < 1.5 else f"{factor:.1f}x"
    return (
        f"{name} exceeds budget by factor of {shown} (try simplifying the rule, or adding maxItems, maxProperties, and"
        " maxLength where arrays, maps, and strings are declared)"
    )
