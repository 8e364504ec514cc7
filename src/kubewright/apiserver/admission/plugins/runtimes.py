"""The plugin RuntimeClass: a Pod has the overhead, and runs on the nodes, of its runtime class.

Rules: kubernetes/plugin/pkg/admission/runtimeclass, kubernetes/pkg/util/tolerations.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubewright.schema.structural.gotext import quoted

from ...registry.backend import Attributes
from .resources import amounts
from .world import Object, World, created, refused

__all__ = ["admit_runtime", "check_runtime"]

_MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


def _read(attributes: Attributes, world: World) -> tuple[Object | None, Object]:
    """The spec of a Pod that is created, and its class (empty for none)."""
    pod = created(attributes)
    if pod is None:
        return None, {}
    spec: Object = pod["spec"]
    name = spec.get("runtimeClassName")
    if name is None:
        return spec, {}
    found = world.object("node.k8s.io", "runtimeclasses", name)
    if found is None:
        raise refused(attributes, f"pod rejected: RuntimeClass {quoted(name)} not found")
    return spec, found


def admit_runtime(attributes: Attributes, world: World) -> None:
    """Give a Pod what its runtime class says. Raises StatusError: it says otherwise."""
    spec, runtime = _read(attributes, world)
    if spec is None:
        return
    if (overhead := runtime.get("overhead")) is not None:
        fixed = overhead.get("podFixed") or {}
        if spec.get("overhead") and amounts(spec["overhead"]) != amounts(fixed):
            raise refused(attributes, _MISMATCH)
        if fixed:
            spec["overhead"] = dict(fixed)
    scheduling = runtime.get("scheduling")
    if scheduling is None:
        return
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in sorted((scheduling.get("nodeSelector") or {}).items()):
        if key in selector and selector[key] != value:
            said = f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
            raise refused(attributes, f"{said}pod.spec.nodeSelector[{key}] = {selector[key]}")
        selector[key] = value
    if selector:
        spec["nodeSelector"] = selector
    tolerations = _merged(spec.get("tolerations") or [], scheduling.get("tolerations") or [])
    if tolerations:
        spec["tolerations"] = tolerations


def _merged(first: Sequence[Object], second: Sequence[Object]) -> list[Object]:
    """Both, each once."""
    made: list[Object] = []
    for each in (*first, *second):
        if each not in made:
            made.append(dict(each))
    return made


def check_runtime(attributes: Attributes, world: World) -> None:
    """Raises StatusError: the overhead of a Pod is not that of its class."""
    spec, runtime = _read(attributes, world)
    if spec is None:
        return
    found = spec.get("overhead")
    if (overhead := runtime.get("overhead")) is not None:
        if amounts(overhead.get("podFixed")) != amounts(found):
            raise refused(attributes, _MISMATCH)
    elif found is not None:
        said = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        raise refused(attributes, said)
