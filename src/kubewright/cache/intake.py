"""What becomes of an entry on its way into the cache, before anybody sees it: cut down, or packed.

Owns that whatever goes wrong there costs that one object: it is `Unreadable`, reported and kept out, and the others are
unaffected. Identity and version are the server's, whatever a transform does to the rest: an entry keeps its own.
"""

from __future__ import annotations

from collections.abc import Callable

from .entry import Entry
from .frame import Unreadable

__all__ = ["Intake", "take_in"]

Intake = Callable[[Entry], Entry]


def take_in(entry: Entry, intake: Intake) -> Entry | Unreadable:
    """The entry as it is to be kept."""
    try:
        return intake(entry)
    except Exception as error:  # a user's function: whatever it raises
        return Unreadable(entry.key, f"{type(error).__name__}: {error}", entry.data)
