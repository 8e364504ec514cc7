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

Guarantees: C1 `settle` returns when nothing is due. C2 nothing with an owner that is there is deleted. C3 what is
refused (a webhook, a quota, a full disk) is tried again until it is not.
Cancellation: a cancelled `settle` stops nothing. Caveats: it works as the event loop runs; a kind whose definition is
gone, or not there yet, is nobody's owner and nobody's dependent.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

from .background import Background
from .controllerwrites import ControllerWrites, Place
from .ending import conditions_of_end, owner_event
from .registry.backend import Backend
from .registry.call import resource_key
from .store import Change, Entry

__all__ = ["GarbageCollector"]

_FOREGROUND: Final = "foregroundDeletion"
_ORPHAN: Final = "orphan"
_NAMESPACES: Final = resource_key("", "namespaces")
_PODS: Final = resource_key("", "pods")
_MOST_TRIES: Final = 10
"""At once, one after another: most that is refused was changed by somebody else."""

_FIRST_WAIT_SECONDS: Final = 0.5
_LONGEST_WAIT_SECONDS: Final = 60.0


class GarbageCollector:
    """Clears away after deletions; a part of one server."""

    def __init__(self, backend: Backend, before: GarbageCollector | None = None) -> None:
        self._backend = backend
        self._writes = ControllerWrites(backend)
        self._background = Background("garbage collector", self._work)
        self._timer: asyncio.TimerHandle | None = None
        self._reported, self._rounds = 0, 0
        if before is None:
            self._at: dict[str, Place] = {}
            self._dependents: dict[str, set[Place]] = {}
            self._owners: dict[Place, tuple[str, ...]] = {}
            self._due: deque[Place] = deque()
            self._invalid: deque[tuple[Place, dict[str, Any]]] = deque()
            self._tries: dict[Place, int] = {}
            self._stuck: dict[Place, None] = {}
            self._mine: set[str] | None = None
            for resource in list(backend.store.resources):
                for entry in backend.store.collection(resource).live.values():
                    self._note(resource, entry)
                    meta = entry.object["metadata"]
                    if meta.get("deletionTimestamp") or meta.get("ownerReferences"):
                        self._due.append((resource, entry.key))
        else:
            self._at, self._owners = dict(before._at), dict(before._owners)
            # The sets in it are shared until one of the two changes them.
            self._dependents = dict(before._dependents)
            self._mine, before._mine = set(), set()
            self._due, self._invalid = deque(before._due), deque(before._invalid)
            self._tries, self._stuck = dict(before._tries), dict(before._stuck)
        backend.store.listeners.append(self._changed)

    def fork(self, backend: Backend) -> GarbageCollector:
        """The same for a fork of the store, which has the same contents: nothing is read again."""
        return GarbageCollector(backend, self)

    def close(self) -> None:
        self._background.close()
        if self._timer is not None:
            self._timer.cancel()
        self._writes.close()

    async def settle(self) -> None:
        """Until nothing is due. What was refused is tried once more."""
        self._try_again()
        await self._background.settle()

    # -- what has changed ---------------------------------------------------------------------------------------------

    def _changed(self, resource: str, change: Change, number: int) -> None:
        entry = change.entry
        place, meta = (resource, entry.key), entry.object["metadata"]
        if change.type == "DELETED":
            self._gone(place, meta)
        else:
            self._note(resource, entry)
            previous = change.previous
            before = previous.object["metadata"].get("ownerReferences") or () if previous is not None else ()
            references = meta.get("ownerReferences") or ()
            if before and before != references:
                # Owners that it blocked may be free now.
                uids = [each.get("uid", "") for each in before]
                self._due.extend(self._at[uid] for uid in uids if uid in self._at)
            if _is_waiting(entry) and (previous is None or not _is_waiting(previous)):
                # Before it itself: that it waits is the reason for which those go that do not block it.
                self._due.extend(sorted(self._dependents.get(meta.get("uid", ""), ())))
            if meta.get("deletionTimestamp") or self._has_lost(before, references, meta.get("namespace", "")):
                self._due.append(place)
        self._start()

    def _has_lost(self, before: Sequence[Any], references: Sequence[Any], namespace: str) -> bool:
        """Whether a new owner is not there, or is not what it is said to be. Another word about an owner that it had
        already is not looked at, and neither is that a new one is going."""
        known = {each.get("uid") for each in before}
        added = [each for each in references if each.get("uid") not in known]
        return any(not isinstance(self._owner(each, namespace), Entry) for each in added)

    def _note(self, resource: str, entry: Entry) -> None:
        place, meta = (resource, entry.key), entry.object["metadata"]
        self._at[meta.get("uid", "")] = place
        references = meta.get("ownerReferences") or ()
        owners = tuple([str(each.get("uid", "")) for each in references])
        before = self._owners.get(place, ())
        if owners == before:
            return
        for uid in before:
            self._leave(uid, place)
        for uid, reference in zip(owners, references, strict=True):
            self._of(uid).add(place)
            if uid not in before and self._is_elsewhere(uid, meta.get("namespace", "")):
                self._invalid.append((place, reference))
        if owners:
            self._owners[place] = owners
        else:
            self._owners.pop(place, None)

    def _of(self, uid: str) -> set[Place]:
        """The dependents of an owner, to be changed."""
        found = self._dependents.get(uid)
        if found is None:
            found = self._dependents[uid] = set()
        elif self._mine is None or uid in self._mine:
            return found
        else:
            found = self._dependents[uid] = set(found)
        if self._mine is not None:
            self._mine.add(uid)
        return found

    def _leave(self, uid: str, place: Place) -> None:
        """An owner has a dependent less; with the last one it is forgotten, as it may be gone for long."""
        if place in self._dependents.get(uid, ()):
            left = self._of(uid)
            left.discard(place)
            if not left:
                del self._dependents[uid]
                if self._mine is not None:
                    self._mine.discard(uid)

    def _is_elsewhere(self, uid: str, namespace: str) -> bool:
        """Whether an owner is in another namespace than that of its dependent."""
        place = self._at.get(uid)
        return place is not None and "/" in place[1] and place[1].partition("/")[0] != namespace

    def _gone(self, place: Place, meta: dict[str, Any]) -> None:
        uid = meta.get("uid", "")
        self._at.pop(uid, None)
        for owner in self._owners.pop(place, ()):
            self._leave(owner, place)
            if owner in self._at:
                self._due.append(self._at[owner])
        self._due.extend(sorted(self._dependents.pop(uid, ())))
        namespace = meta.get("namespace")
        if namespace:
            self._due.append((_NAMESPACES, namespace))

    def _start(self) -> None:
        if self._due or self._invalid:
            self._background.start()

    async def _work(self) -> None:
        while self._due or self._invalid:
            while self._invalid:
                await self._report(*self._invalid.popleft())
            if not self._due:
                continue
            place = self._due.popleft()
            entry = self._backend.store.get(*place)
            if entry is not None and not await self._handle(place, entry):
                tries = self._tries[place] = self._tries.get(place, 0) + 1
                if tries < _MOST_TRIES:
                    self._due.append(place)
                else:
                    self._stuck[place] = None
            else:
                self._tries.pop(place, None)
            await asyncio.sleep(0)
        self._wait()

    def _wait(self) -> None:
        """Come back to what was refused, after a while that gets longer: who refuses it may not do so for ever."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._stuck:
            self._rounds = 0
            return
        seconds = min(_FIRST_WAIT_SECONDS * 2**self._rounds, _LONGEST_WAIT_SECONDS)
        self._timer = asyncio.get_running_loop().call_later(seconds, self._wake)

    def _wake(self) -> None:
        self._rounds += 1
        self._try_again()

    def _try_again(self) -> None:
        self._due.extend(self._stuck)
        self._stuck.clear()
        self._start()

    # -- what is due --------------------------------------------------------------------------------------------------

    async def _handle(self, place: Place, entry: Entry) -> bool:
        """Do what is due of one object; False where it has to be tried again."""
        meta = entry.object["metadata"]
        if meta.get("deletionTimestamp"):
            finalizers = meta.get("finalizers") or ()
            if place[0] == _NAMESPACES:
                if not await self._empty(entry):
                    return False
                now = self._backend.store.get(*place)
                if now is None:
                    return True
                entry = now
            if _ORPHAN in finalizers:
                return await self._orphan(place, entry)
            if _FOREGROUND in finalizers:
                return await self._foreground(place, entry)
            return True
        return await self._collect(place, entry) if meta.get("ownerReferences") else True

    async def _collect(self, place: Place, entry: Entry) -> bool:
        meta = entry.object["metadata"]
        solid: list[dict[str, Any]] = []
        waiting: list[dict[str, Any]] = []
        absent: list[dict[str, Any]] = []
        for reference in meta["ownerReferences"]:
            owner = self._owner(reference, meta.get("namespace", ""))
            if isinstance(owner, _Unknown):
                return True
            if owner is None:
                absent.append(reference)
            else:
                (waiting if _is_waiting(owner) else solid).append(reference)
        if not absent and not waiting:
            return True
        if solid:
            change = {"metadata": {"uid": meta["uid"], "ownerReferences": solid}}
            return await self._writes.patch(place, entry, change)
        finalizers = meta.get("finalizers") or ()
        policy = "Orphan" if _ORPHAN in finalizers else "Foreground" if _FOREGROUND in finalizers else "Background"
        dependents = self._dependents.get(meta["uid"])
        if waiting and dependents:
            policy = "Foreground"
            if any(self._is_deleting_dependents(each) for each in sorted(dependents)):
                # It may be that they wait for one another in a circle, so it blocks nobody any more.
                references = [{**each, "blockOwnerDeletion": False} for each in meta["ownerReferences"]]
                if not await self._writes.patch(place, entry, {"metadata": {"ownerReferences": references}}):
                    return False
        return await self._writes.delete(place, entry, policy)

    def _is_deleting_dependents(self, place: Place) -> bool:
        entry = self._backend.store.get(*place)
        return entry is not None and _is_waiting(entry)

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

    def _blocking(self, uid: str) -> list[Place]:
        """The dependents that an owner waits for."""
        found = []
        for place in self._dependents.get(uid, ()):
            entry = self._backend.store.get(*place)
            references = entry.object["metadata"].get("ownerReferences") or () if entry is not None else ()
            if any(each.get("uid") == uid and each.get("blockOwnerDeletion") for each in references):
                found.append(place)
        return found

    async def _foreground(self, place: Place, entry: Entry) -> bool:
        uid = entry.object["metadata"]["uid"]
        if blocking := self._blocking(uid):
            # Those that wait themselves are not asked again: in a circle that would never end.
            self._due.extend(sorted(each for each in blocking if not self._is_deleting_dependents(each)))
            return True
        return await self._without_finalizer(place, entry, _FOREGROUND)

    async def _orphan(self, place: Place, entry: Entry) -> bool:
        uid = entry.object["metadata"]["uid"]
        for each in sorted(self._dependents.get(uid, ())):
            dependent = self._backend.store.get(*each)
            if dependent is None:
                continue
            meta = dependent.object["metadata"]
            left = [one for one in meta.get("ownerReferences") or () if one.get("uid") != uid]
            if not await self._writes.patch(
                each, dependent, {"metadata": {"uid": meta["uid"], "ownerReferences": left}}
            ):
                return False
        return await self._without_finalizer(place, entry, _ORPHAN)

    async def _without_finalizer(self, place: Place, entry: Entry, finalizer: str) -> bool:
        meta = entry.object["metadata"]
        left = [each for each in meta.get("finalizers") or () if each != finalizer]
        version = meta["resourceVersion"]
        return await self._writes.patch(place, entry, {"metadata": {"finalizers": left, "resourceVersion": version}})

    async def _empty(self, namespace: Entry) -> bool:
        """Delete what is in a namespace that ends, Pods first, and the namespace when nothing is left."""
        name = namespace.key
        if not (namespace.object.get("spec") or {}).get("finalizers"):
            return True
        is_done = True
        for are_pods in (True, False):
            for place, entry in list(self._content(name)):
                if (place[0] == _PODS) is are_pods and not entry.object["metadata"].get("deletionTimestamp"):
                    is_done = await self._writes.delete(place, entry, "Background") and is_done
            left = list(self._content(name))
            if are_pods and any(place[0] == _PODS for place, _ in left):
                return await self._tell(name, ()) and is_done
        if not await self._tell(name, left):
            return False
        now = self._backend.store.get(_NAMESPACES, name)
        if left or now is None:
            return is_done  # the last one that goes makes it due again
        spec = now.object.get("spec") or {}
        finalizers = [each for each in spec.get("finalizers") or () if each != "kubernetes"]
        body = {**now.object, "spec": {**spec, "finalizers": finalizers}}
        return await self._writes.ask("PUT", f"/api/v1/namespaces/{name}/finalize", body)

    async def _tell(self, namespace: str, left: Sequence[tuple[Place, Entry]]) -> bool:
        """Write into the status of a namespace what is left in it."""
        entry = self._backend.store.get(_NAMESPACES, namespace)
        if entry is None:
            return True
        status = entry.object.get("status") or {}
        before = status.get("conditions") or []
        named = [(".".join(reversed(place[0].split("/"))), each.object) for place, each in left]
        conditions = conditions_of_end(before, named, self._backend.timestamp())
        if conditions == before:
            return True
        body = {**entry.object, "status": {**status, "conditions": conditions}}
        return await self._writes.ask("PUT", f"/api/v1/namespaces/{namespace}/status", body)

    def _content(self, namespace: str) -> Iterator[tuple[Place, Entry]]:
        for resource in sorted(self._backend.store.resources):
            kind = self._writes.type_of(resource)
            if kind is not None and kind.namespaced:
                for entry in self._backend.store.collection(resource).page(f"{namespace}/").entries:
                    yield (resource, entry.key), entry

    async def _report(self, place: Place, reference: dict[str, Any]) -> None:
        """Say in an Event that an owner cannot be one."""
        entry = self._backend.store.get(*place)
        if entry is not None:
            self._reported += 1
            number = int(self._backend.now().timestamp() * 1e9) + self._reported
            event = owner_event(entry.object, reference, self._backend.timestamp(), number)
            await self._writes.ask("POST", f"/api/v1/namespaces/{event['metadata']['namespace']}/events", event)


class _Unknown:
    """An owner of a kind that is not served: nobody knows whether it is there."""


_UNKNOWN: Final = _Unknown()


def _is_waiting(owner: Entry) -> bool:
    """Whether it is deleted in the foreground."""
    meta = owner.object["metadata"]
    return bool(meta.get("deletionTimestamp")) and _FOREGROUND in (meta.get("finalizers") or ())
