"""The status difference: change `obj.status`, and what changed is written once.

A `StatusDraft` is taken before the reconcile and asked afterwards. It is pure: it says what to send, the reconciler
sends it. Four rules:

1. Nothing changed: nothing is written. (Compared as encoded bytes: half a microsecond.)
2. A merge patch of the changed fields only, so that fields of other writers, and fields of a newer version of the type,
   stay as they are.
3. It holds for one version of the object. A merge patch replaces lists whole, so the one list with several writers,
   `conditions`, is merged by type with that version's. And the version is the only thing that tells an object from one
   that was created anew under its name: the server ignores a uid in a patch of a custom resource's status.
4. Conditions that changed get the generation they were made for, and the time of their last transition; one whose
   status did not change keeps its time.

All else of the object is not the reconciler's: a change to it is an error that says which call to use.
"""

from __future__ import annotations

import copy
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
import orjson

from kubewright.cache.entry import Entry
from kubewright.client import Conflict
from kubewright.model import UNSET, Model, Object, ObjectMeta, Unstructured, decode, encode, origin_of
from kubewright.model.base import encode_hook
from kubewright.model.condition import Condition, merge_conditions
from kubewright.model.patch import merge_apply, merge_diff
from kubewright.model.pydantics import is_pydantic

from .outcome import Terminal

__all__ = ["NotYours", "StatusDraft"]

_encode = msgspec.json.Encoder(enc_hook=encode_hook).encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode
_STATUS = b',"status":'


class NotYours(Terminal):
    """A reconcile changed something other than the status of its object in place."""


class StatusDraft:
    """What an object looked like before a reconcile.

    Expected flow: make it, let the reconcile change the object, `settle`, and while that is refused as a conflict:
    `patch` over a newer state of the object.
    """

    def __init__(self, obj: Object) -> None:
        self._obj = obj
        self._before = _encoded_status(obj)
        self._conditions = [copy.copy(condition) for condition in _conditions(obj)]
        self._rest = _encoded_rest(obj)
        self._after = self._before
        self._change: dict[str, Any] = {}

    def check_untouched(self) -> None:
        """Raises NotYours when anything but the status was changed."""
        rest = _encoded_rest(self._obj)
        if rest == self._rest:
            return
        before, after = (dict(orjson.loads(each)) for each in (self._rest, rest))
        for part in {**before, **after}:
            if before.get(part) != after.get(part):
                raise NotYours(
                    f"{self._obj.kind}: the reconcile changed {part} of its object in place, which is never written; "
                    f"to change it, use ctx.patch(obj, MergePatch({{{part!r}: ...}}))"
                )

    def settle(self, now: datetime) -> bool:
        """Stamp the conditions that changed. Whether there is anything to write."""
        after = _encoded_status(self._obj)
        if after == self._before:
            return False
        if conditions := _conditions(self._obj):
            _stamp(self._conditions, conditions, self._obj.metadata.generation, now)
            after = _encoded_status(self._obj)
        self._after = after
        self._change = merge_diff(orjson.loads(self._before), orjson.loads(after)) or {}
        return bool(self._change)

    def is_in(self, answer: Entry) -> bool:
        """Whether the answer to the patch has the status that was settled, and nothing that anybody has added, to
        the rest of the object neither.

        Bytes that a server has encoded are compared as such. Where they differ it may be the spelling, or a transform
        of the cache: then the object tells.
        """
        read, origin = self._obj.metadata, origin_of(self._obj)
        if origin is not None and _is_with(self._change, self._after, origin, read.resource_version, answer):
            return True
        written = decode(type(self._obj), answer.data)
        if _sorted(_encoded_status(written)) != _sorted(self._after):
            return False
        meta = copy.copy(written.metadata)
        meta.resource_version, meta.managed_fields = read.resource_version, read.managed_fields
        return _encoded_rest(written, meta) == self._rest

    def patch(self, onto: Object) -> dict[str, Any]:
        """The merge patch that makes our changes to `onto`: the object, or a state of it that is newer than ours.

        Raises:
            Conflict: `onto` has other conditions, and they are not of the type `Condition`, so cannot be merged.
        """
        change = dict(self._change)
        if "conditions" in change and onto is not self._obj:
            change["conditions"] = self._merged(onto, change["conditions"])
        return {"status": change, "metadata": {"resourceVersion": onto.metadata.resource_version}}

    def _merged(self, onto: Object, ours: Any) -> Any:
        read, theirs = (orjson.loads(data).get("conditions") for data in (self._before, _encoded_status(onto)))
        if read == theirs:
            return ours
        if len(_conditions(self._obj)) != len(ours or ()) or len(_conditions(onto)) != len(theirs or ()):
            raise Conflict(message=f"{self._obj.kind}: another writer changed status.conditions meanwhile")
        merged = merge_conditions(_conditions(onto), _conditions(self._obj), self._conditions)
        return [orjson.loads(encode(condition)) for condition in merged] or None


