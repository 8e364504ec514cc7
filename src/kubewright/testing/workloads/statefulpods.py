"""The Pods and claims of a StatefulSet: their names, their making, who owns the claims. Values in, values out.

Rules: `kubernetes/pkg/controller/statefulset/stateful_set_utils.go`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from .kinds import PODS, STATEFUL_SETS, Obj
from .owners import controller_ref
from .podstates import pod_from
from .revisions import HASH, template_of

__all__ = ["claim_owners", "claims_of", "is_in_range", "ordinal_of", "start_of", "versioned_pod"]

_NAME: Final = "statefulset.kubernetes.io/pod-name"
_INDEX: Final = "apps.kubernetes.io/pod-index"
_ORDINAL: Final = re.compile(r"(.*)-([0-9]+)", re.ASCII | re.DOTALL)


def start_of(owner: Obj) -> int:
    """The first ordinal."""
    return int((owner["spec"].get("ordinals") or {}).get("start", 0))


def ordinal_of(owner: Obj, pod: Obj) -> int:
    """The ordinal of a Pod; -1 where its name has none of this set."""
    found = _ORDINAL.fullmatch(pod["metadata"]["name"])
    return int(found[2]) if found is not None and found[1] == owner["metadata"]["name"] else -1


def is_in_range(owner: Obj, ordinal: int) -> bool:
    return bool(0 <= ordinal - start_of(owner) < owner["spec"].get("replicas", 1))


def versioned_pod(owner: Obj, current: Obj, update: Obj, ordinal: int) -> Obj:
    """The Pod of an ordinal, as one of the two revisions has it. It has no status: it is not there yet."""
    rolling = owner["spec"]["updateStrategy"].get("rollingUpdate")
    start = start_of(owner)
    if rolling is None:
        replicas = (owner.get("status") or {}).get("currentReplicas", 0)
        is_old = owner["spec"]["updateStrategy"]["type"] == "RollingUpdate" and ordinal < start + replicas
    else:
        is_old = ordinal < start + rolling.get("partition", 0)
    revision = current if is_old else update
    pod = pod_from(template_of(revision), owner, controller_ref(STATEFUL_SETS, owner))
    name = f"{owner['metadata']['name']}-{ordinal}"
    labels = pod["metadata"].get("labels") or {}
    own = {_NAME: name, _INDEX: str(ordinal), HASH: revision["metadata"]["name"]}
    claims = claims_of(owner, ordinal)
    volumes: list[dict[str, Any]] = [
        {"name": volume, "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}}
        for volume, claim in claims.items()
    ]
    volumes += [each for each in pod["spec"].get("volumes") or () if each["name"] not in claims]
    spec = {**pod["spec"], "hostname": name, "subdomain": owner["spec"].get("serviceName", "")}
    if volumes:
        spec["volumes"] = volumes
    return {"metadata": {**pod["metadata"], "name": name, "labels": {**labels, **own}}, "spec": spec}


def claims_of(owner: Obj, ordinal: int) -> dict[str, Obj]:
    """The claims of an ordinal, by the names of their templates."""
    made: dict[str, Obj] = {}
    meta = owner["metadata"]
    for template in owner["spec"].get("volumeClaimTemplates") or ():
        its = template["metadata"]
        labels = {**(its.get("labels") or {}), **(owner["spec"]["selector"].get("matchLabels") or {})}
        made[its["name"]] = {
            "metadata": {
                **{name: its[name] for name in ("annotations", "finalizers") if its.get(name)},
                "name": f"{its['name']}-{meta['name']}-{ordinal}",
                "namespace": meta["namespace"],
                "labels": labels,
            },
            "spec": template["spec"],
        }
    return made


def claim_owners(owner: Obj, claim: Obj, pod: Obj, ordinal: int) -> list[dict[str, Any]]:
    """The owners that a claim is to have, by the set's retention policy."""
    names = {("StatefulSet", owner["metadata"]["name"]), ("Pod", pod["metadata"]["name"])}
    old = claim["metadata"].get("ownerReferences") or []
    made: list[dict[str, Any]] = [each for each in old if (each["kind"], each["name"]) not in names]
    if any(each.get("controller") for each in made):
        return made
    policy = owner["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    if policy.get("whenScaled") == "Delete" and not is_in_range(owner, ordinal):
        if pod["metadata"].get("uid"):
            made.append(controller_ref(PODS, pod))
    elif policy.get("whenDeleted") == "Delete":
        made.append(controller_ref(STATEFUL_SETS, owner))
    return made
