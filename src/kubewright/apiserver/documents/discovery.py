"""Discovery: which groups, versions and resources there are, in both forms that clients ask for.

| path | legacy | aggregated (`as=APIGroupDiscoveryList`) |
|---|---|---|
| `/api` | APIVersions | the core group with all its resources |
| `/apis` | APIGroupList | all other groups with all their resources |
| `/apis/GROUP` | APIGroup | |
| `/api/v1`, `/apis/GROUP/VERSION` | APIResourceList | |

Built-in groups are in the order of their priority, those of custom resources behind them by name. The aggregated form
has an ETag, so that a client that has it is told so (304). Rules: `apiserver/pkg/endpoints/discovery`.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

import orjson

from ..catalog import Catalog, ResourceType
from ..errors import not_acceptable
from ..negotiation import Clause, clauses
from ..request import Request, Response, json_response
from ..server import ApiServer

__all__ = ["discovery", "ordered_groups"]

_AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_ACCEPTED: Final = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_CUSTOM_VERBS: Final = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


def discovery(server: ApiServer, request: Request) -> Response | None:
    """Answer a question for discovery; None where it is something else."""
    path = request.path.rstrip("/")
    if request.method not in ("GET", "HEAD"):
        return None
    if path in ("/api", "/apis"):
        return _lists(server.catalog, request, is_core=path == "/api")
    steps = path.split("/")[1:] or [""]
    catalog = server.catalog
    if steps[0] == "api" and len(steps) == 2:
        return _resources(catalog, "", steps[1])
    if steps[0] == "apis" and len(steps) == 2 and steps[1] in catalog.groups:
        return json_response(200, {"kind": "APIGroup", "apiVersion": "v1", **_group(catalog, steps[1])})
    if steps[0] == "apis" and len(steps) == 3:
        return _resources(catalog, steps[1], steps[2])
    return None


def ordered_groups(catalog: Catalog) -> list[str]:
    """The groups but the core one, in the order of discovery."""
    named = [each for each in catalog.groups if each]
    custom = {each.group for each in catalog.types if each.is_custom}
    return [*(each for each in named if each not in custom), *sorted(custom)]


# -- lists of groups --------------------------------------------------------------------------------------------------


def _lists(catalog: Catalog, request: Request, *, is_core: bool) -> Response:
    if _wants_aggregated(request.headers.get("accept", "")):
        return _aggregated(catalog, request, is_core=is_core)
    if is_core:
        address = {"clientCIDR": "0.0.0.0/0", "serverAddress": request.headers.get("host", "")}
        answer: dict[str, Any] = {"kind": "APIVersions", "versions": catalog.versions("")}
        return json_response(200, {**answer, "serverAddressByClientCIDRs": [address]})
    groups = [_group(catalog, each) for each in ordered_groups(catalog)]
    return json_response(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})


def _group(catalog: Catalog, group: str) -> dict[str, Any]:
    versions = [{"groupVersion": f"{group}/{each}", "version": each} for each in catalog.versions(group)]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _wants_aggregated(accept: str) -> bool:
    """The first clause that can be served decides. Raises StatusError: none can."""
    if not accept:
        return False
    for clause in clauses(accept):
        if clause.type not in ("application", "*") or clause.subtype not in ("json", "*"):
            continue
        wanted = _wanted(clause)
        if wanted == ("", "", ""):
            return False
        if wanted == ("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList"):
            return True
    raise not_acceptable(_ACCEPTED)


def _wanted(clause: Clause) -> tuple[str, str, str]:
    return clause.parameter("g"), clause.parameter("v"), clause.parameter("as")


# -- aggregated -------------------------------------------------------------------------------------------------------

_made: WeakKeyDictionary[Catalog, dict[bool, tuple[str, bytes]]] = WeakKeyDictionary()


def _aggregated(catalog: Catalog, request: Request, *, is_core: bool) -> Response:
    kept = _made.setdefault(catalog, {})
    if is_core not in kept:
        groups = [""] if is_core else ordered_groups(catalog)
        document = {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": [_aggregated_group(catalog, each) for each in groups],
        }
        body = orjson.dumps(document) + b"\n"
        kept[is_core] = f'"{hashlib.sha512(body).hexdigest().upper()}"', body
    tag, body = kept[is_core]
    headers = [("content-type", _AGGREGATED), ("etag", tag), ("cache-control", "public"), ("vary", "Accept")]
    if request.headers.get("if-none-match") == tag:
        return Response(304, b"", headers)
    return Response(200, body, headers)


def _aggregated_group(catalog: Catalog, group: str) -> dict[str, Any]:
    versions = [
        {
            "version": each,
            "resources": [_aggregated_resource(one) for one in catalog.resources(group, each)],
            "freshness": "Current",
        }
        for each in catalog.versions(group)
    ]
    return {"metadata": {"name": group} if group else {}, "versions": versions}


def _aggregated_resource(kind: ResourceType) -> dict[str, Any]:
    made: dict[str, Any] = {
        "resource": kind.plural,
        "responseKind": _response_kind(kind, kind.kind),
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": _verbs(kind),
    }
    if kind.short_names:
        made["shortNames"] = kind.short_names
    if kind.categories:
        made["categories"] = kind.categories
    parts = [
        {
            "subresource": part.name,
            "responseKind": {"group": part.group, "version": part.version, "kind": part.kind or kind.kind},
            "verbs": part.verbs,
        }
        for part in kind.subresources.values()
    ]
    if parts:
        made["subresources"] = parts
    return made


def _response_kind(kind: ResourceType, name: str) -> dict[str, str]:
    """Of a built-in kind without group and version: they are those of the document it is in."""
    if kind.is_custom:
        return {"group": kind.group, "version": kind.version, "kind": name}
    return {"group": "", "version": "", "kind": name}


def _verbs(kind: ResourceType) -> Sequence[str]:
    return _CUSTOM_VERBS if kind.is_custom else kind.verbs


# -- resources of a version -------------------------------------------------------------------------------------------


def _resources(catalog: Catalog, group: str, version: str) -> Response | None:
    found = catalog.resources(group, version)
    if not found:
        return None
    resources = [entry for kind in found for entry in _entries(kind)]
    head = {"kind": "APIResourceList"} | ({"apiVersion": "v1"} if group else {})
    named = f"{group}/{version}" if group else version
    return json_response(200, {**head, "groupVersion": named, "resources": resources})


def _entries(kind: ResourceType) -> Iterator[Mapping[str, Any]]:
    made: dict[str, Any] = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": _verbs(kind),
    }
    if kind.short_names:
        made["shortNames"] = kind.short_names
    if kind.categories:
        made["categories"] = kind.categories
    if "list" in kind.verbs and "create" in kind.verbs:
        made["storageVersionHash"] = _storage_hash(kind)
    yield made
    for part in kind.subresources.values():
        named: dict[str, Any] = {
            "name": f"{kind.plural}/{part.name}",
            "singularName": "",
            "namespaced": kind.namespaced,
        }
        if part.group and (part.group, part.version) != (kind.group, kind.version):
            named |= {"group": part.group, "version": part.version}
        yield {**named, "kind": part.kind or kind.kind, "verbs": part.verbs}


def _storage_hash(kind: ResourceType) -> str:
    """Changes when objects are stored in another version: clients only compare it."""
    stored = kind.storage
    version = stored.api_version.rpartition("/")[2]
    text = f"{stored.group}/{version}/{kind.kind}"
    return b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode()
