"""One run of the rules of a schema over an object, or over a change of one.

| rule | runs |
|---|---|
| without `oldSelf` | on every value but null; an error on an unchanged value of an update is dropped (ratcheting) |
| with `oldSelf` | where an old value is correlated: through fields, map values, items of lists of type map |
| with `optionalOldSelf: true` | always; `oldSelf` is an optional |

Data becomes CEL's values once: at the topmost value that has rules; what is below it is taken from there.

Rule: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go (1.37).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from ..structural.fielderrors import FieldError
from .errors import EvaluationError, Interrupted
from .kubernetes import PER_CALL_LIMIT
from .rule import CompiledRule, MessageStops, message_of
from .schema_types import SchemaType
from .values import Misfit, Optional

__all__ = ["History", "Past", "RuleNode", "Run"]

_OUT_OF_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"
_REASONS: Final = frozenset({"FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"})
#: The CEL value of data that was not converted yet.
_NOT_YET: Final[Any] = object()


class Past(Protocol):
    """A value and the one it replaces, as `schema.structural.Correlated`."""

    old: Any

    def field(self, name: str, /) -> Past | None: ...

    def item(self, place: int, /) -> Past | None: ...

    @property
    def is_unchanged(self) -> bool: ...


class History(NamedTuple):
    """What an error is ratcheted by: the value's own past, else that of the nearest parent that has one."""

    own: Past | None = None
    parent: Past | None = None

    @property
    def is_unchanged(self) -> bool:
        past = self.own if self.own is not None else self.parent
        return past is not None and past.is_unchanged

    def field(self, name: str) -> History:
        if self.own is None:
            return self
        if self.parent is None and name in ("apiVersion", "kind"):
            return History()
        return History(self.own.field(name), self.own)

    def item(self, place: int) -> History:
        return self if self.own is None else History(self.own.item(place), self.own)


class _Side:
    """Data, and the CEL value that it has become, if it has yet."""

    __slots__ = ("_seen", "data")

    def __init__(self, data: Any, seen: Any = _NOT_YET) -> None:
        self.data = data
        self._seen = seen

    def seen(self, schema: SchemaType, misfits: list[Misfit]) -> Any:
        if self._seen is _NOT_YET:
            self._seen = schema.value(self.data, misfits)
        return self._seen

    def field(self, name: str) -> _Side:
        if not isinstance(self.data, dict):
            return _NOTHING
        seen = self._seen.get(name, _NOT_YET) if isinstance(self._seen, dict) else _NOT_YET
        return _Side(self.data.get(name), seen)

    def item(self, place: int) -> _Side:
        return _Side(self.data[place], self._seen[place] if isinstance(self._seen, list) else _NOT_YET)


_NOTHING: Final = _Side(None)


@dataclass(frozen=True, slots=True)
class RuleNode:
    """The rules of one schema and those below."""

    schema: Mapping[str, Any]
    seen: SchemaType | None
    rules: tuple[CompiledRule, ...]
    paths: tuple[str, ...]
    fields: Mapping[str, RuleNode]
    values: RuleNode | None
    items: RuleNode | None
    all_of: tuple[RuleNode, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.rules or self.fields or self.values or self.items or self.all_of)


class Run:
    """One evaluation: its errors so far, and what is left to spend. A negative rest ends it."""

    def __init__(self, budget: int, interrupted: Callable[[], bool] | None) -> None:
        self.errors: list[FieldError] = []
        self.ratcheted: list[FieldError] = []
        self.budget = budget
        self.interrupted = interrupted
        self.misfits: list[Misfit] = []

    def value(self, node: RuleNode, path: str, new: Any, old: Any, history: History) -> None:
        self._value(node, path, _Side(new), _Side(old), history)

    def _value(self, node: RuleNode, path: str, new: _Side, old: _Side, history: History) -> None:
        if new.data is None:
            return
        if node.rules:
            self._own_rules(node, path, new, old, history)
        for each in node.all_of:
            if self.budget < 0:
                return
            self._value(each, path, new, old, History(None, history.parent))
        if isinstance(new.data, list):
            self._items(node, path, new, old, history)
        elif isinstance(new.data, dict):
            self._fields(node, path, new, old, history)

    def _fields(self, node: RuleNode, path: str, new: _Side, old: _Side, history: History) -> None:
        for name in new.data:
            if self.budget < 0:
                return
            if node.values is not None:
                self._value(node.values, f"{path}[{name}]", new.field(name), old.field(name), history.field(name))
            field = node.fields.get(name)
            if field is not None:
                where = f"{path}.{name}" if path else name
                self._value(field, where, new.field(name), old.field(name), history.field(name))

    def _items(self, node: RuleNode, path: str, new: _Side, old: _Side, history: History) -> None:
        if node.items is None:
            return
        keys = node.schema.get("x-kubernetes-list-map-keys") or ()
        by_key: dict[str, int] = {}
        if node.schema.get("x-kubernetes-list-type") == "map" and isinstance(old.data, list):
            for place, item in enumerate(old.data):
                key = _key(item, keys)
                if key is not None:
                    by_key.setdefault(key, place)
        for place, item in enumerate(new.data):
            if self.budget < 0:
                return
            key = _key(item, keys) if by_key else None
            before = None if key is None else by_key.get(key)
            past = _NOTHING if before is None else old.item(before)
            self._value(node.items, f"{path}[{place}]", new.item(place), past, history.item(place))

    def _own_rules(self, node: RuleNode, path: str, new: _Side, old: _Side, history: History) -> None:
        kind = str(node.schema.get("type", ""))
        if self.budget <= 0:
            self.add(FieldError("FieldValueInvalid", path or "<nil>", kind, _OUT_OF_BUDGET))
            self.budget = -1
            return
        seen = node.seen
        if seen is None:
            return
        variables: dict[str, Any] = {"self": new.seen(seen, self.misfits)}
        if old.data is not None and any(rule.uses_old for rule in node.rules):
            variables["oldSelf"] = old.seen(seen, self.misfits)
        for rule, field_path in zip(node.rules, node.paths, strict=True):
            if rule.error:
                detail = f"rule compile error: {rule.error}"
                self.add(FieldError("FieldValueInvalid", path or "<nil>", kind, detail))
                continue
            if rule.program is None or (rule.uses_old and old.data is None and not rule.is_optional_old):
                continue
            chosen = variables
            if rule.is_optional_old:
                before = Optional(variables["oldSelf"]) if "oldSelf" in variables else Optional()
                chosen = {"self": variables["self"], "oldSelf": before}
            verdict = self.verdict(rule, path, kind, chosen)
            if self.budget < 0:
                return
            if verdict is False:
                self.broken(rule, path, field_path, new.data, kind, variables, history)
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
                variables, cost_limit=PER_CALL_LIMIT, interrupted=self.interrupted, is_sound=not self.misfits
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
        history: History,
    ) -> None:
        where = (f"{path}.{field_path}" if path else field_path) if field_path else path
        try:
            message, self.budget = message_of(rule, variables, self.budget, self.interrupted, is_sound=not self.misfits)
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
