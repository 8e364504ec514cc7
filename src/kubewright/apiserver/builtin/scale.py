"""The Scale of the workloads: `autoscaling/v1 Scale` as a view of Deployments, ReplicaSets and the like."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from msgspec import Struct

from kubewright.schema.structural.fielderrors import invalid as invalid_field

from ..errors import conflict, invalid_of
from .selectors import selector_text

__all__ = ["Scaled", "ScaleView"]

_REPLICAS: Final = ("f:spec", "f:replicas")
_APPS: Final = ("apps/v1", "apps/v1beta2", "apps/v1beta1")
_VERSIONS: Final = {"ReplicaSet": _APPS[:2], "ReplicationController": ("v1",)}
"""The versions in which somebody may own replicas (`storage.go` of each kind)."""
_META: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class Scaled(Struct, frozen=True):
    """Which kind is scaled, for errors; `is_plain` where its selector is a plain map of labels."""

    group: str
    kind: str
    is_plain: bool = False

    @property
    def plural(self) -> str:
        return f"{self.kind.lower()}s"


class _Named(NamedTuple):
    group: str
    plural: str
    kind: str


class ScaleView:
    """Reads and writes `spec.replicas` through a Scale."""

    def __init__(self, scaled: Scaled) -> None:
        self._scaled = scaled
        self.replicas = dict.fromkeys(_VERSIONS.get(scaled.kind, _APPS), _REPLICAS)

    def read(self, obj: dict[str, Any], *, is_write: bool = False) -> dict[str, Any]:
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
        before, given = obj["metadata"], view.get("metadata") or {}
        replicas = (view.get("spec") or {}).get("replicas") or 0
        if replicas < 0:
            errors = [invalid_field("spec.replicas", replicas, "must be greater than or equal to 0")]
            raise invalid_of("Scale.autoscaling", "autoscaling", "Scale", before["name"], errors)
        if (uid := given.get("uid")) and uid != before.get("uid"):
            scaled = _Named(self._scaled.group, f"{self._scaled.plural}/scale", "Scale")
            why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {before.get('uid')}"
            raise conflict(scaled, before["name"], why)
        meta = dict(before)
        if given.get("resourceVersion"):
            meta["resourceVersion"] = given["resourceVersion"]
        return {**obj, "metadata": meta, "spec": {**obj["spec"], "replicas": replicas}}
