"""The status of a Pod as a kubelet writes it.

Rules: `kubernetes/pkg/kubelet/status/generate.go`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from kubewright.model.times import format_time

from .containers import Container, PodRun, container_id
from .kinds import Obj

__all__ = ["pod_status"]

_OWN: Final = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
_Said = tuple[str, str, str]
_TRUE: Final[_Said] = ("True", "", "")


def pod_status(run: PodRun, addresses: dict[str, str], now: datetime, *, failed: _Said | None = None) -> Obj:
    """The whole status.

    Args:
        addresses: `host` and `pod`; the second may be missing.
        failed: the Pod has failed: phase, reason and message, whatever its containers say.
    """
    pod = run.pod
    old: dict[str, Any] = pod.get("status") or {}
    phase = failed[0] if failed is not None else run.phase(now)
    status: dict[str, Any] = {
        **{name: value for name, value in old.items() if name not in ("reason", "message")},
        "observedGeneration": pod["metadata"].get("generation", 0),
        "phase": phase,
        "hostIP": addresses["host"],
        "hostIPs": [{"ip": addresses["host"]}],
        "startTime": format_time(run.started_at),
        "containerStatuses": [_container(run, each, now) for each in run.main],
    }
    if failed is not None:
        status["reason"], status["message"] = failed[1], failed[2]
    if "pod" in addresses:
        status["podIP"], status["podIPs"] = addresses["pod"], [{"ip": addresses["pod"]}]
    if run.init:
        status["initContainerStatuses"] = [_container(run, each, now) for each in run.init]
    status["conditions"] = _conditions(run, phase, now)
    return status


def _container(run: PodRun, container: Container, now: datetime) -> dict[str, Any]:
    image = container.spec.get("image", "")
    waits = "PodInitializing" if run.init and not container.is_init else "ContainerCreating"
    made: dict[str, Any] = {
        "name": container.name,
        "state": container.shown or {"waiting": {"reason": waits}},
        "lastState": container.last,
        "ready": run.is_ready(container, now),
        "restartCount": max(container.starts - 1, 0),
        "image": image,
        "imageID": "",
        "started": run.is_started(container, now),
    }
    if container.starts:
        made["imageID"] = f"{image.partition('@')[0]}@sha256:{hashlib.sha256(image.encode()).hexdigest()}"
        made["containerID"] = container_id(run.pod, container)
    return made


def _conditions(run: PodRun, phase: str, now: datetime) -> list[dict[str, Any]]:
    pod = run.pod
    before = {each["type"]: each for each in (pod.get("status") or {}).get("conditions") or ()}
    ready = _containers_ready(run, phase, now)
    said: dict[str, _Said] = {
        "PodReadyToStartContainers": _TRUE if phase in ("Pending", "Running") else ("False", "", ""),
        "Initialized": _initialized(run, phase, now),
        "Ready": _ready(run, ready, before),
        "ContainersReady": ready,
        "PodScheduled": _TRUE,
    }
    made = [each for type_, each in before.items() if type_ not in _OWN]
    return made + [_condition(pod, type_, said[type_], before.get(type_), now) for type_ in _OWN]


def _condition(pod: Obj, type_: str, said: _Said, old: dict[str, Any] | None, now: datetime) -> dict[str, Any]:
    status, reason, message = said
    since = old["lastTransitionTime"] if old is not None and old["status"] == status else format_time(now)
    made: dict[str, Any] = {
        "type": type_,
        "observedGeneration": pod["metadata"].get("generation", 0),
        "status": status,
        "lastProbeTime": None,
        "lastTransitionTime": since,
    }
    if reason:
        made["reason"] = reason
    if message:
        made["message"] = message
    return made


def _finished(phase: str) -> str:
    return {"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(phase, "")


def _containers_ready(run: PodRun, phase: str, now: datetime) -> _Said:
    if reason := _finished(phase):
        return "False", reason, ""
    asked = [each for each in run.init if each.is_sidecar] + run.main
    unready = [each.name for each in asked if not run.is_ready(each, now)]
    if unready:
        return "False", "ContainersNotReady", f"containers with unready status: {_list(unready)}"
    return _TRUE


def _ready(run: PodRun, containers: _Said, before: dict[str, dict[str, Any]]) -> _Said:
    if containers[0] != "True":
        return containers
    missing = []
    for gate in run.pod["spec"].get("readinessGates") or ():
        type_ = gate["conditionType"]
        if type_ not in before:
            missing.append(f'corresponding condition of pod readiness gate "{type_}" does not exist.')
        elif before[type_]["status"] != "True":
            missing.append(f'the status of pod readiness gate "{type_}" is not "True", but {before[type_]["status"]}')
    return ("False", "ReadinessGatesNotReady", ", ".join(missing)) if missing else _TRUE


def _initialized(run: PodRun, phase: str, now: datetime) -> _Said:
    if phase == "Succeeded":
        return "True", "PodCompleted", ""
    if run.is_initialized(now):
        return _TRUE
    waiting = [
        each.name
        for each in run.init
        if not (run.is_started(each, now) if each.is_sidecar else run.is_ready(each, now))
    ]
    return "False", "ContainersNotInitialized", f"containers with incomplete status: {_list(waiting)}"


def _list(names: Sequence[str]) -> str:
    return f"[{' '.join(names)}]"
