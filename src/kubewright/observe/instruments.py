"""The metrics of an operator, under the names that Kubernetes has for them.

Owns names, labels, help texts and buckets. Each class is what one part of an operator holds on to: it makes its
children once, all of them, so that each counter is there from the start, at 0 (an alert on `rate()` sees the first
error only if there was a 0 before). What happened is for the part to say; nothing here knows queues or requests.

    class              held by                       metrics
    RequestMetrics     the HTTP client               rest_client_*                   (client-go's)
    WorkQueueMetrics   a work queue                  workqueue_*                     (client-go's)
    ReconcileMetrics   a controller                  controller_runtime_*            (controller-runtime's)
    LeaderMetrics      leader election               leader_election_*               (client-go's)
    CertificateMetrics a server's certificate        certwatcher_*                   (controller-runtime's)
    CacheMetrics       the informers                 kubewright_cache_*              (ours: neither of them has any)
    EventMetrics       the recorder of events        kubewright_events_*             (ours)

Names, labels and buckets of theirs are exact: dashboards and alerts made for Go operators work.
"""

from __future__ import annotations

from collections.abc import Callable

from .metrics import Counter, Histogram, Registry

__all__ = [
    "CacheMetrics",
    "CertificateMetrics",
    "EventMetrics",
    "LeaderMetrics",
    "ReconcileMetrics",
    "RequestMetrics",
    "Watched",
    "WorkQueueMetrics",
]

# controller-runtime, pkg/internal/controller/metrics
_RECONCILE_SECONDS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9),
    *(1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60),
)
# controller-runtime, pkg/metrics/client_go_adapter.go
_REQUEST_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_REQUEST_BYTES = (64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)


def _exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """As Go's ExponentialBuckets, which multiplies step by step: the rounding errors are part of the label values."""
    bounds = []
    for _ in range(count):
        bounds.append(start)
        start *= factor
    return tuple(bounds)


_QUEUE_SECONDS = _exponential(10e-9, 10, 12)
_MOST_PRIORITIES = 25  # told apart in `workqueue_depth`; controller-runtime's limit, and its name for the others


class RequestMetrics:
    """Requests to one server, each try for itself.

    Args:
        host: with its port, as in the server's URL.
        detailed: times and sizes too, as controller-runtime's opt-in `RegisterRESTClientMetrics`; about 1 us a request.
    """

    def __init__(self, registry: Registry, host: str, *, detailed: bool = False) -> None:
        self.registry = registry
        self.host = host
        self.detailed = detailed
        self._requests = registry.counter(
            "rest_client_requests_total",
            "Requests to the API server, each try, by the status code of its answer (<error>: there was none).",
            ("code", "method", "host"),
        )
        self._answered: dict[tuple[int, str], Counter] = {}
        if not detailed:
            return
        self._retries = registry.counter(
            "rest_client_request_retries_total",
            "Requests that were sent again, by the status code of the answer before (<error>: there was none).",
            ("code", "verb", "host"),
        )
        self._request_seconds = registry.histogram(
            "rest_client_request_duration_seconds",
            "Seconds from the start of a request to the end of its answer, retries included.",
            ("verb", "host"),
            buckets=_REQUEST_SECONDS,
        )
        self._lookup_seconds = registry.histogram(
            "rest_client_dns_resolution_duration_seconds",
            "Seconds that it took to resolve a host name.",
            ("host",),
            buckets=_REQUEST_SECONDS,
        )
        self._request_bytes = registry.histogram(
            "rest_client_request_size_bytes",
            "Bytes in the body of a request.",
            ("verb", "host"),
            buckets=_REQUEST_BYTES,
        )
        self._response_bytes = registry.histogram(
            "rest_client_response_size_bytes",
            "Bytes in the body of an answer, decompressed.",
            ("verb", "host"),
            buckets=_REQUEST_BYTES,
        )
        self._by_verb: dict[str, tuple[Histogram, Histogram, Histogram]] = {}

    def answered(self, method: str, code: int) -> None:
        """One try has ended: with a status code, or 0 for no answer (`<error>`)."""
        counter = self._answered.get((code, method))
        if counter is None:
            counter = self._requests.labels(str(code) if code else "<error>", method, self.host)
            self._answered[code, method] = counter
        counter.value += 1.0

    def retried(self, method: str, code: int) -> None:
        """A request is sent again, after an answer with that code, or 0 for none."""
        if self.detailed:
            self._retries.labels(str(code) if code else "<error>", method, self.host).inc()

    def ended(self, method: str, seconds: float, request_bytes: int, response_bytes: int | None) -> None:
        """A request has ended, retries included, after so long; with a body, if there was one. Only for `detailed`."""
        of_verb = self._by_verb.get(method)
        if of_verb is None:
            of_verb = self._by_verb[method] = (
                self._request_seconds.labels(method, self.host),
                self._request_bytes.labels(method, self.host),
                self._response_bytes.labels(method, self.host),
            )
        of_verb[0].observe(seconds)
        of_verb[1].observe(request_bytes)
        if response_bytes is not None:
            of_verb[2].observe(response_bytes)

    def looked_up(self, host: str, seconds: float) -> None:
        """A host name was resolved."""
        if self.detailed:
            self._lookup_seconds.labels(host).observe(seconds)


