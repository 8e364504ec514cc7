"""DaemonSets: a Pod on each node that they are for.

Rules: `kubernetes/pkg/controller/daemon`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final

from kubewright.model.intorstring import resolve_percent

from .api import Api
from .engine import Engine
from .kinds import DAEMON_SETS, NODES, PODS, Kind, Obj, Ref, ref_of
from .owners import claim, concerned, controller_ref, labels_of, selector_of
from .podstates import available_in, is_available, is_ready, is_terminal, phase_of, pod_from
from .revisions import HASH, forget_old, history_of, revision_label
from .tolerating import fits_selectors, untolerated

__all__ = ["DaemonSets"]

_GENERATION: Final = "deprecated.daemonset.template.generation"
_GENERATION_LABEL: Final = "pod-template-generation"
_ALWAYS: Final = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_OF_HOST_NETWORK: Final = ("node.kubernetes.io/network-unavailable", "NoSchedule")
_FIRST_BACK_OFF_SECONDS: Final = 1.0
_LONGEST_BACK_OFF_SECONDS: Final = 900.0
_ByNode = dict[str, list[Obj]]


class DaemonSets:
    """The DaemonSet controller."""

    name: str = DAEMON_SETS.plural

    def __init__(self, engine: Engine, api: Api) -> None:
        self._engine, self._api, self._view = engine, api, engine.view
        self._failed: dict[tuple[str, str], tuple[float, Any]] = {}

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == DAEMON_SETS:
            yield ref_of(new or old or {})
        elif kind == NODES:
            if old is None or new is None or _seen(old) != _seen(new):
                for each in self._view.all(DAEMON_SETS):
                    yield ref_of(each)
        elif kind == PODS:
            yield from concerned(self._view, DAEMON_SETS, old, new)

    async def sync(self, ref: Ref) -> None:
        owner = self._view.get(DAEMON_SETS, *ref)
        if owner is None:
            return
        if not selector_of(owner["spec"]["selector"]) or owner["metadata"].get("deletionTimestamp"):
            return
        history = await history_of(self._api, DAEMON_SETS, owner)
        hashed = labels_of(history.update)[HASH]
        by_node = self._by_node(await claim(self._api, DAEMON_SETS, owner, PODS))
        acted = await self._manage(owner, by_node, hashed)
        if not acted and owner["spec"]["updateStrategy"]["type"] == "RollingUpdate":
            await self._roll(owner, by_node, hashed)
        live = {revision_label(each) for pods in by_node.values() for each in pods}
        names = {each["metadata"]["name"] for each in history.revisions if labels_of(each).get(HASH) in live}
        await forget_old(self._api, owner, history.revisions, {*names, history.update["metadata"]["name"]})
        pods = self._view.owned(PODS, owner["metadata"]["uid"])
        await self._tell(owner, self._by_node(pods), hashed, history.collisions)

    def _by_node(self, pods: Iterable[Obj]) -> _ByNode:
        found: _ByNode = {}
        for each in pods:
            node = each["spec"].get("nodeName") or _target(each)
            if node and not (is_terminal(each) and each["metadata"].get("deletionTimestamp")):
                found.setdefault(node, []).append(each)
        return found

    # -- Pods ---------------------------------------------------------------------------------------------------------

    async def _manage(self, owner: Obj, by_node: _ByNode, hashed: str) -> bool:
        """Make Pods where they are missing, delete them where they are too much. Returns whether there were any."""
        missing: list[str] = []
        surplus: list[Obj] = []
        nodes = self._view.all(NODES)
        for node in nodes:
            name = node["metadata"]["name"]
            should, may = _should_run(owner, node)
            pods = [each for each in by_node.get(name, ()) if not each["metadata"].get("deletionTimestamp")]
            if should and name not in by_node:
                missing.append(name)
            elif may:
                more, too_few = self._of_node(owner, name, pods, hashed)
                surplus += more
                if should and too_few:
                    missing.append(name)
            else:
                surplus += pods
        known = {each["metadata"]["name"] for each in nodes}
        for name, pods in by_node.items():
            if name not in known:
                surplus += [each for each in pods if not each["spec"].get("nodeName")]
        await self._create(owner, missing, hashed)
        for each in surplus:
            await self._api.delete(PODS, each)
        return bool(missing or surplus)

    def _of_node(self, owner: Obj, node: str, pods: list[Obj], hashed: str) -> tuple[list[Obj], bool]:
        """What is too much on a node, and whether something is missing there, too."""
        running: list[Obj] = []
        surplus: list[Obj] = []
        for each in pods:
            if not is_terminal(each):
                running.append(each)
            elif phase_of(each) == "Succeeded" or self._may_retry(owner, node):
                surplus.append(each)
        running.sort(key=_first_kept)
        if not _surge(owner, 1):
            return surplus + running[1:], False
        if len(running) <= 1:
            return surplus, not running
        new = [each for each in running if revision_label(each) == hashed]
        old = [each for each in running if revision_label(each) != hashed]
        surplus += new[1:] + old[1:]
        least = owner["spec"].get("minReadySeconds", 0)
        if new and old and (not is_ready(old[0]) or is_available(new[0], least, self._engine.clock())):
            surplus.append(old[0])
        return surplus, False

    def _may_retry(self, owner: Obj, node: str) -> bool:
        """Whether a failed Pod may be replaced now: each time it is waited for twice as long."""
        key, now = (owner["metadata"]["uid"], node), self._engine.clock()
        seconds, until = self._failed.get(key, (0.0, now))
        if until > now:
            self._engine.after(self.name, ref_of(owner), (until - now).total_seconds())
            return False
        seconds = min(max(seconds * 2, _FIRST_BACK_OFF_SECONDS), _LONGEST_BACK_OFF_SECONDS)
        self._failed[key] = seconds, now + timedelta(seconds=seconds)
        return True

    async def _create(self, owner: Obj, nodes: list[str], hashed: str) -> None:
        for node in nodes:
            pod = pod_from(owner["spec"]["template"], owner, controller_ref(DAEMON_SETS, owner))
            labels = {**(pod["metadata"].get("labels") or {}), HASH: hashed}
            generation = (owner["metadata"].get("annotations") or {}).get(_GENERATION)
            if generation is not None:
                labels[_GENERATION_LABEL] = generation
            affinity = dict(pod["spec"].get("affinity") or {})
            field = {"key": "metadata.name", "operator": "In", "values": [node]}
            required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
            its = {"requiredDuringSchedulingIgnoredDuringExecution": required}
            affinity["nodeAffinity"] = {**(affinity.get("nodeAffinity") or {}), **its}
            spec = {**pod["spec"], "affinity": affinity, "tolerations": _tolerations(owner)}
            await self._api.create(PODS, {"metadata": {**pod["metadata"], "labels": labels}, "spec": spec})

    # -- updates ------------------------------------------------------------------------------------------------------

    async def _roll(self, owner: Obj, by_node: _ByNode, hashed: str) -> None:
        nodes = [each for each in self._view.all(NODES) if _should_run(owner, each)[0]]
        rolling = owner["spec"]["updateStrategy"].get("rollingUpdate") or {}
        most = resolve_percent(rolling.get("maxUnavailable", 1), len(nodes), round_up=True)
        surge = _surge(owner, len(nodes))
        if surge:
            await self._roll_with_surge(owner, by_node, hashed, surge)
            return
        away = 0
        broken: list[Obj] = []
        candidates: list[Obj] = []
        for name in sorted(by_node):
            new, old, clear = self._new_and_old(by_node[name], hashed)
            if not clear or (new is None) == (old is None):
                away += 1
            elif new is not None:
                away += not self._is_available(owner, new)
            elif old is not None and not self._is_available(owner, old):
                broken.append(old)
                away += 1
            elif old is not None:
                candidates.append(old)
        for each in [*broken, *candidates[: max(most - away, 0)]]:
            await self._api.delete(PODS, each)

    async def _roll_with_surge(self, owner: Obj, by_node: _ByNode, hashed: str, surge: int) -> None:
        extra = 0
        allowed: list[str] = []
        candidates: list[str] = []
        done: list[Obj] = []
        for name in sorted(by_node):
            new, old, clear = self._new_and_old(by_node[name], hashed)
            if not clear:
                extra += 1
            elif old is None:
                continue
            elif new is None:
                (candidates if self._is_available(owner, old) else allowed).append(name)
            elif self._is_available(owner, new):
                done.append(old)
            else:
                extra += 1
        await self._create(owner, [*allowed, *candidates[: max(surge - extra, 0)]], hashed)
        for each in done:
            await self._api.delete(PODS, each)

    def _is_available(self, owner: Obj, pod: Obj) -> bool:
        return is_available(pod, owner["spec"].get("minReadySeconds", 0), self._engine.clock())

    def _new_and_old(self, pods: list[Obj], hashed: str) -> tuple[Obj | None, Obj | None, bool]:
        staying = [each for each in pods if not each["metadata"].get("deletionTimestamp")]
        new = [each for each in staying if revision_label(each) == hashed]
        old = [each for each in staying if revision_label(each) != hashed]
        clear = len(new) <= 1 and len(old) <= 1
        return next(iter(new), None), next(iter(old), None), clear

    # -- status -------------------------------------------------------------------------------------------------------

    async def _tell(self, owner: Obj, by_node: _ByNode, hashed: str, collisions: int) -> None:
        counts = dict.fromkeys(("desired", "current", "misscheduled", "ready", "updated", "available"), 0)
        least, now = owner["spec"].get("minReadySeconds", 0), self._engine.clock()
        waits: list[float] = []
        for node in self._view.all(NODES):
            pods = sorted(by_node.get(node["metadata"]["name"], ()), key=_first_kept)
            if not _should_run(owner, node)[0]:
                counts["misscheduled"] += bool(pods)
                continue
            counts["desired"] += 1
            if not pods:
                continue
            counts["current"] += 1
            counts["ready"] += is_ready(pods[0])
            wait = available_in(pods[0], least, now)
            counts["available"] += wait == 0.0
            counts["updated"] += revision_label(pods[0]) == hashed
            if wait:
                waits.append(wait)
        status: dict[str, Any] = {
            "currentNumberScheduled": counts["current"],
            "numberMisscheduled": counts["misscheduled"],
            "desiredNumberScheduled": counts["desired"],
            "numberReady": counts["ready"],
            "observedGeneration": owner["metadata"].get("generation", 0),
            "updatedNumberScheduled": counts["updated"],
            "numberAvailable": counts["available"],
            "numberUnavailable": counts["desired"] - counts["available"],
        }
        old: dict[str, Any] = owner.get("status") or {}
        if collisions:
            status["collisionCount"] = collisions
        if any(old.get(name, 0) != value for name, value in status.items()):
            await self._api.update(DAEMON_SETS, {**owner, "status": {**old, **status}}, "status")
        if waits:
            self._engine.after(self.name, ref_of(owner), min(waits))


def _seen(node: Obj) -> tuple[Any, ...]:
    """What DaemonSets look at of a node."""
    return labels_of(node), node["spec"].get("taints")


def _first_kept(pod: Obj) -> tuple[bool, bool, str, str]:
    """The order in which Pods of one node are kept: those on a node, those that are there the longest."""
    meta = pod["metadata"]
    return (not pod["spec"].get("nodeName"), is_terminal(pod), meta["creationTimestamp"], meta["name"])


def _surge(owner: Obj, nodes: int) -> int:
    rolling = owner["spec"]["updateStrategy"].get("rollingUpdate") or {}
    return resolve_percent(rolling.get("maxSurge", 0), nodes, round_up=True)


def _target(pod: Obj) -> str:
    """The node that a Pod is made for."""
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name" and field["operator"] == "In" and len(field["values"]) == 1:
                return str(field["values"][0])
    return ""


def _tolerations(owner: Obj) -> list[dict[str, Any]]:
    """Those of the template, and those that every daemon has."""
    spec = owner["spec"]["template"]["spec"]
    made: list[dict[str, Any]] = list(spec.get("tolerations") or ())
    for key, effect in [*_ALWAYS, *([_OF_HOST_NETWORK] if spec.get("hostNetwork") else [])]:
        one = {"key": key, "operator": "Exists", "effect": effect}
        if one not in made:
            made.append(one)
    return made


def _should_run(owner: Obj, node: Obj) -> tuple[bool, bool]:
    """Whether a Pod should be made on a node, and whether one that is there may stay."""
    spec = owner["spec"]["template"]["spec"]
    if spec.get("nodeName") not in (None, "", node["metadata"]["name"]) or not fits_selectors(spec, node):
        return False, False
    tolerations = _tolerations(owner)
    if untolerated(tolerations, node) is None:
        return True, True
    return False, untolerated(tolerations, node, ("NoExecute",)) is None
