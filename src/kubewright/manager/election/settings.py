"""What a leader election is told: which Lease, and how long everything takes.

Owns the numbers, the rules between them, and what follows from them. The rules are client-go's
(tools/leaderelection, NewLeaderElector), and each bounds something:

    lease > renew           who leads has stopped, lease - renew seconds before anybody else may begin: this is what
                            clocks that run at different speeds may eat up. 15/10 bears +-20 %.
    renew > retry * 1.2     a renewal that fails is tried again at least once before it is too late.

    moment, from the sending of the last renewal    what happens to a leader that cannot renew
    renew_seconds (valid_until)                     it leads no more: no write leaves, its workers are cancelled
    half way to lease_seconds (dead_at)             workers that have not ended: the process ends
    lease_seconds                                   another may take over

A Lease holds whole seconds; client-go cuts what it is given, so that 2.5 s become 2 for the others and 2.5 for the
leader. Here that is an error.
"""

from __future__ import annotations

import math
import socket
import uuid
from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

__all__ = ["JITTER", "LeaderElection", "default_identity"]

JITTER = 1.2
"""Candidates wait up to this many times `retry_seconds` between two tries, so that they do not all come at once.

client-go's rules reckon with this factor; its loop then adds up to 1.2 of the period to the period. Ours keeps what
the rule says, which makes the bound on the take-over `lease_seconds + 1.2 * retry_seconds`.
"""

_RELEASE_SECONDS = 3.0  # what an unreachable server may hold up a stop; the lease runs out in any case


def default_identity() -> str:
    """`<hostname>_<uuid>`: of this process, and of no other that ever was."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


class LeaderElection(Struct, frozen=True, kw_only=True):
    """Of several processes with the same `name`, one works at a time; the others stand by.

    Needs the right to get, create and update `leases` of the API group `coordination.k8s.io` in `namespace`.

    Args:
        name: of the Lease; the operator's name unless given.
        namespace: of the Lease; unless given that of the configuration, in a Pod the Pod's own.
        lease_seconds: how long the others wait after they have last seen a renewal. Whole seconds.
        renew_seconds: how long a leader that cannot renew goes on. Less than `lease_seconds`.
        retry_seconds: between two tries. Less than `renew_seconds / 1.2`.
        release: give the lease back at the end of a run, so that another takes over within `1.2 * retry_seconds`.
        identity: who we are, different for every process that runs at the same time; `<hostname>_<uuid>` unless given.
        labels: put on the Lease by whoever holds it.
        stall_seconds: an event loop that has been blocked for so long while leading does not work any more: the
            process ends, so that another can. Shorter ones cost nothing, renewals go on beside them.

    Raises:
        ValueError: a number breaks a rule.
    """

    name: str | None = None
    namespace: str | None = None
    lease_seconds: float = 15.0
    renew_seconds: float = 10.0
    retry_seconds: float = 2.0
    release: bool = True
    identity: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    stall_seconds: float = 30.0

    def __post_init__(self) -> None:
        for name in ("lease_seconds", "renew_seconds", "retry_seconds", "stall_seconds"):
            value = getattr(self, name)
            if not math.isfinite(value) or value <= 0:
                raise ValueError(f"{name}={value!r}: must be more than 0; the defaults are 15, 10, 2 and 30")
        lease, renew, retry = self.lease_seconds, self.renew_seconds, self.retry_seconds
        if lease != int(lease):
            raise ValueError(f"lease_seconds={lease!r}: a Lease holds whole seconds; use {math.ceil(lease)}")
        if lease <= renew:
            raise ValueError(
                f"lease_seconds={lease:g}: must be more than renew_seconds={renew:g}, or two would lead at once; "
                f"use {math.ceil(renew * 1.5)} or more"
            )
        if renew <= retry * JITTER:
            raise ValueError(
                f"renew_seconds={renew:g}: must be more than {JITTER:g} * retry_seconds={retry:g}, or one failure "
                f"would end the leadership; use a retry_seconds of {renew / 5:g}"
            )
        for name in ("name", "namespace", "identity"):
            if getattr(self, name) == "":
                raise ValueError(f"{name}='': must not be empty; leave it out for the default")

    def named(self, name: str, namespace: str) -> LeaderElection:
        """The same with what was left out: a Lease and an identity."""
        return replace(
            self,
            name=self.name or name,
            namespace=self.namespace or namespace,
            identity=self.identity or default_identity(),
        )

    @property
    def request_seconds(self) -> float:
        """How long one request may take: client-go's max(1 s, renew / 2), so that one that hangs is not the end."""
        return max(1.0, self.renew_seconds / 2)

    @property
    def grace_seconds(self) -> float:
        """What workers have to end when the leadership was lost, before the process does."""
        return (self.lease_seconds - self.renew_seconds) / 2

    @property
    def release_seconds(self) -> float:
        """How long giving the lease back may take."""
        return min(self.request_seconds, _RELEASE_SECONDS)
