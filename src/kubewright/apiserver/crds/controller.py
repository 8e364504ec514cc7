"""The life of definitions: names accepted, established, served, changed, deleted with all that was made of them.

`CrdController` follows the definitions in a server's store and keeps its catalog. What the real server does in five
controllers happens here in the same steps, each a commit of its own, right behind the commit that made it necessary:

| a definition | becomes |
|---|---|
| new, or with other names | NamesAccepted, or a conflict that says why; Established: Installing |
| with its names accepted | Established (after `established_seconds`), and served |
| changed | served as it is now |
| deleted | Terminating; its objects are deleted; when the last is gone it goes, and its names are free |

So a client that waits for the condition sees it come, and one that does not wait mostly need not.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from kubewright.schema.structural.values import same

from ..catalog import ResourceType
from ..registry.backend import Backend
from ..registry.call import resource_key
from ..store import Change, Entry, Store
from ..strategy import timestamp
from .definition import FINALIZER, GROUP
from .names import condition, is_true, naming, with_condition

if TYPE_CHECKING:
    from .conversion import ConversionWebhook

__all__ = ["CrdController"]

_Served = tuple[tuple[Any, ...], list[ResourceType]]
"""What a definition's types were made from, and the types."""

DEFINITIONS: Final = resource_key(GROUP, "customresourcedefinitions")
_ALL_GONE: Final = "removed all instances"
_SETTING_UP: Final = "storage is (re)initializing"


