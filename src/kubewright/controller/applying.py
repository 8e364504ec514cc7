"""Apply without a request when nothing would change.

A server-side apply that changes nothing is a request all the same. To leave it out one must know that the server would
answer with what is there already. Two facts together say so:

1. we sent exactly these bytes before, and
2. what the server made of them is still there: the live object, looked at only where our bytes say something, is what
   the answer to that apply was at the same places.

Comparing with the *answer*, not with our bytes, is what makes defaults and normalisation (`1000m` stored as `1`)
harmless. A change by somebody else to a place that we name makes fact 2 false, and the apply is sent. Nothing is kept
on the object; after a restart each child costs one apply, which the server finds to be no change.

Cost: one encode and one comparison of bytes while the child's resource version is the one last looked at; one decode
and a walk when it moved on (its status changed).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import msgspec
import orjson

__all__ = ["AppliedMemory", "projection"]


def projection(shape: Any, live: Any) -> Any:
    """`live` at the places that `shape` names: the same keys of objects; lists and scalars whole."""
    if isinstance(shape, dict) and isinstance(live, dict):
        return {
            name: projection(part, live.get(name)) if isinstance(part, dict) else live.get(name)
            for name, part in shape.items()
        }
    return live


class _Applied(msgspec.Struct):
    body: bytes
    seen_version: str
    uid: str
    outcome: bytes


class AppliedMemory:
    """What was applied to each child, and what came of it. One entry per child; `forget` it with the child."""

    __slots__ = ("_applied",)

    def __init__(self) -> None:
        self._applied: dict[Hashable, _Applied] = {}

    def __len__(self) -> int:
        return len(self._applied)

    def __contains__(self, child: Hashable) -> bool:
        return child in self._applied

    def is_current(self, child: Hashable, body: bytes, live: bytes, uid: str, version: str) -> bool:
        """Whether applying `body` would leave `live` (the child's JSON, at `version`) as it is."""
        known = self._applied.get(child)
        if known is None or known.uid != uid or known.body != _digest(body):
            return False
        if known.seen_version == version:
            return True
        if known.outcome != _outcome(body, live):
            return False
        known.seen_version = version
        return True

    def note(self, child: Hashable, body: bytes, answer: bytes, uid: str, version: str) -> None:
        """Remember that applying `body` made `answer`."""
        self._applied[child] = _Applied(_digest(body), version, uid, _outcome(body, answer))

    def forget(self, child: Hashable) -> None:
        self._applied.pop(child, None)


def _digest(data: bytes) -> bytes:
    import hashlib  # loads a library, for operators that apply something

    return hashlib.blake2b(data, digest_size=16).digest()


def _outcome(body: bytes, live: bytes) -> bytes:
    part = projection(orjson.loads(body), orjson.loads(live))
    return _digest(orjson.dumps(part, option=orjson.OPT_SORT_KEYS))
