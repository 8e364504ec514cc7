"""`Context`: what a reconcile can do, beside changing its object's status.

Reads come from the cache and see the writes that were made through the same operator; writes go to the server. A kind
is watched when its controller owns it, and from the first time it is read; kinds that are only written are not.

`Context` is for `async def`. A `def` reconcile runs in a thread and is given a `SyncContext`: see `blocking`.
"""

from __future__ import annotations

import copy
import logging
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

import orjson

from kubewright.cache.entry import Entry, owners_of
from kubewright.cache.frame import entry_of
from kubewright.cache.index import Index
from kubewright.client import Client, Conflict, NotFound, Patch
from kubewright.client.bodies import apply_body
from kubewright.client.errors import Details
from kubewright.model import GroupKind, Key, Object, OwnerReference, decode, encode, info_of, key_of, origin_of
from kubewright.model.owners import AlreadyOwned, controller_among, owner_reference, set_controller

from .applying import AppliedMemory
from .cause import Cause
from .echoes import Echoes
from .looking import Looks
from .mutating import Outcome, changed, mutated
from .recorder import EventType, NoRecorder, Recorder

__all__ = ["Context", "Reads"]

T = TypeVar("T", bound=Object)


class Reads(Protocol):
    """Cached reads that see our own writes: what a reconcile stands on (see `kubewright.cache.Reader`)."""

    async def find(self, kind: type[T], key: Key) -> T | None: ...

    async def list(
        self,
        kind: type[T],
        *,
        namespace: str | None,
        labels: str | Mapping[str, str] | None,
        owner: str | None,
        index: Mapping[Index[Any], str] | None = None,
        fields: str | Mapping[str, str] | None = None,
    ) -> Sequence[T]: ...

    def entry(self, kind: type[Object], key: Key) -> Entry | None:
        """An object of a kind that is watched, not decoded; None when it is absent or the kind is not watched."""
        ...

    def watches(self, kind: type[Object], key: Key | None = None) -> bool:
        """Whether `entry` knows the objects of a kind, and that one if it exists."""
        ...

    def wrote(self, obj: Object) -> None:
        """Tell what the server answered to a write."""
        ...

    def wrote_entry(self, kind: type[Object], answer: Entry) -> None:
        """As `wrote`, of an answer that nobody has decoded."""
        ...

    def deleted(self, obj: Object) -> None:
        """Tell that the server removed an object: the one with the uid of `obj`."""
        ...


