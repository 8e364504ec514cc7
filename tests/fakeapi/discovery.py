"""What a server says of the kinds that it serves: aggregated discovery, v2."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubewright.model import ResourceInfo

__all__ = ["aggregated"]


def aggregated(path: str, infos: Iterable[ResourceInfo]) -> dict[str, Any]:
    """The document at `/api` or `/apis`."""
    groups: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for info in infos:
        if (path == "/api") is (info.group == ""):
            groups.setdefault(info.group, {}).setdefault(info.version, []).append(_resource(info))
    items = [
        {
            "metadata": {"name": group},
            "versions": [
                {"version": version, "freshness": "Current", "resources": resources}
                for version, resources in versions.items()
            ],
        }
        for group, versions in groups.items()
    ]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": items}


def _resource(info: ResourceInfo) -> dict[str, Any]:
    return {
        "resource": info.plural,
        "responseKind": {"group": info.group, "version": info.version, "kind": info.kind},
        "scope": "Namespaced" if info.namespaced else "Cluster",
        "singularResource": info.kind.lower(),
        "subresources": [{"subresource": "status"}] if info.status else [],
    }
