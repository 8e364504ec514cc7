"""The plugin LimitRanger: containers get the defaults of the limit ranges of their namespace, and stay within them.

Several limit ranges are asked in the order of their names. Rules: kubernetes/plugin/pkg/admission/limitranger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubewright.model.quantity import Quantity
from kubewright.schema.structural.fielderrors import summary

from ...registry.backend import Attributes
from .resources import Amounts, amounts, pod_amounts
from .world import Object, World, refused

__all__ = ["admit_limits", "check_limits"]

_ANNOTATION: Final = "kubernetes.io/limit-ranger"
_ZERO: Final = Quantity(0)


def _is_asked(attributes: Attributes) -> bool:
    """Pods that are created or resized, and claims."""
    if attributes.object is None or (attributes.old or {}).get("metadata", {}).get("deletionTimestamp"):
        return False
    is_pod = attributes.kind.plural == "pods"
    if attributes.subresource == "resize":
        return is_pod and attributes.operation == "UPDATE"
    return attributes.part is None and (attributes.operation == "CREATE" or not is_pod)


def _ranges(attributes: Attributes, world: World) -> Iterator[list[Object]]:
    for each in world.objects("", "limitranges", attributes.namespace):
        yield each["spec"].get("limits") or []


def admit_limits(attributes: Attributes, world: World) -> None:
    """Give the containers of a Pod the default requests and limits."""
    if not _is_asked(attributes) or attributes.kind.plural != "pods":
        return
    pod = attributes.object
    assert pod is not None
    for limits in _ranges(attributes, world):
        requests: dict[str, str] = {}
        most: dict[str, str] = {}
        for limit in limits:
            if limit.get("type") == "Container":
                requests |= limit.get("defaultRequest") or {}
                most |= limit.get("default") or {}
        said: list[str] = []
        for field, called in (("containers", "container"), ("initContainers", "init container")):
            for container in pod["spec"].get(field) or ():
                said += _filled(container, called, requests, most)
        if said:
            notes = pod["metadata"].get("annotations") or {}
            pod["metadata"]["annotations"] = {**notes, _ANNOTATION: f"LimitRanger plugin set: {'; '.join(said)}"}


def _filled(container: Object, called: str, requests: dict[str, str], limits: dict[str, str]) -> list[str]:
    """Fill in what is missing; what was."""
    resources: Object = container.get("resources") or {}
    said = []
    for part, given, what in (("requests", requests, "request"), ("limits", limits, "limit")):
        found = resources.get(part) or {}
        added = {name: value for name, value in given.items() if name not in found}
        if added:
            resources[part] = {**found, **added}
            said.append(f"{', '.join(sorted(added))} {what} for {called} {container.get('name', '')}")
    if said:
        container["resources"] = resources
    return said


def check_limits(attributes: Attributes, world: World) -> None:
    """Raises StatusError: a Pod or claim is outside of a limit range."""
    if not _is_asked(attributes):
        return
    obj = attributes.object
    assert obj is not None
    for limits in _ranges(attributes, world):
        errors = [error for limit in limits for error in _errors(attributes.kind.plural, obj, limit)]
        if errors:
            raise refused(attributes, summary(errors))


def _errors(plural: str, obj: Object, limit: Object) -> Iterator[str]:
    type_ = limit.get("type", "")
    if plural == "persistentvolumeclaims":
        if type_ == "PersistentVolumeClaim":
            asked = amounts((obj["spec"].get("resources") or {}).get("requests"))
            yield from _least(type_, limit, asked, {})
            yield from _most_requested(type_, limit, asked)
        return
    if type_ == "Container":
        for field in ("containers", "initContainers"):
            for container in obj["spec"].get(field) or ():
                resources = container.get("resources") or {}
                both = amounts(resources.get("requests")), amounts(resources.get("limits"))
                yield from _all(type_, limit, *both)
    elif type_ == "Pod":
        yield from _all(type_, limit, pod_amounts(obj, "requests"), pod_amounts(obj, "limits"))


def _all(type_: str, limit: Object, requests: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _least(type_, limit, requests, limits)
    yield from _most(type_, limit, requests, limits)
    yield from _ratio(type_, limit, requests, limits)


def _least(type_: str, limit: Object, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, wanted in sorted(amounts(limit.get("min")).items()):
        start = f"minimum {name} usage per {type_} is {wanted}"
        if name not in requests:
            yield f"{start}.  No request is specified"
        elif requests[name] < wanted:
            yield f"{start}, but request is {requests[name]}"
        elif name in limits and limits[name] < wanted:
            yield f"{start}, but limit is {limits[name]}"


def _most_requested(type_: str, limit: Object, requests: Amounts) -> Iterator[str]:
    for name, wanted in sorted(amounts(limit.get("max")).items()):
        start = f"maximum {name} usage per {type_} is {wanted}"
        if name not in requests:
            yield f"{start}.  No request is specified"
        elif requests[name] > wanted:
            yield f"{start}, but request is {requests[name]}"


def _most(type_: str, limit: Object, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, wanted in sorted(amounts(limit.get("max")).items()):
        start = f"maximum {name} usage per {type_} is {wanted}"
        if name not in limits:
            yield f"{start}.  No limit is specified"
        elif limits[name] > wanted:
            yield f"{start}, but limit is {limits[name]}"
        elif name in requests and requests[name] > wanted:
            yield f"{start}, but request is {requests[name]}"


def _ratio(type_: str, limit: Object, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, wanted in sorted(amounts(limit.get("maxLimitRequestRatio")).items()):
        start = f"{name} max limit to request ratio per {type_} is {wanted}"
        request, most = requests.get(name, _ZERO), limits.get(name, _ZERO)
        if not request:
            yield f"{start}, but no request is specified or request is 0"
        elif not most:
            yield f"{start}, but no limit is specified or limit is 0"
        elif most.nanos > wanted.nanos * request.nanos // 10**9:
            yield f"{start}, but provided ratio is {most.nanos / request.nanos:f}"
