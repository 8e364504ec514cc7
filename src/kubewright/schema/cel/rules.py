"""`x-kubernetes-validations` at work: the rules of a structural schema over an object, or over a change of one.

`Rules(schema)` compiles the rules of a schema once and is immutable then. It is the `RuleEvaluator` of
`schema.structural`: rules run on values whose structure is valid, parents before children, until a budget of costs is
used up. `check_rules(schema, new, old)` is the short way.

| rule | runs |
|---|---|
| without `oldSelf` | on every value but null; an error on an unchanged value of an update is dropped (ratcheting) |
| with `oldSelf` | where an old value is correlated: through fields, map values, items of lists of type map |
| with `optionalOldSelf: true` | always; `oldSelf` is an optional |

Rule: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go (1.37).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from ..structural.fielderrors import FieldError
from .errors import EvaluationError, Interrupted
from .fieldpath import normalize
from .kubernetes import PER_CALL_LIMIT, PER_OBJECT_LIMIT
from .rule import CompiledRule, MessageStops, compile_rules, message_of
from .schema_types import SchemaType, escape, schema_type
from .values import Optional

__all__ = ["Past", "Rules", "check_rules"]

_OUT_OF_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"
_REASONS: Final = frozenset({"FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"})


class Past(Protocol):
    """A value and the one it replaces, as `schema.structural.Correlated`."""

    old: Any

    def field(self, name: str, /) -> Past | None: ...

    def item(self, place: int, /) -> Past | None: ...

    @property
    def is_unchanged(self) -> bool: ...


class _History(NamedTuple):
    """What an error is ratcheted by: the value's own past, else that of the nearest parent that has one."""

    own: Past | None = None
    parent: Past | None = None

    @property
    def is_unchanged(self) -> bool:
        past = self.own if self.own is not None else self.parent
        return past is not None and past.is_unchanged

    def field(self, name: str) -> _History:
        if self.own is None:
            return self
        if self.parent is None and name in ("apiVersion", "kind"):
            return _History()
        return _History(self.own.field(name), self.own)

    def item(self, place: int) -> _History:
        return self if self.own is None else _History(self.own.item(place), self.own)


@dataclass(frozen=True, slots=True)
class _Node:
    """The rules of one schema and those below."""

    schema: Mapping[str, Any]
    seen: SchemaType | None
    rules: tuple[CompiledRule, ...]
    paths: tuple[str, ...]
    fields: Mapping[str, _Node]
    values: _Node | None
    items: _Node | None
    all_of: tuple[_Node, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.rules or self.fields or self.values or self.items or self.all_of)


class Rules:
    """The compiled rules of one schema.

    Args:
        schema: a structural schema as in a CRD (`openAPIV3Schema`, or one below it).
        is_root: whether it is that of a whole object: `apiVersion`, `kind` and `metadata` are then known to rules.
        budget: what all rules of one object may cost together.

    A rule that does not compile is an error of every object, as on a server.
    """

    def __init__(self, schema: Mapping[str, Any], *, is_root: bool = True, budget: int = PER_OBJECT_LIMIT) -> None:
        self._root = _node(schema, schema, schema_type(schema, root=is_root))
        self._budget = budget

    @property
    def compiled(self) -> tuple[CompiledRule, ...]:
        """All rules, parents first."""
        found: list[CompiledRule] = []
        todo = [self._root]
        while todo:
            node = todo.pop(0)
            if node is not None:
                found += node.rules
                todo += [*node.all_of, *node.fields.values(), node.values, node.items]
        return tuple(found)

    def evaluate(
        self,
        new: Any,
        old: Any = None,
        past: Past | None = None,
        *,
        path: str = "",
        interrupted: Callable[[], bool] | None = None,
    ) -> list[FieldError]:
        """What rules say of a value, or of a change.

        Args:
            new: JSON data that the schema allows.
            old: what it replaces; None on creation.
            past: both correlated, for ratcheting; nothing is ratcheted without it.
            path: of the value, for the errors.
            interrupted: whether nobody wants to know any more; asked now and then.

        Raises:
            Interrupted: nobody does.
        """
        return self._run(new, old, past, path, interrupted).errors

    def ratcheted(self, new: Any, old: Any, past: Past, *, path: str = "") -> list[FieldError]:
        """What a change breaks on values that it leaves alone: no errors of the change, but worth a warning."""
        return self._run(new, old, past, path, None).ratcheted

    def _run(self, new: Any, old: Any, past: Past | None, path: str, interrupted: Callable[[], bool] | None) -> _Run:
        run = _Run(self._budget, interrupted)
        if self._root is not None:
            run.value(self._root, path, new, old, _History(past))
        return run


