"""`/`: the paths that there are."""

from __future__ import annotations

from ..request import Request, Response, json_response
from ..server import ApiServer
from .discovery import ordered_groups

__all__ = ["root_paths"]


def root_paths(server: ApiServer, request: Request) -> Response | None:
    """The list of paths, for people and for clients that look whether this is a server at all."""
    if request.path not in ("", "/"):
        return None
    catalog = server.catalog
    paths = ["/api", *(f"/api/{each}" for each in catalog.versions("")), "/apis", "/apis/"]
    for group in sorted(ordered_groups(catalog)):
        paths += [f"/apis/{group}", *(f"/apis/{group}/{each}" for each in sorted(catalog.versions(group)))]
    return json_response(200, {"paths": [*paths, "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"]})
