"""Objects of a kind that could not be read: reported once for each state, kept out of the store, readable as they came.

What the store has of such an object is the state before it. The next good state, or its deletion, ends that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from kubewright.model import Key

from .frame import Unreadable

__all__ = ["Aside"]

logger = logging.getLogger(__name__)


class Aside(dict[Key, Unreadable]):
    """What is set aside, by key. `name` is the informer's, for the log."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def put(self, item: Unreadable) -> None:
        """One more; or none, when it was its deletion that could not be read."""
        logger.warning("informer %s: %s left out: %s", self._name, item.key or "an object without a name", item.problem)
        if item.key is not None and not item.removed:
            self[item.key] = item
        elif item.key is not None:
            self.pop(item.key, None)

    def forget(self, covers: Callable[[str], bool]) -> None:
        """Drop those of some namespaces."""
        for key in [key for key in self if covers(key.namespace)]:
            del self[key]
