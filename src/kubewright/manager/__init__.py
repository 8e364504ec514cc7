"""The life of an operator's parts: informers, controllers, leader election, start and stop."""

__all__ = ["CacheNotSynced", "Candidacy", "Informers", "LeaderElection", "LeadershipLost", "Manager"]

from kubewright.cache.reader import CacheNotSynced

from .election import LeaderElection, LeadershipLost
from .election.candidacy import Candidacy
from .informers import Informers
from .manager import Manager
