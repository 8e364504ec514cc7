"""The Scale of the workloads: `autoscaling/v1 Scale` as a view of Deployments, ReplicaSets and the like."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from kubewright.schema.structural.fielderrors import invalid as invalid_field
from kubewright.schema.structural.fielderrors import required

from ..errors import bad_request, invalid_of
from .selectors import selector_text

__all__ = ["Scaled", "ScaleView"]

_META = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class Scaled(Struct, frozen=True):
    """Which kind is scaled, for errors; `is_plain` where its selector is a plain map of labels."""

    group: str
    kind: str
    is_plain: bool = False


class ScaleView:
    """Reads and writes `spec.replicas` through a Scale."""

    def __init__(self, scaled: Scaled) -> None:
        self._scaled = scaled

    def read(self, obj: dict[str, Any]) -> dict[str, Any]:
        """The Scale of an object."""
        meta, spec, status = obj["metadata"], obj.get("spec", {}), obj.get("status", {})
        selector = selector_text(spec.get("selector") or {}, is_plain=self._scaled.is_plain)
        shown: dict[str, Any] = {"replicas": status.get("replicas", 0)}
        if selector:
            shown["selector"] = selector
        wanted = {"replicas": spec["replicas"]} if spec.get("replicas") else {}
        return {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {name: meta[name] for name in _META if name in meta},
            "spec": wanted,
            "status": shown,
        }

    def write(self, view: dict[str, Any], obj: dict[str, Any]) -> dict[str, Any]:
        """A copy of the object with the replicas of a Scale. Raises StatusError."""
        name = obj["metadata"]["name"]
        given = view.get("metadata") or {}
        replicas = (view.get("spec") or {}).get("replicas") or 0
        if isinstance(replicas, bool) or not isinstance(replicas, int):
            raise bad_request("Scale spec.replicas has to be a whole number")
        errors = [] if given.get("name") else [required("metadata.name", "name or generateName is required")]
        if replicas < 0:
            errors.append(invalid_field("spec.replicas", replicas, "must be greater than or equal to 0"))
        if errors:
            raise invalid_of("Scale.autoscaling", "autoscaling", "Scale", given.get("name", ""), errors)
        meta = dict(obj["metadata"])
        if given.get("resourceVersion"):
            meta["resourceVersion"] = given["resourceVersion"]
        del name
        return {**obj, "metadata": meta, "spec": {**obj["spec"], "replicas": replicas}}
