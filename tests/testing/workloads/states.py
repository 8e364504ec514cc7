"""What is waited for: that objects have come to a state, told from what a cluster shows."""

from __future__ import annotations

from collections.abc import Callable

from kubewright.testing.workloads.kinds import Obj

from .comparing import State


def status(found: State, plural: str, name: str = "web") -> Obj:
    for each in found[plural]:
        if each["metadata"]["name"] == name:
            return {"generation": each["metadata"].get("generation"), **each["spec"], **(each.get("status") or {})}
    return {}


def rolled_out(name: str = "web", replicas: int | None = None) -> Callable[[State], bool]:
    def seen(found: State) -> bool:
        made = status(found, "deployments", name)
        wanted = made.get("replicas") if replicas is None else replicas
        return (
            made.get("observedGeneration") == made.get("generation")
            and made.get("updatedReplicas", 0) == made.get("availableReplicas", 0) == made.get("replicas", 0) == wanted
            and len([each for each in found["pods"] if not each["metadata"].get("deletionTimestamp")]) >= (wanted or 0)
            and not made.get("terminatingReplicas")
        )

    return seen


def condition(found: State, plural: str, type_: str, reason: str, name: str = "web") -> bool:
    return any(
        each["type"] == type_ and each.get("reason") == reason
        for each in status(found, plural, name).get("conditions") or ()
    )


def set_ready(replicas: int, name: str = "web") -> Callable[[State], bool]:
    def seen(found: State) -> bool:
        made = status(found, "statefulsets", name)
        return (
            made.get("observedGeneration") == made.get("generation")
            and made.get("availableReplicas", 0) == made.get("updatedReplicas", 0) == replicas
            and made.get("currentRevision") == made.get("updateRevision")
            and made.get("status", {}) is not None
            and len(found["pods"]) == replicas
        )

    return seen


def endpoints_seen(number: int, name: str = "web") -> Callable[[State], bool]:
    def seen(found: State) -> bool:
        slices = [
            each for each in found["endpointslices"] if each["metadata"]["labels"]["kubernetes.io/service-name"] == name
        ]
        ready = [one for each in slices for one in each.get("endpoints") or () if one["conditions"]["ready"]]
        kept = [each for each in found["endpoints"] if each["metadata"]["name"] == name]
        addresses = [
            one for each in kept for subset in each.get("subsets") or () for one in subset.get("addresses") or ()
        ]
        return len(ready) == len(addresses) == number and bool(slices) and bool(kept)

    return seen


def job_ended(type_: str, name: str = "work") -> Callable[[State], bool]:
    def seen(found: State) -> bool:
        conditions = status(found, "jobs", name).get("conditions") or ()
        return any(each["type"] == type_ and each["status"] == "True" for each in conditions)

    return seen


def daemons_ready(number: int) -> Callable[[State], bool]:
    def seen(found: State) -> bool:
        made = status(found, "daemonsets")
        counts = [made.get(each, 0) for each in ("desiredNumberScheduled", "numberAvailable", "updatedNumberScheduled")]
        return (
            counts == [number] * 3 and made["observedGeneration"] == made["generation"] and len(found["pods"]) == number
        )

    return seen
