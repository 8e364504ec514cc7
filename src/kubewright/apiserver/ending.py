"""What a namespace that ends says of what is left in it, and what a garbage collector says of owners that cannot be.

Pure: objects in, conditions and an Event out. The texts are those of `kubernetes/pkg/controller/namespace/deletion` and
`.../garbagecollector`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

__all__ = ["NOT_IN_NAMESPACE", "conditions_of_end", "owner_event"]

NOT_IN_NAMESPACE: Final = "OwnerRefInvalidNamespace"
_COMPONENT: Final = "garbage-collector-controller"
_FINE: Final[Mapping[str, tuple[str, str]]] = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


def conditions_of_end(
    before: Sequence[Mapping[str, Any]], left: Iterable[tuple[str, dict[str, Any]]], now: str
) -> list[dict[str, Any]]:
    """The conditions of a namespace that is being deleted.

    Args:
        before: those that it has.
        left: what is still in it: `plural.group` and object.
        now: a timestamp, for conditions whose status changes.
    """
    resources: Counter[str] = Counter()
    finalizers: Counter[str] = Counter()
    for resource, obj in left:
        resources[resource] += 1
        finalizers.update(obj["metadata"].get("finalizers") or ())
    found = {name: ("False", *fine) for name, fine in _FINE.items()}
    if resources:
        said = ", ".join(f"{each} has {resources[each]} resource instances" for each in sorted(resources))
        found["NamespaceContentRemaining"] = (
            "True",
            "SomeResourcesRemain",
            f"Some resources are remaining: {said}",
        )
    if finalizers:
        said = ", ".join(f"{each} in {finalizers[each]} resource instances" for each in sorted(finalizers))
        found["NamespaceFinalizersRemaining"] = (
            "True",
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {said}",
        )
    made = [dict(each) for each in before]
    known = {str(each.get("type")): each for each in made}
    for name, (status, reason, message) in found.items():
        condition = known.get(name)
        if condition is None:
            condition = {"type": name}
            made.append(condition)
        if condition.get("status") != status:
            condition["lastTransitionTime"] = now
        condition |= {"status": status, "reason": reason, "message": message}
    return made


def owner_event(dependent: dict[str, Any], reference: Mapping[str, Any], now: str, number: int) -> dict[str, Any]:
    """The Event about a dependent whose owner is in another namespace.

    Args:
        number: makes the name of the Event its own.
    """
    meta = dependent["metadata"]
    namespace, name = meta.get("namespace", ""), meta["name"]
    said = (
        f"[{reference.get('apiVersion')}/{reference.get('kind')}, namespace: {namespace}, "
        f"name: {reference.get('name')}, uid: {reference.get('uid')}]"
    )
    about = {
        "kind": dependent["kind"],
        "namespace": namespace,
        "name": name,
        "uid": meta["uid"],
        "apiVersion": dependent["apiVersion"],
    }
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": f"{name}.{number:x}", "namespace": namespace or "default"},
        "involvedObject": {key: value for key, value in about.items() if value},
        "reason": NOT_IN_NAMESPACE,
        "message": f'ownerRef {said} does not exist in namespace "{namespace}"',
        "source": {"component": _COMPONENT},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
        "type": "Warning",
        "reportingComponent": _COMPONENT,
        "reportingInstance": "",
    }
