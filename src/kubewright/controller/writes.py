"""The writes around a reconcile, to the object itself: its finalizer, and its status.

Each holds for one version of the object: it never undoes what somebody else wrote, and never meets an object that was
created anew under the name. A conflict means to look again, on the server, and try once more. An object that is gone is
no error. What to write, `finalizing` and `status` say.

The answer is read as far as the cache and the echoes need it (`Entry`); nobody decodes it unless something asks for the
object.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from kubewright.cache.frame import entry_of
from kubewright.client import Client, Conflict, MergePatch, NotFound
from kubewright.model import Key, Object, decode, info_of

from .context import Reads
from .echoes import Echoes
from .finalizing import add_patch, remove_patch
from .looking import Looks
from .status import StatusDraft

__all__ = ["ObjectWrites"]

_STATUS_TRIES = 5
_FINALIZER_TRIES = 5


class ObjectWrites:
    """Writes finalizer and status of objects of one kind.

    Args:
        echoes: is told which versions come from here, if it is to know.
    """

    def __init__(
        self, kind: type[Object], client: Client, reads: Reads, clock: Callable[[], datetime], echoes: Echoes | None
    ) -> None:
        self._kind = kind
        self._client = client
        self._reads = reads
        self._clock = clock
        self._echoes = echoes
        self._status_at = "status" if info_of(kind).status else None

    async def hold(self, key: Key, obj: Object, finalizer: str) -> Object | None:
        """Store the finalizer; the object with it, or None when it is gone."""
        try:
            held = await self._client.patch(obj, MergePatch(add_patch(obj, finalizer)))
        except NotFound:
            return None
        self._reads.wrote(held)
        self._account(key, held.metadata.uid, held.metadata.resource_version)
        return held

    async def release(self, obj: Object, *finalizers: str) -> None:
        """Remove these finalizers, where they are."""
        current: Object | None = obj
        for tries_left in reversed(range(_FINALIZER_TRIES)):
            if current is None or not any(name in current.metadata.finalizers for name in finalizers):
                return
            change = MergePatch(remove_patch(current, *finalizers))
            try:
                left = await self._client.patch_raw(current, change)
            except NotFound:
                return
            except Conflict:
                if not tries_left:
                    raise
                current = await self._live(current)
            else:
                self._reads.wrote_entry(self._kind, entry_of(left))
                return

    async def status(self, key: Key, obj: Object, draft: StatusDraft, looks: Looks | None) -> bytes | None:
        """Write what a reconcile has changed of the status; the answer's JSON. None: nothing to write, or nowhere."""
        if not draft.settle(self._clock()):
            return None
        look = None if looks is None else await looks.before(self._kind, key, own=True)
        onto = self._newest(key, obj)
        for tries_left in reversed(range(_STATUS_TRIES)):
            if onto is None:
                return None
            change = draft.patch(onto)
            try:
                written = await self._client.patch_raw(onto, MergePatch(change), subresource=self._status_at)
            except NotFound:
                return None
            except Conflict:
                if not tries_left:
                    raise
                onto = await self._live(obj)
            else:
                answer = entry_of(written)
                self._reads.wrote_entry(self._kind, answer)
                if look is not None:
                    look.after(written, change)
                read = obj.metadata.resource_version
                if (
                    self._echoes is not None
                    and self._status_at is not None
                    and onto.metadata.resource_version == read
                    and answer.resource_version != read
                    and draft.is_in(answer)
                ):
                    self._account(key, answer.uid, answer.resource_version)
                return written
        return None

    def _account(self, key: Key, uid: str, version: str) -> None:
        if self._echoes is not None:
            self._echoes.account(key, uid, version, key)

    def _newest(self, key: Key, obj: Object) -> Object | None:
        """The object as the cache has it by now, unless it is gone. `obj` itself when that is it."""
        entry = self._reads.entry(self._kind, key)
        if entry is None:
            return None
        if entry.resource_version == obj.metadata.resource_version:
            return obj
        return decode(self._kind, entry.data) if entry.uid == obj.metadata.uid else None

    async def _live(self, obj: Object) -> Object | None:
        """The object as the server has it, unless another one has taken its name."""
        live = await self._client.find(self._kind, obj.metadata.name, namespace=obj.metadata.namespace or None)
        return live if live is not None and live.metadata.uid == obj.metadata.uid else None
