"""Checks of PersistentVolumeClaims, PersistentVolumes and StorageClasses."""

from __future__ import annotations

from typing import Any, Final

from kubewright.model.quantity import Quantity
from kubewright.schema.structural.fielderrors import duplicate, forbidden, invalid, not_supported, required
from kubewright.schema.structural.metarules import dns_subdomain, qualified_name
from kubewright.schema.structural.values import copied, same

from .labels import label_selector
from .resources import amount
from .scheduling import node_selector
from .texts import Errors, Object, check, fixed, immutable

__all__ = ["claim", "claim_spec", "claim_update", "storage_class", "storage_class_update", "volume", "volume_update"]

_ACCESS: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_MODES: Final = ("Block", "Filesystem")
_RECLAIM: Final = ("Delete", "Recycle", "Retain")
_NOT_SOURCES: Final = frozenset(
    {
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    }
)


def _access_modes(path: str, modes: Any) -> Errors:
    errors = [not_supported(path, mode, _ACCESS) for mode in modes if mode not in _ACCESS]
    if "ReadWriteOncePod" in modes and any(mode in _ACCESS for mode in modes if mode != "ReadWriteOncePod"):
        errors.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors


def _above_0(path: str, value: str) -> Errors:
    return [] if Quantity(value) > 0 else [invalid(path, value, "must be greater than zero")]


def _volume_mode(path: str, mode: str | None) -> Errors:
    return [not_supported(path, mode, _MODES)] if mode is not None and mode not in _MODES else []


def claim_spec(path: str, spec: Object) -> Errors:
    """Errors of the spec of a claim."""
    modes = spec.get("accessModes") or []
    errors = [] if modes else [required(f"{path}.accessModes", "at least 1 access mode is required")]
    errors += label_selector(f"{path}.selector", spec.get("selector"))
    errors += _access_modes(f"{path}.accessModes", modes)
    wanted = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    where = f"{path}.resources[storage]"
    if wanted is None:
        errors.append(required(where))
    else:
        errors += _above_0(where, wanted) or amount(where, "storage", wanted)
    if name := spec.get("storageClassName"):
        errors += check(f"{path}.storageClassName", name, dns_subdomain)
    errors += _volume_mode(f"{path}.volumeMode", spec.get("volumeMode"))
    errors += _sources(path, spec)
    if name := spec.get("volumeAttributesClassName"):
        errors += check(f"{path}.volumeAttributesClassName", name, dns_subdomain)
    return errors


def _sources(path: str, spec: Object) -> Errors:
    errors: Errors = []
    for name in ("dataSource", "dataSourceRef"):
        source, where = spec.get(name), f"{path}.{name}"
        if source is None:
            continue
        errors += [required(f"{where}.{each}") for each in ("name", "kind") if not source.get(each)]
        group, kind = source.get("apiGroup") or "", source.get("kind", "")
        if not group and kind != "PersistentVolumeClaim":
            said = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
            errors.append(invalid(where, kind, said))
        if group:
            errors += check(f"{where}.apiGroup", group, dns_subdomain)
    return errors


def claim(obj: Object) -> Errors:
    """Errors of a claim."""
    return claim_spec("spec", obj["spec"])


def claim_update(new: Object, old: Object) -> Errors:
    """Errors of a changed claim. It is bound to nothing yet, or may grow."""
    errors = claim(new)
    after, before = copied(new["spec"]), old["spec"]
    if not before.get("volumeName"):
        after.pop("volumeName", None)
    if before.get("storageClassName") is None:
        after.pop("storageClassName", None)
    size, was = _storage(new["spec"]), _storage(before)
    if (old.get("status") or {}).get("phase") == "Bound":
        for name in ("volumeAttributesClassName",):
            after.pop(name, None)
            if name in before:
                after[name] = before[name]
        if "storage" in (after.get("resources", {}).get("requests") or {}):
            after["resources"]["requests"]["storage"] = before["resources"]["requests"]["storage"]
    if not same(after, before):
        said = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
        )
        errors.append(forbidden("spec", said + "\n"))
    if size < was and size <= Quantity(((old.get("status") or {}).get("capacity") or {}).get("storage", "0")):
        errors.append(forbidden("spec.resources.requests.storage", "field can not be less than status.capacity"))
    return errors + immutable("volumeMode", new["spec"].get("volumeMode"), before.get("volumeMode"))