class WorkQueueMetrics:
    """One work queue: the hooks of `kubewright.queue.QueueMetrics`, each a bound method of the child itself."""

    def __init__(self, registry: Registry, name: str) -> None:
        at = ("name", "controller")
        self._name = name
        self._depth = registry.gauge("workqueue_depth", "Keys that wait for a run.", (*at, "priority"))
        self._priorities = 0
        self._beyond: list[Callable[[], int]] = []
        self.added = (
            registry.counter("workqueue_adds_total", "Adds of keys that did not wait already.", at)
            .labels(name, name)
            .inc
        )
        self.retried = (
            registry.counter(
                "workqueue_retries_total", "Adds with a delay: after a failure, or asked for by the reconcile.", at
            )
            .labels(name, name)
            .inc
        )
        self.queued_for = (
            registry.histogram(
                "workqueue_queue_duration_seconds",
                "Seconds from the first add of a key to the start of its run.",
                at,
                buckets=_QUEUE_SECONDS,
            )
            .labels(name, name)
            .observe
        )
        self.worked_for = (
            registry.histogram(
                "workqueue_work_duration_seconds",
                "Seconds that a run of a key took.",
                at,
                buckets=_QUEUE_SECONDS,
            )
            .labels(name, name)
            .observe
        )
        self._unfinished = registry.gauge(
            "workqueue_unfinished_work_seconds",
            "Seconds that all runs under way have taken so far, together: a run that hangs adds a second a second.",
            at,
        )
        self._longest = registry.gauge(
            "workqueue_longest_running_processor_seconds",
            "Seconds that the longest run under way has taken so far.",
            at,
        )

    def depth(self, priority: int, keys: Callable[[], int]) -> None:
        """Ask how many keys of a priority wait, whenever somebody looks."""
        self._priorities += 1
        if self._priorities <= _MOST_PRIORITIES:
            self._depth.read(keys, self._name, self._name, str(priority))
            return
        self._beyond.append(keys)
        if len(self._beyond) == 1:
            beyond = self._beyond
            self._depth.read(
                lambda: sum(each() for each in beyond), self._name, self._name, "exceeded_cardinality_limit"
            )

    def read(self, unfinished_seconds: Callable[[], float], longest_seconds: Callable[[], float]) -> None:
        """Ask these two whenever somebody looks: what is under way grows while nobody calls."""
        self._unfinished.read(unfinished_seconds, self._name, self._name)
        self._longest.read(longest_seconds, self._name, self._name)


class ReconcileMetrics:
    """One controller and its queue.

    Attributes: `queue`, its work queue's; `active`, the workers at work; `seconds`, how long reconciles took; the
    `controller_runtime_reconcile_total` by result: `success`, `error`, `requeue` and `requeue_after`; and, each counted
    beside `error`: `errors`, `terminal_errors`, `panics` and `timeouts`; `hot_loops`, `blocked_seconds`.
    """

    def __init__(self, registry: Registry, controller: str, *, workers: int) -> None:
        self.queue = WorkQueueMetrics(registry, controller)
        total = registry.counter(
            "controller_runtime_reconcile_total",
            "Reconciles that have ended, by outcome.",
            ("controller", "result"),
        )
        self.success, self.error, self.requeue, self.requeue_after = (
            total.labels(controller, result) for result in ("success", "error", "requeue", "requeue_after")
        )
        self.errors, self.terminal_errors, self.panics, self.timeouts = (
            registry.counter(f"controller_runtime_{name}_total", what, ("controller",)).labels(controller)
            for name, what in (
                ("reconcile_errors", "Reconciles that failed, the terminal ones included."),
                ("terminal_reconcile_errors", "Reconciles that failed and are not tried again."),
                (
                    "reconcile_panics",
                    "Reconciles that failed by a mistake in the program (TypeError, KeyError and their like).",
                ),
                ("reconcile_timeouts", "Reconciles that were cancelled at the controller's own deadline."),
            )
        )
        self.seconds = registry.histogram(
            "controller_runtime_reconcile_time_seconds",
            "Seconds that a reconcile took, whatever its outcome.",
            ("controller",),
            buckets=_RECONCILE_SECONDS,
        ).labels(controller)
        self.active = registry.gauge(
            "controller_runtime_active_workers", "Workers that reconcile right now.", ("controller",)
        ).labels(controller)
        self.hot_loops = registry.counter(
            "kubewright_controller_hot_loops_total",
            "Times that an object was found to be reconciled in a hot loop, and slowed (more).",
            ("controller",),
        ).labels(controller)
        self.blocked_seconds = registry.counter(
            "kubewright_controller_blocked_seconds_total",
            "Seconds for which reconciles have blocked the event loop, where they did for half a second and longer.",
            ("controller",),
        ).labels(controller)
        self._slowed = registry.gauge(
            "kubewright_controller_slowed_objects",
            "Objects that are slowed as they are in a hot loop.",
            ("controller",),
        )
        self._controller = controller
        registry.gauge(
            "controller_runtime_max_concurrent_reconciles",
            "Workers that there are.",
            ("controller",),
        ).labels(controller).set(workers)

    def slowed(self, objects: Callable[[], int]) -> None:
        """Ask how many objects are slowed, whenever somebody looks."""
        self._slowed.read(objects, self._controller)


