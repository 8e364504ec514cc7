"""A `def` reconcile: a thread, and a context whose calls block it until the event loop has done them.

A thread cannot be cancelled, and its object must not be handed out again while it still works on it. So a pass that is
cancelled (by its deadline, at shutdown) tells the thread, whose next call of the context then raises, and waits for it
to end, however long that takes and however often it is cancelled meanwhile.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Executor
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from kubewright.cache.index import Index
from kubewright.client import Patch
from kubewright.model import Object

from .context import Context
from .mutating import Outcome
from .recorder import EventType

__all__ = ["SyncContext", "ThreadContext", "run_in_thread"]

T = TypeVar("T", bound=Object)
V = TypeVar("V")


class SyncContext(ABC):
    """A Context for a `def` reconcile: the same calls, blocking.

    After a deadline or at shutdown every call raises `asyncio.CancelledError`: let it pass. The live client of a
    Context is not here, as its calls are awaited: a function that needs it is an `async def`.

    Attributes:
        namespace: of the object; empty for a cluster-scoped one.
        log: a logger that knows the object.
        attempt: 1, and one more for each failure since the last success.
        causes: why this reconcile happens, such as `added` or `updated Deployment web`; for people.
        deadline_at: when the reconcile is cancelled, in the event loop's time in seconds; None: never.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self.namespace = ctx.namespace
        self.log = ctx.log
        self.attempt = ctx.attempt
        self.causes = ctx.causes
        self.deadline_at = ctx.deadline_at

    if not TYPE_CHECKING:  # which is right to say that there is none

        @property
        def client(self) -> Any:
            raise AttributeError(
                "a SyncContext has no client, whose calls are awaited; declare the function `async def` for the live "
                "client, or use ctx.get, ctx.list, ctx.apply, ctx.patch, ctx.create and ctx.delete"
            )

    @abstractmethod
    def _wait(self, call: Coroutine[Any, Any, V]) -> V:
        """What the call returns or raises."""

    def now(self) -> datetime:
        return self._ctx.now()

    def event(
        self,
        type: EventType,  # noqa: A002 - the field's name
        reason: str,
        message: str,
        *,
        action: str = "Reconcile",
        related: Object | None = None,
    ) -> None:
        self._ctx.event(type, reason, message, action=action, related=related)

    def get(self, kind: type[T], name: str, *, namespace: str | None = None) -> T:
        return self._wait(self._ctx.get(kind, name, namespace=namespace))

    def find(self, kind: type[T], name: str, *, namespace: str | None = None) -> T | None:
        return self._wait(self._ctx.find(kind, name, namespace=namespace))

    def list(
        self,
        kind: type[T],
        *,
        namespace: str | None = None,
        all_namespaces: bool = False,
        labels: str | Mapping[str, str] | None = None,
        index: Mapping[Index[Any], str] | None = None,
        fields: str | Mapping[str, str] | None = None,
    ) -> Sequence[T]:
        asked = self._ctx.list(
            kind, namespace=namespace, all_namespaces=all_namespaces, labels=labels, index=index, fields=fields
        )
        return self._wait(asked)

    def owned(self, kind: type[T]) -> Sequence[T]:
        return self._wait(self._ctx.owned(kind))

    def apply(self, child: T, *, owned: bool = True) -> T:
        return self._wait(self._ctx.apply(child, owned=owned))

    def patch(self, obj: T, patch: Patch, *, subresource: str | None = None) -> T:
        return self._wait(self._ctx.patch(obj, patch, subresource=subresource))

    def create(self, obj: T, *, owned: bool = True) -> T:
        return self._wait(self._ctx.create(obj, owned=owned))

    def create_or_patch(self, obj: T, mutate: Callable[[T], object], *, owned: bool = True) -> tuple[T, Outcome]:
        return self._wait(self._ctx.create_or_patch(obj, mutate, owned=owned))

    def delete(self, obj: Object) -> bool:
        return self._wait(self._ctx.delete(obj))


class ThreadContext(SyncContext):
    """A SyncContext for one thread beside the event loop `loop`."""

    def __init__(self, ctx: Context, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(ctx)
        self._loop = loop
        self._lock = threading.Lock()
        self._cancelled = False
        self._waiting: concurrent.futures.Future[Any] | None = None

    def run(self, function: Callable[[Any, SyncContext], V], obj: object) -> V:
        """In the thread: call the function, unless it was cancelled while it waited for a free thread."""
        with self._lock:
            if self._cancelled:
                raise asyncio.CancelledError
        return function(obj, self)

    def cancel(self) -> None:
        """From the event loop: the call in progress, and every later one, raises `CancelledError` in the thread."""
        with self._lock:
            self._cancelled = True
            if self._waiting is not None:
                self._waiting.cancel()

    def event(
        self,
        type: EventType,  # noqa: A002
        reason: str,
        message: str,
        *,
        action: str = "Reconcile",
        related: Object | None = None,
    ) -> None:
        record = partial(super().event, type, reason, message, action=action, related=related)
        self._loop.call_soon_threadsafe(record)

    def _wait(self, call: Coroutine[Any, Any, V]) -> V:
        if _is_running(self._loop):
            call.close()
            raise RuntimeError(
                "a SyncContext blocks, and this is the thread of the event loop, which would wait for itself; "
                "declare the function `async def` and await the calls"
            )
        with self._lock:
            if self._cancelled:
                call.close()
                raise asyncio.CancelledError
            self._waiting = waiting = asyncio.run_coroutine_threadsafe(call, self._loop)
        try:
            return waiting.result()
        except concurrent.futures.CancelledError:
            raise asyncio.CancelledError from None


async def run_in_thread(
    function: Callable[[Any, SyncContext], Any], obj: object, ctx: Context, executor: Executor | None
) -> Any:
    """Call a `def` function in a thread of `executor`; what it returns or raises. Ends when the thread has ended."""
    loop = asyncio.get_running_loop()
    blocking = ThreadContext(ctx, loop)
    thread = loop.run_in_executor(executor, blocking.run, function, obj)
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        blocking.cancel()
        while not thread.done():
            try:
                await asyncio.wait([thread])
            except asyncio.CancelledError:
                continue
        if not thread.cancelled():
            thread.exception()
        raise


def _is_running(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
