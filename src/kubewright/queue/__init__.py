"""Keys that need work: deduplicated, one worker per key, by priority, backed off per key.

`WorkQueue` is the queue on an event loop; `QueueState` has its rules as a pure data structure.
"""

__all__ = [
    "ExponentialBackoff",
    "Item",
    "Longest",
    "NoMetrics",
    "Prioritised",
    "QueueMetrics",
    "QueueState",
    "RateLimiter",
    "TokenBucket",
    "WorkQueue",
]

from .metrics import NoMetrics, QueueMetrics
from .ordering import Prioritised
from .ratelimit import ExponentialBackoff, Longest, RateLimiter, TokenBucket
from .state import Item, QueueState
from .workqueue import WorkQueue
