"""What a kube-apiserver itself puts into its cluster when it starts to listen, so that others find it there.

| object | who looks for it |
|---|---|
| ConfigMap `extension-apiserver-authentication` | what lets users of this server in: controller manager, scheduler |
| ConfigMap `kube-apiserver-legacy-service-account-token-tracking` | the controller manager's token cleaner |
| Service, Endpoints and EndpointSlice `kubernetes` | whoever asks where the API server is |
| ServiceCIDR `kubernetes` | allocators of addresses |
| the two PriorityClasses of the system | Pods that name them |
| an APIService for each version of a built-in group | who looks whether a group is served, and by whom |

Owns these objects; they are made and kept right by requests like anybody's, but for the APIServices, which nobody
writes. A server in process has none of them: it listens nowhere. Rules: `kubernetes/pkg/controlplane` (post-start
hooks, `apiserver/aggregator.go`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from .builtin.kinds.services import NETWORK
from .registry.call import resource_key
from .request import Request, Response

if TYPE_CHECKING:
    from .registry.backend import Backend
    from .server import ApiServer

__all__ = ["add_system_objects"]

_ADDRESS: Final = "192.0.2.1"
"""Where the endpoints lead to: TEST-NET-1 (RFC 5737), as a loopback address is not allowed there."""
_MERGE: Final = {"content-type": "application/merge-patch+json"}
_QUERY: Final = "?fieldManager=kube-apiserver"
_PRIORITIES: Final = {
    "system-cluster-critical": (
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
    "system-node-critical": (
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
}


_GROUPS: Final = {
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "apiextensions.k8s.io": 16700,
    "admissionregistration.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
    "storagemigration.k8s.io": 15800,
}
"""Which group comes first where two have a kind of the same name."""
_VERSIONS: Final = {
    ("", "v1"): 1,
    ("autoscaling", "v2"): 30,
    ("flowcontrol.apiserver.k8s.io", "v1"): 21,
    ("resource.k8s.io", "v1"): 21,
}
_USUAL_VERSION: Final = 15
_API_SERVICES: Final = resource_key("apiregistration.k8s.io", "apiservices")


async def add_system_objects(server: ApiServer, *, port: int, client_ca: str) -> None:
    """Make what there is not, and set right what was made by an earlier start.

    Args:
        port: where the server listens.
        client_ca: the authority of client certificates, PEM.
    """
    _add_api_services(server)
    for path, obj, is_kept in _objects(port, client_ca, server.backend.timestamp()):
        if not is_kept or (await _ask(server, "PATCH", f"{path}/{obj['metadata']['name']}", obj)).status == 404:
            await _ask(server, "POST", path, obj)


def _add_api_services(server: ApiServer) -> None:
    backend = server.backend
    for group, version in sorted({(each.group, each.version) for each in backend.catalog.types}):
        name = f"{version}.{group}"
        if group in _GROUPS and backend.store.get(_API_SERVICES, name) is None:
            backend.store.create(_API_SERVICES, name, _api_service(backend, name, group, version))


def _api_service(backend: Backend, name: str, group: str, version: str) -> dict[str, Any]:
    now = backend.timestamp()
    is_local = {"reason": "Local", "message": "Local APIServices are always available"}
    return {
        "kind": "APIService",
        "apiVersion": "apiregistration.k8s.io/v1",
        "metadata": {
            "name": name,
            "uid": backend.new_uid(),
            "creationTimestamp": now,
            "labels": {"kube-aggregator.kubernetes.io/automanaged": "onstart"},
        },
        "spec": ({"group": group} if group else {})
        | {
            "version": version,
            "groupPriorityMinimum": _GROUPS[group],
            "versionPriority": _VERSIONS.get((group, version), _USUAL_VERSION),
        },
        "status": {"conditions": [{"type": "Available", "status": "True", "lastTransitionTime": now, **is_local}]},
    }


async def _ask(server: ApiServer, method: str, path: str, body: dict[str, Any]) -> Response:
    headers = _MERGE if method == "PATCH" else None
    answer = await server.handle(Request.of(method, path + _QUERY, headers=headers, body=body))
    assert isinstance(answer, Response)
    return answer


def _objects(port: int, client_ca: str, now: str) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Collections, objects, and whether they are kept as they are here."""
    maps = "/api/v1/namespaces/kube-system/configmaps"
    data = {"client-ca-file": client_ca}
    yield maps, {"metadata": {"name": "extension-apiserver-authentication"}, "data": data}, True
    since = {"data": {"since": now.partition("T")[0]}}
    yield maps, {"metadata": {"name": "kube-apiserver-legacy-service-account-token-tracking"}, **since}, False
    for name, (value, description) in _PRIORITIES.items():
        body = {"metadata": {"name": name}, "value": value, "description": description}
        yield "/apis/scheduling.k8s.io/v1/priorityclasses", body, False
    body = {"metadata": {"name": "kubernetes"}, "spec": {"cidrs": [str(NETWORK)]}}
    yield "/apis/networking.k8s.io/v1/servicecidrs", body, False
    yield from _service(port)


def _service(port: int) -> Iterator[tuple[str, dict[str, Any], bool]]:
    https = {"name": "https", "protocol": "TCP"}
    labels = {"component": "apiserver", "provider": "kubernetes"}
    spec = {
        "clusterIP": str(NETWORK.network_address + 1),
        "type": "ClusterIP",
        "ports": [{**https, "port": 443, "targetPort": port}],
    }
    core = "/api/v1/namespaces/default"
    yield f"{core}/services", {"metadata": {"name": "kubernetes", "labels": labels}, "spec": spec}, True
    labels = {"endpointslice.kubernetes.io/skip-mirror": "true"}
    subsets = [{"addresses": [{"ip": _ADDRESS}], "ports": [{**https, "port": port}]}]
    yield f"{core}/endpoints", {"metadata": {"name": "kubernetes", "labels": labels}, "subsets": subsets}, True
    labels = {"kubernetes.io/service-name": "kubernetes"}
    body = {
        "metadata": {"name": "kubernetes", "labels": labels},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [_ADDRESS], "conditions": {"ready": True}}],
        "ports": [{**https, "port": port}],
    }
    yield "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", body, True