def _is_with(change: dict[str, Any], settled: bytes, read: bytes, version: str, answer: Entry) -> bool:
    """Whether an answer is byte for byte what was read at `version`, but for its version, and a status that either has
    been changed by a merge patch, or is `settled` (the server has added defaults, and they are those of the class).

    Nothing is looked for where it ought to be, and yet it can be nowhere else. Of two objects that differ in one member
    `resourceVersion` and have two versions, that member is the version. And what is one value up to the last brace
    belongs to the object itself, and not to a part of it.
    """
    if version == answer.resource_version:
        return False
    head, found, rest = read.partition(_version_member(version))
    head_after, found_after, rest_after = answer.data.partition(_version_member(answer.resource_version))
    if not (found and found_after) or head != head_after:
        return False
    parts, _, status = rest.partition(_STATUS)
    parts_after, _, status_after = rest_after.partition(_STATUS)
    if parts != parts_after and (status or parts.rstrip() != parts_after + b"}"):
        return False
    try:
        changed = merge_apply(_last_value(status) if status else {}, change)
        found = _encode_sorted(_last_value(status_after))
        return found == _encode_sorted(changed) or found == _sorted(settled)
    except msgspec.DecodeError:
        return False


def _version_member(version: str) -> bytes:
    return b'"resourceVersion":"%b"' % version.encode()


def _last_value(rest: bytes) -> Any:
    """The value of the last member of an object, where `rest` is that value and the end of the object."""
    return msgspec.json.decode(rest.rstrip().removesuffix(b"}"))


def _sorted(data: bytes) -> bytes:
    """JSON without its order: a server sorts the names in it."""
    return _encode_sorted(msgspec.json.decode(data))


def _status(obj: Object) -> Any:
    return obj.content.get("status") if isinstance(obj, Unstructured) else getattr(obj, "status", None)


def _encoded_status(obj: Object) -> bytes:
    status = _status(obj)
    if isinstance(status, Model) or is_pydantic(type(status)):
        return encode(status)
    return orjson.dumps(status) if isinstance(status, dict) else b"{}"


def _encoded_rest(obj: Object, meta: ObjectMeta | None = None) -> bytes:
    """All but the status, as a list of names and values: a third of the time that the object's JSON takes.

    Args:
        meta: in place of its metadata.
    """
    meta = meta or obj.metadata
    if isinstance(obj, Unstructured):
        parts = [(name, value) for name, value in obj.content.items() if name != "status"]
        return _encode([("metadata", meta), *parts])
    parts = [(sent_as, value) for name, sent_as in _rest_of(type(obj)) if (value := getattr(obj, name)) is not UNSET]
    return _encode([("metadata", meta), *parts])


@lru_cache(maxsize=256)
def _rest_of(cls: type[Object]) -> tuple[tuple[str, str], ...]:
    """The fields beside metadata and status, with the names that they are sent as."""
    names = zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True)
    return tuple((name, sent_as) for name, sent_as in names if name not in {"metadata", "status"})


def _conditions(obj: Object) -> list[Condition]:
    status = _status(obj)
    kind: Any = type(status)  # of a Struct, which mypy takes for one that is not hashable
    if not _has_conditions(kind):
        return []
    found = status.conditions
    return found if isinstance(found, list) and all(isinstance(c, Condition) for c in found) else []


@lru_cache(maxsize=256)
def _has_conditions(kind: Any) -> bool:
    """Asked of the class: to ask a Struct for what it does not have makes an exception, with each pass."""
    return "conditions" in getattr(kind, "__struct_fields__", getattr(kind, "model_fields", ()))


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
