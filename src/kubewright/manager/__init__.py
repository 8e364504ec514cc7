"""The life of an operator's parts: informers, controllers, leader election, start and stop, and what they tell."""

__all__ = [
    "BindError",
    "CacheNotSynced",
    "Candidacy",
    "CertificateError",
    "Check",
    "EventRecorder",
    "Informers",
    "LeaderElection",
    "LeadershipLost",
    "Manager",
    "Runnable",
    "Running",
    "Servers",
    "Serving",
    "Telemetry",
    "check_names",
    "request_metrics",
]

from typing import TYPE_CHECKING

from kubewright._lazy import loading
from kubewright.cache.reader import CacheNotSynced

from .election.settings import LeaderElection
from .events import EventRecorder
from .health import Check, check_names
from .informers import Informers
from .manager import Manager
from .runnables import Runnable, Running
from .servers import Servers
from .serving import Serving
from .telemetry import Telemetry, request_metrics

if TYPE_CHECKING:
    from kubewright.httpd import BindError

    from .certificates import CertificateError
    from .election.candidacy import Candidacy
    from .election.leadership import LeadershipLost

# What only some operators have: servers, and a leader election.
__getattr__ = loading(
    __name__,
    {
        "kubewright.httpd": ("BindError",),
        ".certificates": ("CertificateError",),
        ".election.candidacy": ("Candidacy",),
        ".election.leadership": ("LeadershipLost",),
    },
)
