"""The cells of Pods: how many containers are ready, and the one word that says how the Pod is."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from .parts import containers, labels_text, of, since, status_of

__all__ = ["ROWS"]

Object = dict[str, Any]
_DONE: Final = ("Failed", "Succeeded")


class _Restarts:
    """How often containers were started again, and when last."""

    def __init__(self) -> None:
        self.count = 0
        self.last = ""

    def add(self, status: Object) -> None:
        self.count += status.get("restartCount", 0)
        # Times of an object are in UTC to the second: their order as text is that in time.
        self.last = max(self.last, of(status, "lastState", "terminated", "finishedAt"))

    def text(self, now: datetime) -> str:
        if self.count and self.last:
            return f"{self.count} ({since(self.last, now)} ago)"
        return str(self.count)


def _pod(obj: Object, now: datetime) -> dict[str, Any]:
    spec, status = obj["spec"], obj.get("status") or {}
    reason = status.get("reason") or status.get("phase", "")
    conditions = status.get("conditions") or ()
    if any(each.get("type") == "PodScheduled" and each.get("reason") == "SchedulingGated" for each in conditions):
        reason = "SchedulingGated"
    sidecars = {each["name"] for each in spec.get("initContainers", ()) if each.get("restartPolicy") == "Always"}
    total = len(spec.get("containers") or ()) + len(sidecars)
    restarts, of_sidecars = _Restarts(), _Restarts()
    ready, waiting = _init(spec, status, sidecars, restarts, of_sidecars)
    if not waiting or status_of(conditions, "Initialized") == "True":
        restarts = of_sidecars
        more_ready, reason = _main(status, waiting or reason, restarts)
        ready += more_ready
    else:
        reason = waiting
    if obj["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            reason = "Unknown"
        elif status.get("phase") not in _DONE:
            reason = "Terminating"
    return {
        "Ready": f"{ready}/{total}",
        "Status": reason,
        "Restarts": restarts.text(now),
        "IP": of((status.get("podIPs") or [{}])[0], "ip") or "<none>",
        "Node": spec.get("nodeName") or "<none>",
        "Nominated Node": status.get("nominatedNodeName") or "<none>",
        "Readiness Gates": _gates(spec, conditions),
    }


def _init(
    spec: Object, status: Object, sidecars: set[str], restarts: _Restarts, of_sidecars: _Restarts
) -> tuple[int, str]:
    """How many sidecars are ready, and what the Pod waits for before its containers start."""
    ready = 0
    for place, container in enumerate(status.get("initContainerStatuses") or ()):
        restarts.add(container)
        is_sidecar = container.get("name") in sidecars
        if is_sidecar:
            of_sidecars.add(container)
        state = container.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting")
        if ended is not None and not ended.get("exitCode"):
            continue
        if is_sidecar and container.get("started"):
            ready += bool(container.get("ready"))
            continue
        if ended is not None:
            return ready, f"Init:{_end(ended)}"
        why = (waiting or {}).get("reason", "")
        if why and why != "PodInitializing":
            return ready, f"Init:{why}"
        return ready, f"Init:{place}/{len(spec.get('initContainers', ()))}"
    return ready, ""


def _end(ended: Object) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def _main(status: Object, reason: str, restarts: _Restarts) -> tuple[int, str]:
    """How many containers are ready, and what the first of them that is not running says."""
    ready, is_running, failure = 0, False, ""
    for container in reversed(status.get("containerStatuses") or ()):
        restarts.add(container)
        state = container.get("state") or {}
        ended, why = state.get("terminated"), of(state, "waiting", "reason")
        if why:
            reason = why
        elif ended is not None:
            reason = _end(ended)
            failure = reason if ended.get("exitCode") else failure
        elif container.get("ready") and state.get("running") is not None:
            is_running = True
            ready += 1
    if reason == "Completed":
        if is_running and status_of(status.get("conditions"), "Ready") == "True":
            reason = "Running"
        elif failure:
            reason = failure
        elif is_running:
            reason = "NotReady"
    return ready, reason


def _gates(spec: Object, conditions: Any) -> str:
    gates = [each.get("conditionType") for each in spec.get("readinessGates", ())]
    if not gates:
        return "<none>"
    return f"{sum(status_of(conditions, gate) == 'True' for gate in gates)}/{len(gates)}"


def _template(obj: Object, now: datetime) -> dict[str, Any]:
    template = obj.get("template") or {}
    return {
        **containers(template.get("spec") or {}),
        "Pod Labels": labels_text(of(template, "metadata", "labels", absent={})),
    }


ROWS: Final = {("v1", "Pod"): _pod, ("v1", "PodTemplate"): _template}
