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

from typing import TYPE_CHECKING

from kubewright._lazy import loading

if TYPE_CHECKING:
    from .candidacy import Candidacy
    from .elector import Elector, Term
    from .fence import FencedTransport
    from .leadership import Leadership, LeadershipLost
    from .observer import ElectionObserver
    from .settings import LeaderElection

# Most of it is for an operator that has a leader election; the settings are for all.
__getattr__ = loading(
    __name__,
    {
        ".candidacy": ("Candidacy",),
        ".elector": ("Elector", "Term"),
        ".fence": ("FencedTransport",),
        ".leadership": ("Leadership", "LeadershipLost"),
        ".observer": ("ElectionObserver",),
        ".settings": ("LeaderElection",),
    },
)
