"""The life of a Pod's containers on a node, step by step. It takes the time, and says when it is to be asked again.

Owns what a kubelet and a container runtime do: init containers one after another, sidecars, exits, restarts with their
back-off, probes that succeed after their delay. What goes wrong is asked of `failures`.
Rules: `kubernetes/pkg/kubelet/kubelet_pods.go` (getPhase), `.../kuberuntime`, `.../container/helpers.go`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from kubewright.model.times import format_time, parse_time

from .failures import CrashLoop, Failures, FlappingReadiness, ImagePullFails, RunsFor, SlowStart, group_of
from .kinds import Obj
from .owners import controller_of

__all__ = ["Container", "PodRun"]

_FIRST_BACK_OFF_SECONDS: Final = 10.0
_LONGEST_BACK_OFF_SECONDS: Final = 300.0
_PULLING_SECONDS: Final = 2.0
"""How long ErrImagePull is shown before it becomes ImagePullBackOff."""
_GOOD_RUN_SECONDS: Final = 600.0
"""After a run of that length a container is restarted without a back-off."""


@dataclass
class Container:
    """One container. `state` is new, pulling, waiting (for its back-off), running, or done."""

    spec: Obj
    is_init: bool = False
    state: str = "new"
    starts: int = 0
    until: datetime | None = None
    back_off_seconds: float = 0.0
    started_at: datetime | None = None
    ends: CrashLoop | RunsFor | None = None
    pulls: int = 0
    shown: dict[str, Any] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.spec["name"])

    @property
    def is_sidecar(self) -> bool:
        return self.is_init and self.spec.get("restartPolicy") == "Always"

    @property
    def exit_code(self) -> int | None:
        """With which it has ended, for good."""
        return self.shown["terminated"]["exitCode"] if self.state == "done" else None


class PodRun:
    """One Pod that runs on a node."""

    def __init__(self, pod: Obj, failures: Failures, now: datetime) -> None:
        self.pod, self._failures = pod, failures
        self.init = [Container(each, is_init=True) for each in pod["spec"].get("initContainers") or ()]
        self.main = [Container(each) for each in pod["spec"]["containers"]]
        status = pod.get("status") or {}
        self.started_at = parse_time(status["startTime"]) if status.get("startTime") else now
        for each in self.all:
            self._recover(each, status)

    @property
    def all(self) -> list[Container]:
        return [*self.init, *self.main]

    def _recover(self, container: Container, status: Obj) -> None:
        """Go on from what was written before, by an earlier run of this program."""
        shown = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
        found = next((each for each in shown if each["name"] == container.name), None)
        if found is None:
            return
        state = found.get("state") or {}
        container.starts, container.last = found.get("restartCount", 0), found.get("lastState") or {}
        if "running" in state:
            self._run(container, parse_time(state["running"]["startedAt"]))
        elif "terminated" in state:
            container.state, container.shown = "done", state
            container.starts += 1

    # -- time ---------------------------------------------------------------------------------------------------------

    def step(self, now: datetime) -> None:
        """Let happen what happens until `now`."""
        for each in self.init:
            self._go_on(each, now)
            if not self._is_initialized(each, now):
                return
        for each in self.main:
            self._go_on(each, now)
        if self.main and all(each.state == "done" for each in self.main):
            for each in self.init:
                if each.is_sidecar and each.state != "done":
                    self._finish(each, 0, "Completed", "", now)

    def next_at(self, now: datetime) -> datetime | None:
        """When something happens next by itself."""
        times = [each for container in self.all for each in self._times(container, now)]
        if deadline := self.deadline:
            times.append(deadline)
        return min((each for each in times if each > now), default=None)

    @property
    def deadline(self) -> datetime | None:
        seconds = self.pod["spec"].get("activeDeadlineSeconds")
        return None if seconds is None else self.started_at + timedelta(seconds=seconds)

    def _times(self, container: Container, now: datetime) -> Iterator[datetime]:
        if container.until is not None:
            yield container.until
        if container.state == "running":
            yield from self._startup_at(container)
            yield self._ready_at(container)
            flapping = self._failures.of(self.pod, FlappingReadiness, container.name)
            if flapping is not None:
                since = (now - self._ready_at(container)).total_seconds()
                cycle = flapping.ready_seconds + flapping.unready_seconds
                into = since % cycle
                left = (flapping.ready_seconds if into < flapping.ready_seconds else cycle) - into
                yield now + timedelta(seconds=max(left, 0.001))

    def _go_on(self, container: Container, now: datetime) -> None:
        while True:
            if container.state == "new" or (container.state in ("pulling", "waiting") and _is_over(container, now)):
                self._start(container, now)
            elif container.state == "running" and _is_over(container, now):
                assert container.until is not None
                self._end(container, container.until)
            elif container.state == "running" and self._is_new_failure(container):
                self._plan(container, now)
            else:
                return
            if container.state in ("done", "pulling", "waiting") and not _is_over(container, now):
                return

    # -- starts and ends ----------------------------------------------------------------------------------------------

    def _start(self, container: Container, now: datetime) -> None:
        failure = self._failures.of(self.pod, ImagePullFails, container.name)
        if failure is not None and (failure.times is None or container.pulls < 2 * failure.times):
            self._pull(container, failure, now)
        else:
            self._run(container, now)

    def _pull(self, container: Container, failure: ImagePullFails, now: datetime) -> None:
        image = container.spec.get("image", "")
        said = failure.message or (
            f'failed to pull and unpack image "{image}": failed to resolve reference "{image}": {image}: not found'
        )
        if container.pulls % 2:
            seconds = min(_FIRST_BACK_OFF_SECONDS * 2 ** (container.pulls // 2), _LONGEST_BACK_OFF_SECONDS)
            waits = {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{image}": ErrImagePull: {said}'}
        else:
            seconds, waits = _PULLING_SECONDS, {"reason": "ErrImagePull", "message": said}
        container.pulls += 1
        container.state, container.shown = "pulling", {"waiting": waits}
        container.until = now + timedelta(seconds=seconds)

    def _run(self, container: Container, now: datetime) -> None:
        container.state, container.started_at, container.until = "running", now, None
        container.starts += 1
        container.shown = {"running": {"startedAt": format_time(now)}}
        self._plan(container, now)

    def _plan(self, container: Container, now: datetime) -> None:
        """When the run that goes on will end, and how."""
        crash = self._crash(container)
        container.ends, container.until = crash, None
        if crash is not None:
            container.until = max(now, _started(container) + timedelta(seconds=crash.after_seconds))
        elif container.is_sidecar:
            pass
        elif (runs := self._failures.of(self.pod, RunsFor, container.name)) is not None:
            container.ends, container.until = runs, max(now, _started(container) + timedelta(seconds=runs.seconds))
        elif container.is_init or self._is_of_job:
            container.ends, container.until = RunsFor(seconds=0.0), now

    def _crash(self, container: Container) -> CrashLoop | None:
        crash = self._failures.of(self.pod, CrashLoop, container.name)
        return crash if crash is not None and container.starts > crash.healthy_starts else None

    def _is_new_failure(self, container: Container) -> bool:
        """Whether there is a crash, or none any more, since the run began."""
        planned = container.ends if isinstance(container.ends, CrashLoop) else None
        return planned is not self._crash(container)

    @property
    def _is_of_job(self) -> bool:
        owner = controller_of(self.pod)
        return owner is not None and owner["kind"] == "Job" and self.pod["spec"].get("restartPolicy") != "Always"

    def _end(self, container: Container, at: datetime) -> None:
        crash = container.ends if isinstance(container.ends, CrashLoop) else None
        if crash is not None:
            found = self._failures.declared(self.pod, CrashLoop, container.name)
            if found is not None:
                counts, group = found[0].counts, group_of(self.pod)
                counts[group] = counts.get(group, 0) + 1
        code = crash.exit_code if crash is not None else 0
        reason = crash.reason if crash is not None else "Completed"
        self._finish(container, code, reason, crash.message if crash is not None else "", at)
        policy = self.pod["spec"].get("restartPolicy", "Always")
        if container.is_sidecar:
            policy = "Always"
        elif container.is_init and policy == "Always":
            policy = "OnFailure"
        if policy == "Always" or (policy == "OnFailure" and code):
            self._restart(container, at)

    def _finish(self, container: Container, code: int, reason: str, message: str, at: datetime) -> None:
        ended: dict[str, Any] = {"exitCode": code, "reason": reason}
        if message:
            ended["message"] = message
        ended["startedAt"] = format_time(container.started_at or at)
        ended["finishedAt"] = format_time(at)
        ended["containerID"] = container_id(self.pod, container)
        container.state, container.shown, container.until = "done", {"terminated": ended}, None

    def _restart(self, container: Container, at: datetime) -> None:
        """The first time at once, then after a back-off that doubles."""
        container.last = container.shown
        if (at - _started(container)).total_seconds() >= _GOOD_RUN_SECONDS:
            container.back_off_seconds = 0.0
        seconds = container.back_off_seconds
        container.back_off_seconds = min(max(seconds * 2, _FIRST_BACK_OFF_SECONDS), _LONGEST_BACK_OFF_SECONDS)
        container.state, container.until = "waiting", at + timedelta(seconds=seconds)
        meta = self.pod["metadata"]
        said = (
            f"back-off {_minutes(seconds)} restarting failed container={container.name} "
            f"pod={meta['name']}_{meta['namespace']}({meta['uid']})"
        )
        container.shown = {"waiting": {"reason": "CrashLoopBackOff", "message": said}}

    def kill(self, code: int, now: datetime) -> None:
        """End all containers that have not ended."""
        for each in self.all:
            if each.state == "running":
                self._finish(each, code, "Error", "", now)

    # -- what is seen -------------------------------------------------------------------------------------------------

    def _is_initialized(self, container: Container, now: datetime) -> bool:
        return self.is_started(container, now) if container.is_sidecar else container.exit_code == 0

    def _startup_at(self, container: Container) -> Iterator[datetime]:
        probe = container.spec.get("startupProbe")
        if probe:
            yield _started(container) + timedelta(seconds=probe.get("initialDelaySeconds", 0))

    def is_started(self, container: Container, now: datetime) -> bool:
        return container.state == "running" and all(at <= now for at in self._startup_at(container))

    def _ready_at(self, container: Container) -> datetime:
        at = max([_started(container), *self._startup_at(container)])
        probe = container.spec.get("readinessProbe")
        if probe:
            waits = (probe.get("successThreshold", 1) - 1) * probe.get("periodSeconds", 10)
            at = max(at, _started(container) + timedelta(seconds=probe.get("initialDelaySeconds", 0) + waits))
        slow = self._failures.of(self.pod, SlowStart, container.name)
        if slow is not None:
            at = max(at, _started(container) + timedelta(seconds=slow.seconds))
        return at

    def is_ready(self, container: Container, now: datetime) -> bool:
        if container.is_init and not container.is_sidecar:
            return container.exit_code == 0
        if container.state != "running":
            return False
        since = (now - self._ready_at(container)).total_seconds()
        flapping = self._failures.of(self.pod, FlappingReadiness, container.name)
        if flapping is None or since < 0:
            return since >= 0
        return since % (flapping.ready_seconds + flapping.unready_seconds) < flapping.ready_seconds

    def is_initialized(self, now: datetime) -> bool:
        return any(each.starts for each in self.main) or all(self._is_initialized(each, now) for each in self.init)

    def phase(self, now: datetime) -> str:
        policy = self.pod["spec"].get("restartPolicy", "Always")
        for each in self.init:
            if not each.is_sidecar and each.exit_code and policy == "Never":
                return "Failed"
        if not self.is_initialized(now) or any(not each.starts for each in self.main):
            return "Pending"
        if any(each.state == "running" for each in self.main):
            return "Running"
        ended = [each.exit_code for each in self.main if each.state == "done"]
        if policy == "Always" or len(ended) < len(self.main):
            return "Running"
        if not any(ended):
            return "Succeeded"
        return "Failed" if policy == "Never" else "Running"


def container_id(pod: Obj, container: Container) -> str:
    """An id as a container runtime gives one, the same in every run with the same uids."""
    text = f"{pod['metadata']['uid']} {container.name} {container.starts}"
    return f"containerd://{hashlib.sha256(text.encode()).hexdigest()}"


def _started(container: Container) -> datetime:
    assert container.started_at is not None
    return container.started_at


def _is_over(container: Container, now: datetime) -> bool:
    return container.until is not None and container.until <= now


def _minutes(seconds: float) -> str:
    """A duration as Go writes it."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
