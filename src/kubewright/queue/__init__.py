"""Keys that need work: deduplicated, one worker per key, backed off per key.

`WorkQueue` is the queue on an event loop; `QueueState` has its rules as a pure data structure.
"""

__all__ = [
    "ExponentialBackoff",
    "Item",
    "NoMetrics",
    "QueueMetrics",
    "QueueState",
    "RateLimiter",
    "WorkQueue",
]

from .metrics import NoMetrics, QueueMetrics
from .ratelimit import ExponentialBackoff, RateLimiter
from .state import Item, QueueState
from .workqueue import WorkQueue
