"""What one manager tells about itself: its registry, its recorder of events, and who of its parts counts where.

Owns that all of them share one registry, so that one scrape shows one operator. It makes the parts' instruments; what
they count is theirs to say.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from kubewright.client import Client, ClientConfig
from kubewright.controller.describe import ControllerSpec
from kubewright.observe import Registry, process_metrics, python_metrics
from kubewright.observe.events import Subject
from kubewright.observe.instruments import CacheMetrics, EventMetrics, LeaderMetrics, ReconcileMetrics, RequestMetrics

from .events import EventRecorder

__all__ = ["Telemetry", "request_metrics"]


def request_metrics(registry: Registry, config: ClientConfig, *, detailed: bool = False) -> RequestMetrics:
    """What a client of that server counts in."""
    return RequestMetrics(registry, urlsplit(config.server).netloc.rpartition("@")[2], detailed=detailed)


class Telemetry:
    """The instruments of one manager.

    Attributes:
        registry: where all is counted.
        client: the client that was given, counting.
        events: sends what is recorded while its `run` runs.
        cache: for the informers.

    Args:
        name: of the operator.
        registry: the program's own, to show its metrics on the same page; a new one by default.
    """

    def __init__(self, client: Client, *, name: str, registry: Registry | None = None) -> None:
        self.registry: Registry = registry if registry is not None else Registry()
        self.registry.register(process_metrics)
        self.registry.register(python_metrics)
        counts = client.http.metrics
        if counts is None or counts.registry is not self.registry:
            counts = request_metrics(self.registry, client.http.config)
            client = client.observed(counts)
        self._requests = counts
        self.client = client
        self.events = EventRecorder(client, name=name, metrics=EventMetrics(self.registry))
        self.cache = CacheMetrics(self.registry)

    def counting(self, client: Client) -> Client:
        """Another client of the same server, counting too."""
        return client.observed(self._requests)

    def of_controller(self, spec: ControllerSpec) -> ReconcileMetrics:
        """For one controller and its queue."""
        return ReconcileMetrics(self.registry, spec.name, workers=spec.workers)

    def of_election(self, name: str, namespace: str) -> ElectionTelemetry:
        """For the election of a Lease."""
        lease = Subject("coordination.k8s.io/v1", "Lease", namespace, name)
        return ElectionTelemetry(LeaderMetrics(self.registry, name), self.events, lease)


class ElectionTelemetry:
    """An `ElectionObserver`: whether we lead is a metric, changes are Events about the Lease; client-go has both."""

    def __init__(self, metrics: LeaderMetrics, events: EventRecorder, lease: Subject) -> None:
        self._metrics = metrics
        self._events = events
        self._lease = lease

    def started_leading(self, transitions: int) -> None:
        self._metrics.leads(True)

    def stopped_leading(self) -> None:
        self._metrics.leads(False)

    def slow_path(self) -> None:
        """Counted, as client-go means to: it defines the metric, and controller-runtime registers it nowhere."""
        self._metrics.slow_paths.inc()

    def new_leader(self, identity: str) -> None:
        """Told by `event` too."""

    def event(self, message: str) -> None:
        self._events.record(self._lease, "Normal", "LeaderElection", message, action="LeaderElection")
