"""The cells of the core kinds besides Pods."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from ..conversion import event_to_core
from .parts import labels_text, more, of, since, status_of

__all__ = ["ROWS", "balanced_at"]

Object = dict[str, Any]

_ROLE: Final = "node-role.kubernetes.io/"
_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_MODES: Final = (
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
)


def _service(obj: Object, now: datetime) -> dict[str, Any]:
    spec = obj["spec"]
    return {
        "Type": spec.get("type", ""),
        "Cluster-IP": next(iter(spec.get("clusterIPs") or ()), "<none>"),
        "External-IP": _external(obj, spec),
        "Port(s)": ",".join(map(_port, spec.get("ports") or ())) or "<none>",
        "Selector": labels_text(spec.get("selector")),
    }


def balanced_at(obj: Object) -> list[str]:
    """Where a load balancer can be reached."""
    found = of(obj, "status", "loadBalancer", "ingress", absent=[])
    return sorted({each.get("ip") or each.get("hostname") for each in found if each.get("ip") or each.get("hostname")})


def _external(obj: Object, spec: Object) -> str:
    kind, given = spec.get("type"), spec.get("externalIPs") or []
    if kind in ("ClusterIP", "NodePort"):
        return ",".join(given) or "<none>"
    if kind == "LoadBalancer":
        return ",".join([*balanced_at(obj), *given]) or "<pending>"
    return str(spec.get("externalName", "")) if kind == "ExternalName" else "<unknown>"


def _port(port: Object) -> str:
    number, protocol, outside = port.get("port", 0), port.get("protocol", ""), port.get("nodePort", 0)
    return f"{number}:{outside}/{protocol}" if outside else f"{number}/{protocol}"


def _endpoints(obj: Object, now: datetime) -> dict[str, Any]:
    found: list[str] = []
    for subset in obj.get("subsets") or ():
        addresses = [each.get("ip", "") for each in subset.get("addresses", ())]
        ports = [each.get("port", 0) for each in subset.get("ports", ())]
        found += [_joined(ip, port) for port in ports for ip in addresses] if ports else addresses
    return {"Endpoints": more(found, 3, "<none>" if not obj.get("subsets") else "")}


def _joined(ip: str, port: int) -> str:
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def _node(obj: Object, now: datetime) -> dict[str, Any]:
    status, info = obj.get("status") or {}, of(obj, "status", "nodeInfo", absent={})
    ready = status_of(status.get("conditions"), "Ready")
    words = ["Unknown" if not ready else "Ready" if ready == "True" else "NotReady"]
    if of(obj, "spec", "unschedulable"):
        words.append("SchedulingDisabled")
    kernel = info.get("kernelVersion") or "<unknown>"
    if architecture := info.get("architecture"):
        kernel += f" ({architecture})"
    return {
        "Status": ",".join(words),
        "Roles": ",".join(sorted(set(_roles(obj["metadata"].get("labels", {}))))) or "<none>",
        "Version": info.get("kubeletVersion", ""),
        "Internal-IP": _node_address(status, "InternalIP"),
        "External-IP": _node_address(status, "ExternalIP"),
        "OS-Image": info.get("osImage") or "<unknown>",
        "Kernel-Version": kernel,
        "Container-Runtime": info.get("containerRuntimeVersion") or "<unknown>",
    }


def _roles(labels: dict[str, str]) -> Iterable[str]:
    for name, value in labels.items():
        if name.startswith(_ROLE) and name != _ROLE:
            yield name.removeprefix(_ROLE)
        elif name == "kubernetes.io/role" and value:
            yield value


def _node_address(status: Object, kind: str) -> str:
    found = (each.get("address", "") for each in status.get("addresses", ()) if each.get("type") == kind)
    return next(found, "<none>")


def _event(obj: Object, now: datetime) -> dict[str, Any]:
    about, series = obj.get("involvedObject") or {}, obj.get("series")
    first = since(obj.get("firstTimestamp") or obj.get("eventTime"), now)
    last = since(obj["lastTimestamp"], now) if obj.get("lastTimestamp") else first
    count = obj.get("count", 0) or 1
    if series is not None:
        last, count = since(series.get("lastObservedTime"), now), series.get("count", 0)
    source = obj.get("source") or {}
    component = source.get("component") or obj.get("reportingComponent", "")
    instance = source.get("host") or obj.get("reportingInstance", "")
    kind, name = about.get("kind", "").lower(), about.get("name", "")
    return {
        "Last Seen": last,
        "Type": obj.get("type", ""),
        "Reason": obj.get("reason", ""),
        "Object": f"{kind}/{name}" if name else kind,
        "Subobject": about.get("fieldPath", ""),
        "Source": f"{component}, {instance}" if instance else component,
        "Message": obj.get("message", "").strip(),
        "First Seen": first,
        "Count": count,
    }


def _new_event(obj: Object, now: datetime) -> dict[str, Any]:
    return _event(event_to_core(obj), now)


def _namespace(obj: Object, now: datetime) -> dict[str, Any]:
    return {"Status": of(obj, "status", "phase")}


def _secret(obj: Object, now: datetime) -> dict[str, Any]:
    return {"Type": obj.get("type", ""), "Data": len(obj.get("data") or {})}


def _config_map(obj: Object, now: datetime) -> dict[str, Any]:
    return {"Data": len(obj.get("data") or {}) + len(obj.get("binaryData") or {})}


def _modes(modes: Iterable[str]) -> str:
    found = set(modes)
    return ",".join(short for name, short in _MODES if name in found)


def _volume(obj: Object, now: datetime) -> dict[str, Any]:
    spec, status = obj["spec"], obj.get("status") or {}
    claim = spec.get("claimRef")
    annotated = obj["metadata"].get("annotations", {}).get(_CLASS)
    return {
        "Capacity": of(spec, "capacity", "storage", absent="0"),
        "Access Modes": _modes(spec.get("accessModes") or ()),
        "Reclaim Policy": spec.get("persistentVolumeReclaimPolicy", ""),
        "Status": "Terminating" if obj["metadata"].get("deletionTimestamp") else status.get("phase", ""),
        "Claim": f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim is not None else "",
        "StorageClass": annotated if annotated is not None else spec.get("storageClassName", ""),
        "VolumeAttributesClass": spec.get("volumeAttributesClassName", "<unset>"),
        "Reason": status.get("reason", ""),
        "VolumeMode": spec.get("volumeMode", "<unset>"),
    }


def _claim(obj: Object, now: datetime) -> dict[str, Any]:
    spec, status = obj["spec"], obj.get("status") or {}
    bound = spec.get("volumeName", "")
    annotated = obj["metadata"].get("annotations", {}).get(_CLASS)
    return {
        "Status": "Terminating" if obj["metadata"].get("deletionTimestamp") else status.get("phase", ""),
        "Volume": bound,
        "Capacity": of(status, "capacity", "storage", absent="0") if bound else "",
        "Access Modes": _modes(status.get("accessModes") or ()) if bound else "",
        "StorageClass": annotated if annotated is not None else spec.get("storageClassName", ""),
        "VolumeAttributesClass": spec.get("volumeAttributesClassName", "<unset>"),
        "VolumeMode": spec.get("volumeMode", "<unset>"),
    }


def _quota(obj: Object, now: datetime) -> dict[str, Any]:
    status = obj.get("status") or {}
    used: dict[str, str] = status.get("used") or {}
    parts: dict[str, list[str]] = {"Request": [], "Limit": []}
    for name, hard in sorted((status.get("hard") or {}).items()):
        parts["Limit" if name.startswith("limits.") else "Request"].append(f"{name}: {used.get(name, '0')}/{hard}")
    return {name: ", ".join(each) for name, each in parts.items()}


def _component(obj: Object, now: datetime) -> dict[str, Any]:
    for each in obj.get("conditions", ()):
        if each.get("type") == "Healthy":
            word = "Healthy" if each.get("status") == "True" else "Unhealthy"
            return {"Status": word, "Message": each.get("message", ""), "Error": each.get("error", "")}
    return {"Status": "Unknown"}


ROWS: Final = {
    ("v1", "Service"): _service,
    ("v1", "Endpoints"): _endpoints,
    ("v1", "Node"): _node,
    ("v1", "Event"): _event,
    ("events.k8s.io/v1", "Event"): _new_event,
    ("v1", "Namespace"): _namespace,
    ("v1", "Secret"): _secret,
    ("v1", "ConfigMap"): _config_map,
    ("v1", "PersistentVolume"): _volume,
    ("v1", "PersistentVolumeClaim"): _claim,
    ("v1", "ResourceQuota"): _quota,
    ("v1", "ComponentStatus"): _component,
}
