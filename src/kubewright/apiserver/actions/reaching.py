"""What leads through a server to a Pod, Service or node: logs, exec, attach, port-forward, proxies.

Here nothing runs at the other end. So these answer what a real server answers that cannot get there: whom it would have
asked, and that nobody listens. What is wrong with the request itself is said before. Rules:
`kubernetes/pkg/registry/core/{pod,node,service}`, `pkg/kubelet/client`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from kubewright.schema.structural.fielderrors import FieldError, invalid, not_supported

from ..errors import StatusError, bad_request, internal, invalid_of, not_found, service_unavailable, unexplained
from ..options import boolean, integer
from ..registry.call import Call
from ..registry.get import read
from ..request import Response

__all__ = ["REACHING"]

_PREFERRED: Final = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
_KUBELET_PORT: Final = 10250
_STREAMS: Final = ("All", "Stderr", "Stdout")
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_ID: Final = re.compile(r"(?:(?P<scheme>https?|):)?(?P<name>[^:]+)(?::(?P<port>[^:]*))?")


async def logs(call: Call) -> Response:
    """GET pods/NAME/log: nothing, of a Pod that has no node yet."""
    _check_log_options(call)
    pod = (await read(call, call.route.name)).object
    container = _container(call, pod)
    node = pod["spec"].get("nodeName")
    if not node:
        return Response(200, b"", [("content-type", "text/plain")])
    where = await _kubelet(call, node)
    path = f"/containerLogs/{pod['metadata']['namespace']}/{pod['metadata']['name']}/{container}"
    raise unexplained(f'Get "https://{where}{path}{_log_query(call)}": {_refused(where)}')


async def stream(call: Call) -> Response:
    """GET or POST of pods/NAME/exec and attach."""
    pod = (await read(call, call.route.name)).object
    _container(call, pod)
    raise _cut_off(call, await _of_pod(call, pod))


async def forward(call: Call) -> Response:
    """GET or POST of pods/NAME/portforward."""
    pod = (await read(call, call.route.name)).object
    raise _cut_off(call, await _of_pod(call, pod))


async def proxy_pod(call: Call) -> Response:
    """Any request to pods/NAME/proxy."""
    _, name, port = _target(call, "pod")
    pod = (await read(call, name)).object
    if not port:
        ports = [each["ports"][0] for each in pod["spec"]["containers"] if each.get("ports")]
        port = str(ports[0]["containerPort"]) if ports else "80"
    address = (pod.get("status") or {}).get("podIP") or ""
    if not address or address.startswith(("127.", "169.254.", "224.")):
        raise bad_request("address not allowed")
    raise _no_service(f"{address}:{port}")


async def proxy_service(call: Call) -> Response:
    """Any request to services/NAME/proxy."""
    _, name, port = _target(call, "service")
    if port.isdecimal():
        ports = (await read(call, name)).object["spec"].get("ports") or []
        found = next((each for each in ports if str(each["port"]) == port), None)
        if found is None:
            raise service_unavailable(f'no service port {port} found for service "{name}"')
        port = found.get("name", "")
    for address, number in _endpoints(call, name, port):
        raise _no_service(f"{address}:{number}")
    raise service_unavailable(f'no endpoints available for service "{name}"')


async def proxy_node(call: Call) -> Response:
    """Any request to nodes/NAME/proxy."""
    _, name, port = _target(call, "node")
    where = await _kubelet(call, name)
    host = where.rpartition(":")[0]
    if host == "localhost" or host.startswith("127."):
        raise bad_request("address not allowed")
    raise _no_service(f"{host}:{port}" if port else where)


REACHING: Final[Mapping[tuple[str, str], Callable[[Call], Awaitable[Response]]]] = {
    ("pods", "log"): logs,
    ("pods", "exec"): stream,
    ("pods", "attach"): stream,
    ("pods", "portforward"): forward,
    ("pods", "proxy"): proxy_pod,
    ("services", "proxy"): proxy_service,
    ("nodes", "proxy"): proxy_node,
}
"""By resource and subresource, in the group of the core."""


# -- who is asked -----------------------------------------------------------------------------------------------------


def _container(call: Call, pod: dict[str, Any]) -> str:
    """The container that is meant. Raises StatusError: 400."""
    wanted, name, spec = call.request.parameter("container"), call.route.name, pod["spec"]
    names = [each["name"] for kind in _CONTAINERS for each in spec.get(kind) or ()]
    if wanted:
        if wanted not in names:
            raise bad_request(f"container {wanted} is not valid for pod {name}")
        return wanted
    if len(spec["containers"]) == 1:
        return str(spec["containers"][0]["name"])
    raise bad_request(f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]")


async def _of_pod(call: Call, pod: dict[str, Any]) -> str:
    node = pod["spec"].get("nodeName")
    if not node:
        raise bad_request(f"pod {call.route.name} does not have a host assigned")
    return await _kubelet(call, node)


async def _kubelet(call: Call, node: str) -> str:
    """Where the kubelet of a node would be, `host:port`. Raises StatusError: no such node, or it has no address."""
    stored = call.backend.store.get("/nodes", node)
    if stored is None:
        # The real server too says of a node that it is no such Pod.
        raise not_found(call.kind, node)
    status = stored.object.get("status") or {}
    addresses = status.get("addresses") or []
    port = ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port") or _KUBELET_PORT
    for kind in _PREFERRED:
        for each in addresses:
            if each["type"] == kind:
                return f"{each['address']}:{port}"
    known = " ".join(f"{{{each['type']} {each['address']}}}" for each in addresses)
    raise unexplained(f"no preferred addresses found; known addresses: [{known}]")


def _target(call: Call, kind: str) -> tuple[str, str, str]:
    """Scheme, name and port of `name`, `name:port` or `scheme:name:port`."""
    found = _ID.fullmatch(call.route.name)
    if found is None:
        raise bad_request(f'invalid {kind} request "{call.route.name}"')
    return found["scheme"] or "", found["name"], found["port"] or ""


def _endpoints(call: Call, service: str, port: str) -> Iterator[tuple[str, int]]:
    """Addresses and ports that are ready and Pods', of the port of that name."""
    of_service = "kubernetes.io/service-name"
    for each in call.context().objects("discovery.k8s.io", "endpointslices", call.route.namespace):
        if each["metadata"].get("labels", {}).get(of_service) != service:
            continue
        for number in (found["port"] for found in each.get("ports") or () if found.get("name", "") == port):
            for endpoint in each.get("endpoints") or ():
                if endpoint.get("targetRef") and (endpoint.get("conditions") or {}).get("ready", True):
                    yield endpoint["addresses"][0], number


