"""The status difference: change `obj.status`, and what changed is written once.

A `StatusDraft` is taken before the reconcile and asked afterwards. It is pure: it says what to send, the reconciler
sends it. Three rules:

1. Nothing changed: nothing is written. (Compared as encoded bytes: half a microsecond.)
2. A merge patch of the changed fields only, so that fields of other writers, and fields of a newer version of the type,
   stay as they are. A merge patch replaces lists whole; the one list with several writers, `conditions`, is therefore
   written under the resource version it was read at, and merged by type when that has moved on (`rebase`).
3. Conditions that changed get the generation they were made for, and the time of their last transition; one whose
   status did not change keeps its time.

The spec and the metadata are not the reconciler's: a change to them is an error that says which call to use.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson

from kubewright.model import Model, Object, encode
from kubewright.model.condition import Condition, merge_conditions
from kubewright.model.patch import merge_diff

from .outcome import Terminal

__all__ = ["NotYours", "StatusDraft"]


class NotYours(Terminal):
    """A reconcile changed the spec or the metadata of its object in place."""


class StatusDraft:
    """What an object looked like before a reconcile."""

    def __init__(self, obj: Object) -> None:
        self._obj = obj
        self._status: Any = getattr(obj, "status", None)
        self._before = _encoded(self._status)
        self._conditions = [_copy(c) for c in _conditions(obj)]
        self._rest = _rest(obj)

    def check_untouched(self) -> None:
        """Raises NotYours when anything but the status was changed."""
        for part, before, after in zip(("metadata", "spec"), self._rest, _rest(self._obj), strict=True):
            if before == after:
                continue
            raise NotYours(
                f"{self._obj.kind}: the reconcile changed {part} of its object in place, which is never written; "
                f"to change it, use ctx.patch(obj, MergePatch({{{part!r}: ...}}))"
            )

    def patch(self, now: datetime) -> dict[str, Any] | None:
        """The merge patch to send to the status, or None. Stamps changed conditions of the object on the way."""
        after = _encoded(getattr(self._obj, "status", None))
        if after == self._before:
            return None
        _stamp(self._conditions, _conditions(self._obj), self._obj.metadata.generation, now)
        after = _encoded(getattr(self._obj, "status", None))
        change = merge_diff(orjson.loads(self._before), orjson.loads(after))
        if change is None:
            return None
        patch: dict[str, Any] = {"status": change}
        if "conditions" in change:
            patch["metadata"] = {"resourceVersion": self._obj.metadata.resource_version}
        return patch

    def rebase(self, live: Object) -> dict[str, Any] | None:
        """The patch to send instead when the first one met a conflict: our changes on top of `live`."""
        change = merge_diff(orjson.loads(self._before), orjson.loads(_encoded(getattr(self._obj, "status", None))))
        if change is None:
            return None
        ours = _conditions(self._obj)
        merged = merge_conditions(_conditions(live), ours, self._conditions)
        if "conditions" in change:
            change["conditions"] = [orjson.loads(encode(c)) for c in merged]
        return {"status": change, "metadata": {"resourceVersion": live.metadata.resource_version}}


def _encoded(part: Any) -> bytes:
    return encode(part) if isinstance(part, Model) else b"{}"


def _rest(obj: Object) -> tuple[bytes, bytes]:
    return _encoded(obj.metadata), _encoded(getattr(obj, "spec", None))


def _conditions(obj: Object) -> list[Condition]:
    found = getattr(getattr(obj, "status", None), "conditions", None)
    return found if isinstance(found, list) and all(isinstance(c, Condition) for c in found) else []


def _copy(condition: Condition) -> Condition:
    return Condition(**{name: getattr(condition, name) for name in condition.__struct_fields__})


def _stamp(before: list[Condition], after: list[Condition], generation: int, now: datetime) -> None:
    known = {condition.type: condition for condition in before}
    for condition in after:
        old = known.get(condition.type)
        if old == condition:
            continue
        if generation and not (old is None and condition.observed_generation):
            condition.observed_generation = generation
        if old is not None and old.status == condition.status:
            condition.last_transition_time = old.last_transition_time
        elif old is None and condition.last_transition_time is not None:
            pass
        else:
            condition.last_transition_time = now.replace(microsecond=0)
