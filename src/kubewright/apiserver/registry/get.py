"""GET of one object."""

from __future__ import annotations

from ..errors import bad_request, not_found, too_large_resource_version, unexplained
from ..options import boolean, revision
from ..request import Response
from ..store import Entry
from .call import Call
from .served import as_served, as_served_now

__all__ = ["get", "read"]


async def get(call: Call) -> Response:
    """Answer a GET of an object."""
    if call.request.query:
        _check_query(call)
    entry = await read(call, call.route.name)
    return call.answer(200, call.representation.one(call.kind, entry))


async def read(call: Call, name: str) -> Entry:
    """An object as it is served. Raises StatusError: it is not there."""
    stored = call.backend.store.get(call.resource, call.key(name))
    if stored is None:
        raise not_found(call.kind, name)
    return as_served_now(call.kind, stored) or await as_served(call.kind, stored)


def _check_query(call: Call) -> None:
    if call.request.parameters("export") and boolean(call.request.parameter("export")):
        raise bad_request("the export parameter, deprecated since v1.14, is no longer supported")
    wanted = call.request.parameter("resourceVersion")
    if wanted and wanted != "0":
        try:
            revision(wanted)
        except ValueError as error:
            raise unexplained(str(error)) from None
        check_revision(call, wanted)


def check_revision(call: Call, wanted: str) -> int:
    """A revision that has been reached.

    The real server waits some seconds for one that is still to come, as its cache may be behind; nothing is, here.

    Raises:
        StatusError: it is no number (400), or still to come (504).
    """
    try:
        number = revision(wanted)
    except ValueError as error:
        raise bad_request(f"invalid resource version: {error}") from None
    current = call.backend.store.revision
    if number > current:
        raise too_large_resource_version(number, current)
    return number
