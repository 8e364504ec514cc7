"""The life of an operator's parts: informers, controllers, start and stop."""

__all__ = ["CacheNotSynced", "Informers", "Manager"]

from kubewright.cache.reader import CacheNotSynced

from .informers import Informers
from .manager import Manager
