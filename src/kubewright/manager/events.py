"""Sends the Events of an operator: one task behind the rules of `kubewright.observe.events`.

Owns the requests and what their answers mean. Whatever happens to them, no reconcile notices: a record is put into a
bounded log and that is all.

    answer                                          the Event
    2xx, or 409 AlreadyExists to a create           is written
    404 to a count                                  is created anew: the server has forgotten it
    429, 5xx, no answer                             is tried again in 10 s, 12 times in all
    403 because the namespace is being deleted      is dropped, silently: that is how namespaces end
    anything else                                   is dropped; the first of each kind is a warning in the log
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any
from urllib.parse import quote

from kubewright.client import AlreadyExists, ApiError, Client, ConfigError, NotFound, TransportError
from kubewright.model import Object, info_of
from kubewright.observe.events import EventLog, Outcome, Record, Subject, Write
from kubewright.observe.instruments import EventMetrics

__all__ = ["EventRecorder", "subject_of"]

logger = logging.getLogger(__name__)

_REQUEST_SECONDS = 10.0
_JSON = (("accept", "application/json"), ("content-type", "application/json"))
_MERGE_PATCH = (("accept", "application/json"), ("content-type", "application/merge-patch+json"))
_NOT_OF_A_QUALIFIED_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


class EventRecorder:
    """Records events and sends them.

    Expected flow: `run` in a task; `event` from the same loop, before that too; `stop` last.

    Guarantees: R1 `event` and `record` neither wait nor raise, whatever becomes of the requests. R2 at most 1000 Events
    wait. R3 after `stop` has returned nothing is sent any more.
    Cancellation: a cancelled `run` sends nothing more.

    Args:
        name: of the operator; the Events' reporting controller.
        metrics: where to count; nowhere by default.
        clock: the time of day.
    """

    def __init__(
        self,
        client: Client,
        *,
        name: str,
        metrics: EventMetrics | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        random: Random | None = None,
    ) -> None:
        reporter = _NOT_OF_A_QUALIFIED_NAME.sub("-", name)[:63].strip("-_.") or "kubewright"
        self._client = client
        self._query = {"fieldManager": reporter}
        self._log = EventLog(reporter, f"{reporter}-{socket.gethostname()}", metrics=metrics, random=random)
        self._clock = clock
        self._changed = asyncio.Event()
        self._stopping = False
        self._ended = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._told: set[tuple[object, ...]] = set()

    def event(
        self,
        about: Object,
        type: str,  # noqa: A002 - the field's name
        reason: str,
        message: str,
        *,
        action: str = "Reconcile",
        related: Object | None = None,
    ) -> None:
        """Something happened to an object. See `Context.event`."""
        self.record(
            subject_of(about),
            type,
            reason,
            message,
            action=action,
            related=None if related is None else subject_of(related),
        )

    def record(
        self,
        about: Subject,
        type: str,  # noqa: A002
        reason: str,
        message: str,
        *,
        action: str,
        related: Subject | None = None,
    ) -> None:
        """As `event`, about an object that is known by its name."""
        record = Record(about, type, reason, action, message, related)
        if not self._log.record(record, asyncio.get_running_loop().time(), self._clock()):
            self._tell_once(
                ("invalid", type, reason, action),
                f"event(type={type!r}, reason={reason!r}, action={action!r}): dropped: the type must be Normal or "
                "Warning, and there must be a reason and an action",
            )
        self._changed.set()

    async def run(self) -> None:
        """Send until `stop`, or until cancelled."""
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        try:
            while True:
                write = self._log.take()
                if write is not None:
                    self._log.settled(await self._send(write), loop.time())
                elif self._stopping:
                    return
                else:
                    await self._wait(loop)
                    self._log.timer(loop.time())
        finally:
            self._ended.set()

    async def stop(self, within_seconds: float = 2.0) -> None:
        """Send what is left, for a while, and end `run`."""
        self._stopping = True
        self._log.finish()
        self._changed.set()
        if self._task is None:
            return
        try:
            async with asyncio.timeout(within_seconds):
                await self._ended.wait()
        except TimeoutError:
            self._task.cancel()
            await self._ended.wait()

    async def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        self._changed.clear()
        try:
            async with asyncio.timeout_at(self._log.wake_at):
                await self._changed.wait()
        except TimeoutError:
            pass

    async def _send(self, write: Write) -> Outcome:
        path = f"/apis/events.k8s.io/v1/namespaces/{quote(write.namespace)}/events"
        try:
            if write.create:
                await self._request("POST", path, _JSON, write.body)
            else:
                await self._request("PATCH", f"{path}/{quote(write.name)}", _MERGE_PATCH, write.body)
        except NotFound:
            return Outcome.MISSING
        except AlreadyExists:
            return Outcome.WRITTEN  # by a try whose answer was lost
        except TransportError as error:
            logger.debug("event %s/%s: %s", write.namespace, write.name, error)
            return Outcome.AGAIN
        except ApiError as error:
            if error.code == 429 or error.code >= 500:
                logger.debug("event %s/%s: %s", write.namespace, write.name, error)
                return Outcome.AGAIN
            if not error.has_cause("NamespaceTerminating"):
                self._tell_once((error.code, error.reason), f"events cannot be written, and are dropped: {error}")
            return Outcome.REFUSED
        except ConfigError as error:
            self._tell_once((type(error),), f"events cannot be written: {error}")
            return Outcome.AGAIN
        except Exception:
            # A mistake of ours must not end all events of this operator.
            logger.exception("event %s/%s: dropped", write.namespace, write.name)
            return Outcome.REFUSED
        return Outcome.WRITTEN

    async def _request(self, method: str, path: str, headers: tuple[tuple[str, str], ...], body: Any) -> None:
        await self._client.raw(
            method, path, query=self._query, headers=headers, body=body, timeout_seconds=_REQUEST_SECONDS
        )

    def _tell_once(self, what: tuple[object, ...], text: str) -> None:
        if what not in self._told and len(self._told) < 100:
            self._told.add(what)
            logger.warning("%s", text)


def subject_of(obj: Object) -> Subject:
    """What an Event says of the object that it is about."""
    gvk, meta = info_of(type(obj)).gvk, obj.metadata
    return Subject(gvk.api_version, gvk.kind, meta.namespace, meta.name, meta.uid, meta.resource_version)