def _storage(spec: Object) -> Quantity:
    return Quantity(((spec.get("resources") or {}).get("requests") or {}).get("storage", "0"))


def volume(obj: Object) -> Errors:
    """Errors of a PersistentVolume."""
    spec = obj["spec"]
    modes, capacity = spec.get("accessModes") or [], spec.get("capacity") or {}
    errors = [] if modes else [required("spec.accessModes")]
    errors += _access_modes("spec.accessModes", modes)
    if not capacity:
        errors.append(required("spec.capacity"))
    if set(capacity) != {"storage"}:
        errors.append(not_supported("spec.capacity", capacity or None, ("storage",)))
    for name, value in capacity.items():
        errors += _above_0(f"spec.capacity[{name}]", value)
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    if policy and policy not in _RECLAIM:
        errors.append(not_supported("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM))
    if (affinity := spec.get("nodeAffinity")) is not None:
        if "required" in affinity:
            errors += node_selector("spec.nodeAffinity.required", affinity["required"])
        else:
            errors.append(required("spec.nodeAffinity.required", "must specify required node constraints"))
    sources = [name for name in spec if name not in _NOT_SOURCES]
    errors += [forbidden(f"spec.{name}", "may not specify more than 1 volume type") for name in sources[1:]]
    if not sources:
        errors.append(required("spec", "must specify a volume type"))
    if (host := spec.get("hostPath")) is not None and not host.get("path"):
        errors.append(required("spec.hostPath.path"))
    if name := spec.get("storageClassName"):
        errors += check("spec.storageClassName", name, dns_subdomain)
    return errors + _volume_mode("spec.volumeMode", spec.get("volumeMode"))


def volume_update(new: Object, old: Object) -> Errors:
    """Errors of a changed PersistentVolume."""
    errors = volume(new)

    def source(obj: Object) -> Object:
        return {name: each for name, each in obj["spec"].items() if name not in _NOT_SOURCES}

    if not same(source(new), source(old)):
        said = "spec.persistentvolumesource is immutable after creation\n"
        errors.append(forbidden("spec.persistentvolumesource", said))
    return errors + immutable("volumeMode", new["spec"].get("volumeMode"), old["spec"].get("volumeMode"))


def storage_class(obj: Object) -> Errors:
    """Errors of a StorageClass."""
    provisioner = obj.get("provisioner", "")
    errors = check("provisioner", provisioner.lower(), qualified_name) if provisioner else [required("provisioner")]
    for name in obj.get("parameters") or {}:
        if not name:
            errors.append(invalid("parameters", name, "field can not be empty."))
    policy = obj.get("reclaimPolicy")
    if policy is not None and policy not in ("Delete", "Retain"):
        errors.append(not_supported("reclaimPolicy", policy, ("Delete", "Retain")))
    mode = obj.get("volumeBindingMode")
    if mode not in ("Immediate", "WaitForFirstConsumer"):
        known = ("Immediate", "WaitForFirstConsumer")
        errors.append(not_supported("volumeBindingMode", mode, known) if mode else required("volumeBindingMode"))
    return errors + _topologies("allowedTopologies", obj.get("allowedTopologies") or [])


def _topologies(path: str, terms: list[Object]) -> Errors:
    errors: Errors = []
    for place, term in enumerate(terms):
        seen: set[str] = set()
        for number, each in enumerate(term.get("matchLabelExpressions") or ()):
            here = f"{path}[{place}].matchLabelExpressions[{number}]"
            values, key = each.get("values") or [], each.get("key", "")
            if not values:
                errors.append(required(f"{here}.values"))
            errors += check(f"{here}.key", key, qualified_name)
            if key in seen:
                errors.append(duplicate(f"{here}.key", key))
            seen.add(key)
    return errors


def storage_class_update(new: Object, old: Object) -> Errors:
    """Errors of a changed StorageClass."""
    names = ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")
    return [error for name in names for error in fixed(name, new.get(name), old.get(name))]
