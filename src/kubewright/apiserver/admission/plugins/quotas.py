"""The plugin ResourceQuota: what a namespace may use of something, counted as it is asked for.

A quota is in force as far as its status has numbers, which the quota controller writes (`status.hard`, `status.used`);
this plugin adds what is created to `status.used`. Where nobody runs the controller nothing is limited, as on a real
API server by itself.

| kind | counts as |
|---|---|
| any | `count/PLURAL.GROUP`; a few core kinds by their plural too |
| Pods | `pods`, and the sums of their requests and limits |
| Services | `services`, `services.nodeports`, `services.loadbalancers` |
| PersistentVolumeClaims | `persistentvolumeclaims`, `requests.storage`, both by storage class |

Rules: apiserver/pkg/admission/plugin/resourcequota, kubernetes/pkg/quota/v1/evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from kubewright.model.quantity import Quantity

from ...registry.backend import Attributes, Backend
from ...registry.call import resource_key
from ...store import Entry
from .resources import Amounts, amounts, pod_amounts, sum_of
from .world import Object, refused

__all__ = ["QUOTAS", "charge", "counted", "is_in_scope"]

QUOTAS: Final = resource_key("", "resourcequotas")
_ONE: Final = Quantity(1)
_ZERO: Final = Quantity(0)
_BY_PLURAL: Final = frozenset({"configmaps", "replicationcontrollers", "resourcequotas", "secrets"})
_IGNORED: Final = frozenset({("", "events"), ("events.k8s.io", "events")})
_NEEDED: Final = frozenset({"cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"})
_POD_NAMES: Final = _NEEDED | {"count/pods", "ephemeral-storage", "limits.ephemeral-storage", "pods"}
_POD_STARTS: Final = ("hugepages-", "requests.")
_CLASS: Final = ".storageclass.storage.k8s.io/"
_FINISHED: Final = ("Failed", "Succeeded")


def charge(attributes: Attributes, backend: Backend) -> None:
    """Count a request. Raises StatusError: 403, a quota would be exceeded."""
    usage = _usage_of(attributes)
    if usage is None:
        return
    page = backend.store.collection(QUOTAS).page(f"{attributes.namespace}/")
    changed = [(entry, used) for entry in page.entries if (used := _used(entry, attributes, usage)) is not None]
    if attributes.is_dry_run:
        return
    for entry, used in changed:
        quota = entry.object
        new = {**quota, "metadata": dict(quota["metadata"]), "status": {**quota["status"], "used": used}}
        backend.store.update(QUOTAS, entry.key, new, entry)


def counted(group: str, plural: str, obj: Object) -> Amounts:
    """As what an object that is there counts: for who adds up what a namespace uses."""
    if not group and plural in _OWN_WAYS:
        return _OWN_WAYS[plural](obj)
    return _one(group, plural)


Usage = Callable[[Object], Amounts]


def _usage_of(attributes: Attributes) -> Usage | None:
    """How the object of a request is counted; None: it is not."""
    kind, operation = attributes.kind, attributes.operation
    if not attributes.namespace or not kind.namespaced or (kind.group, kind.plural) in _IGNORED:
        return None
    part = attributes.subresource
    if kind.group == "" and kind.plural == "pods":
        if part == "resize" and operation == "UPDATE":
            return _pod
        return _pod if not part and operation == "CREATE" else None
    if part:
        return None
    if kind.group == "" and kind.plural in ("services", "persistentvolumeclaims"):
        found = _service if kind.plural == "services" else _claim
        return found if operation in ("CREATE", "UPDATE") else None
    if operation != "CREATE":
        return None
    made = _one(kind.group, kind.plural)
    return lambda obj: made


def _one(group: str, plural: str) -> Amounts:
    made = {f"count/{plural}.{group}" if group else f"count/{plural}": _ONE}
    if not group and plural in _BY_PLURAL:
        made[plural] = _ONE
    return made


# -- what things use --------------------------------------------------------------------------------------------------


def _pod(pod: Object) -> Amounts:
    made = {"count/pods": _ONE}
    if (pod.get("status") or {}).get("phase") in _FINISHED:
        return made
    requests = pod_amounts(pod, "requests", overhead=True)
    limits = pod_amounts(pod, "limits", overhead=True)
    return made | _computed(requests, limits)


def _computed(requests: Amounts, limits: Amounts) -> Amounts:
    made = {"pods": _ONE}
    for name in ("cpu", "memory", "ephemeral-storage"):
        if name in requests:
            made[name] = made[f"requests.{name}"] = requests[name]
        if name in limits:
            made[f"limits.{name}"] = limits[name]
    for name, value in requests.items():
        if name.startswith("hugepages-"):
            made[name] = made[f"requests.{name}"] = value
        elif "/" in name:
            made[f"requests.{name}"] = value
    return made


def _service(service: Object) -> Amounts:
    spec = service["spec"]
    type_, ports = spec.get("type"), spec.get("ports") or []
    made = {"count/services": _ONE, "services": _ONE}
    if type_ == "LoadBalancer":
        made["services.loadbalancers"] = _ONE
        if spec.get("allocateLoadBalancerNodePorts") is False:
            ports = [each for each in ports if each.get("nodePort")]
    if type_ in ("LoadBalancer", "NodePort"):
        made["services.nodeports"] = Quantity(len(ports))
    return made


def _claim(claim: Object) -> Amounts:
    spec = claim["spec"]
    made = {"count/persistentvolumeclaims": _ONE, "persistentvolumeclaims": _ONE}
    notes = claim["metadata"].get("annotations") or {}
    name = notes.get("volume.beta.kubernetes.io/storage-class") or spec.get("storageClassName") or ""
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if asked is not None:
        made["requests.storage"] = Quantity(asked)
    if name:
        for each in ("persistentvolumeclaims", "requests.storage"):
            if each in made:
                made[f"{name}{_CLASS}{each}"] = made[each]
    return made


_OWN_WAYS: Final[Mapping[str, Usage]] = {"pods": _pod, "services": _service, "persistentvolumeclaims": _claim}


# -- what a quota says ------------------------------------------------------------------------------------------------


def _used(entry: Entry, attributes: Attributes, usage: Usage) -> dict[str, str] | None:
    """The new `status.used` of a quota, if it is another one. Raises StatusError: too much."""
    quota, obj = entry.object, attributes.object
    assert obj is not None
    status: Mapping[str, Any] = quota.get("status") or {}
    hard = amounts(status.get("hard"))
    is_pod = usage is _pod
    now = usage(obj)
    limited = [each for each in hard if each in now or (is_pod and _is_of_pods(each))]
    name = quota["metadata"]["name"]
    if not limited or not is_in_scope(quota["spec"], obj, is_pod=is_pod):
        return None
    if is_pod and (missing := _missing(obj, limited)):
        raise refused(attributes, f"failed quota: {name}: must specify {missing}")
    used = amounts(status.get("used"))
    if any(each not in used for each in limited):
        said = f"status unknown for quota: {name}, resources: {','.join(sorted(limited))}"
        raise refused(attributes, said)
    before = usage(attributes.old) if attributes.operation == "UPDATE" and attributes.old is not None else {}
    more = {each: _above(value, before.get(each, _ZERO)) for each, value in now.items() if each in hard}
    more = {each: value for each, value in more.items() if value}
    if not more:
        return None
    total = sum_of(used, more)
    if attributes.subresource != "status":
        exceeded = [each for each in more if total[each] > hard[each]]
        if exceeded:
            parts = (("requested", more), ("used", used), ("limited", hard))
            said = ", ".join(f"{what}: {_shown(found, exceeded)}" for what, found in parts)
            raise refused(attributes, f"exceeded quota: {name}, {said}")
    return {each: str(value) for each, value in total.items()}


def _above(value: Quantity, before: Quantity) -> Quantity:
    return value - before if value > before else _ZERO


def _shown(found: Amounts, names: Iterable[str]) -> str:
    return ",".join(f"{each}={found[each]}" for each in sorted(names))


def _is_of_pods(name: str) -> bool:
    return (
        name in _POD_NAMES
        or name.startswith(_POD_STARTS[0])
        or (name.startswith(_POD_STARTS[1]) and name != "requests.storage")
    )


def _missing(pod: Object, limited: Iterable[str]) -> str:
    """What containers do not say that a quota has to know."""
    needed = _NEEDED & set(limited)
    found: dict[str, set[str]] = {}
    for field in ("containers", "initContainers"):
        for container in pod["spec"].get(field) or ():
            resources = container.get("resources") or {}
            said = _computed(amounts(resources.get("requests")), amounts(resources.get("limits")))
            for name in needed - said.keys():
                found.setdefault(name, set()).add(container.get("name", ""))
    return "; ".join(f"{name} for: {','.join(sorted(found[name]))}" for name in sorted(found))


def is_in_scope(spec: Object, obj: Object, *, is_pod: bool) -> bool:
    """Whether a quota is about the object at all."""
    wanted = [{"scopeName": each, "operator": "Exists"} for each in spec.get("scopes") or ()]
    wanted += (spec.get("scopeSelector") or {}).get("matchExpressions") or []
    return all(is_pod and _matches_scope(each, obj) for each in wanted)


def _matches_scope(wanted: Mapping[str, Any], pod: Object) -> bool:
    spec, name = pod["spec"], wanted.get("scopeName")
    if name in ("Terminating", "NotTerminating"):
        return (spec.get("activeDeadlineSeconds") is not None) is (name == "Terminating")
    if name in ("BestEffort", "NotBestEffort"):
        return _is_best_effort(spec) is (name == "BestEffort")
    if name == "PriorityClass":
        found, operator, values = spec.get("priorityClassName", ""), wanted.get("operator"), wanted.get("values") or ()
        if operator in ("Exists", "DoesNotExist"):
            return bool(found) is (operator == "Exists")
        return (found in values) is (operator == "In")
    return name == "CrossNamespacePodAffinity" and _reaches_out(spec)


def _is_best_effort(spec: Object) -> bool:
    every = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ()), spec]
    for each in every:
        resources = each.get("resources") or {}
        for part in ("requests", "limits"):
            if any(Quantity(value) for name, value in (resources.get(part) or {}).items() if name in ("cpu", "memory")):
                return False
    return True


def _reaches_out(spec: Object) -> bool:
    """Whether affinity terms name other namespaces."""
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        found = list(terms.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        found += [
            each.get("podAffinityTerm") or {}
            for each in terms.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        ]
        if any(each.get("namespaces") or each.get("namespaceSelector") is not None for each in found):
            return True
    return False
