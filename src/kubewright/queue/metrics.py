"""What a queue tells about itself, in client-go's terms, to whoever exports it
(`kubewright.observe` does).

One instance stands for one queue and holds on to its labelled children: a look-up by label per item would cost more
than the queue does. What stands at some value (how many keys wait), or grows while nobody calls (work in flight), is
not pushed but read when it is scraped: `depth` says once how, for `WorkQueue.unfinished_work_seconds` and
`longest_running_seconds` whoever makes the queue does.

    method            client-go's metric                     counts
    depth             workqueue_depth                        keys of a priority that wait for a run, those that wait for
                                                             done included
    added             workqueue_adds_total                   adds that were no duplicates
    retried           workqueue_retries_total                adds with a delay
    queued_for        workqueue_queue_duration_seconds       from the first add to the get
    worked_for        workqueue_work_duration_seconds        from the get to the done
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

__all__ = ["NoMetrics", "QueueMetrics"]


class QueueMetrics(Protocol):
    """The five hooks. Called on the event loop, often: a counter's increment is the measure. But for `depth`: that is
    called once for each priority, 0 first, with what tells how many keys of it wait."""

    def depth(self, priority: int, keys: Callable[[], int], /) -> None: ...

    def added(self) -> None: ...

    def retried(self) -> None: ...

    def queued_for(self, seconds: float, /) -> None: ...

    def worked_for(self, seconds: float, /) -> None: ...


class NoMetrics:
    """Counts nothing."""

    def depth(self, priority: int, keys: Callable[[], int]) -> None:
        pass

    def added(self) -> None:
        pass

    def retried(self) -> None:
        pass

    def queued_for(self, seconds: float) -> None:
        pass

    def worked_for(self, seconds: float) -> None:
        pass