def check_rules(schema: Mapping[str, Any], new: Any, old: Any = None, *, is_root: bool = True) -> list[FieldError]:
    """What the rules of a schema say of an object, or of a change from `old` to `new`. Structure is not checked.

    For many objects keep a `Rules`: compiling costs more than evaluating.
    """
    return Rules(schema, is_root=is_root).evaluate(new, old)


def _node(validation: Mapping[str, Any], schema: Mapping[str, Any], seen: SchemaType | None) -> _Node | None:
    rules = validation.get("x-kubernetes-validations") or ()
    compiled = compile_rules(rules, seen) if rules and seen is not None else ()
    fields: dict[str, _Node] = {}
    for name, each in (validation.get("properties") or {}).items():
        inner = (schema.get("properties") or {}).get(name)
        if inner is None or seen is None:
            continue
        escaped = escape(name)
        if escaped is None:
            inner_seen = schema_type(inner, root=bool(inner.get("x-kubernetes-embedded-resource")))
        else:
            inner_seen = seen.fields.get(escaped)
        if inner_seen is not None and (made := _node(each, inner, inner_seen)) is not None:
            fields[name] = made
    node = _Node(
        schema,
        seen,
        compiled,
        tuple(normalize(str(rule.get("fieldPath") or ""), schema) or "" for rule in rules) if compiled else (),
        fields,
        _below(validation, schema, seen, "additionalProperties"),
        _below(validation, schema, seen, "items"),
        tuple(made for each in validation.get("allOf") or () if (made := _node(each, schema, seen)) is not None),
    )
    return None if node.is_empty else node


def _below(
    validation: Mapping[str, Any], schema: Mapping[str, Any], seen: SchemaType | None, keyword: str
) -> _Node | None:
    inner, inner_schema = validation.get(keyword), schema.get(keyword)
    if not isinstance(inner, Mapping) or not isinstance(inner_schema, Mapping):
        return None
    return _node(inner, inner_schema, None if seen is None else seen.items)


