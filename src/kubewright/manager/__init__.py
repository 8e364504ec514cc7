"""The life of an operator's parts: informers, controllers, start and stop."""

__all__ = ["CacheNotSynced", "Informers", "Manager"]

from .informers import CacheNotSynced, Informers
from .manager import Manager
