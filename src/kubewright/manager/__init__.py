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

from kubewright.cache.reader import CacheNotSynced
from kubewright.httpd import BindError

from .certificates import CertificateError
from .election import LeaderElection, LeadershipLost
from .election.candidacy import Candidacy
from .events import EventRecorder
from .health import Check, check_names
from .informers import Informers
from .manager import Manager
from .runnables import Runnable, Running
from .servers import Servers
from .serving import Serving
from .telemetry import Telemetry, request_metrics
