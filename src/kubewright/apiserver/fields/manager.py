"""Field management: what each write does to who owns what, and what an apply makes of an object.

`FieldManagers` is the hook of the registry. Its rules, for a write by manager M:

| write | M owns afterwards | others lose |
|---|---|---|
| update, create, other patches | what it had, less what is gone, and what it changed | what M changed or removed |
| apply | exactly what it states | what M changes, if it may (`force`); else that is a conflict |

What M applied before and states no more goes, unless somebody else owns it too. Values that are equal are no conflict:
both own the field then. Nothing changes but times: nothing changes.

Rules: `structured-merge-diff/merge/update.go`, `apimachinery/pkg/util/managedfields`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol

import orjson

from kubewright.model.times import format_time
from kubewright.schema.structural.values import same as is_same

from ..catalog import ResourceType
from ..errors import bad_request, called, unexplained
from .atomics import atomics
from .conflicts import Conflicts, conflict_error
from .entries import APPLY, BEFORE_FIRST_APPLY, UPDATE, Entries, ManagerId, Owned
from .merging import merge, remove
from .paths import FieldPath, FieldSet, ordered, with_named
from .reconciling import reconciled
from .types import FieldType
from .walking import Difference, are_equal, compare, field_set, type_errors
from .ways import written_by

__all__ = ["FieldManagers", "Kinds"]

_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_KUBECTL: Final = "kubectl"
_NOBODYS: Final[FieldSet] = frozenset(
    {
        ("f:apiVersion",),
        ("f:kind",),
        ("f:metadata",),
        *(
            ("f:metadata", f"f:{name}")
            for name in (
                "name",
                "namespace",
                "creationTimestamp",
                "selfLink",
                "uid",
                "clusterName",
                "generation",
                "managedFields",
                "resourceVersion",
            )
        ),
    }
)
"""What the server sets, and so nobody owns."""


class Kinds(Protocol):
    """What field management has to know of kinds."""

    def type_of(self, kind: ResourceType, api_version: str) -> FieldType | None:
        """How the fields of a kind in one of its versions are owned; None for a version that is no more."""

    def empty(self, kind: ResourceType) -> dict[str, Any]:
        """An object of the kind before anybody has said anything."""


class FieldManagers:
    """The field managers of a server. No state: what it knows is in the objects."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds

    # -- the registry's side ------------------------------------------------------------------------------------------

    def update(
        self,
        kind: ResourceType,
        subresource: str,
        live: dict[str, Any] | None,
        new: dict[str, Any],
        manager: str,
        now: datetime,
    ) -> None:
        """Track a write of `new` over `live` (None: a creation): sets `metadata.managedFields` of `new`."""
        given = new["metadata"].pop("managedFields", None)
        kept = (live or {}).get("metadata", {}).get("managedFields")
        if subresource:
            entries = Entries.read(kept, is_checked=True) or Entries()
        elif given is not None and (not given or given == [{}]):
            entries = Entries()
        else:
            read = Entries.read(given)
            entries = read if read is not None and read.owned else Entries.read(kept, is_checked=True) or Entries()
        if live is not None and not entries.owned:
            return
        work = _Write(self._kinds, kind, subresource, entries, format_time(now))
        before = _without_managed(live) if live is not None else self._kinds.empty(kind)
        is_changed: bool | None
        try:
            is_changed = work.update(before, new, manager)
        except _NoVersion:
            # The real server gives up tracking, and says so in its log only.
            is_changed = None
        if is_changed is None:
            if kept:
                new["metadata"]["managedFields"] = kept
            return
        if is_changed:
            entries.cap()
            if made := entries.written(is_custom=kind.is_custom):
                new["metadata"]["managedFields"] = made
        else:
            self._put(kind, entries, live, new)

    def apply(
        self,
        kind: ResourceType,
        subresource: str,
        live: dict[str, Any] | None,
        patch: dict[str, Any],
        manager: str,
        force: bool,
        now: datetime,
    ) -> dict[str, Any]:
        """The object that an apply patch makes of `live`. Raises StatusError: conflicts, or what cannot be applied."""
        said = (patch.get("apiVersion"), patch.get("kind"))
        if said != (kind.api_version, kind.kind):
            raise bad_request(f"invalid object type: {called(*(str(each or '') for each in said))}")
        if not isinstance(patch.get("metadata", {}), dict | None):
            raise bad_request(f"metadata: is a {type(patch['metadata']).__name__}, not an object")
        if (patch.get("metadata") or {}).get("managedFields") is not None:
            raise bad_request("metadata.managedFields must be nil")
        before = _without_managed(live) if live is not None else self._kinds.empty(kind)
        entries = Entries.read((live or {}).get("metadata", {}).get("managedFields"), is_checked=True) or Entries()
        work = _Write(self._kinds, kind, subresource, entries, format_time(now))
        if live is not None and not entries.owned:
            work.update(self._kinds.empty(kind), before, BEFORE_FIRST_APPLY)
        try:
            new = work.apply(before, patch, manager, force=force)
        except _NoVersion as error:
            raise unexplained(str(error)) from None
        except Conflicts as conflicts:
            new = self._over_last_applied(work, before, patch, manager, conflicts)
        if manager == _KUBECTL and _last_applied(new):
            _set_last_applied(new, patch)
        self._put(kind, work.entries, live, new)
        return new

    def merged(self, kind: ResourceType, live: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
        """`live` with all that is stated, whoever owns it. Raises ValueError: why that cannot be."""
        type_ = self._kinds.type_of(kind, kind.api_version)
        if type_ is None:
            raise ValueError(f"no type of {kind.api_version}, Kind={kind.kind} is known")
        if problems := type_errors(stated, type_):
            raise ValueError(f"failed to convert patch object to typed object: {_together(problems)}")
        if found := list(atomics(stated, type_)):
            said = f"may not mutate atomic arrays, maps or structs: {', '.join(found)}"
            raise ValueError(f"invalid ApplyConfiguration: {said}")
        made: dict[str, Any] = merge(live, stated, type_)
        return made

    # -- inside -------------------------------------------------------------------------------------------------------

    def _over_last_applied(
        self, work: _Write, before: dict[str, Any], patch: dict[str, Any], manager: str, conflicts: Conflicts
    ) -> dict[str, Any]:
        """kubectl may take over what it applied from the client's side, if nobody has changed it since."""
        allowed = work.owned_by_last_applied(before) if manager == _KUBECTL else frozenset()
        left = [each for each in conflicts.found if each[1] not in allowed]
        if left or not allowed:
            raise conflict_error(left or conflicts.found)
        return work.apply(before, patch, manager, force=True)

    @staticmethod
    def _put(kind: ResourceType, entries: Entries, live: dict[str, Any] | None, new: dict[str, Any]) -> None:
        """Write the entries into the object; those of the live one where they only differ by times."""
        made = entries.written(is_custom=kind.is_custom)
        if live is not None:
            kept = live["metadata"].get("managedFields") or []
            if (
                len(made) == len(kept)
                and _sets_of(made) == _sets_of(kept)
                and is_same(_without_managed(new), _without_managed(live))
            ):
                made = kept
        if made:
            new["metadata"]["managedFields"] = made


class _NoVersion(Exception):
    """A manager of a custom kind used a version that the definition has not."""


class _Write:
    """One write while it goes on."""

    def __init__(self, kinds: Kinds, kind: ResourceType, subresource: str, entries: Entries, time: str) -> None:
        self._kinds, self._kind, self._subresource = kinds, kind, subresource
        self.entries, self._time = entries, time
        found = kinds.type_of(kind, kind.api_version)
        assert found is not None
        self._type = found

    def update(self, live: dict[str, Any], new: dict[str, Any], manager: str) -> bool:
        """Track a change that was made. Gives whether there is one."""
        version = self._kind.api_version
        who = ManagerId.of(manager, UPDATE, version, self._subresource)
        self._reconcile()
        difference = self._take(live, new, None, force=True)
        taken = self._mine(difference.modified | difference.added) - _NOBODYS
        before = self.entries.owned.get(who)
        if before is not None and taken and taken <= before.paths:
            self.entries.put(who, before.at(self._time))
        elif taken:
            self.entries.put(who, Owned(version, self._time, taken | before.paths if before is not None else taken))
        return not difference.is_empty

    def apply(self, live: dict[str, Any], stated: dict[str, Any], manager: str, *, force: bool) -> dict[str, Any]:
        """The live object with what is stated, and the entries that follow. Raises Conflicts, StatusError."""
        kind = self._kind
        problems = type_errors(stated, self._type)
        if problems:
            meta = stated.get("metadata") or {}
            name = f"{meta.get('namespace') or ''}/{meta.get('name') or ''}; {called(kind.api_version, kind.kind)}"
            raise unexplained(f"failed to create typed patch object ({name}): {_together(problems)}")
        who = ManagerId.of(manager, APPLY, kind.api_version, self._subresource)
        self._reconcile()
        before = dict(self.entries.owned)
        merged: dict[str, Any] = merge(live, stated, self._type)
        last = self.entries.owned.get(who)
        states = self._mine(field_set(stated, self._type))
        self.entries.owned[who] = Owned(kind.api_version, self._time, states)
        try:
            new = self._pruned(merged, last)
            self._take(live, new, who, force=force)
        except Conflicts:
            self.entries.owned = before
            raise
        # The time is that of the last change: who states what is there already has changed nothing.
        is_noop = are_equal(live, new)
        time = self._time if not is_noop else last.time if last is not None else ""
        self.entries.put(who, Owned(kind.api_version, time, states - _NOBODYS))
        # The numbers may be written otherwise, and nothing else.
        return dict(live) if is_noop else new

    def owned_by_last_applied(self, live: dict[str, Any]) -> FieldSet:
        """What kubectl applied from the client's side and is still as it was."""
        text = _last_applied(live)
        try:
            applied = orjson.loads(text) if text else None
        except orjson.JSONDecodeError:
            return frozenset()
        if not isinstance(applied, dict) or applied.get("apiVersion") != self._kind.api_version:
            return frozenset()
        if type_errors(applied, self._type):
            return frozenset()
        differs = compare(applied, live, self._type)
        return field_set(applied, self._type) - differs.modified - differs.added - differs.removed

    # -- inside -------------------------------------------------------------------------------------------------------

    def _reconcile(self) -> None:
        """Follow changes of the schema since the sets were written: of definitions, as no other changes meanwhile.

        Raises _NoVersion: a manager used a version that there is not; of a built-in kind it would be left out.
        """
        if not self._kind.is_custom:
            return
        for who, owned in self.entries.owned.items():
            type_ = self._kinds.type_of(self._kind, owned.api_version)
            if type_ is None:
                raise _NoVersion(f"request to convert CR to an invalid group/version: {owned.api_version}")
            self.entries.owned[who] = owned.with_paths(reconciled(owned.paths, type_))

    def _take(self, live: dict[str, Any], new: dict[str, Any], me: ManagerId | None, *, force: bool) -> Difference:
        """Take from all others what has changed. Raises Conflicts: they own some of it, and it is not forced."""
        mine = compare(live, new, self._type, is_exact=self._kind.is_custom)
        conflicts: list[tuple[ManagerId, FieldPath]] = []
        taken: dict[ManagerId, FieldSet] = {}
        by_version: dict[str, Difference | None] = {self._kind.api_version: mine}
        for who, owned in list(self.entries.owned.items()):
            if who == me:
                continue
            version = owned.api_version
            if version not in by_version:
                by_version[version] = self._difference(live, new, version)
            difference = by_version[version]
            if difference is None:
                del self.entries.owned[who]
                continue
            changed, gone = difference.modified | difference.added, difference.removed
            if version == self._kind.api_version or not self._kind.is_custom or self._subresource == "status":
                # What the way to a custom object itself does not write is said for the version of the request only.
                changed, gone = self._mine(changed), self._mine(gone)
            if not changed and not gone:
                continue
            found = owned.paths & changed
            conflicts += [(who, path) for path in ordered(found)]
            if found or owned.paths & gone:
                taken[who] = owned.paths - found - gone
        if conflicts and not force:
            raise Conflicts(conflicts)
        for who, left in taken.items():
            self.entries.put(who, self.entries.owned[who].with_paths(left))
        for who in [each for each, owned in self.entries.owned.items() if owned.is_empty and each != me]:
            del self.entries.owned[who]
        return mine

    def _difference(self, live: dict[str, Any], new: dict[str, Any], version: str) -> Difference | None:
        """The difference as another version sees it; None where that is no more."""
        type_ = self._kinds.type_of(self._kind, version)
        if type_ is None:
            return None
        return compare(self._in_version(live, version), self._in_version(new, version), type_)

    def _in_version(self, obj: dict[str, Any], version: str) -> dict[str, Any]:
        converter = self._kind.converter
        if converter is None or version == obj.get("apiVersion"):
            return obj
        made = converter.convert_now(obj, version, defaults=False)
        return {**obj, "apiVersion": version} if made is None else made

    def _mine(self, paths: FieldSet) -> FieldSet:
        """Without what this way in does not write."""
        return written_by(paths, self._kind, self._subresource)

    def _pruned(self, merged: dict[str, Any], last: Owned | None) -> dict[str, Any]:
        """Without what was stated the last time, is not now, and nobody else owns."""
        if last is None or not last.paths:
            return merged
        type_ = self._kinds.type_of(self._kind, last.api_version)
        if type_ is None:
            return merged
        whole = self._in_version(merged, last.api_version)
        pruned = remove(whole, with_named(last.paths, type_), type_)
        pruned = self._with_owned(whole, pruned, last.api_version, type_)
        has, keeps = (with_named(field_set(each, type_), type_) for each in (whole, pruned))
        made = remove(whole, (has - keeps) & with_named(last.paths, type_), type_)
        back: dict[str, Any] = self._in_version(made, self._kind.api_version)
        return back

    def _with_owned(self, whole: dict[str, Any], pruned: Any, version: str, type_: FieldType) -> Any:
        """With what somebody owns, in any version, put back."""
        by_version: dict[str, FieldSet] = {}
        for owned in self.entries.owned.values():
            by_version[owned.api_version] = by_version.get(owned.api_version, frozenset()) | owned.paths
        for each in sorted(by_version, key=lambda one: one != version):
            in_type = type_ if each == version else self._kinds.type_of(self._kind, each)
            if in_type is None:
                continue
            obj, left = self._in_version(whole, each), self._in_version(pruned or {}, each)
            has, keeps, owns = (
                with_named(paths, in_type)
                for paths in (field_set(obj, in_type), field_set(left, in_type), by_version[each])
            )
            pruned = self._in_version(remove(obj, has - (keeps | owns), in_type), version)
        return pruned


def _together(problems: Sequence[str]) -> str:
    return problems[0] if len(problems) == 1 else "errors:" + "".join(f"\n  {each}" for each in problems)


def _without_managed(obj: dict[str, Any]) -> dict[str, Any]:
    meta = obj.get("metadata")
    if not isinstance(meta, dict) or "managedFields" not in meta:
        return obj
    return {**obj, "metadata": {name: each for name, each in meta.items() if name != "managedFields"}}


def _sets_of(entries: list[dict[str, Any]]) -> dict[tuple[str, ...], Any]:
    names = ("manager", "operation", "apiVersion", "subresource")
    return {tuple(str(each.get(name, "")) for name in names): each.get("fieldsV1") for each in entries}


# -- kubectl's own annotation -----------------------------------------------------------------------------------------


def _last_applied(obj: Mapping[str, Any]) -> str:
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    found = annotations.get(_LAST_APPLIED)
    return found if isinstance(found, str) else ""


def _set_last_applied(obj: dict[str, Any], patch: dict[str, Any]) -> None:
    stated = {**patch, "metadata": dict(patch.get("metadata") or {})}
    annotations = dict(stated["metadata"].get("annotations") or {})
    if annotations.pop(_LAST_APPLIED, None) is not None or annotations:
        stated["metadata"]["annotations"] = annotations
    text = orjson.dumps(stated, option=orjson.OPT_SORT_KEYS).decode() + "\n"
    meta = obj["metadata"]
    meta["annotations"] = {**(meta.get("annotations") or {}), _LAST_APPLIED: text}
