"""What a cluster's controllers and kubelets do, so that Deployments become ready without a cluster: `Workloads`.

It is a part of `testing`: a simulation, which stands on the API server's side of the client, and may use everything
below. The engine (`engine`, `view`, `api`) knows no kinds; each controller is a file of its own; what is arithmetic is
in files without I/O (`rollouts`, `containers`, `podstates`, ...).
"""

__all__ = [
    "Clock",
    "CrashLoop",
    "Failing",
    "Failure",
    "FlappingReadiness",
    "IgnoresTermination",
    "ImagePullFails",
    "LoopClock",
    "OutOfMemory",
    "RunsFor",
    "SlowStart",
    "Unschedulable",
    "VirtualClock",
    "Workloads",
]

from .clock import Clock, LoopClock, VirtualClock
from .failures import (
    CrashLoop,
    Failing,
    Failure,
    FlappingReadiness,
    IgnoresTermination,
    ImagePullFails,
    OutOfMemory,
    RunsFor,
    SlowStart,
    Unschedulable,
)
from .workloads import Workloads
