"""Looks at what a suspect's reconcile writes, field by field: the eyes of the hot loop guard.

Only for an object that `hotloop` suspects, and only for a target whose change has caused the pass: each look costs a
live read before the write, as the cache has no managedFields and may be behind. What is read before and what the write
was answered with give the fields that the write changed, and who had set them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import orjson

from kubewright.client import ApiError, Client, TransportError
from kubewright.model import Key, Object, encode, info_of, origin_of

from .cause import Cause
from .fieldpaths import Path, differences, managers_of
from .hotloop import Suspect, Target

__all__ = ["CHANGES", "Look", "Looks"]

CHANGES = frozenset({"added", "updated", "deleted"})
"""Events that are a change of an object, and not a time or a start."""


class Look:
    """One write that is about to be made.

    Args:
        before: the object as it is, decoded; empty if it is not there.
    """

    def __init__(self, looks: Looks, target: Target, before: dict[str, Any]) -> None:
        self._looks = looks
        self._target = target
        self._before = before

    def after(self, answer: bytes, shape: Any = None) -> None:
        """It was made, and answered with this JSON. `shape`: the places that it named; all unless given."""
        after = orjson.loads(answer)
        if shape is not None and "status" in shape and not self._target.kind:
            shape = {"status": shape["status"]}
        looks, fields = self._looks, self._before.get("metadata", {}).get("managedFields")
        for path, one, two in differences(self._before, after, shape):
            managers = [each for each in managers_of(path, fields) if each != looks.manager]
            looks.wrote(self._target, path, one, two, managers)


class Looks:
    """The looks of one pass.

    Attributes: `manager`, our own field manager.
    """

    def __init__(self, client: Client, suspect: Suspect, causes: Sequence[Cause]) -> None:
        self._client = client
        self._causes = {Target(cause.kind, cause.name) for cause in causes if cause.event in CHANGES}
        self._time = asyncio.get_running_loop().time
        self._seen: set[tuple[Target, Any]] = set()
        self.suspect = suspect
        self.manager = client.field_manager

    async def before(self, kind: type[Object], key: Key, *, own: bool = False) -> Look | None:
        """Look at an object that is about to be written; None if its change has not caused this pass.

        Args:
            own: it is the reconciled object.
        """
        target = Target("", "") if own else Target(info_of(kind).kind, key.name)
        if target not in self._causes:
            return None
        try:
            found = await self._client.find(kind, key.name, namespace=key.namespace or None)
        except (ApiError, TransportError):
            return None  # a look is not worth an error
        return Look(self, target, {} if found is None else orjson.loads(origin_of(found) or encode(found)))

    def wrote(self, target: Target, path: Path, before: Any, after: Any, managers: Sequence[str]) -> None:
        """A field was changed; once a pass."""
        if (target, path) not in self._seen:
            self._seen.add((target, path))
            self.suspect.wrote(target, path, _digest(before), _digest(after), managers, self._time())


def _digest(value: Any) -> Any:
    """Something to compare values by, which may be large."""
    return value if isinstance(value, bool | int | float) or value is None else hash(orjson.dumps(value))
