"""What goes wrong, as a test declares it: values, and which Pods they are meant for.

A declaration is for a Pod by its name, for all Pods of an owner (a Deployment, a Job, ...) by the owner's name, or for
those that a label selector matches. It holds from then on, until it is healed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeVar

from kubewright.model.selector import Selector

from .kinds import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    Obj,
)
from .owners import controller_of, labels_of
from .view import View

__all__ = [
    "CrashLoop",
    "Failing",
    "Failure",
    "Failures",
    "FlappingReadiness",
    "IgnoresTermination",
    "ImagePullFails",
    "OutOfMemory",
    "RunsFor",
    "SlowStart",
    "Unschedulable",
]

_OWNERS: Final = {
    each.kind: each
    for each in (
        REPLICA_SETS,
        REPLICATION_CONTROLLERS,
        DEPLOYMENTS,
        STATEFUL_SETS,
        DAEMON_SETS,
        JOBS,
        CRON_JOBS,
    )
}
_OUT_OF_MEMORY_CODE: Final = 137


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Something that happens to Pods.

    Attributes:
        container: of which container; None: of the first that is no init container.
    """

    container: str | None = None


@dataclass(frozen=True, kw_only=True)
class CrashLoop(Failure):
    """A container ends by itself, each time that it is started.

    Attributes:
        exit_code: which it ends with; not 0.
        after_seconds: how long it runs.
        healthy_starts: so many first starts of a container go well.
        times: it happens so often, of all Pods of one owner together (a Pod without an owner by itself); None: always.
        reason, message: of the terminated state.
    """

    exit_code: int = 1
    after_seconds: float = 0.0
    healthy_starts: int = 0
    times: int | None = None
    reason: str = "Error"
    message: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.exit_code <= 255:
            raise ValueError(f"exit_code: {self.exit_code} is none of a failure; give one from 1 to 255")


@dataclass(frozen=True, kw_only=True)
class OutOfMemory(CrashLoop):
    """A container is killed for its memory: OOMKilled, with exit code 137. As `CrashLoop`."""

    exit_code: int = _OUT_OF_MEMORY_CODE
    reason: str = "OOMKilled"


@dataclass(frozen=True, kw_only=True)
class ImagePullFails(Failure):
    """The image of a container cannot be had: ErrImagePull, then ImagePullBackOff, and again.

    Attributes:
        message: what the registry says; None: that there is no such image.
        times: so often, for each container; None: always.
    """

    message: str | None = None
    times: int | None = None


@dataclass(frozen=True, kw_only=True)
class SlowStart(Failure):
    """A container needs so many seconds from its start until it is ready."""

    seconds: float = 30.0


@dataclass(frozen=True, kw_only=True)
class FlappingReadiness(Failure):
    """A container is ready for some seconds, then not ready for some, and so on."""

    ready_seconds: float = 30.0
    unready_seconds: float = 10.0

    def __post_init__(self) -> None:
        if min(self.ready_seconds, self.unready_seconds) <= 0:
            raise ValueError("ready_seconds and unready_seconds have to be more than 0")


@dataclass(frozen=True, kw_only=True)
class RunsFor(Failure):
    """A container ends with success after so many seconds. (Those of Jobs do so at once, all others never.)"""

    seconds: float = 10.0


@dataclass(frozen=True, kw_only=True)
class IgnoresTermination(Failure):
    """A Pod that is deleted runs on until its grace is over."""


@dataclass(frozen=True, kw_only=True)
class Unschedulable(Failure):
    """No node takes the Pod.

    Attributes:
        message: what the scheduler says of each node.
    """

    message: str = "Insufficient cpu"


F = TypeVar("F", bound=Failure)


@dataclass(eq=False)
class Failing:
    """A declaration that holds. `heal()` ends it: what crashed starts well the next time."""

    failure: Failure
    pods: str | Selector
    namespace: str | None
    healed: Callable[[Failing], None]
    counts: dict[str, int] = field(default_factory=dict)

    def heal(self) -> None:
        """It does not happen any more. May be called again."""
        self.healed(self)


class Failures:
    """All declarations; the latest comes first."""

    def __init__(self, view: View, changed: Callable[[], None]) -> None:
        self._view, self._changed = view, changed
        self._declared: list[Failing] = []

    def add(self, pods: str | Selector, failure: Failure, namespace: str | None) -> Failing:
        made = Failing(failure, pods, namespace, self._heal)
        self._declared.insert(0, made)
        self._changed()
        return made

    def _heal(self, failing: Failing) -> None:
        if failing in self._declared:
            self._declared.remove(failing)
            self._changed()

    def of(self, pod: Obj, type_: type[F], container: str | None = None) -> F | None:
        """The failure of a type that a Pod, or a container of it, has."""
        found = self.declared(pod, type_, container)
        return found[1] if found is not None else None

    def declared(self, pod: Obj, type_: type[F], container: str | None = None) -> tuple[Failing, F] | None:
        """As `of`, with the declaration. One that has been as often as it was to be is over."""
        for each in self._declared:
            failure = each.failure
            if not isinstance(failure, type_) or not self._is_for(each, pod):
                continue
            if container is not None and container != (failure.container or pod["spec"]["containers"][0]["name"]):
                continue
            if not _is_over(each, pod):
                return each, failure
        return None

    def _is_for(self, failing: Failing, pod: Obj) -> bool:
        if failing.namespace is not None and failing.namespace != pod["metadata"]["namespace"]:
            return False
        if isinstance(failing.pods, str):
            return failing.pods in self._names(pod)
        return failing.pods.matches(labels_of(pod))

    def _names(self, pod: Obj) -> Iterator[str]:
        obj: Obj | None = pod
        while obj is not None:
            yield str(obj["metadata"]["name"])
            owner = controller_of(obj)
            if owner is None:
                return
            yield str(owner["name"])
            kind = _OWNERS.get(owner["kind"])
            obj = None if kind is None else self._view.get(kind, obj["metadata"]["namespace"], owner["name"])


def _is_over(failing: Failing, pod: Obj) -> bool:
    """Whether it has happened as often as it was to."""
    times = failing.failure.times if isinstance(failing.failure, CrashLoop) else None
    return times is not None and failing.counts.get(group_of(pod), 0) >= times


def group_of(pod: Obj) -> str:
    """Whose failures are counted together."""
    owner = controller_of(pod)
    return str(owner["uid"] if owner is not None else pod["metadata"]["uid"])
