"""Which changes matter: predicates of a controller's kind, of what it owns and of what it watches.

    @controller(Web, owns=[owned(Deployment, predicate=generation_changed | changed(lambda d: d.status))],
                predicate=generation_changed | label_changed)

A predicate is asked about each change before anything is queued. `|`, `&` and `~` combine them. The built-in ones
answer as controller-runtime's do: what compares two states lets an object that appears or goes pass; what looks at one
state looks at the new one of an update. `~` turns all answers around, those included.

A predicate that raises has not said no: the change passes, and the log has the error. One thing passes whatever a
predicate of the controller's own kind says: that an object is being deleted which the controller has to finalize.

What a predicate hides is never seen. One that hides too little costs a pass that changes nothing; one that hides too
much is a bug that shows rarely. `generation_changed` is for kinds with a generation (custom resources, most built-in
ones): it sees the spec and the start of a deletion, and no labels, annotations, finalizers, owners and status.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Literal

import msgspec
import orjson

from kubewright.cache import Added, Delta, Handler, Updated
from kubewright.cache.entry import Entry, labels_of
from kubewright.model import Object, decode
from kubewright.model.selector import Selector

__all__ = [
    "Change",
    "Predicate",
    "annotation_changed",
    "changed",
    "changed_outside_status",
    "condition_changed",
    "filtered",
    "generation_changed",
    "has_label",
    "label_changed",
    "matches_labels",
    "on",
    "resource_version_changed",
    "where",
]


class Change:
    """One change of one object.

    Attributes:
        event: `added`, `updated` or `deleted`.
        initial: the object was there when the controller started.
    """

    __slots__ = ("_kind", "_new", "_old", "event", "initial", "new_entry", "old_entry")

    def __init__(self, kind: type[Object], delta: Delta) -> None:
        self._kind = kind
        self._old: Any = None
        self._new: Any = None
        self.new_entry: Entry = delta.entry
        self.old_entry: Entry | None = None
        self.initial = False
        self.event: Literal["added", "updated", "deleted"] = "deleted"
        if isinstance(delta, Updated):
            self.event = "updated"
            self.old_entry = delta.old
        elif isinstance(delta, Added):
            self.event = "added"
            self.initial = delta.initial

    @property
    def new(self) -> Any:
        """The object after the change; for one that went, its last state."""
        if self._new is None:
            self._new = decode(self._kind, self.new_entry.data)
        return self._new

    @property
    def old(self) -> Any:
        """The object before an update; None for one that appeared or went."""
        if self._old is None and self.old_entry is not None:
            self._old = decode(self._kind, self.old_entry.data)
        return self._old


class Predicate:
    """Whether a change matters. Made of any function of a `Change`.

    Args:
        judge: says it. Must not wait.
        name: what the log and `repr` call it; that of the function unless given.
    """

    __slots__ = ("_judge", "_name")

    def __init__(self, judge: Callable[[Change], bool], *, name: str | None = None) -> None:
        if not callable(judge):
            raise TypeError(f"Predicate({judge!r}): must be a function of a Change")
        self._judge = judge
        self._name = name or getattr(judge, "__name__", None) or repr(judge)

    def __call__(self, change: Change) -> bool:
        return bool(self._judge(change))

    def __repr__(self) -> str:
        return self._name

    def __or__(self, other: Predicate) -> Predicate:
        if not isinstance(other, Predicate):
            return NotImplemented
        one, two = self._judge, other._judge
        return Predicate(lambda change: one(change) or two(change), name=f"({self!r} | {other!r})")

    def __and__(self, other: Predicate) -> Predicate:
        if not isinstance(other, Predicate):
            return NotImplemented
        one, two = self._judge, other._judge
        return Predicate(lambda change: one(change) and two(change), name=f"({self!r} & {other!r})")

    def __invert__(self) -> Predicate:
        judge = self._judge
        return Predicate(lambda change: not judge(change), name=f"~{self!r}")

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} is a predicate: combine predicates with |, & and ~, not with or, and, not")


def changed(projection: Callable[[Any], object]) -> Predicate:
    """An update after which `projection` of the object is another: `changed(lambda web: web.spec.image)`."""
    name = getattr(projection, "__name__", repr(projection))

    def judge(change: Change) -> bool:
        return change.old_entry is None or projection(change.old) != projection(change.new)

    return Predicate(judge, name=f"changed({name})")


def condition_changed(*types: str) -> Predicate:
    """An update after which one of these conditions (or any, if none is named) has another status or reason."""

    def conditions(obj: Any) -> list[tuple[str, str, str]]:
        status = obj.get("status") if hasattr(obj, "content") else getattr(obj, "status", None)
        listed = status.get("conditions") if isinstance(status, dict) else getattr(status, "conditions", None)
        found = [
            (each.get("type"), each.get("status"), each.get("reason"))
            if isinstance(each, dict)
            else (each.type, each.status, each.reason)
            for each in listed or ()
        ]
        return sorted((str(a), str(b), str(c)) for a, b, c in found if not types or a in types)

    return Predicate(changed(conditions), name=f"condition_changed({', '.join(map(repr, types))})")


def where(test: Callable[[Any], bool]) -> Predicate:
    """Changes of objects of which `test` is true; of an update it is given the new state."""
    name = getattr(test, "__name__", repr(test))
    return Predicate(lambda change: test(change.new), name=f"where({name})")


def on(
    *,
    added: Callable[[Any], bool] | None = None,
    updated: Callable[[Any, Any], bool] | None = None,
    deleted: Callable[[Any], bool] | None = None,
) -> Predicate:
    """A function for each event, given the object (`updated`: the old and the new one); None lets all pass."""

    def judge(change: Change) -> bool:
        if change.event == "updated":
            return updated is None or updated(change.old, change.new)
        one = added if change.event == "added" else deleted
        return one is None or one(change.new)

    return Predicate(judge, name="on(...)")


def has_label(name: str, value: str | None = None) -> Predicate:
    """Changes of objects that have a label, with that value if one is given."""

    def judge(change: Change) -> bool:
        found = labels_of(change.new_entry.data).get(name)
        return found is not None and value in (None, found)

    return Predicate(judge, name=f"has_label({name!r}{'' if value is None else f', {value!r}'})")


def matches_labels(selector: str) -> Predicate:
    """Changes of objects that a label selector matches, such as `"app=web,tier in (a,b)"`.

    Raises:
        ValueError: it is no selector.
    """
    matches = Selector.of(selector).matches
    return Predicate(lambda change: matches(labels_of(change.new_entry.data)), name=f"matches_labels({selector!r})")


class _Meta(msgspec.Struct, gc=False):
    annotations: dict[str, str] | None = None


class _Annotated(msgspec.Struct, gc=False):
    metadata: _Meta | None = None


_decode_annotated = msgspec.json.Decoder(_Annotated).decode


def _annotations(entry: Entry) -> dict[str, str]:
    meta = _decode_annotated(entry.data).metadata
    return (meta.annotations if meta else None) or {}


def _generation_changed(change: Change) -> bool:
    return change.old_entry is None or change.old_entry.generation != change.new_entry.generation


def _resource_version_changed(change: Change) -> bool:
    return change.old_entry is None or change.old_entry.resource_version != change.new_entry.resource_version


def _label_changed(change: Change) -> bool:
    return change.old_entry is None or labels_of(change.old_entry.data) != labels_of(change.new_entry.data)


def _annotation_changed(change: Change) -> bool:
    return change.old_entry is None or _annotations(change.old_entry) != _annotations(change.new_entry)


def _changed_outside_status(change: Change) -> bool:
    if change.old_entry is None or change.old_entry.generation != change.new_entry.generation:
        return True
    return bool(_without_status(change.old_entry) != _without_status(change.new_entry))


def _without_status(entry: Entry) -> Any:
    obj = orjson.loads(entry.data)
    obj.pop("status", None)
    for name in ("resourceVersion", "managedFields"):
        obj["metadata"].pop(name, None)
    return obj


generation_changed = Predicate(_generation_changed, name="generation_changed")
"""The spec has changed, or a deletion has begun (GenerationChangedPredicate). See the module for what it hides."""

label_changed = Predicate(_label_changed, name="label_changed")
"""The labels have changed (LabelChangedPredicate)."""

annotation_changed = Predicate(_annotation_changed, name="annotation_changed")
"""The annotations have changed (AnnotationChangedPredicate)."""

resource_version_changed = Predicate(_resource_version_changed, name="resource_version_changed")
"""Anything has changed (ResourceVersionChangedPredicate). What is no change does not reach a predicate here anyway."""

changed_outside_status = Predicate(_changed_outside_status, name="changed_outside_status")
"""Anything but the status has changed: spec, labels, annotations, finalizers, owners, a deletion."""


def filtered(
    handler: Handler,
    kind: type[Object],
    predicate: Predicate | None,
    logger: logging.Logger,
    *,
    finalizes: bool = False,
) -> Handler:
    """`handler`, told only of changes that matter.

    Args:
        finalizes: that an object is being deleted matters whatever the predicate says.
    """
    if predicate is None:
        return handler

    def handle(delta: Delta) -> None:
        try:
            passes = predicate(Change(kind, delta))
        except Exception:
            logger.exception("predicate %r failed on %s, which passes", predicate, delta.key)
            passes = True
        # A string that only looks like the field lets a change too many pass, and none too few.
        if passes or (finalizes and b'"deletionTimestamp"' in delta.entry.data):
            handler(delta)

    return handle
