"""The plugins Priority and DefaultTolerationSeconds.

| Pod has | priority and preemption policy are |
|---|---|
| `priorityClassName` | the class's; the two of the system exist without being stored |
| none | those of the class that is the default for all; else 0 and PreemptLowerPriority |

Rules: kubernetes/plugin/pkg/admission/{priority,defaulttolerationseconds}.
"""

from __future__ import annotations

from typing import Final

from ...registry.backend import Attributes
from .world import Object, World, refused

__all__ = ["admit_priority", "admit_tolerations", "check_default_class"]

_SYSTEM: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_NORMAL: Final = "PreemptLowerPriority"
_NOT_READY: Final = "node.kubernetes.io/not-ready"
_UNREACHABLE: Final = "node.kubernetes.io/unreachable"
_TOLERATED_SECONDS: Final = 300
_KEPT: Final = ("priority", "preemptionPolicy")


def admit_priority(attributes: Attributes, world: World) -> None:
    """Resolve the priority of a new Pod; a changed one keeps its own. Raises StatusError."""
    pod = attributes.object
    if pod is None or attributes.part is not None:
        return
    spec: Object = pod["spec"]
    if attributes.operation == "UPDATE":
        before = (attributes.old or {}).get("spec") or {}
        for name in _KEPT:
            if name in before:
                spec.setdefault(name, before[name])
        return
    priority, policy = _resolved(attributes, world, spec)
    given = spec.get("priority")
    if given is not None and given != priority:
        said = f"the integer value of priority ({given}) must not be provided in pod spec; "
        said += f"priority admission controller computed {priority} from the given PriorityClass name"
        raise refused(attributes, said)
    wanted = spec.get("preemptionPolicy")
    if wanted is not None and wanted != policy:
        said = f"the string value of PreemptionPolicy ({wanted}) must not be provided in pod spec; "
        said += f"priority admission controller computed {policy} from the given PriorityClass name"
        raise refused(attributes, said)
    spec["priority"], spec["preemptionPolicy"] = priority, policy


def _resolved(attributes: Attributes, world: World, spec: Object) -> tuple[int, str]:
    name = spec.get("priorityClassName", "")
    if name:
        chosen = world.object("scheduling.k8s.io", "priorityclasses", name)
        if chosen is None and name not in _SYSTEM:
            raise refused(attributes, f"no PriorityClass with name {name} was found")
    else:
        chosen = _default_class(world)
        if chosen is None:
            return 0, _NORMAL
        spec["priorityClassName"] = chosen["metadata"]["name"]
    if chosen is None:
        return _SYSTEM[name], _NORMAL
    return chosen.get("value", 0), chosen.get("preemptionPolicy", _NORMAL)


def _default_class(world: World) -> Object | None:
    """The class that is the default for all; of several (which a race may make) the one of the lowest priority."""
    found = [each for each in world.objects("scheduling.k8s.io", "priorityclasses") if each.get("globalDefault")]
    return min(found, key=lambda each: each.get("value", 0)) if found else None


def check_default_class(attributes: Attributes, world: World) -> None:
    """There is one default for all at most. Raises StatusError."""
    wanted = attributes.object
    if wanted is None or attributes.part is not None or not wanted.get("globalDefault"):
        return
    present = _default_class(world)
    if present is None:
        return
    name = present["metadata"]["name"]
    if attributes.operation == "CREATE" or name != wanted["metadata"]["name"]:
        said = f"PriorityClass {name} is already marked as default. Only one default can exist"
        raise refused(attributes, said)


def admit_tolerations(attributes: Attributes, world: World) -> None:
    """Let Pods stay for some minutes on nodes that are lost. Also when they are changed: a PUT of what was once sent
    would take the tolerations away."""
    pod = attributes.object
    if pod is None or attributes.part is not None:
        return
    spec: Object = pod["spec"]
    found = spec.get("tolerations") or []
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _TOLERATED_SECONDS}
        for key in (_NOT_READY, _UNREACHABLE)
        if not any(each.get("key", "") in (key, "") and each.get("effect") in ("NoExecute", None) for each in found)
    ]
    if added:
        spec["tolerations"] = [*found, *added]
