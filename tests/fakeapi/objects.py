"""What an API server stores: objects, their versions, and the history of both. Pure; `now` is an argument.

Objects are decoded JSON and are never changed in place. There is one version for all kinds, as there is in one etcd.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, NamedTuple

import orjson

from kubewright.client import Response
from kubewright.model import Key, Object, info_of
from kubewright.model.patch import JSONPatchError, json_apply, merge_apply

from .selecting import selects
from .stated import conflicts, drop_unstated, merge

__all__ = ["Change", "Json", "Kind", "Objects", "Refused"]

Json = dict[str, Any]

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_FIXED = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_STALE = "the object has been modified; please apply your changes to the latest version and try again"


class Refused(Exception):
    """An answer that is no success."""

    def __init__(self, code: int, reason: str, message: str, **details: Any) -> None:
        super().__init__(message)
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code}
        self.status = {**status, "reason": reason, "message": message, "details": details}
        self.response = Response(code, {"content-type": "application/json"}, orjson.dumps(self.status))


class Kind:
    """A collection."""

    def __init__(self, cls: type[Object]) -> None:
        self.info = info_of(cls)
        self.name = self.info.resource_name
        self.is_custom = "." in self.info.group and not self.info.group.endswith(".k8s.io")
        self.objects: dict[Key, Json] = {}

    def conflict(self, name: str, message: str) -> Refused:
        text = f'Operation cannot be fulfilled on {self.name} "{name}": {message}'
        return Refused(409, "Conflict", text, name=name, kind=self.info.plural)

    def invalid(self, name: str, field: str, message: str) -> Refused:
        causes = [{"field": field, "message": message, "reason": "FieldValueInvalid"}]
        text = f'{self.info.kind} "{name}" is invalid: {field}: {message}'
        return Refused(422, "Invalid", text, name=name, kind=self.info.plural, causes=causes)


class Change(NamedTuple):
    """One event of the history."""

    version: int
    at: float
    kind: Kind
    type: str
    key: Key
    new: Json
    old: Json | None


class Objects:
    """See the module."""

    def __init__(self, random: Random, clock: Callable[[], float]) -> None:
        self.version = 100
        self.oldest = self.version
        self.history: list[Change] = []
        self.admit: Callable[[Json], object] = lambda obj: None
        """Changes an object as admission and defaulting would, before it is stored."""
        self._random = random
        self._clock = clock
        self._count = itertools.count(1)
        self._pages: dict[str, tuple[int, list[Json]]] = {}
        self._stated: dict[tuple[str, Key], dict[str, Json]] = {}

    # Reads

    def live(self, kind: Kind, key: Key) -> Json:
        if key not in kind.objects:
            raise Refused(404, "NotFound", f'{kind.name} "{key.name}" not found', name=key.name, kind=kind.info.plural)
        return kind.objects[key]

    def due(self, before: float) -> int:
        """How many changes had happened at a time."""
        return bisect.bisect_right(self.history, before + 1e-9, key=lambda change: change.at)

    def version_at(self, before: float) -> int:
        due = self.due(before)
        return self.history[due].version - 1 if due < len(self.history) else self.version

    def list(self, kind: Kind, namespace: str | None, query: Mapping[str, str], cached_at: float) -> Json:
        """A page. A list at version "0" is one from the server's cache, as it was at `cached_at`."""
        if "continue" in query:
            version, items = self._pages.pop(query["continue"])
        else:
            version = self.version_at(cached_at) if query.get("resourceVersion") == "0" else self.version
            state = self._state(kind, version)
            items = [
                obj for key, obj in sorted(state.items()) if namespace in (None, key.namespace) and selects(query, obj)
            ]
        limit = int(query.get("limit", len(items)))
        meta = {"resourceVersion": str(version)}
        if len(items) > limit:
            meta["continue"] = f"page-{next(self._count)}"
            self._pages[meta["continue"]] = (version, items[limit:])
        listed = {"kind": f"{kind.info.kind}List", "apiVersion": kind.info.api_version}
        return {**listed, "metadata": meta, "items": items[:limit]}

    def _state(self, kind: Kind, version: int) -> dict[Key, Json]:
        state = dict(kind.objects)
        for change in reversed(self.history):
            if change.version <= version:
                break
            if change.kind is kind:
                state.pop(change.key, None)
                state.update({} if change.old is None else {change.key: change.old})
        return state

    # Writes

    def create(self, kind: Kind, key: Key, body: Json) -> Json:
        meta = body["metadata"]
        if not key.name:
            key = key._replace(name=f"{meta['generateName']}{self._random.randrange(16**5):05x}")
        if key in kind.objects:
            raise Refused(409, "AlreadyExists", f'{kind.name} "{key.name}" already exists', name=key.name)
        given = {name: value for name, value in meta.items() if name not in _FIXED}
        made = {"name": key.name, "uid": f"uid-{next(self._count)}", "creationTimestamp": self._now()}
        where = {"namespace": key.namespace} if key.namespace else {}
        new = {**body, "metadata": {**given, **where, **made}}
        if kind.info.status:
            new.pop("status", None)
        if "spec" in new:
            new["metadata"]["generation"] = 1
        return self._store(kind, key, new, None)

    def replace(self, kind: Kind, key: Key, body: Json, at: str) -> Json:
        live = self.live(kind, key)
        if kind.is_custom and "resourceVersion" not in body["metadata"]:
            raise kind.invalid(key.name, "metadata.resourceVersion", "must be specified for an update")
        return self._update(kind, key, {**body, "metadata": {**_fixed(live), **body["metadata"]}}, at)

    def patch(self, kind: Kind, key: Key, patch: Any, at: str) -> Json:
        live = self.live(kind, key)
        try:
            new = json_apply(live, patch) if isinstance(patch, list) else merge_apply(live, patch)
        except JSONPatchError as error:
            raise Refused(422, "Invalid", str(error)) from None
        return self._update(kind, key, new, at)

    def apply(self, kind: Kind, key: Key, body: Json, manager: str, force: bool) -> Json:
        stated = self._stated.get((kind.name, key), {})
        others = {name: said for name, said in stated.items() if name != manager}
        clash = conflicts(body, others)
        if clash and not force:
            causes = [{"reason": "FieldManagerConflict", "field": field, "message": ""} for field in clash]
            raise Refused(409, "Conflict", f"Apply failed with {len(clash)} conflicts", name=key.name, causes=causes)
        live = kind.objects.get(key)
        if live is None:
            made = self.create(kind, key, body)
        else:
            kept = drop_unstated(live, stated.get(manager, {}), body, others.values())
            made = self._update(kind, key, merge(kept, body))
        self._stated[kind.name, key] = {**others, manager: body}
        return made

    def delete(self, kind: Kind, key: Key, options: Any) -> Json:
        live = self.live(kind, key)
        meta = live["metadata"]
        uid = ((options or {}).get("preconditions") or {}).get("uid", meta["uid"])
        if uid != meta["uid"]:
            raise kind.conflict(key.name, f"the UID in the precondition ({uid}) does not match the UID in record")
        if not meta.get("finalizers"):
            self._remove(kind, key, live)
            details = {"name": key.name, "kind": kind.info.plural, "uid": meta["uid"]}
            return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
        if meta.get("deletionTimestamp"):
            return live
        going = {**meta, "deletionTimestamp": self._now(), "deletionGracePeriodSeconds": 0}
        return self._store(kind, key, {**live, "metadata": going}, live)

    def _update(self, kind: Kind, key: Key, new: Json, at: str = "") -> Json:
        live = self.live(kind, key)
        old, meta = live["metadata"], new["metadata"]
        if meta.get("resourceVersion", old["resourceVersion"]) != old["resourceVersion"]:
            raise kind.conflict(key.name, _STALE)
        if at == "status":
            # Of a custom resource the server looks at nothing but the status, not even at the uid.
            uid = old["uid"] if kind.is_custom else meta.get("uid", old["uid"])
            meta = {**old, "uid": uid}
            new = {**live, "status": new.get("status", {})}
        elif kind.info.status:
            new = {**new, "status": live.get("status")}
        if meta.get("uid", old["uid"]) != old["uid"]:
            raise kind.invalid(key.name, "metadata.uid", "field is immutable")
        added = set(meta.get("finalizers") or ()) - set(old.get("finalizers", ()))
        if added and old.get("deletionTimestamp"):
            raise kind.invalid(key.name, "metadata.finalizers", "no new finalizers if the object is being deleted")
        new = {name: part for name, part in new.items() if part is not None}
        new["metadata"] = {**meta, **_fixed(live)}
        if old.get("deletionTimestamp") and not meta.get("finalizers"):
            self._remove(kind, key, live)
            return new
        return self._store(kind, key, new, live)

    def _store(self, kind: Kind, key: Key, new: Json, old: Json | None) -> Json:
        new = orjson.loads(orjson.dumps(new))
        self.admit(new)
        if sum(bool(owner.get("controller")) for owner in new["metadata"].get("ownerReferences", ())) > 1:
            raise kind.invalid(key.name, "metadata.ownerReferences", "only one can have controller set to true")
        if new == old:
            return old
        if old is not None and "generation" in old["metadata"]:
            going = "deletionTimestamp" in new["metadata"] and "deletionTimestamp" not in old["metadata"]
            same = all(new.get(name) == old.get(name) for name in {*new, *old} - {"metadata", "status"})
            new["metadata"]["generation"] = old["metadata"]["generation"] + (going or not same)
        self._record(kind, key, "ADDED" if old is None else "MODIFIED", new, old)
        kind.objects[key] = new
        return new

    def _remove(self, kind: Kind, key: Key, live: Json) -> None:
        del kind.objects[key]
        self._stated.pop((kind.name, key), None)
        self._record(kind, key, "DELETED", {**live, "metadata": dict(live["metadata"])}, live)

    def _record(self, kind: Kind, key: Key, event: str, new: Json, old: Json | None) -> None:
        self.version += 1
        new["metadata"]["resourceVersion"] = str(self.version)
        self.history.append(Change(self.version, self._clock(), kind, event, key, new, old))

    def _now(self) -> str:
        return (_EPOCH + timedelta(seconds=int(self._clock()))).strftime("%Y-%m-%dT%H:%M:%SZ")


def _fixed(live: Json) -> Json:
    return {name: live["metadata"][name] for name in _FIXED if name in live["metadata"]}
