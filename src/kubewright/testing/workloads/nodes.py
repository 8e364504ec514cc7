"""Nodes: making them, their heartbeats, and what becomes of those that are lost.

| a node | then |
|---|---|
| that is there | is Ready; its Lease is renewed, where heartbeats are asked for |
| that is lost | after the grace period its conditions are Unknown, it is tainted, and its Pods are not ready |
| that is deleted | is waited for a while; then its Pods are deleted |
| whose taint has NoExecute | Pods that do not tolerate it (or not for so long) are deleted |

Rules: `kubernetes/pkg/controller/nodelifecycle`, `.../tainteviction`, `.../podgc`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from kubewright.client import NotFound
from kubewright.model.times import format_time

from .api import KUBELET, Api
from .conditions import with_condition
from .engine import Engine
from .kinds import LEASES, NODES, PODS, Kind, Obj, Ref, ref_of
from .podstates import condition_of, is_active, seconds_since
from .tolerating import tolerates

__all__ = ["Nodes", "address_of", "new_node", "node_status"]

_CAPACITY: Final = {"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"}
_UNREACHABLE: Final = "node.kubernetes.io/unreachable"
_NOT_READY: Final = "node.kubernetes.io/not-ready"
_UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
_QUARANTINE_SECONDS: Final = 40.0
_LEASES_IN: Final = "kube-node-lease"
_LEASE_SECONDS: Final = 40
_FINE: Final = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


def new_node(name: str) -> Obj:
    """A Node that is made by its kubelet."""
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def _fine(now: str) -> list[dict[str, Any]]:
    """The conditions of a Node that runs."""
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    return [
        {"type": type_, "status": status, "reason": reason, "message": message, **times}
        for type_, status, reason, message in _FINE
    ]


def node_status(name: str, number: int, now: str) -> dict[str, Any]:
    """The status of a Node that runs; `number` makes its address."""
    third, fourth = divmod(number + 2, 256)
    address = f"172.18.{third}.{fourth}"
    return {
        "capacity": _CAPACITY,
        "allocatable": _CAPACITY,
        "conditions": _fine(now),
        "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
        "nodeInfo": {"kubeletVersion": "v1.37.0+kubewright", "operatingSystem": "linux", "architecture": "amd64"}
        | dict.fromkeys(("bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion"), "")
        | dict.fromkeys(("machineID", "osImage", "systemUUID"), ""),
    }


def address_of(node: Obj) -> str:
    """Where a node is."""
    for each in (node.get("status") or {}).get("addresses") or ():
        if each["type"] == "InternalIP":
            return str(each["address"])
    return "127.0.0.1"


class Nodes:
    """The node lifecycle controller, and the heartbeats of the kubelets.

    Args:
        heartbeat_seconds: how often each node renews its Lease; None: never, as nobody here looks at it.
        grace_seconds: how long after it is lost a node is given up.
    """

    name: str = "nodes"

    def __init__(
        self, engine: Engine, api: Api, *, heartbeat_seconds: float | None = None, grace_seconds: float = 50.0
    ) -> None:
        self._engine, self._api, self._view = engine, api, engine.view
        self._heartbeat, self._grace = heartbeat_seconds, grace_seconds
        self._lost: dict[str, str] = {}
        self._deleted: dict[str, str] = {}

    async def make(self, count: int) -> None:
        """See that there are so many, node-0 and on."""
        kubelet = self._api.named(KUBELET)
        for number in range(count):
            name = f"node-{number}"
            node = self._view.get(NODES, "", name)
            if node is None:
                node = await kubelet.create(NODES, new_node(name))
            if not (node.get("status") or {}).get("conditions"):
                status = node_status(name, number, format_time(self._engine.clock()))
                await kubelet.update(NODES, {**node, "status": status}, "status")

    def is_alive(self, name: str) -> bool:
        return name not in self._lost

    def lose(self, name: str) -> None:
        """Nothing is heard of the node any more, and nothing happens on it. Raises KeyError: there is none."""
        if self._view.get(NODES, "", name) is None:
            raise KeyError(f"there is no Node {name!r}")
        self._lost.setdefault(name, format_time(self._engine.clock()))
        self._engine.add(self.name, Ref("", name))

    async def recover(self, name: str) -> None:
        """The node is back."""
        self._lost.pop(name, None)
        node = self._view.get(NODES, "", name)
        if node is not None and (node.get("status") or {}).get("conditions"):
            conditions: list[dict[str, Any]] = node["status"]["conditions"]
            for each in _fine(format_time(self._engine.clock())):
                conditions = with_condition(conditions, each, keep=False)
            whole = {**node["status"], "conditions": conditions}
            await self._api.named(KUBELET).update(NODES, {**node, "status": whole}, "status")
        self._engine.add(self.name, Ref("", name))

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == NODES:
            yield ref_of(new or old or {})
        elif kind == PODS and new is not None and (name := new["spec"].get("nodeName")):
            is_new_there = old is None or not old["spec"].get("nodeName")
            node = self._view.get(NODES, "", name)
            if is_new_there and node is not None and node["spec"].get("taints"):
                yield Ref("", name)

    async def sync(self, ref: Ref) -> None:
        node = self._view.get(NODES, *ref)
        if node is None:
            self._lost.pop(ref.name, None)
            await self._clear(ref)
            return
        self._deleted.pop(ref.name, None)
        if ref.name not in self._lost:
            await self._beat(node)
        else:
            left = self._grace - seconds_since(self._lost[ref.name], self._engine.clock())
            if left > 0:
                self._engine.after(self.name, ref, left)
            else:
                node = await self._give_up(node)
        node = await self._taint(node)
        await self._evict(node)

    async def _beat(self, node: Obj) -> None:
        if self._heartbeat is None:
            return
        name, now = node["metadata"]["name"], self._engine.clock()
        stamp = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": name, "leaseDurationSeconds": _LEASE_SECONDS, "renewTime": stamp}
        lease = self._view.get(LEASES, _LEASES_IN, name)
        kubelet = self._api.named(KUBELET)
        if lease is None:
            owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
            meta = {"name": name, "namespace": _LEASES_IN, "ownerReferences": [owner]}
            await kubelet.create(LEASES, {"metadata": meta, "spec": spec})
        else:
            since = seconds_since(lease["spec"].get("renewTime"), now)
            if since < self._heartbeat:
                self._engine.after(self.name, ref_of(node), self._heartbeat - since)
                return
            await kubelet.update(LEASES, {**lease, "spec": {**lease["spec"], **spec}})
        self._engine.after(self.name, ref_of(node), self._heartbeat)

    async def _give_up(self, node: Obj) -> Obj:
        ready = condition_of(node, "Ready")
        if ready is None or ready["status"] == "Unknown":
            return node
        now = format_time(self._engine.clock())
        unknown = {
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
            "lastTransitionTime": now,
        }
        conditions = [{**each, **unknown} for each in node["status"]["conditions"]]
        node = await self._api.update(NODES, {**node, "status": {**node["status"], "conditions": conditions}}, "status")
        for pod in self._view.pods_on(node["metadata"]["name"]):
            ready = condition_of(pod, "Ready")
            if ready is not None and ready["status"] == "True":
                changed = [
                    {**each, "status": "False", "lastTransitionTime": now} if each["type"] == "Ready" else each
                    for each in pod["status"]["conditions"]
                ]
                await self._api.patch(PODS, pod, {"status": {"conditions": changed}}, "status")
        return node

    async def _taint(self, node: Obj) -> Obj:
        """The taints that follow from its conditions, and from being cordoned."""
        now = format_time(self._engine.clock())
        ready = condition_of(node, "Ready")
        wanted = []
        state = None if ready is None else ready["status"]
        key = {"Unknown": _UNREACHABLE, "False": _NOT_READY, None: _NOT_READY}.get(state)
        if key is not None:
            wanted.append((key, "NoSchedule"))
            if state is not None:
                wanted.append((key, "NoExecute"))
        if node["spec"].get("unschedulable"):
            wanted.append((_UNSCHEDULABLE, "NoSchedule"))
        old: list[dict[str, Any]] = node["spec"].get("taints") or []
        ours = (_UNREACHABLE, _NOT_READY, _UNSCHEDULABLE)
        made = [each for each in old if each["key"] not in ours or (each["key"], each["effect"]) in wanted]
        present = {(each["key"], each["effect"]) for each in made}
        made += [
            {"key": key, "effect": effect, "timeAdded": now} for key, effect in wanted if (key, effect) not in present
        ]
        if made == old:
            return node
        return await self._api.update(NODES, {**node, "spec": {**node["spec"], "taints": made}})

    async def _clear(self, ref: Ref) -> None:
        """Delete the Pods of a node that is there no more, after a while in which it could come back."""
        pods = self._view.pods_on(ref.name)
        now = self._engine.clock()
        since = self._deleted.setdefault(ref.name, format_time(now))
        left = _QUARANTINE_SECONDS - seconds_since(since, now)
        if not pods or left > 0:
            if pods:
                self._engine.after(self.name, ref, left)
            return
        for pod in pods:
            if is_active(pod):
                pod = await self._mark(pod, "DeletionByPodGC", "PodGC: node no longer exists", phase="Failed") or pod
            await self._api.delete(PODS, pod, grace_seconds=0)

    async def _mark(self, pod: Obj, reason: str, message: str, **status: str) -> Obj | None:
        """Say in a Pod why it goes; None: it is gone."""
        now = format_time(self._engine.clock())
        condition = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}
        times = {"lastProbeTime": None, "lastTransitionTime": now}
        conditions = [*((pod.get("status") or {}).get("conditions") or ()), {**condition, **times}]
        try:
            return await self._api.patch(PODS, pod, {"status": {"conditions": conditions, **status}}, "status")
        except NotFound:
            return None

    async def _evict(self, node: Obj) -> None:
        """Delete the Pods that do not tolerate the node's NoExecute taints, or not any longer."""
        taints = [each for each in node["spec"].get("taints") or () if each["effect"] == "NoExecute"]
        if not taints:
            return
        now = self._engine.clock()
        for pod in self._view.pods_on(node["metadata"]["name"]):
            if not is_active(pod):
                continue
            left = _tolerated_seconds(pod, taints, now)
            if left is None:
                continue
            if left > 0:
                self._engine.after(self.name, ref_of(node), left)
                continue
            said = "Taint manager: deleting due to NoExecute taint"
            if await self._mark(pod, "DeletionByTaintManager", said) is not None:
                await self._api.delete(PODS, pod)


def _tolerated_seconds(pod: Obj, taints: list[dict[str, Any]], now: Any) -> float | None:
    """How long a Pod may stay: None for ever, 0 or less not at all."""
    left: list[float] = []
    for taint in taints:
        found = [each for each in pod["spec"].get("tolerations") or () if tolerates(each, taint)]
        if not found:
            return 0.0
        limits = [each["tolerationSeconds"] for each in found if each.get("tolerationSeconds") is not None]
        if limits:
            left.append(min(limits) - seconds_since(taint.get("timeAdded"), now))
    return min(left) if left else None
