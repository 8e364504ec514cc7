"""A registry of ours inside a registry of prometheus_client, for programs that serve that one.

prometheus_client is optional (the `metrics` extra) and loaded when this is used:

    from prometheus_client import REGISTRY
    export(manager.metrics, into=REGISTRY)

The `process_*` and `python_*` families are left out: prometheus_client has collectors of its own for them, under the
same names.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from .exposition import number
from .metrics import Distribution, Metric, Registry

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric as ClientMetric

__all__ = ["PrometheusCollector", "export"]

_STANDARD = ("process_", "python_")


class PrometheusCollector:
    """A custom collector of prometheus_client that shows what is in a registry of ours."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def describe(self) -> Iterator[ClientMetric]:
        """Nothing: which families there are may change, so a clash of names shows when they are read."""
        return iter(())

    def collect(self) -> Iterator[ClientMetric]:
        for metric in self._registry.collect():
            if not metric.name.startswith(_STANDARD):
                yield _converted(metric)


def export(registry: Registry, *, into: CollectorRegistry) -> PrometheusCollector:
    """Show `registry` in `into`; `into.unregister(...)` what is returned to end that.

    Raises:
        ImportError: prometheus_client is not installed.
    """
    try:
        import prometheus_client  # noqa: F401
    except ImportError:
        raise ImportError("prometheus_client is not installed; pip install 'kubewright[metrics]'") from None
    collector = PrometheusCollector(registry)
    into.register(collector)
    return collector


def _converted(metric: Metric) -> ClientMetric:
    from prometheus_client.metrics_core import Metric as ClientMetric

    name = metric.name.removesuffix("_total") if metric.kind == "counter" else metric.name
    made = ClientMetric(name, metric.help, metric.kind)
    for point in metric.points:
        labels = dict(point.labels)
        if not isinstance(point, Distribution):
            made.add_sample(metric.name, labels, point.value)
            continue
        total = 0
        for bound, total in zip((*point.bounds, float("inf")), accumulate(point.counts), strict=True):
            made.add_sample(f"{metric.name}_bucket", {**labels, "le": number(bound)}, total)
        made.add_sample(f"{metric.name}_count", labels, total)
        made.add_sample(f"{metric.name}_sum", labels, point.sum)
    return made