class Context:
    """One reconcile of one object.

    Attributes:
        namespace: of the object, `""` for a cluster-scoped one.
        log: a logger bound to the object.
        attempt: 1 for the first try, one more for each failure since the last success.
        causes: why this reconcile was asked for; bounded, and never empty for a change. Each says what happened to
            which object, and what it `changed`.
        deadline_at: when this reconcile is cancelled, in the loop's time; None for never.
    """

    def __init__(
        self,
        *,
        obj: Object,
        client: Client,
        reads: Reads,
        applied: AppliedMemory,
        log: logging.Logger | logging.LoggerAdapter[Any],
        attempt: int = 1,
        causes: Sequence[Cause] = (),
        deadline_at: float | None = None,
        clock: Callable[[], datetime] | None = None,
        events: Recorder | None = None,
        looks: Looks | None = None,
        echoes: Echoes | None = None,
    ) -> None:
        self._looks = looks
        self._echoes = echoes
        self._looked_for: set[GroupKind] = set()
        self._shown: Counter[Hashable] = Counter()  # by writes, or about to be
        self._has_looked_live = False
        self._wrote = False
        self._obj = obj
        self._reads = reads
        self._applied = applied
        self._clock = clock or (lambda: datetime.now(UTC))
        self._events: Recorder = events or NoRecorder()
        self._client = client
        self.namespace = obj.metadata.namespace
        self.log = log
        self.attempt = attempt
        self.causes = tuple(causes)
        self.deadline_at = deadline_at

    @property
    def client(self) -> Client:
        """The live way, any verb; its field manager is the operator's."""
        self._has_looked_live = True
        return self._client

    def now(self) -> datetime:
        """The time, UTC; a test's clock in a test."""
        return self._clock()

    def event(
        self,
        type: EventType,  # noqa: A002 - the field's name
        reason: str,
        message: str,
        *,
        action: str = "Reconcile",
        related: Object | None = None,
    ) -> None:
        """Record an Event about the reconciled object, which users see with `kubectl describe`.

        It is sent in the background: this neither waits nor fails. The same once more within 6 minutes is counted in
        the first. An object may have 25 different Events, and one more every 5 minutes (`kubewright.observe.events`).

        Args:
            type: Normal, or Warning.
            reason: why, as one word for machines: `BackupFailed`. At most 128 bytes.
            message: for people; cut to 1024 bytes.
            action: what was done, as one word. At most 128 bytes.
            related: another object that has to do with it.
        """
        self._events.event(self._obj, type, reason, message, action=action, related=related)

    # -- reads ---------------------------------------------------------------------------------------------------

    async def get(self, kind: type[T], name: str, *, namespace: str | None = None) -> T:
        """An object from the cache; `namespace` is that of the reconciled object unless given.

        Raises:
            NotFound: it is not there.
        """
        found = await self.find(kind, name, namespace=namespace)
        if found is None:
            info = info_of(kind)
            details = Details(name=name, group=info.group, kind=info.plural)
            raise NotFound(message=f'{info.resource_name} "{name}" not found', details=details)
        return found

    async def find(self, kind: type[T], name: str, *, namespace: str | None = None) -> T | None:
        """As `get`; None when it is not there."""
        self._looked_for.add(info_of(kind).gvk.group_kind)
        return await self._reads.find(kind, self._key(kind, name, namespace))

    async def list(
        self,
        kind: type[T],
        *,
        namespace: str | None = None,
        all_namespaces: bool = False,
        labels: str | Mapping[str, str] | None = None,
        index: Mapping[Index[Any], str] | None = None,
        fields: str | Mapping[str, str] | None = None,
    ) -> Sequence[T]:
        """Objects from the cache: of the reconciled object's namespace, of `namespace`, or of all.

        Args:
            labels: a selector such as `"app=web,tier in (a,b)"`, or the labels to equal.
            index: values of indexes, all of which have to be there: `{by_secret: "s3"}`.
            fields: a field selector such as `"spec.nodeName=a"`, of any field; it is indexed from then on.
        """
        self._looked_for.add(info_of(kind).gvk.group_kind)
        where = None if all_namespaces else self._namespace(kind, namespace) or None
        return await self._reads.list(kind, namespace=where, labels=labels, owner=None, index=index, fields=fields)

    async def owned(self, kind: type[T]) -> Sequence[T]:
        """The objects of `kind` whose controller owner is the reconciled object."""
        self._looked_for.add(info_of(kind).gvk.group_kind)
        where = self._namespace(kind, None) or None
        return await self._reads.list(kind, namespace=where, labels=None, owner=self._obj.metadata.uid)

    # -- writes --------------------------------------------------------------------------------------------------

    async def apply(self, child: T, *, owned: bool = True) -> T:
        """Make `child` be as said, by server-side apply; the object as it is afterwards.

        Fields that an earlier apply named and this one does not are removed; fields of others stay. Other managers'
        claims on the named fields are taken over. Nothing is sent when nothing would change and the kind is watched;
        where it is not, the first apply of each child looks (one GET) whether it has another owner.

        Args:
            child: complete as far as this operator is concerned. Its namespace is that of the reconciled object unless
                given.
            owned: make the reconciled object its controller, so that it is deleted with it.

        Raises:
            AlreadyOwned: it is the child of another object.
            ApiError: the server refused it.
        """
        info = info_of(type(child))
        child = self._adopted(child, owned)
        key = key_of(child)
        handle = (info.gvk, key)
        self._shown[handle] += 1
        body = apply_body(child, None)
        live = self._reads.entry(type(child), key)
        version = ""
        if live is not None:
            if owned:
                self._check_owner(child, owners_of(live.data))
            version = live.resource_version
            if self._applied.is_current(handle, body, live.data, live.uid, version):
                return decode(type(child), live.data)
        elif owned and handle not in self._applied and not self._reads.watches(type(child), key):
            # The server would take it from its owner: to it, all that this operator states is one statement.
            found = await self._client.find(type(child), key.name, namespace=key.namespace or None)
            if found is not None:
                self._check_owner(child, found.metadata.owner_references)
        look = None if self._looks is None else await self._looks.before(type(child), key)
        sent = self._send_accounted(child, body, handle, version) if owned else self._send(child, body)
        answer, made = await sent
        self._wrote = self._wrote or made.resource_version != version
        if look is not None:
            look.after(answer, orjson.loads(body))
        self._applied.note(handle, body, made.data, made.uid, made.resource_version)
        self._reads.wrote_entry(type(child), made)
        return decode(type(child), answer)

    async def _send(self, child: Object, body: bytes) -> tuple[bytes, Entry]:
        answer = await self._client.apply_raw(child, body, force=True)
        return answer, entry_of(answer)

    async def _send_accounted(self, child: Object, body: bytes, handle: Hashable, version: str) -> tuple[bytes, Entry]:
        """Apply our child; what comes back is no news to us, unless we have looked for its like before, or meanwhile:
        what a function sees while it waits for the answer may be older."""
        echoes, info = self._echoes, info_of(type(child))
        if echoes is None or info.kind not in echoes.kinds or self._has_looked(info.gvk.group_kind, handle):
            return await self._send(child, body)
        name = (info.kind, *key_of(child))
        echoes.begin(name)
        try:
            answer, made = await self._send(child, body)
            if made.resource_version != version and not self._has_looked(info.gvk.group_kind, handle):
                echoes.account(name, made.uid, made.resource_version, key_of(self._obj))
        finally:
            echoes.end(name)
        return answer, made

    def _has_looked(self, kind: GroupKind, handle: Hashable) -> bool:
        """Whether anything but one apply may have shown a child of that kind, whatever the version of the kind."""
        return self._has_looked_live or kind in self._looked_for or self._shown[handle] > 1

    def _adopted(self, child: T, owned: bool) -> T:
        """A copy of `child`, in its namespace and with its owner; what the caller holds stays as it is."""
        child = copy.copy(child)
        child.metadata = meta = copy.copy(child.metadata)
        if not meta.namespace and info_of(type(child)).namespaced:
            meta.namespace = self.namespace or self._client.namespace
        if owned:
            meta.owner_references = list(meta.owner_references)
            set_controller(self._obj, child)
        return child

    def _placed(self, obj: T) -> T:
        """`obj`, or a copy of it in the namespace of the reconciled object if it has none."""
        return obj if obj.metadata.namespace or not info_of(type(obj)).namespaced else self._adopted(obj, False)

    def _check_owner(self, child: Object, owners: Sequence[OwnerReference]) -> None:
        owner = controller_among(owners)
        if owner is not None and owner.uid != self._obj.metadata.uid:
            raise AlreadyOwned(child.kind, key_of(child), owner, owner_reference(self._obj))

    async def patch(self, obj: T, patch: Patch, *, subresource: str | None = None) -> T:
        """Change an object in part; the object as it is afterwards.

        Raises:
            NotFound, Conflict (the patch has a version), Invalid and other ApiErrors.
        """
        obj = self._placed(obj)
        look = None if self._looks is None else await self._looks.before(type(obj), key_of(obj), own=self._is_own(obj))
        self._shown[info_of(type(obj)).gvk, key_of(obj)] += 1
        answer = await self._client.patch(obj, patch, subresource=subresource)
        self._wrote = self._wrote or answer.metadata.resource_version != obj.metadata.resource_version
        if look is not None:
            look.after(origin_of(answer) or encode(answer))
        self._reads.wrote(answer)
        return answer

    async def create(self, obj: T, *, owned: bool = True) -> T:
        """Create an object, such as one with a generated name. Raises AlreadyExists and other ApiErrors."""
        answer = await self._client.create(self._adopted(obj, owned))
        self._wrote = True
        self._shown[info_of(type(answer)).gvk, key_of(answer)] += 1
        self._reads.wrote(answer)
        return answer

    async def create_or_patch(self, obj: T, mutate: Callable[[T], object], *, owned: bool = True) -> tuple[T, Outcome]:
        """Create `obj`, or change the one of its name, as `mutate` does; the object, and what was done.

        Where you can say all that you want of an object, `apply` is better: it also takes back what you say no more.

        Args:
            obj: what to begin with where there is none; of one that is there only the name counts.
            mutate: changes the object that it is given, in place. It must do the same each time: see `ctx.apply`.
            owned: as of `apply`.

        Raises:
            AlreadyOwned: it is the child of another object. ValueError: `mutate` renames it.
            Conflict: it was changed meanwhile; raised on, the reconcile is tried again. Other ApiErrors.
        """
        obj = self._placed(obj)
        kind, key, owner = type(obj), key_of(obj), self._obj if owned else None
        present = await self.find(kind, key.name, namespace=key.namespace or None)
        if present is None:
            new = mutated(obj, mutate, owner)
            made = await self.create(new, owned=False)
            _, status = changed(made, new)
            if status is not None:
                made = await self.patch(made, status, subresource="status")
            return made, "created"
        patch, status = changed(present, mutated(present, mutate, owner))
        if patch is None and status is None:
            return present, "unchanged"
        if patch is not None:
            present = await self.patch(present, patch)
        if status is not None:
            present = await self.patch(present, status, subresource="status")
        return present, "patched"

    async def delete(self, obj: Object) -> bool:
        """Delete an object; False when it was gone already.

        For an object that was read or applied the deletion holds for this very one: what was created anew under its
        name is left alone. One that was made here (without a uid) says but a name.
        """
        obj = self._placed(obj)
        self._wrote = True
        uid = obj.metadata.uid or None
        gone = False
        left = None
        try:
            left = await self._client.delete(obj, uid=uid)
        except NotFound:
            gone = True
        except Conflict:
            if uid is None:
                raise
            gone = True  # its name is another's
        self._applied.forget((info_of(type(obj)).gvk, key_of(obj)))
        if left is not None and left.metadata.deletion_timestamp is not None:
            self._reads.wrote(left)
            return True
        # Some kinds answer with the object as it was.
        self._reads.deleted(obj if uid else left or self._known(obj))
        return not gone

    def _known(self, obj: Object) -> Object:
        known = self._reads.entry(type(obj), key_of(obj))
        return obj if known is None else decode(type(obj), known.data)

    def _is_own(self, obj: Object) -> bool:
        mine = self._obj
        return key_of(obj) == key_of(mine) and info_of(type(obj)).gvk == info_of(type(mine)).gvk

    def _key(self, kind: type[Object], name: str, namespace: str | None) -> Key:
        return Key(self._namespace(kind, namespace), name)

    def _namespace(self, kind: type[Object], namespace: str | None) -> str:
        if not info_of(kind).namespaced:
            if namespace:
                raise ValueError(f"namespace={namespace!r}: {info_of(kind).kind} is cluster-scoped; leave it out")
            return ""
        return self.namespace if namespace is None else namespace
