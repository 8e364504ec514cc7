"""Checks of resource names and amounts: requests, limits, quotas (`pkg/apis/core/validation`, `.../core/helper`)."""

from __future__ import annotations

from typing import Any, Final

from kubewright.model.quantity import Quantity
from kubewright.schema.structural.fielderrors import duplicate, forbidden, invalid, not_found, required
from kubewright.schema.structural.metarules import qualified_name

from .texts import Errors, Object, check, dns_label_errors, quantity_at_least_0

__all__ = ["amount", "container_resource_name", "quota_resource_name", "requirements", "resource_name"]

_COMPUTE: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_COUNTED: Final = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_QUOTA: Final = frozenset(
    {
        *_COMPUTE,
        *_COUNTED,
        *(f"requests.{each}" for each in (*_COMPUTE, "storage")),
        *(f"limits.{each}" for each in _COMPUTE),
    }
)
_HUGE: Final = "hugepages-"
_NOT_INTEGER: Final = "must be an integer"


def resource_name(path: str, name: str) -> Errors:
    """Errors of the name of a resource."""
    if errors := check(path, name, qualified_name):
        return errors
    if "/" not in name and name not in _QUOTA and name != "storage" and not _is_huge_quota(name):
        return [invalid(path, name, "must be a standard resource type or fully qualified")]
    return []


def container_resource_name(path: str, name: str) -> Errors:
    """Errors of the name of a resource that a container asks for."""
    errors = resource_name(path, name)
    if "/" not in name:
        if name not in _COMPUTE and not name.startswith(_HUGE):
            errors.append(invalid(path, name, "must be a standard resource for containers"))
    elif not _is_native(name) and not _is_extended(name):
        errors.append(invalid(path, name, "doesn't follow extended resource name standard"))
    return errors


def quota_resource_name(path: str, name: str) -> Errors:
    """Errors of the name of a resource that a quota limits."""
    errors = resource_name(path, name)
    if "/" not in name and name not in _QUOTA and not _is_huge_quota(name):
        errors.append(invalid(path, name, "must be a standard resource for quota"))
    return errors


def _is_huge_quota(name: str) -> bool:
    return name.removeprefix("requests.").startswith(_HUGE)


def _is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def _is_extended(name: str) -> bool:
    return not _is_native(name) and not name.startswith("requests.") and not qualified_name(f"requests.{name}")


def _is_whole(name: str) -> bool:
    return name in _COUNTED or _is_extended(name)


def _may_overcommit(name: str) -> bool:
    return _is_native(name) and not name.startswith(_HUGE)


def amount(path: str, name: str, value: str) -> Errors:
    """Errors of the amount of a resource."""
    errors = quantity_at_least_0(path, value)
    if _is_whole(name) and Quantity(value).nanos % 10**9:
        errors.append(invalid(path, value, _NOT_INTEGER))
    return errors


def requirements(path: str, found: Object, claims: Any = ()) -> Errors:
    """Errors of the requests and limits of a container. `claims` are the names of the Pod's resource claims."""
    errors: Errors = []
    limits, requests = found.get("limits") or {}, found.get("requests") or {}
    for name, value in limits.items():
        here = f"{path}.limits[{name}]"
        errors += [*container_resource_name(here, name), *amount(here, name, value), *_huge(here, name, value)]
    for name, value in requests.items():
        here = f"{path}.requests[{name}]"
        errors += [*container_resource_name(here, name), *amount(here, name, value)]
        errors += _against_limit(path, name, value, limits.get(name))
        errors += _huge(here, name, value)
    names = {*limits, *requests}
    if not names & {"cpu", "memory"} and any(name.startswith(_HUGE) for name in names):
        errors.append(forbidden(path, "HugePages require cpu or memory"))
    return [*errors, *_claims(f"{path}.claims", found.get("claims") or (), claims)]


def _against_limit(path: str, name: str, value: str, limit: str | None) -> Errors:
    if limit is None:
        said = "Limit must be set for non overcommitable resources"
        return [] if _may_overcommit(name) else [required(f"{path}.limits", said)]
    wanted, most = Quantity(value), Quantity(limit)
    if wanted != most and not _may_overcommit(name):
        return [invalid(f"{path}.requests", value, f"must be equal to {name} limit of {limit}")]
    if wanted > most:
        return [invalid(f"{path}.requests", value, f"must be less than or equal to {name} limit of {limit}")]
    return []


def _huge(path: str, name: str, value: str) -> Errors:
    if not name.startswith(_HUGE):
        return []
    try:
        size = Quantity(name.removeprefix(_HUGE)).nanos
    except ValueError:
        size = 0
    found = Quantity(value).nanos
    if size <= 0 or found < 0 or found % size:
        return [invalid(path, value, f"{value} is not positive integer multiple of {name}")]
    return []


def _claims(path: str, found: Any, known: Any) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for place, claim in enumerate(found):
        name, request = claim.get("name", ""), claim.get("request", "")
        here = f"{path}[{place}]"
        if not name:
            errors.append(required(here))
            continue
        key = f"{name}/{request}" if request else name
        if name in seen:
            errors.append(duplicate(here, name))
        else:
            if request:
                errors += dns_label_errors(f"{here}.request", request)
            if key in seen:
                errors.append(duplicate(here, key))
            elif not request and any(each.startswith(f"{name}/") for each in seen):
                errors.append(duplicate(here, name))
            seen.add(key)
        if name not in known:
            said = "must be one of the names in pod.spec.resourceClaims"
            said += f": {', '.join(sorted(known))}" if known else " which is empty"
            errors.append(not_found(here, name, said))
    return errors
