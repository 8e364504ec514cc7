"""The scheduler, in a simple form: it takes the node with the fewest Pods of those that a Pod fits on.

Looked at are: taints and cordons, node selectors and required node affinities, required Pod (anti-)affinities, host
ports, the number of Pods, and requests. Not looked at: preferences, spreading constraints, priorities, preemption.
What it says of a Pod that fits nowhere are the scheduler's own words.
Rules: `kubernetes/pkg/scheduler` (framework/types.go for the message).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import reduce
from typing import Any, Final

from kubewright.apiserver.admission.plugins.resources import Amounts, pod_amounts, sum_of
from kubewright.client import Conflict, NotFound
from kubewright.model import Quantity
from kubewright.model.times import format_time

from .api import SCHEDULER, Api
from .conditions import with_condition
from .engine import Engine
from .failures import Failures, Unschedulable
from .kinds import CLAIMS, NODES, PODS, Kind, Obj, Ref, ref_of
from .owners import labels_of, selector_of
from .podstates import condition_of, is_terminal
from .tolerating import fits_selectors, untolerated

__all__ = ["Scheduler"]

_NAME: Final = "default-scheduler"
_TAINTED: Final = "node(s) had untolerated taint(s)"


class Scheduler:
    """Binds Pods to nodes."""

    name: str = "scheduler"

    def __init__(self, engine: Engine, api: Api, failures: Failures) -> None:
        self._engine, self._api, self._view = engine, api.named(SCHEDULER), engine.view
        self._failures = failures
        self._there: dict[str, dict[Ref, Obj]] = {}
        self._used: dict[str, Amounts] = {}

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == PODS:
            self._note(old, new)
            if new is not None and not new["spec"].get("nodeName"):
                yield ref_of(new)
            freed = old is not None and old["spec"].get("nodeName") and (new is None or is_terminal(new))
            if not freed:
                return
        elif kind not in (NODES, CLAIMS):
            return
        for each in self._view.pods_on(""):
            yield ref_of(each)

    def _note(self, old: Obj | None, new: Obj | None) -> None:
        """Keep what takes room on each node: Pods that have not ended."""
        for obj, is_there in ((old, False), (new, True)):
            node = obj["spec"].get("nodeName") if obj is not None else None
            if obj is None or not node:
                continue
            if is_there and not is_terminal(obj):
                self._there.setdefault(node, {})[ref_of(obj)] = obj
            else:
                self._there.get(node, {}).pop(ref_of(obj), None)
            self._used.pop(node, None)

    async def sync(self, ref: Ref) -> None:
        pod = self._view.get(PODS, *ref)
        if pod is None or pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp") or is_terminal(pod):
            return
        if pod["spec"].get("schedulerName", _NAME) != _NAME or pod["spec"].get("schedulingGates"):
            return
        failure = self._failures.of(pod, Unschedulable)
        if failure is not None:
            count = len(self._view.all(NODES))
            await self._say(pod, f"0/{count} nodes are available: {count} {failure.message}.")
            return
        if problem := self._claim_problem(pod):
            count = len(self._view.all(NODES))
            await self._say(pod, f"0/{count} nodes are available: {problem}." if count else "no nodes available")
            return
        fitting, reasons, hopeless = [], Counter[str](), 0
        nodes, wanted = self._view.all(NODES), _requests_of(pod)
        for node in nodes:
            found = list(self._reasons(pod, wanted, node))
            if found:
                reasons.update(found)
                hopeless += not _could_preempt(found, wanted, node)
            else:
                fitting.append(node)
        if fitting:
            await self._bind(pod, min(fitting, key=self._load))
        elif not nodes:
            await self._say(pod, "no nodes available to schedule pods")
        else:
            await self._say(pod, _message(len(nodes), reasons, hopeless))

    def _load(self, node: Obj) -> tuple[int, str]:
        name = node["metadata"]["name"]
        return len(self._there.get(name, ())), name

    async def _bind(self, pod: Obj, node: Obj) -> None:
        meta = {name: pod["metadata"][name] for name in ("name", "namespace", "uid")}
        target = {"apiVersion": "v1", "kind": "Node", "name": node["metadata"]["name"]}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": meta, "target": target}
        try:
            await self._api.post(PODS, pod, "binding", body)
        except (NotFound, Conflict):
            return  # it is gone, is going, or another was first
        await self._api.read(PODS, *ref_of(pod))

    async def _say(self, pod: Obj, message: str) -> None:
        old = condition_of(pod, "PodScheduled")
        if old is not None and old["status"] == "False" and old.get("message") == message:
            return
        condition = {
            "type": "PodScheduled",
            "observedGeneration": pod["metadata"].get("generation", 0),
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
            "lastProbeTime": None,
            "lastTransitionTime": format_time(self._engine.clock()),
        }
        before = (pod.get("status") or {}).get("conditions") or []
        conditions = with_condition(before, condition, keep=False)
        try:
            await self._api.patch(PODS, pod, {"status": {"conditions": conditions}}, "status")
        except NotFound:
            pass

    # -- what stands against a node -----------------------------------------------------------------------------------

    def _used_on(self, node: str) -> Amounts:
        if node not in self._used:
            self._used[node] = reduce(sum_of, map(_requests_of, self._there.get(node, {}).values()), {})
        return self._used[node]

    def _reasons(self, pod: Obj, wanted: Amounts, node: Obj) -> Iterable[str]:
        spec = pod["spec"]
        if node["spec"].get("unschedulable") and untolerated(spec.get("tolerations") or (), _cordoned()) is not None:
            return ["node(s) were unschedulable"]
        if untolerated(spec.get("tolerations") or (), node) is not None:
            return [_TAINTED]
        if not fits_selectors(spec, node):
            return ["node(s) didn't match Pod's node affinity/selector"]
        name = node["metadata"]["name"]
        there = self._there.get(name, {})
        ports = _ports(spec)
        if ports and ports & {port for each in there.values() for port in _ports(each["spec"])}:
            return ["node(s) didn't have free ports for the requested pod ports"]
        if short := list(_short(wanted, node, len(there), self._used_on(name) if wanted else {})):
            return short
        return self._affinity_reasons(pod, node)

    def _affinity_reasons(self, pod: Obj, node: Obj) -> Iterable[str]:
        affinity = pod["spec"].get("affinity") or {}
        for term in _required(affinity.get("podAffinity")):
            others = self._matching(term, pod)
            if others and not any(self._is_near(term, each, node) for each in others):
                return ["node(s) didn't match pod affinity rules"]
            if not others and not selector_of(term.get("labelSelector")).matches(labels_of(pod)):
                return ["node(s) didn't match pod affinity rules"]
        for term in _required(affinity.get("podAntiAffinity")):
            if any(self._is_near(term, each, node) for each in self._matching(term, pod)):
                return ["node(s) didn't match pod anti-affinity rules"]
        return []

    def _matching(self, term: dict[str, Any], pod: Obj) -> list[Obj]:
        selector = selector_of(term.get("labelSelector"))
        found: list[Obj] = []
        for namespace in term.get("namespaces") or [pod["metadata"]["namespace"]]:
            found += [each for each in self._view.within(PODS, namespace) if selector.matches(labels_of(each))]
        return [each for each in found if each["spec"].get("nodeName") and not is_terminal(each)]

    def _is_near(self, term: dict[str, Any], other: Obj, node: Obj) -> bool:
        key = term["topologyKey"]
        its = self._view.get(NODES, "", other["spec"]["nodeName"])
        return its is not None and key in labels_of(node) and labels_of(its).get(key) == labels_of(node)[key]

    def _claim_problem(self, pod: Obj) -> str:
        namespace = pod["metadata"]["namespace"]
        for volume in pod["spec"].get("volumes") or ():
            if "persistentVolumeClaim" not in volume:
                continue
            name = volume["persistentVolumeClaim"]["claimName"]
            claim = self._view.get(CLAIMS, namespace, name)
            if claim is None:
                return f'persistentvolumeclaim "{name}" not found'
            if claim["metadata"].get("deletionTimestamp"):
                return f'persistentvolumeclaim "{name}" is being deleted'
            if not claim["spec"].get("volumeName"):
                return "pod has unbound immediate PersistentVolumeClaims"
        return ""


def _cordoned() -> Obj:
    return {"spec": {"taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}}


def _required(affinity: dict[str, Any] | None) -> list[dict[str, Any]]:
    return (affinity or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or []


def _ports(spec: Obj) -> set[tuple[int, str]]:
    return {
        (port["hostPort"], port.get("protocol", "TCP"))
        for container in spec["containers"]
        for port in container.get("ports") or ()
        if port.get("hostPort")
    }


def _requests_of(pod: Obj) -> Amounts:
    return pod_amounts(pod, "requests", overhead=True)


def _short(wanted: Amounts, node: Obj, count: int, used: Amounts) -> Iterable[str]:
    """What a node has too little of, with so many Pods that use so much."""
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    if "pods" in allocatable and count >= Quantity(allocatable["pods"]).to_int():
        yield "Too many pods"
    for name, amount in wanted.items():
        if amount and used.get(name, Quantity(0)) + amount > Quantity(allocatable.get(name, 0)):
            yield f"Insufficient {name}"


def _could_preempt(reasons: list[str], wanted: Amounts, node: Obj) -> bool:
    """Whether a node had room if there were fewer Pods: it is only full."""
    if not all(each.startswith(("Insufficient", "Too many")) for each in reasons):
        return False
    return not any(each.startswith("Insufficient") for each in _short(wanted, node, 0, {}))


def _message(count: int, reasons: Counter[str], hopeless: int) -> str:
    said = ", ".join(sorted(f"{number} {reason}" for reason, number in reasons.items()))
    helps = []
    if count > hopeless:
        helps.append(f"{count - hopeless} No preemption victims found for incoming pod")
    if hopeless:
        helps.append(f"{hopeless} Preemption is not helpful for scheduling")
    return f"0/{count} nodes are available: {said}. preemption: 0/{count} nodes are available: {', '.join(helps)}."
