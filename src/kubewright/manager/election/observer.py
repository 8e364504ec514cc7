"""What an election tells about itself to whoever exports it.

method             client-go's
started_leading    leader_election_master_status{name} 1, OnStartedLeading
stopped_leading    leader_election_master_status{name} 0, OnStoppedLeading
slow_path          leader_election_slowpath_total{name}
new_leader         OnNewLeader
event              an Event of type Normal, reason LeaderElection, about the Lease
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["ElectionObserver", "NoObserver"]


class ElectionObserver(Protocol):
    """The five hooks. Called on the manager's event loop, in order; they must not block.

    Guarantees: `stopped_leading` follows each `started_leading`, and is called once for a run that never led.
    """

    def started_leading(self, transitions: int) -> None: ...

    def stopped_leading(self) -> None: ...

    def slow_path(self) -> None: ...

    def new_leader(self, identity: str) -> None: ...

    def event(self, message: str) -> None: ...


class NoObserver:
    """Tells nobody."""

    def started_leading(self, transitions: int) -> None:
        pass

    def stopped_leading(self) -> None:
        pass

    def slow_path(self) -> None:
        pass

    def new_leader(self, identity: str) -> None:
        pass

    def event(self, message: str) -> None:
        pass
