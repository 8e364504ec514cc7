"""Evicting a Pod: deleting it if no disruption budget is against it.

| Pod | |
|---|---|
| pending, finished, or going already | is deleted |
| no budget selects it | is deleted |
| one budget that allows a disruption | the budget counts one less, and it is deleted |
| it is not ready, and its budget has enough without it (or always lets go of such) | is deleted |
| one budget that does not | 429 |
| several budgets | 500 |

Rules: `kubernetes/pkg/registry/core/pod/storage/eviction.go`.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from kubewright.model.selector import LabelSelector, Selector

from ..errors import StatusError, bad_request, forbidden, too_many_requests
from ..options import DeleteOptions, delete_options
from ..registry.call import Call, resource_key
from ..registry.delete import delete_object
from ..registry.get import read
from ..registry.storing import guaranteed, precondition
from ..store import Entry
from .conditions import SUCCESS, with_pod_condition

__all__ = ["evict"]

_BUDGETS: Final = resource_key("policy", "poddisruptionbudgets")
_VIOLATES: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_MOST_DISRUPTED: Final = 2000
_EVICTED: Final = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}


class _Budget:
    group, plural, kind = "policy", "poddisruptionbudget", "PodDisruptionBudget"


async def evict(call: Call, eviction: dict[str, Any], is_dry_run: bool) -> dict[str, Any]:
    """POST pods/NAME/eviction. Raises StatusError."""
    name = call.route.name
    if (eviction["metadata"].get("name") or "") != name:
        raise bad_request("name in URL does not match name in Eviction object")
    options = delete_options((), eviction.get("deleteOptions") or {})
    options.is_dry_run = options.is_dry_run or is_dry_run
    pod = (await read(call, name)).object
    if not _may_always_go(pod):
        _ask_budgets(call, pod, is_dry_run=options.is_dry_run)
    if not options.is_dry_run:
        await _mark(call, name, options)
    await delete_object(call, name, options, asks=False)
    return SUCCESS


def _may_always_go(pod: dict[str, Any]) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in ("Succeeded", "Failed", "Pending") or bool(pod["metadata"].get("deletionTimestamp"))


def _ask_budgets(call: Call, pod: dict[str, Any], *, is_dry_run: bool) -> None:
    found = _budgets_of(call, pod)
    if len(found) > 1:
        said = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        raise StatusError(500, "", said)
    if not found:
        return
    entry = found[0]
    budget = entry.object
    status = budget.get("status") or {}
    if not _is_ready(pod):
        if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
            return
        if status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0:
            return
    _check(budget, status)
    if is_dry_run:
        return
    disrupted = {**(status.get("disruptedPods") or {}), pod["metadata"]["name"]: call.backend.timestamp()}
    new = {**status, "disruptionsAllowed": status["disruptionsAllowed"] - 1, "disruptedPods": disrupted}
    changed = {**budget, "metadata": dict(budget["metadata"]), "status": new}
    call.backend.store.update(_BUDGETS, entry.key, changed, entry)


def _budgets_of(call: Call, pod: dict[str, Any]) -> list[Entry]:
    labels = pod["metadata"].get("labels") or {}
    page = call.backend.store.collection(_BUDGETS).page(f"{call.route.namespace}/")
    return [each for each in page.entries if _selects(each.object["spec"].get("selector"), labels)]


def _selects(selector: Any, labels: dict[str, str]) -> bool:
    if selector is None:
        return False
    try:
        return Selector.of(msgspec.convert(selector, LabelSelector)).matches(labels)
    except (msgspec.ValidationError, ValueError):
        return False


def _is_ready(pod: dict[str, Any]) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _check(budget: dict[str, Any], status: dict[str, Any]) -> None:
    """Raises StatusError: the budget allows no disruption now."""
    name = budget["metadata"]["name"]
    not_now = f"The disruption budget {name} does not allow evicting pods currently"
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _refused(f"The disruption budget {name} is still being processed by the server.", 10)
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        raise _forbidden(name, "pdb disruptions allowed is negative", f"{not_now}: pdb disruptions allowed is negative")
    if len(status.get("disruptedPods") or ()) > _MOST_DISRUPTED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise _forbidden(name, why, f"{not_now}: too many pending evictions not confirmed by PDB controller")
    if allowed:
        return
    conditions: list[dict[str, Any]] = status.get("conditions") or []
    condition = next((each for each in conditions if each["type"] == "DisruptionAllowed"), {})
    message = condition.get("message", "") if condition.get("status") == "False" else ""
    healthy, wanted = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    if message and condition.get("reason") == "SyncFailed":
        raise _refused(f"{not_now} because it failed sync: {message}", 0)
    if healthy <= wanted:
        raise _refused(f"The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently", 0)
    raise _refused(f"{not_now} ({condition['reason']}): {message}" if message else not_now, 0)


def _refused(why: str, retry_after_seconds: int) -> StatusError:
    error = too_many_requests(_VIOLATES, retry_after_seconds)
    assert error.details is not None
    error.details["causes"] = [{"reason": "DisruptionBudget", "message": why}]
    return error


def _forbidden(name: str, why: str, cause: str) -> StatusError:
    return forbidden(_Budget(), name, why, causes=[{"reason": "DisruptionBudget", "message": cause}])


async def _mark(call: Call, name: str, options: DeleteOptions) -> None:
    """Say in the Pod why it goes. A precondition on its version goes on to the version that has the mark."""
    now = call.backend.timestamp()
    before = options.resource_version

    async def step(stored: Entry, served: Entry, is_first: bool) -> dict[str, Any]:
        pod = served.object
        return {
            **pod,
            "metadata": dict(pod["metadata"]),
            "status": with_pod_condition(pod.get("status") or {}, _EVICTED, now),
        }

    present = await read(call, name)
    if options.uid is not None and options.uid != present.object["metadata"].get("uid"):
        return  # the deletion says so
    if before is not None and before != str(present.revision):
        return
    marked = await guaranteed(call, name, step, is_dry_run=False, check=precondition(call, name, options.uid, before))
    if before is not None:
        options.resource_version = str(marked.revision)
