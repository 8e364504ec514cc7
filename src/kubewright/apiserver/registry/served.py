"""Stored objects as a resource type serves them: in its version, by its rules of today.

Objects are kept in one version. What asks for that version of a built-in kind gets the stored object itself; every
other view is made once and remembered beside the stored object (`Entry.views`), until the type is replaced by another
(a CRD that changed). Only a conversion webhook makes anybody wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..catalog import ResourceType
from ..store import Entry

__all__ = ["as_served", "as_served_now", "remember", "served_all"]

_MOST_VIEWS: Final = 8


def as_served_now(kind: ResourceType, entry: Entry) -> Entry | None:
    """The view, if nobody has to be asked for it."""
    converter = kind.converter
    if converter is None:
        return entry
    if entry.views is not None and (known := entry.views.get(kind)) is not None:
        return known  # type: ignore[no-any-return]
    made = converter.convert_now(entry.object, kind.api_version)
    if made is None:
        return None
    return remember(kind, entry, entry if made is entry.object else Entry(entry.key, made, entry.revision))


async def as_served(kind: ResourceType, entry: Entry) -> Entry:
    """The view of an object. Raises StatusError: a conversion failed."""
    known = as_served_now(kind, entry)
    if known is not None:
        return known
    return (await served_all(kind, [entry]))[0]


async def served_all(kind: ResourceType, entries: Sequence[Entry]) -> Sequence[Entry]:
    """The views of many objects; what has to be converted elsewhere goes there in one call."""
    if kind.converter is None:
        return entries
    views = [as_served_now(kind, each) for each in entries]
    missing = [place for place, view in enumerate(views) if view is None]
    if missing:
        made = await kind.converter.convert([entries[place].object for place in missing], kind.api_version)
        for place, obj in zip(missing, made, strict=True):
            entry = entries[place]
            views[place] = remember(kind, entry, Entry(entry.key, obj, entry.revision))
    return [each for each in views if each is not None]


def remember(kind: ResourceType, entry: Entry, view: Entry) -> Entry:
    """Keep a view for the next one who asks."""
    if entry.views is None or len(entry.views) >= _MOST_VIEWS:
        entry.views = {}
    entry.views[kind] = view
    return view
