"""Which Events are written for what an operator records, and when: series, limits, names. No I/O, no clock.

Owns the rules between "this happened to that object", said perhaps ten thousand times, and the few requests that tell
the API server. A shell takes writes, sends them one after the other and says what became of each. The API is
events.k8s.io/v1 (https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/).

    record      seen in the last 6 minutes, same in all: counts into that Event's series
                new: one more Event, if the object has a token (25, one more every 5 minutes)
                new, no token: counts into the newest Event that differs only in its note, or is dropped
    take        the oldest Event that is to be created, or whose count has doubled since it was written
    settled     written; or once more in 10 s, at most 12 times; or refused for good
    timer       6 minutes without a repetition: the last count is written, and the Event is over

So each record costs at most one request, n repetitions cost log2(n), and a wait that repeats for hours is written again
every half hour at least (the API server forgets an Event an hour after its last write).

client-go's recorder (tools/events) differs where it loses something: there the note is no part of what makes two
records equal, so that of different notes only the first is ever seen (the API allows no change of it); but the version
of the object is, so that every status write begins a new Event; and counts between the second and the end of a series
show only every 30 minutes. The token bucket is that of the older recorder (tools/record).
"""

from __future__ import annotations

import heapq
import re
from collections import OrderedDict, deque
from datetime import UTC, datetime
from enum import Enum
from random import Random
from typing import Any, Final

from msgspec import Struct

from .instruments import EventMetrics
from .metrics import Registry

__all__ = ["EventLog", "Outcome", "Record", "Subject", "Write", "event_name", "fit"]

MOST_QUEUED: Final = 1000
MOST_SERIES: Final = 4096
MOST_TRIES: Final = 12
MOST_NOTE_BYTES: Final = 1024
MOST_WORD_BYTES: Final = 128  # reason, action, reportingInstance
BURST: Final = 25
REFILL_SECONDS: Final = 300.0
QUIET_SECONDS: Final = 360.0
REFRESH_SECONDS: Final = 1800.0
RETRY_SECONDS: Final = 10.0
RETRY_JITTER: Final = 0.25
TYPES: Final = ("Normal", "Warning")

_MOST_NAME_CHARS = 253
_NOT_OF_A_NAME = re.compile(r"[^a-z0-9.-]+")