class _Run:
    """One evaluation: its errors so far, and what is left to spend. A negative rest ends it."""

    def __init__(self, budget: int, interrupted: Callable[[], bool] | None) -> None:
        self.errors: list[FieldError] = []
        self.ratcheted: list[FieldError] = []
        self.budget = budget
        self.interrupted = interrupted

    def value(self, node: _Node, path: str, new: Any, old: Any, history: _History) -> None:
        if new is None:
            return
        if node.rules:
            self.own_rules(node, path, new, old, history)
        for each in node.all_of:
            if self.budget < 0:
                return
            self.value(each, path, new, old, _History(None, history.parent))
        if isinstance(new, list):
            self.list_items(node, path, new, old if isinstance(old, list) else [], history)
        elif isinstance(new, dict):
            self.map_values(node, path, new, old if isinstance(old, dict) else {}, history)

    def map_values(
        self, node: _Node, path: str, new: Mapping[str, Any], old: Mapping[str, Any], history: _History
    ) -> None:
        for name, each in new.items():
            if self.budget < 0:
                return
            if node.values is not None:
                self.value(node.values, f"{path}[{name}]", each, old.get(name), history.field(name))
            field = node.fields.get(name)
            if field is not None:
                self.value(field, f"{path}.{name}" if path else name, each, old.get(name), history.field(name))

    def list_items(self, node: _Node, path: str, new: list[Any], old: list[Any], history: _History) -> None:
        if node.items is None:
            return
        keys = node.schema.get("x-kubernetes-list-map-keys") or ()
        by_key: dict[str, Any] = {}
        if node.schema.get("x-kubernetes-list-type") == "map":
            for item in old:
                key = _key(item, keys)
                if key is not None:
                    by_key.setdefault(key, item)
        for place, item in enumerate(new):
            if self.budget < 0:
                return
            key = _key(item, keys) if by_key else None
            before = None if key is None else by_key.get(key)
            self.value(node.items, f"{path}[{place}]", item, before, history.item(place))

    def own_rules(self, node: _Node, path: str, new: Any, old: Any, history: _History) -> None:
        kind = str(node.schema.get("type", ""))
        if self.budget <= 0:
            self.add(FieldError("FieldValueInvalid", path or "<nil>", kind, _OUT_OF_BUDGET))
            self.budget = -1
            return
        seen = node.seen
        if seen is None:
            return
        variables: dict[str, Any] = {"self": seen.value(new)}
        if old is not None and any(rule.uses_old for rule in node.rules):
            variables["oldSelf"] = seen.value(old)
        for rule, field_path in zip(node.rules, node.paths, strict=True):
            if rule.error:
                detail = f"rule compile error: {rule.error}"
                self.add(FieldError("FieldValueInvalid", path or "<nil>", kind, detail))
                continue
            if rule.program is None or (rule.uses_old and old is None and not rule.is_optional_old):
                continue
            chosen = variables
            if rule.is_optional_old:
                before = Optional(variables["oldSelf"]) if "oldSelf" in variables else Optional()
                chosen = {"self": variables["self"], "oldSelf": before}
            verdict = self.verdict(rule, path, kind, chosen)
            if self.budget < 0:
                return
            if verdict is False:
                self.broken(rule, path, field_path, new, kind, variables, history)
                if self.budget < 0:
                    return

    def verdict(self, rule: CompiledRule, path: str, kind: str, variables: Mapping[str, Any]) -> bool | None:
        """Whether the value keeps the rule; None when an error says that nobody knows."""
        if rule.program is None:
            return None
        error: EvaluationError | None = None
        result: Any = None
        try:
            result, cost = rule.program.evaluate_with_cost(
                variables, cost_limit=PER_CALL_LIMIT, interrupted=self.interrupted
            )
        except Interrupted:
            raise
        except EvaluationError as caught:
            error, cost = caught, caught.cost
        if cost > self.budget:
            self.add(FieldError("FieldValueInvalid", path or "<nil>", kind, _OUT_OF_BUDGET))
            self.budget = -1
            return None
        self.budget -= cost
        if error is None:
            return bool(result)
        text = str(error)
        if text.startswith("no such overload"):
            detail = (
                f"'{text}': call arguments did not match a supported operator, function or macro signature for rule:"
                f" {rule.text}"
            )
        elif text.startswith("operation cancelled"):
            detail = f"'{text}': no further validation rules will be run due to call cost exceeds limit for rule: "
            detail += rule.text
            self.budget = -1
        else:
            detail = f"{text} evaluating rule: {rule.text}"
        self.add(FieldError("FieldValueInvalid", path or "<nil>", kind, detail))
        return None

    def broken(
        self,
        rule: CompiledRule,
        path: str,
        field_path: str,
        new: Any,
        kind: str,
        variables: Mapping[str, Any],
        history: _History,
    ) -> None:
        where = (f"{path}.{field_path}" if path else field_path) if field_path else path
        try:
            message, self.budget = message_of(rule, variables, self.budget, self.interrupted)
        except MessageStops as stop:
            self.add(FieldError("FieldValueInvalid", where or "<nil>", kind, str(stop)))
            self.budget = -1
            return
        found = self.errors
        if not rule.uses_old and history.is_unchanged:
            found = self.ratcheted
        reason = str(rule.rule.get("reason") or "FieldValueInvalid")
        reason = reason if reason in _REASONS else "FieldValueInvalid"
        shown = _OMITTED if kind in ("object", "array") else new
        detail = "" if reason == "FieldValueDuplicate" else message or rule.failed
        found.append(_error(reason, where or "<nil>", shown, detail))

    def add(self, error: FieldError) -> None:
        self.errors.append(error)


_OMITTED: Final = object()


class _WithoutValue(FieldError, frozen=True):
    """An error of an object or list, whose text leaves the value out."""

    @property
    def body(self) -> str:
        said = "Duplicate value" if self.reason == "FieldValueDuplicate" else "Invalid value"
        return f"{said}: {self.detail}" if self.detail else said


def _error(reason: str, path: str, value: Any, detail: str) -> FieldError:
    if reason in ("FieldValueRequired", "FieldValueForbidden"):
        return FieldError(reason, path, "", detail)
    if value is _OMITTED:
        return _WithoutValue(reason, path, "", detail)
    return FieldError(reason, path, value, detail)


def _key(item: Any, keys: Sequence[str]) -> str | None:
    if not isinstance(item, dict) or not keys or any(item.get(key) is None for key in keys):
        return None
    return repr([(item[key].__class__.__name__, item[key]) for key in keys])
