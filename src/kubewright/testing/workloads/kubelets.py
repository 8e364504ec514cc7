"""The kubelets of all nodes that are there: they run what is bound to them, say how it goes, and end what is deleted.

Rules: `kubernetes/pkg/kubelet`; what a container does is in `containers`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from kubewright.client import NotFound
from kubewright.model.times import parse_time

from .api import KUBELET, Api
from .containers import PodRun
from .engine import Engine
from .failures import Failures, IgnoresTermination
from .kinds import NODES, PODS, Kind, Obj, Ref, ref_of
from .nodes import Nodes, address_of
from .podstates import condition_of, is_terminal
from .podstatus import pod_status
from .scheduler import Scheduler

__all__ = ["Kubelets"]

_KILLED: Final = 137
_TERMINATED: Final = 143
_LATE: Final = ("Failed", "DeadlineExceeded", "Pod was active on the node longer than the specified deadline")


class Kubelets:
    """One for each node that is not lost."""

    name: str = "kubelets"

    def __init__(self, engine: Engine, api: Api, nodes: Nodes) -> None:
        self._engine, self._api, self._view = engine, api.named(KUBELET), engine.view
        self._nodes = nodes
        self._runs: dict[str, PodRun] = {}
        self._addresses: dict[str, str] = {}
        self._count = 0
        self.failures = Failures(engine.view, self.look_again)

    def look_again(self) -> None:
        """At all Pods: something else goes wrong with them now."""
        for ref in list(self._view.refs(PODS)):
            self._engine.add(Scheduler.name, ref)
            self._engine.add(self.name, ref)

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == PODS:
            if new is None:
                assert old is not None
                self._runs.pop(old["metadata"]["uid"], None)
                self._addresses.pop(old["metadata"]["uid"], None)
            elif new["spec"].get("nodeName") and (old is None or _asked(old) != _asked(new)):
                yield ref_of(new)
        elif kind == NODES and (old is None) != (new is None):
            for each in self._view.pods_on((new or old or {})["metadata"]["name"]):
                yield ref_of(each)

    async def sync(self, ref: Ref) -> None:
        pod = self._view.get(PODS, *ref)
        if pod is None or not (name := pod["spec"].get("nodeName")):
            return
        node = self._view.get(NODES, "", name)
        if node is None or not self._nodes.is_alive(name):
            return
        if pod["metadata"].get("deletionTimestamp"):
            await self._terminate(pod, node)
        elif not is_terminal(pod):
            await self._run(pod, node)

    def _run_of(self, pod: Obj, now: datetime) -> PodRun:
        uid = pod["metadata"]["uid"]
        run = self._runs.get(uid)
        if run is None:
            run = self._runs[uid] = PodRun(pod, self.failures, now)
        run.pod = pod
        return run

    async def _run(self, pod: Obj, node: Obj) -> None:
        now = self._engine.clock()
        run = self._run_of(pod, now)
        run.step(now)
        failed = None
        if run.deadline is not None and run.deadline <= now:
            run.kill(_KILLED, now)
            failed = _LATE
        await self._tell(pod, pod_status(run, self._addresses_of(pod, node), now, failed=failed))
        if (at := run.next_at(now)) is not None:
            self._engine.after(self.name, ref_of(pod), (at - now).total_seconds())

    async def _tell(self, pod: Obj, status: Obj) -> None:
        if not _differs(pod.get("status") or {}, status):
            return
        try:
            await self._api.update(PODS, {**pod, "status": status}, "status")
        except NotFound:
            pass

    async def evict(self, pod: Obj, reason: str, message: str) -> None:
        """End a Pod because its node is short of something. Raises ApiError."""
        now = self._engine.clock()
        node = self._view.get(NODES, "", pod["spec"].get("nodeName", ""))
        if node is None:
            raise ValueError(f"pod {pod['metadata']['name']}: is on no node, so that none can evict it")
        run = self._run_of(pod, now)
        run.kill(_KILLED, now)
        condition = {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "message": message}
        status = pod_status(run, self._addresses_of(pod, node), now, failed=("Failed", reason, message))
        stamp = status["conditions"][0]["lastTransitionTime"]
        status["conditions"].insert(0, {**condition, "lastProbeTime": None, "lastTransitionTime": stamp})
        await self._tell(pod, status)

    async def _terminate(self, pod: Obj, node: Obj) -> None:
        """End the containers of a Pod that is being deleted; then it goes."""
        now, meta = self._engine.clock(), pod["metadata"]
        run = self._run_of(pod, now)
        ends_at = parse_time(meta["deletionTimestamp"])
        stubborn = self.failures.of(pod, IgnoresTermination) is not None
        if stubborn and now < ends_at and not is_terminal(pod):
            self._engine.after(self.name, ref_of(pod), (ends_at - now).total_seconds())
            return
        if meta.get("finalizers"):
            # Who holds it back wants to know how it ended.
            if not is_terminal(pod):
                run.kill(_KILLED if stubborn else _TERMINATED, now)
                phase = run.phase(now)
                failed = None if phase in ("Succeeded", "Failed") else ("Failed", "", "")
                await self._tell(pod, pod_status(run, self._addresses_of(pod, node), now, failed=failed))
                pod = self._view.get(PODS, *ref_of(pod)) or pod
            if not meta.get("deletionGracePeriodSeconds"):
                return
        await self._api.delete(PODS, pod, grace_seconds=0)

    def _addresses_of(self, pod: Obj, node: Obj) -> dict[str, str]:
        host, uid = address_of(node), pod["metadata"]["uid"]
        if pod["spec"].get("hostNetwork"):
            return {"host": host, "pod": host}
        known = (pod.get("status") or {}).get("podIP") or self._addresses.get(uid)
        if known is None:
            known = self._free_address()
        self._addresses[uid] = known
        return {"host": host, "pod": known}

    def _free_address(self) -> str:
        """The next address, and not one that a Pod has: after a new start they are counted from the first again."""
        taken = set(self._addresses.values())
        while True:
            self._count += 1
            second, rest = divmod(self._count - 1, 65_534)
            third, fourth = divmod(rest + 1, 256)
            address = f"10.{244 + second % 10}.{third}.{fourth}"
            if address not in taken:
                return address


def _asked(pod: Obj) -> tuple[object, ...]:
    """What a kubelet is told by a Pod; the rest it writes itself."""
    meta, gates = pod["metadata"], [each["conditionType"] for each in pod["spec"].get("readinessGates") or ()]
    said = [(each := condition_of(pod, gate)) is not None and each["status"] for gate in gates]
    ends = meta.get("deletionTimestamp"), meta.get("deletionGracePeriodSeconds"), meta.get("finalizers")
    return (meta.get("generation"), pod["spec"].get("nodeName"), *ends, said)


def _differs(old: Obj, new: Obj) -> bool:
    """Whether something is new but for what is empty on both sides."""
    return any(_plain(old.get(name)) != _plain(new.get(name)) for name in {*old, *new})


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {name: made for name, each in value.items() if (made := _plain(each)) not in (None, "", {}, [])}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value