class Subject(Struct, frozen=True):
    """The object that an Event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str = ""
    resource_version: str = ""

    def reference(self) -> dict[str, str]:
        """As an ObjectReference; what is empty is left out."""
        fields = {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
            "resourceVersion": self.resource_version,
        }
        return {name: value for name, value in fields.items() if value}


class Record(Struct, frozen=True):
    """Something that happened. `type` is Normal or Warning, `reason` a word in CamelCase, `action` what was done."""

    regarding: Subject
    type: str
    reason: str
    action: str
    note: str
    related: Subject | None = None


class Write(Struct, frozen=True):
    """One request: create `body`, or merge it into the Event of that name."""

    namespace: str
    name: str
    create: bool
    body: dict[str, Any]


class Outcome(Enum):
    """What became of a write: it was `WRITTEN`; the Event is `MISSING`, so that it cannot be counted in; try `AGAIN`
    later; or `REFUSED`, now and always."""

    WRITTEN = "written"
    MISSING = "missing"
    AGAIN = "again"
    REFUSED = "refused"


_Who = tuple[str, ...]
_Key = tuple[object, ...]


class _Series:
    """One Event, from its first record until it has been quiet."""

    __slots__ = (
        "counted",
        "first_at",
        "is_queued",
        "key",
        "last_at",
        "name",
        "over",
        "record",
        "refresh_at",
        "seen_at",
        "tries",
        "written",
    )

    def __init__(self, key: _Key, record: Record, name: str, now: float, wall: datetime) -> None:
        self.key = key
        self.record = record
        self.name = name
        self.first_at = self.last_at = wall
        self.seen_at = now
        self.counted = 1
        self.written = 0  # of `counted`, what the server knows; 0: there is no Event yet
        self.refresh_at = now
        self.tries = 0
        self.is_queued = False  # in the queue, under way, or waiting for its next try
        self.over = False


class _Tokens:
    __slots__ = ("at", "left")

    def __init__(self, now: float) -> None:
        self.left = float(BURST)
        self.at = now


class EventLog:
    """The Events of one operator.

    Expected flow: `record` when something happens; meanwhile, in one task: `take` a write, send it, `settled`; when
    there is none, wait for a record or until `wake_at`, and call `timer`.

    Guarantees:
        V1 `record` never raises for what it is told, and takes microseconds.
        V2 At most 1000 Events wait to be written; the oldest gives way. Memory is bounded.
        V3 What is not written is counted, by its reason.
        V4 One write is under way at a time for an Event.

    Args:
        reporter: the operator; part of each Event.
        instance: of the operator: its name and host, say.
        metrics: where to count; its own by default.
    """

    def __init__(
        self, reporter: str, instance: str, *, metrics: EventMetrics | None = None, random: Random | None = None
    ) -> None:
        self._reporter = reporter
        self._instance = fit(instance, MOST_WORD_BYTES)
        self._metrics = metrics if metrics is not None else EventMetrics(Registry())
        self._random = random or Random()  # noqa: S311 - jitter
        self._series: OrderedDict[_Key, _Series] = OrderedDict()  # the longest quiet first
        self._newest: dict[_Key, _Series] = {}  # by key without the note
        self._tokens: OrderedDict[_Who, _Tokens] = OrderedDict()
        self._queue: deque[_Series] = deque()
        self._later: list[tuple[float, int, _Series]] = []
        self._under_way: _Series | None = None
        self._sent = 0  # of the series under way
        self._stamp = 0

    @property
    def queued(self) -> int:
        """Events that could be written now."""
        return len(self._queue)

    @property
    def wake_at(self) -> float | None:
        """When to call `timer`; None: when there has been a record."""
        times = [self._later[0][0]] if self._later else []
        if self._series:
            times.append(next(iter(self._series.values())).seen_at + QUIET_SECONDS)
        return min(times, default=None)

    # What happens

    def record(self, record: Record, now: float, wall: datetime) -> bool:
        """Something happened. `now` is in seconds, on a steady clock; `wall` is the time of day.

        False when it is no Event: its type is neither Normal nor Warning, or its reason or action is empty.
        """
        self._metrics.recorded.inc()
        if record.type not in TYPES or not record.reason or not record.action:
            self._metrics.invalid.inc()
            return False
        regarding = record.regarding
        who = (regarding.api_version, regarding.kind, regarding.namespace, regarding.name, regarding.uid)
        topic = (who, record.type, record.reason, record.action, record.related)
        key = (topic, record.note)
        series = self._series.get(key)
        if series is None:
            if not self._take_token(who, now):
                series = self._newest.get(topic)
                if series is None:
                    self._metrics.spam.inc()
                    return True
            else:
                self._begin(key, topic, record, now, wall)
                return True
        series.counted += 1
        series.seen_at = now
        series.last_at = wall
        self._series.move_to_end(series.key)
        if series.counted >= 2 * series.written or now >= series.refresh_at:
            self._put(series)
        return True

    def _begin(self, key: _Key, topic: _Key, record: Record, now: float, wall: datetime) -> None:
        self._stamp = max(self._stamp + 1, int(wall.timestamp() * 1_000_000) * 1000)
        series = _Series(key, record, event_name(record.regarding.name, self._stamp), now, wall)
        self._series[key] = self._newest[topic] = series
        if len(self._series) > MOST_SERIES:
            self._finish(next(iter(self._series.values())))
        self._put(series)

    def _take_token(self, who: _Who, now: float) -> bool:
        tokens = self._tokens.get(who)
        if tokens is None:
            tokens = self._tokens[who] = _Tokens(now)
            if len(self._tokens) > MOST_SERIES:
                self._tokens.popitem(last=False)
        else:
            self._tokens.move_to_end(who)
        tokens.left = min(tokens.left + (now - tokens.at) / REFILL_SECONDS, BURST)
        tokens.at = now
        if tokens.left < 1:
            return False
        tokens.left -= 1
        return True

    def _put(self, series: _Series) -> None:
        if series.is_queued:
            return
        series.is_queued = True
        self._queue.append(series)
        if len(self._queue) > MOST_QUEUED:
            self._drop(self._queue.popleft())
            self._metrics.queue_full.inc()

    def _drop(self, series: _Series) -> None:
        if self._series.get(series.key) is series:
            del self._series[series.key]
        if self._newest.get(topic := _topic(series)) is series:
            del self._newest[topic]

    def _finish(self, series: _Series) -> None:
        """Nothing counts into this series any more. What is not written yet still will be."""
        self._drop(series)
        series.over = True
        if series.counted > series.written:
            self._put(series)

    # What is written

    def take(self) -> Write | None:
        """The next write, which is then under way; None when there is none, or one is under way."""
        if self._under_way is not None or not self._queue:
            return None
        series = self._under_way = self._queue.popleft()
        self._sent = series.counted
        record = series.record
        namespace = record.regarding.namespace or "default"
        body: dict[str, Any] = {}
        if series.counted > 1:
            body["series"] = {"count": series.counted, "lastObservedTime": _micro_time(series.last_at)}
        if series.written:
            return Write(namespace, series.name, False, body)
        body |= {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": series.name, "namespace": namespace},
            "eventTime": _micro_time(series.first_at),
            "reportingController": self._reporter,
            "reportingInstance": self._instance,
            "type": record.type,
            "reason": fit(record.reason, MOST_WORD_BYTES),
            "action": fit(record.action, MOST_WORD_BYTES),
            "note": fit(record.note, MOST_NOTE_BYTES),
            "regarding": record.regarding.reference(),
        }
        if record.related is not None:
            body["related"] = record.related.reference()
        return Write(namespace, series.name, True, body)

    def settled(self, outcome: Outcome, now: float) -> None:
        """What became of the write that is under way."""
        series, self._under_way = self._under_way, None
        if series is None:
            return
        if outcome is Outcome.AGAIN:
            series.tries += 1
            if series.tries < MOST_TRIES:
                self._stamp += 1
                again_at = now + RETRY_SECONDS * (1 + RETRY_JITTER * self._random.random())
                heapq.heappush(self._later, (again_at, self._stamp, series))
                return
            outcome = Outcome.REFUSED
        if outcome is Outcome.MISSING and not series.written:
            outcome = Outcome.REFUSED  # where it was to be created, there is no place
        series.is_queued = False
        series.tries = 0
        if outcome is Outcome.REFUSED:
            self._metrics.refused.inc()
            self._drop(series)
        elif outcome is Outcome.MISSING:
            # It was forgotten or removed: it begins anew, under another name as that one may be on its way out.
            self._stamp += 1
            series.name = event_name(series.record.regarding.name, self._stamp)
            series.written = 0
            self._put(series)
        else:
            self._metrics.sent.inc()
            series.written = self._sent
            series.refresh_at = now + REFRESH_SECONDS
            if series.counted >= 2 * series.written or (series.over and series.counted > series.written):
                self._put(series)

    def timer(self, now: float) -> None:
        """`wake_at` has come (a call before it does nothing)."""
        while self._later and self._later[0][0] <= now:
            _, _, series = heapq.heappop(self._later)
            series.is_queued = False
            self._put(series)
        while self._series:
            series = next(iter(self._series.values()))
            if series.seen_at + QUIET_SECONDS > now:
                break
            self._finish(series)

    def finish(self) -> None:
        """The operator ends: all that is not written is to be written now, and nothing waits for a next try."""
        for _, _, series in self._later:
            series.is_queued = False
            self._put(series)
        self._later.clear()
        for series in list(self._series.values()):
            self._finish(series)


def _topic(series: _Series) -> _Key:
    topic = series.key[0]
    assert isinstance(topic, tuple)
    return topic


def fit(text: str, most_bytes: int) -> str:
    """`text`, or as much of it as fits, in whole characters, with `...` behind."""
    data = text.encode(errors="replace")
    if len(data) <= most_bytes:
        return data.decode()
    return data[: most_bytes - 3].decode(errors="ignore") + "..."


def event_name(name: str, stamp: int) -> str:
    """A name that is an RFC 1123 subdomain, whatever the object's is: `<name>.<stamp in hex>`."""
    suffix = f"{stamp:x}"
    base = _NOT_OF_A_NAME.sub("-", name.lower())[: _MOST_NAME_CHARS - len(suffix) - 1]
    # Each part between dots begins and ends with a letter or a digit.
    parts = [part.strip("-") for part in base.split(".")]
    return ".".join([*(part for part in parts if part), suffix])


def _micro_time(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
