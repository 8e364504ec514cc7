"""Claims and volumes: a claim gets a volume that is there, or a new one of its class, and lets it go.

A claim without a class gets the default one. Where there is no class at all, one is made with the first nodes. Classes
with `WaitForFirstConsumer` wait for a Pod that has the claim; who provisions is not asked: any class has a volume.
Rules: `kubernetes/pkg/controller/volume/persistentvolume`, `.../volume/pvcprotection`, `.../volume/pvprotection`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from kubewright.client import AlreadyExists
from kubewright.model import Quantity
from kubewright.model.times import format_time

from .api import Api
from .conditions import with_condition
from .engine import Engine
from .kinds import CLAIMS, CLASSES, PODS, VOLUMES, Kind, Obj, Ref, ref_of
from .podstates import condition_of, is_terminal

__all__ = ["Claims"]

_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"
_BOUND: Final = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
_PROVISIONED: Final = "pv.kubernetes.io/provisioned-by"
_PROVISIONER: Final = ("volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner")
_CLAIM_IN_USE: Final = "kubernetes.io/pvc-protection"
_VOLUME_IN_USE: Final = "kubernetes.io/pv-protection"
_USED: Final = {
    "status": "False",
    "reason": "PodUsingPVC",
    "message": "A pod is currently referencing this PVC",
}
_UNUSED: Final = {
    "status": "True",
    "reason": "NoPodsUsingPVC",
    "message": "No pods are currently referencing this PVC",
}
_OURS: Final = "kubewright.dev/simulated"


class Claims:
    """The controller of claims; volumes have keys without a namespace."""

    name: str = CLAIMS.plural

    def __init__(self, engine: Engine, api: Api) -> None:
        self._engine, self._api, self._view = engine, api, engine.view

    async def make_class(self) -> None:
        """See that there is a StorageClass, and so a default one."""
        if not self._view.all(CLASSES):
            made: Obj = {
                "metadata": {"name": "standard", "annotations": {_DEFAULT: "true"}},
                "provisioner": _OURS,
                "reclaimPolicy": "Delete",
                "volumeBindingMode": "Immediate",
            }
            try:
                await self._api.create(CLASSES, made)
            except AlreadyExists:
                pass

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == CLAIMS:
            yield ref_of(new or old or {})
            if new is None and old is not None and old["spec"].get("volumeName"):
                yield Ref("", old["spec"]["volumeName"])
        elif kind == VOLUMES:
            yield ref_of(new or old or {})
            if new is not None:
                yield from self._unbound()
        elif kind == CLASSES and new is not None:
            yield from self._unbound()
        elif kind == PODS and (new is None or old is None or is_terminal(new) != is_terminal(old)):
            pod = new or old or {}
            for each in _claims_in(pod):
                yield Ref(pod["metadata"]["namespace"], each)

    def _unbound(self) -> Iterator[Ref]:
        for each in self._view.all(CLAIMS):
            if not each["spec"].get("volumeName"):
                yield ref_of(each)

    async def sync(self, ref: Ref) -> None:
        if not ref.namespace:
            await self._volume(ref)
            return
        claim = self._view.get(CLAIMS, *ref)
        if claim is None:
            return
        if claim["metadata"].get("deletionTimestamp"):
            await self._let_go(CLAIMS, claim, _CLAIM_IN_USE, is_used=self._is_held(claim))
            return
        if (claim.get("status") or {}).get("phase") != "Bound":
            claim = await self._bind(claim)
        await self._note_use(claim)

    def _is_held(self, claim: Obj) -> bool:
        """Whether a Pod keeps a claim that is deleted: one that has a node. No kubelet starts another one with it."""
        pods = self._view.within(PODS, claim["metadata"]["namespace"])
        return any(pod["spec"].get("nodeName") and claim["metadata"]["name"] in _claims_in(pod) for pod in pods)

    def _users(self, claim: Obj) -> Iterator[Obj]:
        for pod in self._view.within(PODS, claim["metadata"]["namespace"]):
            if claim["metadata"]["name"] in _claims_in(pod) and not is_terminal(pod):
                yield pod

    async def _let_go(self, kind: Kind, obj: Obj, finalizer: str, *, is_used: bool) -> None:
        finalizers = obj["metadata"].get("finalizers") or []
        if finalizer in finalizers and not is_used:
            left = [each for each in finalizers if each != finalizer]
            await self._api.patch(kind, obj, {"metadata": {"finalizers": left}})

    async def _note_use(self, claim: Obj) -> None:
        used = any(self._users(claim))
        old = condition_of(claim, "Unused")
        if old is not None and (old["status"] == "False") is used:
            return
        said = _USED if used else _UNUSED
        condition = {"type": "Unused", **said, "lastTransitionTime": format_time(self._engine.clock())}
        conditions = with_condition((claim.get("status") or {}).get("conditions") or [], condition)
        await self._api.patch(CLAIMS, claim, {"status": {"conditions": conditions}}, "status")

    async def _bind(self, claim: Obj) -> Obj:
        """Bind it, if it can be. Returns it as it is then."""
        spec = claim["spec"]
        if "storageClassName" not in spec:
            default = self._default_class()
            if default is None and not spec.get("volumeName"):
                return claim
            if default is not None:
                spec = {**spec, "storageClassName": default["metadata"]["name"]}
                claim = await self._api.update(CLAIMS, {**claim, "spec": spec})
        volume = self._fitting(claim)
        annotations: dict[str, Any] = dict(_BOUND)
        if volume is None:
            found = self._view.get(CLASSES, "", spec.get("storageClassName", ""))
            if found is None or spec.get("volumeName"):
                return claim
            if found.get("volumeBindingMode") == "WaitForFirstConsumer" and not any(self._users(claim)):
                return claim
            annotations |= dict.fromkeys(_PROVISIONER, found["provisioner"])
            volume = await self._provision(claim, found)
        elif (volume["spec"].get("claimRef") or {}).get("uid") != claim["metadata"]["uid"]:
            reference = {"spec": {"claimRef": _reference(claim)}}
            volume = await self._api.patch(VOLUMES, volume, reference)
        if (volume.get("status") or {}).get("phase") != "Bound":
            await self._api.patch(VOLUMES, volume, {"status": {"phase": "Bound"}}, "status")
        name = volume["metadata"]["name"]
        change = {"metadata": {"annotations": annotations}, "spec": {"volumeName": name}}
        if spec.get("volumeName") == name:
            del annotations["pv.kubernetes.io/bound-by-controller"]
        claim = await self._api.patch(CLAIMS, claim, change)
        status = {
            "phase": "Bound",
            "accessModes": volume["spec"]["accessModes"],
            "capacity": volume["spec"]["capacity"],
        }
        return await self._api.patch(CLAIMS, claim, {"status": status}, "status")

    def _default_class(self) -> Obj | None:
        found = [
            each
            for each in self._view.all(CLASSES)
            if (each["metadata"].get("annotations") or {}).get(_DEFAULT) == "true"
        ]
        return max(found, key=lambda each: str(each["metadata"]["creationTimestamp"]), default=None)

    def _fitting(self, claim: Obj) -> Obj | None:
        """The volume that is the claim's already, or the smallest that is free and fits."""
        spec, meta = claim["spec"], claim["metadata"]
        fitting: list[Obj] = []
        for volume in self._view.all(VOLUMES):
            its = volume["spec"]
            reference = its.get("claimRef") or {}
            if reference.get("uid") == meta["uid"]:
                return volume
            if reference and (reference["name"], reference["namespace"]) != (meta["name"], meta["namespace"]):
                continue
            if reference.get("uid") or (spec.get("volumeName") and spec["volumeName"] != volume["metadata"]["name"]):
                continue
            same_class = its.get("storageClassName", "") == spec.get("storageClassName", "")
            modes = set(spec["accessModes"]) <= set(its["accessModes"])
            if same_class and modes and _size(its["capacity"]) >= _size(spec["resources"]["requests"]):
                fitting.append(volume)
        return min(fitting, key=lambda each: _size(each["spec"]["capacity"]), default=None)

    async def _provision(self, claim: Obj, class_: Obj) -> Obj:
        name = f"pvc-{claim['metadata']['uid']}"
        made: Obj = {
            "metadata": {"name": name, "annotations": {_PROVISIONED: class_["provisioner"]}},
            "spec": {
                "accessModes": claim["spec"]["accessModes"],
                "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
                "claimRef": _reference(claim),
                "persistentVolumeReclaimPolicy": class_.get("reclaimPolicy", "Delete"),
                "storageClassName": class_["metadata"]["name"],
                "volumeMode": claim["spec"].get("volumeMode", "Filesystem"),
                "hostPath": {"path": f"/var/lib/simulated/{name}", "type": "DirectoryOrCreate"},
            },
        }
        try:
            return await self._api.create(VOLUMES, made)
        except AlreadyExists:
            found = await self._api.read(VOLUMES, "", name)
            assert found is not None, "it was there just now"
            return found

    async def _volume(self, ref: Ref) -> None:
        volume = self._view.get(VOLUMES, *ref)
        if volume is None:
            return
        reference: dict[str, Any] = volume["spec"].get("claimRef") or {}
        claim = self._view.get(CLAIMS, reference.get("namespace", ""), reference.get("name", ""))
        is_bound = claim is not None and claim["metadata"]["uid"] == reference.get("uid")
        if volume["metadata"].get("deletionTimestamp"):
            await self._let_go(VOLUMES, volume, _VOLUME_IN_USE, is_used=is_bound)
        elif not reference.get("uid"):
            await self._phase(volume, "Available")
        elif not is_bound:
            await self._phase(volume, "Released")
            if volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
                await self._api.delete(VOLUMES, volume)

    async def _phase(self, volume: Obj, phase: str) -> None:
        if (volume.get("status") or {}).get("phase") != phase:
            await self._api.patch(VOLUMES, volume, {"status": {"phase": phase}}, "status")


def _claims_in(pod: Obj) -> list[str]:
    volumes = pod["spec"].get("volumes") or ()
    return [each["persistentVolumeClaim"]["claimName"] for each in volumes if "persistentVolumeClaim" in each]


def _reference(claim: Obj) -> dict[str, Any]:
    meta = claim["metadata"]
    named = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": meta["name"], "namespace": meta["namespace"]}
    return {**named, "uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}


def _size(amounts: dict[str, Any]) -> Quantity:
    return Quantity(amounts.get("storage", 0))