class CrdController:
    """Keeps the catalog of a server as its definitions say.

    Args:
        backend: the server's; its catalog is replaced with every change. webhook: calls conversion webhooks.
        established_seconds: how long a definition waits between its names and being served. Waiting needs an event
        loop. setup_seconds: for how long after that requests are told that the storage is being set up (429).
    """

    def __init__(
        self,
        backend: Backend,
        *,
        webhook: ConversionWebhook | None = None,
        established_seconds: float = 0.0,
        setup_seconds: float = 0.0,
        served: dict[str, _Served] | None = None,
    ) -> None:
        self._backend, self._webhook = backend, webhook
        self._established_seconds, self._setup_seconds = established_seconds, setup_seconds
        self._served: dict[str, _Served] = {}
        self._due: deque[str] = deque()
        self._is_running = False
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._setting_up: dict[str, asyncio.TimerHandle] = {}
        self._terminating: dict[str, str] = {}
        backend.store.listeners.append(self._changed)
        if served is None:
            self._due.extend(backend.store.collection(DEFINITIONS).keys)
            self._run()
        else:
            self._served |= served

    def fork(self, backend: Backend) -> CrdController:
        """The same for a fork of the server. Types are shared: they are compiled once."""
        made = CrdController(
            backend,
            webhook=self._webhook,
            established_seconds=self._established_seconds,
            setup_seconds=self._setup_seconds,
            served=self._served,
        )
        made._terminating |= self._terminating
        for name in self._waiting:
            made._wait(name)
        return made

    async def settle(self) -> None:
        """At once: definitions change right behind the commits that made it necessary."""

    def close(self) -> None:
        """Let go of all timers."""
        for timer in [*self._waiting.values(), *self._setting_up.values()]:
            timer.cancel()
        self._waiting.clear()
        self._setting_up.clear()

    # -- what is to be done -------------------------------------------------------------------------------------------

    @property
    def _store(self) -> Store:
        return self._backend.store

    def _changed(self, resource: str, change: Change, number: int) -> None:
        if resource == DEFINITIONS:
            self._due.append(change.entry.key)
        elif change.type == "DELETED" and (name := self._terminating.get(resource)) is not None:
            self._due.append(name)
        else:
            return
        self._run()

    def _run(self) -> None:
        """Do all that is due. Every step commits, which makes more due; that is done in this loop, not inside of
        itself."""
        if self._is_running:
            return
        self._is_running = True
        try:
            while self._due:
                self._sync(self._due.popleft())
        finally:
            self._is_running = False

    def _sync(self, name: str) -> None:
        entry = self._store.get(DEFINITIONS, name)
        if entry is None:
            self._forget(name)
            return
        crd = entry.object
        if crd["metadata"].get("deletionTimestamp") and FINALIZER in (crd["metadata"].get("finalizers") or ()):
            self._serve(name, crd)
            self._terminate(entry)
            return
        if self._name(entry):
            return
        if is_true(crd, "NamesAccepted") and not is_true(crd, "Established"):
            if self._established_seconds > 0:
                self._wait(name)
            else:
                self._establish(name)
            return
        self._serve(name, crd)

    # -- names and conditions -----------------------------------------------------------------------------------------

    def _name(self, entry: Entry) -> bool:
        """Accept names; whether that changed anything."""
        crd = entry.object
        status = crd.get("status") or {}
        if crd["spec"]["names"] == status.get("acceptedNames"):
            return False
        group = crd["spec"]["group"]
        all_of_group = [each for each in self._all() if each["spec"]["group"] == group]
        found = naming(crd, all_of_group)
        conditions = with_condition(status.get("conditions"), found.names_accepted, self._now())
        conditions = with_condition(conditions, found.established, self._now())
        if found.accepted == status.get("acceptedNames") and conditions == status.get("conditions"):
            return False
        self._write(entry, {"acceptedNames": found.accepted, "conditions": conditions})
        self._due.extend(each["metadata"]["name"] for each in all_of_group if each is not crd)
        return True

    def _wait(self, name: str) -> None:
        if name not in self._waiting:
            loop = asyncio.get_running_loop()
            self._waiting[name] = loop.call_later(self._established_seconds, self._establish_later, name)

    def _establish_later(self, name: str) -> None:
        self._waiting.pop(name, None)
        self._establish(name)
        self._run()

    def _establish(self, name: str) -> None:
        entry = self._store.get(DEFINITIONS, name)
        if entry is None or not is_true(entry.object, "NamesAccepted") or is_true(entry.object, "Established"):
            return
        made = condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
        self._condition(entry, made)

    def _condition(self, entry: Entry, made: dict[str, Any], **metadata: Any) -> Entry:
        conditions = with_condition((entry.object.get("status") or {}).get("conditions"), made, self._now())
        return self._write(entry, {"conditions": conditions}, **metadata)

    def _write(self, entry: Entry, status: dict[str, Any], **metadata: Any) -> Entry:
        crd = entry.object
        meta = {name: each for name, each in {**crd["metadata"], **metadata}.items() if each != []}
        new = {**crd, "metadata": meta, "status": {**(crd.get("status") or {}), **status}}
        return self._store.update(DEFINITIONS, entry.key, new, entry)

    # -- serving ------------------------------------------------------------------------------------------------------

    def _serve(self, name: str, crd: dict[str, Any]) -> None:
        """Put the types of a definition into the catalog, if they are others than those that are there."""
        if not is_true(crd, "Established") or self._is_built_in(crd):
            self._drop(name)
            return
        is_going = bool(crd["metadata"].get("deletionTimestamp"))
        facts = (crd["spec"], crd["status"]["acceptedNames"], is_going, name in self._setting_up)
        known = self._served.get(name)
        if known is not None and same_facts(known[0], facts):
            return
        if known is None and self._setup_seconds > 0:
            loop = asyncio.get_running_loop()
            self._setting_up[name] = loop.call_later(self._setup_seconds, self._set_up, name)
            facts = (*facts[:3], True)
        unready = _SETTING_UP if name in self._setting_up else ""
        from .types import crd_types  # with all that validates, which a server without definitions does not need

        types = crd_types(crd, webhook=self._webhook, new_uid=self._backend.new_uid, unready=unready)
        old = set() if known is None else set(map(id, known[1]))
        self._store.renew(resource_key(crd["spec"]["group"], crd["status"]["acceptedNames"]["plural"]))
        self._served[name] = (facts, types)
        self._backend.serve(self._backend.catalog.with_types(types, without=lambda each: id(each) in old))

    def _is_built_in(self, crd: dict[str, Any]) -> bool:
        """Whether the objects of a definition would be those of a built-in kind. Such a definition says that it is
        established and nobody gets to it, as on a real server: the rules of the built-in kind are not to be evaded."""
        names = (crd["spec"]["group"], crd["status"]["acceptedNames"]["plural"])
        return any((each.group, each.plural) == names and not each.is_custom for each in self._backend.catalog.types)

    def _set_up(self, name: str) -> None:
        self._setting_up.pop(name, None)
        self._due.append(name)
        self._run()

    def _drop(self, name: str) -> None:
        known = self._served.pop(name, None)
        if known is not None:
            old = set(map(id, known[1]))
            self._backend.serve(self._backend.catalog.with_types((), without=lambda each: id(each) in old))

    def _forget(self, name: str) -> None:
        """A definition is gone: so are its types; its names are free for others."""
        self._drop(name)
        for timers in (self._waiting, self._setting_up):
            if (timer := timers.pop(name, None)) is not None:
                timer.cancel()
        self._terminating = {resource: each for resource, each in self._terminating.items() if each != name}
        group = name.partition(".")[2]
        self._due.extend(each["metadata"]["name"] for each in self._all() if each["spec"]["group"] == group)

    # -- deletion -----------------------------------------------------------------------------------------------------

    def _terminate(self, entry: Entry) -> None:
        crd = entry.object
        if not is_true(crd, "Established"):
            done = condition("Terminating", "False", "NeverEstablished", "resource was never established")
            self._finish(entry, done)
            return
        resource = resource_key(crd["spec"]["group"], crd["status"]["acceptedNames"]["plural"])
        if self._is_built_in(crd):
            self._finish(entry, condition("Terminating", "False", "InstanceDeletionCompleted", _ALL_GONE))
            return
        if resource not in self._terminating:
            self._terminating[resource] = entry.key
            doing = condition(
                "Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"
            )
            entry = self._condition(entry, doing)
            self._delete_all(resource)
        if not self._store.collection(resource).live:
            present = self._store.get(DEFINITIONS, entry.key)
            assert present is not None
            done = condition("Terminating", "False", "InstanceDeletionCompleted", _ALL_GONE)
            self._finish(present, done)

    def _delete_all(self, resource: str) -> None:
        """Delete all objects of a definition; those with finalizers are marked."""
        for entry in list(self._store.collection(resource).live.values()):
            meta = entry.object["metadata"]
            if not meta.get("finalizers"):
                self._store.delete(resource, entry.key, entry)
            elif not meta.get("deletionTimestamp"):
                marked = {**meta, "deletionTimestamp": self._now(), "deletionGracePeriodSeconds": 0}
                marked["generation"] = meta.get("generation", 0) + 1
                self._store.update(resource, entry.key, {**entry.object, "metadata": marked}, entry)

    def _finish(self, entry: Entry, done: dict[str, Any]) -> None:
        """Take the finalizer away, which removes the definition if it was the last."""
        left = [each for each in entry.object["metadata"].get("finalizers") or () if each != FINALIZER]
        if left:
            self._condition(entry, done, finalizers=left)
        else:
            self._store.delete(DEFINITIONS, entry.key, entry)

    # -- helpers ------------------------------------------------------------------------------------------------------

    def _all(self) -> list[dict[str, Any]]:
        return [each.object for each in self._store.collection(DEFINITIONS).live.values()]

    def _now(self) -> str:
        return timestamp(self._backend.now())


def same_facts(known: tuple[Any, ...], facts: tuple[Any, ...]) -> bool:
    """Whether a definition makes the same types as before."""
    return known == facts and same(list(known), list(facts))
