"""`FakeContext`: a reconcile function tested as what it is, a function. No server, no event loop, no fixture.

```python
def test_it_runs_as_many_replicas_as_asked() -> None:
    web = Web(metadata=ObjectMeta(name="a"), spec=WebSpec(image="nginx", replicas=3))
    ctx = FakeContext(web)
    asyncio.run(reconcile(web, ctx))
    assert ctx.applied == [deployment(web)]
    assert web.status.ready == 0
```

Owns what was asked for (`applied`, `created`, `patched`, `deleted`, `events`) and a world in memory in which it has
happened, so that later reads see it. The world has the objects that it was given, and no controllers, no defaults, no
validation: a Deployment that is applied stays at 0 ready replicas, unless the test gives one that has some. What only a
server can tell (`ctx.client`, strategic merge patches, scale) raises `NoServer`: test that on a cluster fixture.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Coroutine, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar, cast

import orjson

from kubewright.client import AlreadyExists, Client, Conflict, HttpClient, Invalid, JsonPatch, NotFound, Patch
from kubewright.client import MergePatch as _MergePatch
from kubewright.client.bodies import apply_body, create_body
from kubewright.client.errors import Details
from kubewright.controller import Cause, Context, SyncContext
from kubewright.controller.applying import AppliedMemory
from kubewright.controller.recorder import EventType
from kubewright.model import Key, Object, ResourceInfo, decode, info_of, key_of, resource
from kubewright.model.owners import controller_of
from kubewright.model.patch import JSONPatchError, json_apply, merge_apply, merge_diff

from .world import World

__all__ = ["FakeContext", "NoServer", "Patched", "Recorded"]

T = TypeVar("T", bound=Object)
V = TypeVar("V")

_NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


class NoServer(RuntimeError):
    """A FakeContext was asked for what only an API server can tell."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"FakeContext has no API server for {what}; test this with a fixture: control_plane, namespace"
        )


class Patched(NamedTuple):
    """A patch that was asked for."""

    obj: Object
    patch: Patch
    subresource: str | None = None


class Recorded(NamedTuple):
    """An Event that was recorded."""

    type: EventType
    reason: str
    message: str
    action: str = "Reconcile"
    related: Object | None = None


@resource(group="testing.kubewright", version="v1")
class _Reconciled(Object):
    """Stands for the reconciled object where a test does not say which it is."""


class FakeContext(Context):
    """A Context that writes nothing anywhere and remembers everything.

    Args:
        obj: the reconciled object. Without it, children have a placeholder as their owner, `owned` gives all objects
            that have a controller, and no child is another's.
        objects: what is in the cluster; `obj` is there in any case. What has no uid, version or namespace gets one
            there, while the test's own objects stay as they are. Children of `obj` are those whose controller has its
            uid: give it one, and use `set_controller`.
        namespace: of an object that does not say it.
        time: what `now()` tells.
        attempt, causes: as of Context.

    Attributes:
        applied, created, deleted: the objects as they were passed, in order.
        patched: the patches, in order.
        events: what was recorded.
        time: what `now()` tells. Set it to let time pass.
    """

    def __init__(
        self,
        obj: Object | None = None,
        *,
        objects: Iterable[Object] = (),
        namespace: str = "default",
        time: datetime = _NEW_YEAR,
        attempt: int = 1,
        causes: Sequence[Cause | str] = (),
    ) -> None:
        self.time = time
        self.applied: list[Object] = []
        self.created: list[Object] = []
        self.patched: list[Patched] = []
        self.deleted: list[Object] = []
        self.events: list[Recorded] = []
        self._world = World(namespace, lambda: self.time)
        self._stated: dict[tuple[type[Object], Key], dict[str, Any]] = {}
        self._has_owner = obj is not None
        for each in objects:
            self._world.add(each)
        reconciled: Object = _Reconciled() if obj is None else obj
        if not reconciled.metadata.name:
            reconciled = copy.deepcopy(reconciled)
            reconciled.metadata.name = "reconciled"
        super().__init__(
            obj=self._world.find_or_add(reconciled),
            client=Client(cast("HttpClient", _NoHttp()), namespace=namespace, field_manager="fake"),
            reads=self._world,
            applied=AppliedMemory(),
            log=logging.getLogger("kubewright.testing"),
            attempt=attempt,
            causes=[each if isinstance(each, Cause) else Cause(each) for each in causes],
            clock=lambda: self.time,
        )

    def applied_of(self, kind: type[T]) -> list[T]:
        """Those of `applied` that are of a kind: `[child] = ctx.applied_of(Deployment)`."""
        return [each for each in self.applied if isinstance(each, kind)]

    def sync(self) -> SyncContext:
        """For a `def` reconcile: `reconcile(web, ctx.sync())`. What it does is remembered here."""
        return _FakeSyncContext(self)

    def event(
        self,
        type: EventType,  # noqa: A002 - the field's name
        reason: str,
        message: str,
        *,
        action: str = "Reconcile",
        related: Object | None = None,
    ) -> None:
        self.events.append(Recorded(type, reason, message, action, related))

    async def owned(self, kind: type[T]) -> Sequence[T]:
        if self._has_owner:
            return await super().owned(kind)
        return [each for each in await self.list(kind) if controller_of(each) is not None]

    async def apply(self, child: T, *, owned: bool = True) -> T:
        self.applied.append(copy.deepcopy(child))
        if owned and not self._has_owner and controller_of(child) is not None:
            owned = False
        child = self._adopted(child, owned)
        kind, key = type(child), key_of(child)
        live = self._world.json(kind, key)
        if live is not None and owned and self._has_owner:
            self._check_owner(child, decode(kind, orjson.dumps(live)).metadata.owner_references)
        body: dict[str, Any] = orjson.loads(apply_body(child, None))
        removed = _removals(merge_diff(self._stated.get((kind, key), {}), body) or {})
        self._stated[kind, key] = body
        return self._world.store(kind, merge_apply(merge_apply(live or {}, removed), _with_others(body, live)))

    async def create(self, obj: T, *, owned: bool = True) -> T:
        self.created.append(copy.deepcopy(obj))
        obj = self._adopted(obj, owned)
        body: dict[str, Any] = orjson.loads(create_body(obj))
        if not obj.metadata.name:
            body["metadata"]["name"] = f"{obj.metadata.generate_name}{len(self.created):05d}"
        key = Key(obj.metadata.namespace, body["metadata"]["name"])
        info = info_of(type(obj))
        if self._world.json(type(obj), key) is not None:
            raise AlreadyExists(message=f'{info.resource_name} "{key.name}" already exists', details=_about(info, key))
        if info.status:
            body.pop("status", None)
        return self._world.store(type(obj), body)

    async def patch(self, obj: T, patch: Patch, *, subresource: str | None = None) -> T:
        self.patched.append(Patched(copy.deepcopy(obj), patch, subresource))
        if subresource not in (None, "status"):
            raise NoServer(f"the subresource {subresource!r}")
        kind, key, info = type(obj), key_of(self._placed(obj)), info_of(type(obj))
        live = self._world.json(kind, key)
        if live is None:
            raise NotFound(message=f'{info.resource_name} "{key.name}" not found', details=_about(info, key))
        new = _patched(live, patch)
        if new["metadata"].get("resourceVersion") != live["metadata"]["resourceVersion"]:
            raise Conflict(message=f'{info.resource_name} "{key.name}": the object has been modified')
        if subresource == "status":
            new = {**live, "status": new.get("status", {})}
        elif info.status:
            new = {**new, "status": live.get("status", {})}
        return self._world.store(kind, new)

    async def delete(self, obj: Object) -> bool:
        self.deleted.append(copy.deepcopy(obj))
        return self._world.delete(self._placed(obj))


