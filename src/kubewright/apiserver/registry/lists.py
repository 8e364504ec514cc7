"""GET of a collection: at which revision, which page, which objects.

| `resourceVersion` | `resourceVersionMatch` | `limit`, `continue` | at |
|---|---|---|---|
| none | | | the present |
| `0` | | limit is ignored | the present (a server with a cache may be behind) |
| N | NotOlderThan, or none without limit | | the present, which has to be at N |
| N | Exact, or none with limit | | N |
| | | continue | the revision of the first page |

The rules are those of `storage/cacher` with its snapshots, and of `storage/etcd3` where those are gone.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..errors import bad_request, expired
from ..options import ListOptions, list_options
from ..representation import list_meta
from ..request import Response
from ..store import Compacted, Entry
from .call import Call
from .get import check_revision
from .selection import Selection, selection
from .served import served_all
from .tokens import PRESENT, decode_token, encode_token

__all__ = ["Listed", "list_collection", "listed"]

_TOO_OLD: Final = "The resourceVersion for the provided list is too old."
_CONTINUE_TOO_OLD: Final = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)
_CHUNK: Final = 1_000
"""How many objects are looked at together where a selector leaves out an unknown number of them."""


class Listed(NamedTuple):
    """A page as it is served."""

    entries: list[Entry]
    meta: dict[str, Any]
    token: str = ""


class _Start(NamedTuple):
    """Where and at which revision a list starts: None is the present."""

    after: str
    revision: int | None
    limit: int


async def list_collection(call: Call) -> Response:
    """Answer a GET of a collection."""
    page = await listed(call, list_options(call.request.query))
    return call.answer(200, call.representation.many(call.kind, page.entries, page.meta))


async def listed(call: Call, options: ListOptions) -> Listed:
    """A page of a list. Raises StatusError."""
    chosen = selection(call, options)
    start = _start(call, options, chosen)
    at = start.revision
    revision = call.backend.store.revision if at is None else at
    if chosen.key:
        return await _single(call, chosen, at, revision)
    try:
        return await _page(call, chosen, start, revision)
    except Compacted:
        if options.continue_token:
            error = expired(_CONTINUE_TOO_OLD)
            error.metadata = {"continue": encode_token(start.after, PRESENT)}
            raise error from None
        raise expired(_TOO_OLD) from None


def _start(call: Call, options: ListOptions, chosen: Selection) -> _Start:
    limit = max(options.limit, 0)
    version = options.resource_version
    if options.continue_token and not chosen.key:
        token = decode_token(options.continue_token)
        if version not in ("", "0"):
            raise bad_request("specifying resource version is not allowed when using continue")
        return _Start(token.after, token.revision if token.revision > 0 else None, limit)
    if version == "":
        return _Start("", None, limit)
    number = check_revision(call, version)
    if options.match == "Exact" or (not options.match and limit and number and not chosen.key):
        return _Start("", number, limit)
    return _Start("", None, 0 if version == "0" else limit)


async def _single(call: Call, chosen: Selection, at: int | None, revision: int) -> Listed:
    """A list that can have one object at most."""
    collection = call.backend.store.collection(call.resource)
    if at is None:
        stored = collection.live.get(chosen.key)
    else:
        try:
            stored = next((each for each in collection.page(revision=at).entries if each.key == chosen.key), None)
        except Compacted:
            raise expired(_TOO_OLD) from None
    entries = [] if stored is None else list(await served_all(call.kind, [stored]))
    return Listed([each for each in entries if chosen.matches(each)], list_meta(revision))


async def _page(call: Call, chosen: Selection, start: _Start, revision: int) -> Listed:
    collection = call.backend.store.collection(call.resource)
    scope, limit = chosen.scope, start.limit
    after = scope + start.after if start.after else ""
    if chosen.is_everything or not limit:
        page = collection.page(scope, after, limit, start.revision)
        entries = list(await served_all(call.kind, page.entries))
        if not chosen.is_everything:
            entries = [each for each in entries if chosen.matches(each)]
        if not page.remaining or not limit:
            return Listed(entries, list_meta(revision))
        token = encode_token(page.entries[-1].key[len(scope) :], revision)
        return Listed(entries, list_meta(revision, token, page.remaining), token)
    found: list[Entry] = []
    while True:
        page = collection.page(scope, after, _CHUNK, start.revision)
        for place, entry in enumerate(await served_all(call.kind, page.entries)):
            if not chosen.matches(entry):
                continue
            found.append(entry)
            if len(found) == limit:
                if place + 1 == len(page.entries) and not page.remaining:
                    return Listed(found, list_meta(revision))
                token = encode_token(entry.key[len(scope) :], revision)
                return Listed(found, list_meta(revision, token), token)
        if not page.remaining:
            return Listed(found, list_meta(revision))
        after = page.entries[-1].key
