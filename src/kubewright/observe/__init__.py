"""What an operator tells about itself: numbers for Prometheus, and events for `kubectl describe`.

`Registry` with its counters, gauges and histograms; the formats they are read in; the families that Kubernetes'
operators have in common; and the rules by which events become Events. No I/O.
"""

__all__ = [
    "OPENMETRICS",
    "TEXT",
    "Collector",
    "Counter",
    "Distribution",
    "Family",
    "Format",
    "Gauge",
    "Histogram",
    "Metric",
    "Point",
    "Reading",
    "Registry",
    "negotiate",
    "process_metrics",
    "python_metrics",
]

from typing import TYPE_CHECKING

from kubewright._lazy import loading

from .metrics import Collector, Counter, Distribution, Family, Gauge, Histogram, Metric, Point, Reading, Registry
from .process import process_metrics, python_metrics

if TYPE_CHECKING:
    from .exposition import OPENMETRICS, TEXT, Format, negotiate

# For who is asked for its metrics.
__getattr__ = loading(__name__, {".exposition": ("OPENMETRICS", "TEXT", "Format", "negotiate")})