class _FakeSyncContext(SyncContext):
    """Runs calls where they are made: those of a FakeContext never wait for anything."""

    def _wait(self, call: Coroutine[Any, Any, V]) -> V:
        try:
            call.send(None)
        except StopIteration as end:
            return cast("V", end.value)
        call.close()
        raise NoServer("a call that has to wait")


class _NoHttp:
    """In the place of an HttpClient: there is nobody to ask."""

    async def request(self, method: str, target: str, **_: Any) -> Any:
        raise NoServer(f"ctx.client ({method} {target})")

    async def stream(self, method: str, target: str, **_: Any) -> Any:
        raise NoServer(f"ctx.client ({method} {target})")

    async def close(self) -> None:
        pass


def _about(info: ResourceInfo, key: Key) -> Details:
    return Details(name=key.name, group=info.group, kind=info.plural)


def _patched(live: dict[str, Any], patch: Patch) -> dict[str, Any]:
    if isinstance(patch, _MergePatch):
        return cast("dict[str, Any]", merge_apply(live, orjson.loads(patch.body)))
    if not isinstance(patch, JsonPatch):
        raise NoServer("a strategic merge patch")
    try:
        return cast("dict[str, Any]", json_apply(live, orjson.loads(patch.body)))
    except JSONPatchError as error:
        raise Invalid(message=str(error)) from None


def _with_others(body: dict[str, Any], live: dict[str, Any] | None) -> dict[str, Any]:
    """`body` with the owners and finalizers that others have added: each states its own."""
    meta = dict(body["metadata"])
    theirs = (live or {}).get("metadata", {})
    if "ownerReferences" in meta:
        uids = {owner["uid"] for owner in meta["ownerReferences"]}
        others = [owner for owner in theirs.get("ownerReferences", ()) if owner["uid"] not in uids]
        meta["ownerReferences"] = others + meta["ownerReferences"]
    if "finalizers" in meta:
        meta["finalizers"] = list(dict.fromkeys([*theirs.get("finalizers", ()), *meta["finalizers"]]))
    return {**body, "metadata": meta}


def _removals(diff: dict[str, Any]) -> dict[str, Any]:
    """The part of a merge patch that removes."""
    parts = {name: _removals(value) if isinstance(value, dict) else value for name, value in diff.items()}
    return {name: value for name, value in parts.items() if value is None or (isinstance(value, dict) and value)}