class LeaderMetrics:
    """One lease that is campaigned for."""

    def __init__(self, registry: Registry, name: str) -> None:
        self._status = registry.gauge(
            "leader_election_master_status",
            "Whether this process holds the lease of that name (1) or not (0).",
            ("name",),
        ).labels(name)
        self.slow_paths = registry.counter(
            "leader_election_slowpath_total",
            "Renewals of the lease of that name that had to read it first: somebody else had touched it.",
            ("name",),
        ).labels(name)

    def leads(self, leads: bool) -> None:
        """Whether this process holds the lease, from now on; not, before the first call."""
        self._status.set(1.0 if leads else 0.0)


class CertificateMetrics:
    """Certificates that are read from files, all servers of a manager together."""

    def __init__(self, registry: Registry) -> None:
        self.reads = registry.counter(
            "certwatcher_read_certificate_total", "Reads of a certificate and its key from their files."
        ).labels()
        self.errors = registry.counter(
            "certwatcher_read_certificate_errors_total",
            "Reads of a certificate and its key that failed; the one before stays in use.",
        ).labels()


class Watched:
    """What is counted of one kind in the cache. `lists` and `watches` are requests that the server accepted, `restarts`
    watches that followed another."""

    __slots__ = ("lists", "restarts", "watches")

    def __init__(self, lists: Counter, watches: Counter, restarts: Counter) -> None:
        self.lists = lists
        self.watches = watches
        self.restarts = restarts


class CacheMetrics:
    """The kinds in the cache, by resource and group (`deployments.apps`)."""

    def __init__(self, registry: Registry) -> None:
        at = ("resource",)
        self._objects = registry.gauge("kubewright_cache_objects", "Objects of a kind in the cache.", at)
        self._bytes = registry.gauge(
            "kubewright_cache_bytes", "Size of the objects of a kind in the cache, as JSON without managedFields.", at
        )
        self._synced = registry.gauge(
            "kubewright_cache_synced", "Whether the first list of a kind has come (1) or not yet (0).", at
        )
        self._silence = registry.gauge(
            "kubewright_cache_last_event_age_seconds",
            "Seconds since the API server last sent anything about a kind: an event, a bookmark, a list, or that it "
            "accepts a watch. It stays below some 10 minutes; above that the cache may be out of date.",
            at,
        )
        self._unreadable = registry.gauge(
            "kubewright_cache_unreadable_objects",
            "Objects of a kind whose last state could not be decoded; the cache has the state before it.",
            at,
        )
        self._lists = registry.counter("kubewright_cache_lists_total", "Lists of a kind, by page.", at)
        self._watches = registry.counter("kubewright_cache_watches_total", "Watches of a kind that were opened.", at)
        self._restarts = registry.counter(
            "kubewright_cache_watch_restarts_total",
            "Watches of a kind that were asked for after an earlier one had ended, well or not.",
            at,
        )

    def watch(
        self,
        resource: str,
        *,
        objects: Callable[[], int],
        size_bytes: Callable[[], int],
        synced: Callable[[], bool],
        silence_seconds: Callable[[], float],
        unreadable: Callable[[], int],
    ) -> Watched:
        """One more kind. The functions are called whenever somebody looks."""
        self._objects.read(objects, resource)
        self._bytes.read(size_bytes, resource)
        self._synced.read(synced, resource)
        self._silence.read(silence_seconds, resource)
        self._unreadable.read(unreadable, resource)
        return Watched(*(family.labels(resource) for family in (self._lists, self._watches, self._restarts)))


class EventMetrics:
    """What became of events: the Events of Kubernetes, which users see with `kubectl describe`."""

    def __init__(self, registry: Registry) -> None:
        self.recorded = registry.counter("kubewright_events_recorded_total", "Events that were recorded.").labels()
        self.sent = registry.counter(
            "kubewright_events_sent_total", "Requests that created an Event or counted in one."
        ).labels()
        dropped = registry.counter(
            "kubewright_events_dropped_total",
            "Events that nobody will see: the queue was full (queue), the object has too many (spam), the server "
            "refused (refused), or the event was none (invalid).",
            ("why",),
        )
        self.queue_full, self.spam, self.refused, self.invalid = (
            dropped.labels(why) for why in ("queue", "spam", "refused", "invalid")
        )
