"""Defaults of the core kinds besides Pods (`pkg/apis/core/v1/defaults.go`)."""

from __future__ import annotations

import base64
from typing import Any, Final

__all__ = ["DEFAULTS"]

Object = dict[str, Any]

_AFFINITY_SECONDS: Final = 10800


def _replication_controller(obj: Object) -> None:
    labels = obj["spec"].get("template", {}).get("metadata", {}).get("labels")
    if labels:
        if not obj["spec"].get("selector"):
            obj["spec"]["selector"] = dict(labels)
        if not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = dict(labels)


def _service(obj: Object) -> None:
    spec = obj["spec"]
    affinity = spec.setdefault("sessionAffinity", "None")
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP":
        config = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if "timeoutSeconds" not in config:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _AFFINITY_SECONDS}}
    kind = spec.setdefault("type", "ClusterIP")
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port["port"]
    external = kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and bool(spec.get("externalIPs")))
    if external:
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind in ("NodePort", "LoadBalancer", "ClusterIP"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for ingress in obj.get("status", {}).get("loadBalancer", {}).get("ingress", ()):
            if ingress.get("ip"):
                ingress.setdefault("ipMode", "VIP")


def _secret(obj: Object) -> None:
    texts = obj.pop("stringData", None)
    if texts:
        data = obj.setdefault("data", {})
        for name, text in texts.items():
            # Text that was written as text is data from here on; no bytes are null, as Go writes them.
            data[name] = base64.b64encode(text.encode()).decode()
    obj.setdefault("type", "Opaque")


def _volume(obj: Object) -> None:
    obj["status"].setdefault("phase", "Pending")
    obj["spec"].setdefault("persistentVolumeReclaimPolicy", "Retain")
    obj["spec"].setdefault("volumeMode", "Filesystem")


def _claim(obj: Object) -> None:
    obj["status"].setdefault("phase", "Pending")


def _claim_spec(spec: Object) -> None:
    spec.setdefault("volumeMode", "Filesystem")


def _endpoints(obj: Object) -> None:
    for subset in obj.get("subsets") or ():
        for port in subset.get("ports", ()):
            port.setdefault("protocol", "TCP")


def _namespace(obj: Object) -> None:
    if name := obj["metadata"].get("name"):
        obj["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name


def _namespace_status(status: Object) -> None:
    status.setdefault("phase", "Active")


def _node_spec(spec: Object) -> None:
    """The first range is told twice (`pkg/apis/core/v1/conversion.go`)."""
    first, ranges = spec.get("podCIDR"), spec.get("podCIDRs")
    if first and (not ranges or ranges[0] != first):
        spec["podCIDRs"] = [first]
    elif ranges and not first:
        spec["podCIDR"] = ranges[0]


def _node_status(status: Object) -> None:
    if status.get("capacity") and "allocatable" not in status:
        status["allocatable"] = dict(status["capacity"])


def _limit_range_item(item: Object) -> None:
    if item.get("type") != "Container":
        return
    default = dict(item.get("default") or {})
    requests = dict(item.get("defaultRequest") or {})
    for name, value in (item.get("max") or {}).items():
        default.setdefault(name, value)
    for name, value in (*default.items(), *(item.get("min") or {}).items()):
        requests.setdefault(name, value)
    for name, made in (("default", default), ("defaultRequest", requests)):
        if made:
            item[name] = made


DEFAULTS: Final = {
    "core/v1.ReplicationController": _replication_controller,
    "core/v1.Service": _service,
    "core/v1.Secret": _secret,
    "core/v1.PersistentVolume": _volume,
    "core/v1.PersistentVolumeClaim": _claim,
    "core/v1.PersistentVolumeClaimSpec": _claim_spec,
    "core/v1.Endpoints": _endpoints,
    "core/v1.Namespace": _namespace,
    "core/v1.NamespaceStatus": _namespace_status,
    "core/v1.NodeSpec": _node_spec,
    "core/v1.NodeStatus": _node_status,
    "core/v1.LimitRangeItem": _limit_range_item,
}
