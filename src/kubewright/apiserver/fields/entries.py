"""`metadata.managedFields`: read, ordered, capped, written.

A manager is who did what, in which version, through which subresource; appliers are one manager in all versions. What
nobody touched is kept as it was read: sets are decoded when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple

from .paths import FieldSet, decoded, encoded, is_readable

__all__ = ["APPLY", "BEFORE_FIRST_APPLY", "UPDATE", "Entries", "ManagerId", "Owned", "sorted_entries"]

Operation = Literal["Apply", "Update"]
APPLY: Final = "Apply"
UPDATE: Final = "Update"
BEFORE_FIRST_APPLY: Final = "before-first-apply"
_ANCIENT: Final = "ancient-changes"
_MOST_UPDATERS: Final = 10


class ManagerId(NamedTuple):
    """Who: `api_version` is empty for appliers."""

    manager: str
    operation: str
    api_version: str
    subresource: str

    @classmethod
    def of(cls, manager: str, operation: str, api_version: str, subresource: str) -> ManagerId:
        return cls(manager, operation, "" if operation == APPLY else api_version, subresource)


class Owned:
    """What a manager owns, in which version, since when. Immutable."""

    __slots__ = ("_entry", "_paths", "api_version", "time")

    def __init__(
        self,
        api_version: str,
        time: str,
        paths: FieldSet | None = None,
        entry: Mapping[str, Any] | None = None,
    ) -> None:
        self.api_version, self.time = api_version, time
        self._paths, self._entry = paths, entry

    @property
    def paths(self) -> FieldSet:
        if self._paths is None:
            assert self._entry is not None
            self._paths = decoded(self._entry.get("fieldsV1") or {})
        return self._paths

    @property
    def is_empty(self) -> bool:
        return not (self._entry.get("fieldsV1") if self._paths is None and self._entry is not None else self._paths)

    def with_paths(self, paths: FieldSet) -> Owned:
        return self if paths == self.paths else Owned(self.api_version, self.time, paths)

    def at(self, time: str) -> Owned:
        """The same at another time. What was read is not written anew."""
        return Owned(self.api_version, time, self._paths, self._entry)

    def entry(self, who: ManagerId, *, is_custom: bool = False) -> dict[str, Any]:
        """As it is kept in the object."""
        if self._entry is not None:
            return {**self._entry, "time": self.time} if self.time else dict(self._entry)
        made: dict[str, Any] = {"manager": who.manager} if who.manager else {}
        made["operation"] = who.operation
        made["apiVersion"] = self.api_version
        if self.time:
            made["time"] = self.time
        made |= {"fieldsType": "FieldsV1", "fieldsV1": encoded(self.paths, is_custom=is_custom)}
        if who.subresource:
            made["subresource"] = who.subresource
        return made


class Entries:
    """The managers of one object; changed in place while a write goes on."""

    def __init__(self, owned: dict[ManagerId, Owned] | None = None) -> None:
        self.owned: dict[ManagerId, Owned] = owned or {}

    @classmethod
    def read(cls, fields: Sequence[Any] | None, *, is_checked: bool = False) -> Entries | None:
        """From an object; None where it cannot be read.

        Args:
            is_checked: whether the sets are known to be readable, as those that are stored.
        """
        made = cls()
        for each in fields or ():
            if not isinstance(each, dict) or each.get("operation") not in (APPLY, UPDATE):
                return None
            if not each.get("apiVersion") or each.get("fieldsType") != "FieldsV1":
                return None
            if not is_checked and not is_readable(each.get("fieldsV1")):
                return None
            who = ManagerId.of(
                each.get("manager", ""), each["operation"], each["apiVersion"], each.get("subresource", "")
            )
            made.owned[who] = Owned(each["apiVersion"], each.get("time") or "", entry=each)
        return made

    def written(self, *, is_custom: bool) -> list[dict[str, Any]]:
        """As an object keeps them, in the server's order."""
        return sorted_entries([each.entry(who, is_custom=is_custom) for who, each in self.owned.items()])

    def put(self, who: ManagerId, owned: Owned) -> None:
        """Give a manager a set; none at all where it is empty."""
        if owned.paths:
            self.owned[who] = owned
        else:
            self.owned.pop(who, None)

    def cap(self) -> None:
        """Keep few managers that update: the oldest become one by version."""
        updaters = [who for who in self.owned if who.operation == UPDATE]
        left = len(updaters)
        if left <= _MOST_UPDATERS:
            return
        updaters.sort(key=lambda who: (_seconds(self.owned[who].time), who))
        first_of: dict[str, ManagerId] = {}
        for who in updaters:
            if left <= _MOST_UPDATERS:
                break
            owned = self.owned[who]
            version = owned.api_version
            bucket = ManagerId.of(_ANCIENT, UPDATE, version, "")
            first = first_of.setdefault(version, who)
            if first == who:
                continue
            if bucket not in self.owned:
                self.owned[bucket] = self.owned.pop(first)
            both = owned.paths | self.owned[bucket].paths
            self.owned[bucket] = Owned(version, owned.time, both)
            del self.owned[who]
            left -= 1


def sorted_entries(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Entries in the server's order."""
    return sorted(entries, key=_place)


def _place(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        entry["operation"],
        _seconds(entry.get("time") or ""),
        entry.get("manager", ""),
        entry["apiVersion"],
        entry.get("subresource", ""),
    )


def _seconds(time: str) -> int:
    if not time:
        return 0
    try:
        return int(datetime.fromisoformat(time).astimezone(UTC).timestamp())
    except ValueError:
        return 0
