"""Plugins that fill in what is default, and protect what is in use: DefaultStorageClass, DefaultIngressClass,
StorageObjectInUseProtection, PersistentVolumeClaimResize, TaintNodesByCondition.

Of several default classes the newest is taken. Rules: kubernetes/plugin/pkg/admission/{storage,network,nodetaint}.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kubewright.model.quantity import Quantity

from ...registry.backend import Attributes
from .world import Object, World, created, refused

__all__ = ["admit_claim_class", "admit_ingress_class", "admit_node", "check_resize", "protecting"]

_STORAGE: Final = ("storage.k8s.io", "storageclasses", "storageclass.kubernetes.io/is-default-class")
_INGRESS: Final = ("networking.k8s.io", "ingressclasses", "ingressclass.kubernetes.io/is-default-class")
_OLD_STORAGE_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_OLD_INGRESS_CLASS: Final = "kubernetes.io/ingress.class"
_NOT_READY: Final = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def admit_claim_class(attributes: Attributes, world: World) -> None:
    """Give a claim that asks for no class the default one."""
    claim = created(attributes)
    if claim is None or claim["spec"].get("storageClassName") is not None:
        return
    if _OLD_STORAGE_CLASS not in _annotations(claim) and (name := _default(world, *_STORAGE)):
        claim["spec"]["storageClassName"] = name


def admit_ingress_class(attributes: Attributes, world: World) -> None:
    """Give an Ingress that asks for no class the default one."""
    ingress = created(attributes)
    if ingress is None or "ingressClassName" in ingress["spec"]:
        return
    if _OLD_INGRESS_CLASS not in _annotations(ingress) and (name := _default(world, *_INGRESS)):
        ingress["spec"]["ingressClassName"] = name


def _annotations(obj: Object) -> dict[str, str]:
    return obj["metadata"].get("annotations") or {}


def _default(world: World, group: str, plural: str, annotation: str) -> str:
    """The name of the default class; empty where there is none."""
    found = [each["metadata"] for each in world.objects(group, plural) if _annotations(each).get(annotation) == "true"]
    if not found:
        return ""
    newest = max(each.get("creationTimestamp", "") for each in found)
    return str(min(each["name"] for each in found if each.get("creationTimestamp", "") == newest))


def protecting(finalizer: str) -> Callable[[Attributes, World], None]:
    """A plugin that sees to it that what is in use is not deleted."""

    def admit(attributes: Attributes, world: World) -> None:
        obj = created(attributes)
        if obj is not None and finalizer not in (found := obj["metadata"].get("finalizers") or []):
            obj["metadata"]["finalizers"] = [*found, finalizer]

    return admit


def admit_node(attributes: Attributes, world: World) -> None:
    """A new node gets no Pods before it says that it is ready."""
    node = created(attributes)
    if node is None:
        return
    spec: Object = node.setdefault("spec", {})
    taints = spec.get("taints") or []
    if not any((each.get("key"), each.get("effect")) == tuple(_NOT_READY.values()) for each in taints):
        spec["taints"] = [*taints, dict(_NOT_READY)]


def check_resize(attributes: Attributes, world: World) -> None:
    """A claim grows only where its class lets it. Raises StatusError."""
    new, old = attributes.object, attributes.old
    if attributes.operation != "UPDATE" or attributes.part is not None or new is None or old is None:
        return
    if _size(new) <= _size(old):
        return
    if (old.get("status") or {}).get("phase") != "Bound":
        raise refused(attributes, "Only bound persistent volume claims can be expanded")
    name = _class_of(new)
    found = world.object("storage.k8s.io", "storageclasses", name) if name and name == _class_of(old) else None
    if found is None or not found.get("allowVolumeExpansion"):
        said = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must"
        raise refused(attributes, f"{said} support resize")


def _size(claim: Object) -> Quantity:
    return Quantity(((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage", "0"))


def _class_of(claim: Object) -> str:
    return _annotations(claim).get(_OLD_STORAGE_CLASS) or claim["spec"].get("storageClassName") or ""
