"""Leader election by Leases: of several processes one works, and never two."""

__all__ = [
    "Candidacy",
    "Elector",
    "ElectionObserver",
    "FencedTransport",
    "LeaderElection",
    "Leadership",
    "LeadershipLost",
    "Term",
]

from .candidacy import Candidacy
from .elector import Elector, Term
from .fence import FencedTransport
from .leadership import Leadership, LeadershipLost
from .observer import ElectionObserver
from .settings import LeaderElection