# -- nobody listens ---------------------------------------------------------------------------------------------------


def _refused(where: str) -> str:
    return f"dial tcp {where}: connect: connection refused"


def _no_service(where: str) -> StatusError:
    return service_unavailable(f"error trying to reach service: {_refused(where)}")


def _cut_off(call: Call, where: str) -> StatusError:
    headers = call.request.headers
    upgrade = headers.get("upgrade", "").lower()
    if not upgrade or "upgrade" not in headers.get("connection", "").lower():
        return bad_request("Upgrade request required")
    # A real server would shake hands with a WebSocket first, and say the same in it.
    return internal(f"error dialing backend: {_refused(where)}")


# -- options of logs --------------------------------------------------------------------------------------------------


def _check_log_options(call: Call) -> None:
    """Raises StatusError: 422."""
    numbers = {name: _number(call, name) for name in ("tailLines", "limitBytes", "sinceSeconds")}
    errors: list[FieldError] = []
    tail, limit, since = numbers["tailLines"], numbers["limitBytes"], numbers["sinceSeconds"]
    if tail is not None and tail < 0:
        errors.append(invalid("tailLines", tail, "must be greater than or equal to 0"))
    if limit is not None and limit < 1:
        errors.append(invalid("limitBytes", limit, "must be greater than 0"))
    if since is not None and since < 1:
        errors.append(invalid("sinceSeconds", since, "must be greater than 0"))
    stream = call.request.parameter("stream") or "All"
    if stream not in _STREAMS:
        errors.append(not_supported("stream", stream, _STREAMS))
    if errors:
        raise invalid_of("PodLogOptions", "", "PodLogOptions", call.route.name, errors)


def _number(call: Call, name: str) -> int | None:
    text = call.request.parameter(name)
    return integer(text) if text else None


def _log_query(call: Call) -> str:
    """What the kubelet would be asked."""
    pairs = [
        (name, "true") for name in ("follow", "previous", "timestamps") if boolean(call.request.parameter(name, "0"))
    ]
    values = {name: call.request.parameter(name) for name in ("sinceSeconds", "sinceTime", "tailLines", "limitBytes")}
    pairs += [pair for pair in values.items() if pair[1]]
    if (stream := call.request.parameter("stream")) and stream != "All":
        pairs.append(("stream", stream))
    return f"?{urlencode(sorted(pairs))}" if pairs else ""
