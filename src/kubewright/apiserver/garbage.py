"""Garbage and namespaces: what the controllers of a cluster clear away, so that deleting means the same here.

Owns who depends on whom, by uid, and what is due. It writes as a client does, through a server without filters, so that
finalizers, grace and the rules of kinds hold for it too.

| | becomes |
|---|---|
| an object all of whose owners are gone | deleted, in the background |
| an object with an owner left | its references to the others are taken out |
| an owner with `foregroundDeletion` | its dependents are deleted; it goes when none is left that blocks it |
| an owner with `orphan` | its dependents lose their references to it; then it goes |
| a namespace that is being deleted | all in it is deleted; it goes when nothing is left |

An owner is who has the uid, in the namespace of the dependent or in none: another object of the same name is none.
Rules: `kubernetes/pkg/controller/garbagecollector`, `.../namespace/deletion`.

Guarantees: C1 `settle` returns when nothing is due. C2 nothing with an owner that is there is deleted.
Cancellation: a cancelled `settle` stops nothing. Caveats: it works as the event loop runs; a kind whose definition is
gone, or not there yet, is nobody's owner and nobody's dependent.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

import orjson

from .catalog import Catalog, ResourceType
from .registry.backend import Backend
from .registry.call import resource_key
from .request import Request, Response
from .server import ApiServer
from .store import Change, Entry

__all__ = ["GarbageCollector"]

_Place = tuple[str, str]
"""Of an object: its resource and its key."""

_FOREGROUND: Final = "foregroundDeletion"
_ORPHAN: Final = "orphan"
_NAMESPACES: Final = resource_key("", "namespaces")
_MERGE: Final = "application/merge-patch+json"
_MOST_TRIES: Final = 10


class GarbageCollector:
    """Clears away after deletions; a part of one server."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._server = ApiServer(backend=backend)
        self._at: dict[str, _Place] = {}
        self._dependents: dict[str, set[_Place]] = {}
        self._owners: dict[_Place, tuple[str, ...]] = {}
        self._due: deque[_Place] = deque()
        self._tries: dict[_Place, int] = {}
        self._task: asyncio.Task[None] | None = None
        self._types: tuple[Catalog | None, dict[str, ResourceType]] = (None, {})
        for resource in list(backend.store.resources):
            for entry in backend.store.collection(resource).live.values():
                self._note(resource, entry)
                meta = entry.object["metadata"]
                if meta.get("deletionTimestamp") or meta.get("ownerReferences"):
                    self._due.append((resource, entry.key))
        backend.store.listeners.append(self._changed)

    def fork(self, backend: Backend) -> GarbageCollector:
        return GarbageCollector(backend)

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._server.close()

    async def settle(self) -> None:
        """Until nothing is due."""
        self._start()
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    # -- what has changed ---------------------------------------------------------------------------------------------

    def _changed(self, resource: str, change: Change, number: int) -> None:
        entry = change.entry
        place, meta = (resource, entry.key), entry.object["metadata"]
        if change.type == "DELETED":
            self._gone(place, meta)
        else:
            self._note(resource, entry)
            if meta.get("deletionTimestamp") or meta.get("ownerReferences"):
                self._due.append(place)
        if self._due:
            self._start()

    def _note(self, resource: str, entry: Entry) -> None:
        place, meta = (resource, entry.key), entry.object["metadata"]
        self._at[meta.get("uid", "")] = place
        owners = tuple(str(each.get("uid", "")) for each in meta.get("ownerReferences") or ())
        before = self._owners.get(place, ())
        if owners == before:
            return
        for uid in before:
            self._dependents.get(uid, set()).discard(place)
        for uid in owners:
            self._dependents.setdefault(uid, set()).add(place)
        if owners:
            self._owners[place] = owners
        else:
            self._owners.pop(place, None)

    def _gone(self, place: _Place, meta: dict[str, Any]) -> None:
        uid = meta.get("uid", "")
        self._at.pop(uid, None)
        for owner in self._owners.pop(place, ()):
            self._dependents.get(owner, set()).discard(place)
            if owner in self._at:
                self._due.append(self._at[owner])
        self._due.extend(self._dependents.pop(uid, ()))
        namespace = meta.get("namespace")
        if namespace:
            self._due.append((_NAMESPACES, namespace))

    def _start(self) -> None:
        if not self._due or (self._task is not None and not self._task.done()):
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # nobody runs: it is due until somebody does
        self._task = loop.create_task(self._work(), name="garbage collector")

    async def _work(self) -> None:
        while self._due:
            place = self._due.popleft()
            entry = self._backend.store.get(*place)
            if entry is not None and not await self._handle(place, entry):
                tries = self._tries[place] = self._tries.get(place, 0) + 1
                if tries < _MOST_TRIES:
                    self._due.append(place)
            else:
                self._tries.pop(place, None)
            await asyncio.sleep(0)

    # -- what is due --------------------------------------------------------------------------------------------------

    async def _handle(self, place: _Place, entry: Entry) -> bool:
        """Do what is due of one object; False where it has to be tried again."""
        meta = entry.object["metadata"]
        if meta.get("deletionTimestamp"):
            finalizers = meta.get("finalizers") or ()
            if place[0] == _NAMESPACES:
                return await self._empty(entry)
            if _ORPHAN in finalizers:
                return await self._orphan(place, entry)
            if _FOREGROUND in finalizers:
                return await self._foreground(place, entry)
            return True
        return await self._collect(place, entry) if meta.get("ownerReferences") else True

    async def _collect(self, place: _Place, entry: Entry) -> bool:
        meta = entry.object["metadata"]
        solid, waiting, absent = [], [], []
        for reference in meta["ownerReferences"]:
            owner = self._owner(reference, meta.get("namespace", ""))
            if owner is _UNKNOWN or (owner is not None and not _is_waiting(owner)):
                solid.append(reference)
            elif owner is None:
                absent.append(reference)
            else:
                waiting.append(reference)
        if not absent and not waiting:
            return True
        if solid:
            change = {"metadata": {"uid": meta["uid"], "ownerReferences": solid}}
            return await self._patch(place, entry, change)
        policy = "Background"
        if waiting and self._blocking(meta["uid"]):
            policy = "Foreground"
        return await self._delete(place, entry, policy)

    def _owner(self, reference: dict[str, Any], namespace: str) -> Entry | _Unknown | None:
        kind = self._backend.catalog.of_kind(str(reference.get("apiVersion")), str(reference.get("kind")))
        if kind is None or (kind.namespaced and not namespace):
            return _UNKNOWN
        name = str(reference.get("name"))
        key = f"{namespace}/{name}" if kind.namespaced else name
        found = self._backend.store.get(resource_key(kind.storage.group, kind.storage.plural), key)
        if found is None or found.object["metadata"].get("uid") != reference.get("uid"):
            return None
        return found

    def _blocking(self, uid: str) -> list[_Place]:
        """The dependents that an owner waits for."""
        found = []
        for place in self._dependents.get(uid, ()):
            entry = self._backend.store.get(*place)
            references = entry.object["metadata"].get("ownerReferences") or () if entry is not None else ()
            if any(each.get("uid") == uid and each.get("blockOwnerDeletion") for each in references):
                found.append(place)
        return found

    async def _foreground(self, place: _Place, entry: Entry) -> bool:
        uid = entry.object["metadata"]["uid"]
        if self._blocking(uid):
            self._due.extend(sorted(self._dependents.get(uid, ())))
            return True
        self._due.extend(sorted(self._dependents.get(uid, ())))
        return await self._without_finalizer(place, entry, _FOREGROUND)

    async def _orphan(self, place: _Place, entry: Entry) -> bool:
        uid = entry.object["metadata"]["uid"]
        for each in sorted(self._dependents.get(uid, ())):
            dependent = self._backend.store.get(*each)
            if dependent is None:
                continue
            meta = dependent.object["metadata"]
            left = [one for one in meta.get("ownerReferences") or () if one.get("uid") != uid]
            if not await self._patch(each, dependent, {"metadata": {"uid": meta["uid"], "ownerReferences": left}}):
                return False
        return await self._without_finalizer(place, entry, _ORPHAN)

    async def _without_finalizer(self, place: _Place, entry: Entry, finalizer: str) -> bool:
        meta = entry.object["metadata"]
        left = [each for each in meta.get("finalizers") or () if each != finalizer]
        version = meta["resourceVersion"]
        return await self._patch(place, entry, {"metadata": {"finalizers": left, "resourceVersion": version}})

    async def _empty(self, namespace: Entry) -> bool:
        name = namespace.key
        left = list(self._content(name))
        for place, entry in left:
            if not entry.object["metadata"].get("deletionTimestamp"):
                await self._delete(place, entry, "Background")
        if left or any(True for _ in self._content(name)):
            return True  # the last one that goes makes it due again
        obj = namespace.object
        finalizers = [each for each in (obj.get("spec") or {}).get("finalizers") or () if each != "kubernetes"]
        body = {**obj, "spec": {**(obj.get("spec") or {}), "finalizers": finalizers}}
        return await self._ask("PUT", f"/api/v1/namespaces/{name}/finalize", body)

    def _content(self, namespace: str) -> Iterator[tuple[_Place, Entry]]:
        for resource in sorted(self._backend.store.resources):
            kind = self._type(resource)
            if kind is not None and kind.namespaced:
                for entry in self._backend.store.collection(resource).page(f"{namespace}/").entries:
                    yield (resource, entry.key), entry

    # -- writes -------------------------------------------------------------------------------------------------------

    async def _delete(self, place: _Place, entry: Entry, policy: str) -> bool:
        body = {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "propagationPolicy": policy,
            "preconditions": {"uid": entry.object["metadata"]["uid"]},
        }
        return await self._at_path("DELETE", place, body)

    async def _patch(self, place: _Place, entry: Entry, change: dict[str, Any]) -> bool:
        return await self._at_path("PATCH", place, change, _MERGE)

    async def _at_path(self, method: str, place: _Place, body: Any, content_type: str = "application/json") -> bool:
        kind = self._type(place[0])
        if kind is None:
            return True
        root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        namespace, _, name = place[1].rpartition("/")
        scope = f"/namespaces/{namespace}" if namespace else ""
        return await self._ask(method, f"{root}{scope}/{kind.plural}/{name}", body, content_type)

    async def _ask(self, method: str, path: str, body: Any, content_type: str = "application/json") -> bool:
        headers = {"content-type": content_type, "user-agent": "garbage-collector/1"}
        answer = await self._server.handle(Request(method, path, (), headers, orjson.dumps(body)))
        return isinstance(answer, Response) and (answer.status < 300 or answer.status == 404)

    def _type(self, resource: str) -> ResourceType | None:
        """The type whose objects a resource keeps, as they are kept."""
        catalog = self._backend.catalog
        if self._types[0] is not catalog:
            found = {resource_key(each.group, each.plural): each for each in catalog.types if each.is_stored_version}
            self._types = (catalog, found)
        return self._types[1].get(resource)


class _Unknown:
    """An owner of a kind that is not served: nobody knows whether it is there."""


_UNKNOWN: Final = _Unknown()


def _is_waiting(owner: Entry | _Unknown) -> bool:
    if isinstance(owner, _Unknown):
        return False
    meta = owner.object["metadata"]
    return bool(meta.get("deletionTimestamp")) and _FOREGROUND in (meta.get("finalizers") or ())
