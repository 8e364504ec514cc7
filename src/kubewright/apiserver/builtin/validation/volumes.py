"""Checks of the volumes of a Pod. Of the vendors' volumes only that there is one source per volume."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from kubewright.model.quantity import Quantity
from kubewright.schema.structural.fielderrors import duplicate, forbidden, invalid, not_supported, required, too_long
from kubewright.schema.structural.metarules import dns_subdomain

from .claims import claim_spec
from .env import VOLUME_FIELDS, field_reference, resource_reference
from .labels import annotation_errors, labels
from .texts import (
    Errors,
    Object,
    check,
    dns_label_errors,
    in_range,
    one_of,
    relative_path,
    without_backsteps,
)

__all__ = ["driver_name", "template_metadata", "volumes"]

_SOURCES: Final = (
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
)
"""In the order in which a server looks at them, after `emptyDir`."""

_HOST_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
_PULL: Final = ("Always", "IfNotPresent", "Never")


def volumes(path: str, found: Iterable[Object], pod_name: str) -> tuple[dict[str, Object], Errors]:
    """The volumes that are valid, by name, and the errors of the others. `pod_name` is "" in a template."""
    found = list(found)
    made: dict[str, Object] = {}
    errors: Errors = []
    created = {f"{pod_name}-{each.get('name', '')}" for each in found if pod_name and "ephemeral" in each}
    for place, volume in enumerate(found):
        here, name = f"{path}[{place}]", volume.get("name", "")
        own = _source(here, volume, pod_name)
        own += dns_label_errors(f"{here}.name", name) if name else [required(f"{here}.name")]
        if name in made:
            own.append(duplicate(f"{here}.name", name))
        if own:
            errors += own
        else:
            made[name] = volume
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
        if claim in created:
            said = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(f"{here}.persistentVolumeClaim.claimName", claim, said))
    return made, errors


def _source(path: str, volume: Object, pod_name: str) -> Errors:
    errors: Errors = []
    count = 0
    if (empty := volume.get("emptyDir")) is not None:
        count = 1
        if Quantity(empty.get("sizeLimit", "0")) < 0:
            said = "SizeLimit field must be a valid resource quantity"
            errors.append(forbidden(f"{path}.emptyDir.sizeLimit", said))
    for name in _SOURCES:
        if name not in volume:
            continue
        here = f"{path}.{ {'cephfs': 'cephFS', 'downwardAPI': 'downwarAPI'}.get(name, name) }"
        if count:
            errors.append(forbidden(here, "may not specify more than 1 volume type"))
            continue
        count = 1
        if (rule := _RULES.get(name)) is not None:
            errors += rule(f"{path}.{name}", volume[name])
        if name == "ephemeral" and pod_name and volume.get("name"):
            claim = f"{pod_name}-{volume['name']}"
            broken = [f'PVC name "{claim}": {each}' for each in dns_subdomain(claim)]
            errors += [invalid(f"{path}.name", volume["name"], each) for each in broken]
    return errors if count else [*errors, required(path, "must specify a volume type")]


def _mode(path: str, value: int | None) -> Errors:
    return [invalid(path, value, _MODE)] if value is not None and not 0 <= value <= 0o777 else []


def _user(path: str, value: int | None) -> Errors:
    return [] if value is None else [invalid(path, value, each) for each in in_range(value, 0, 2**31 - 1)]


def _local_path(path: str, value: str) -> Errors:
    errors = relative_path(path, value)
    if value.startswith("..") and not value.startswith("../"):
        errors.append(invalid(path, value, "must not start with '..'"))
    return errors


def _key_to_path(path: str, item: Object) -> Errors:
    target = item.get("path", "")
    errors = [] if item.get("key") else [required(f"{path}.key")]
    errors += [] if target else [required(f"{path}.path")]
    errors += _local_path(f"{path}.path", target)
    return [*errors, *_mode(f"{path}.mode", item.get("mode")), *_user(f"{path}.user", item.get("user"))]


def _keyed(name: str) -> Callable[[str, Object], Errors]:
    def rule(path: str, source: Object) -> Errors:
        errors = [] if source.get(name) else [required(f"{path}.{name}")]
        errors += _mode(f"{path}.defaultMode", source.get("defaultMode"))
        errors += _user(f"{path}.defaultUser", source.get("defaultUser"))
        for place, item in enumerate(source.get("items", ())):
            errors += _key_to_path(f"{path}.items[{place}]", item)
        return errors

    return rule


def _host_path(path: str, source: Object) -> Errors:
    target = source.get("path", "")
    if not target:
        return [required(f"{path}.path")]
    errors = without_backsteps(f"{path}.path", target)
    kind = source.get("type", "")
    if kind not in _HOST_TYPES:
        errors.append(not_supported(f"{path}.type", kind, _HOST_TYPES))
    return errors


def _claim(path: str, source: Object) -> Errors:
    return [] if source.get("claimName") else [required(f"{path}.claimName")]


def _nfs(path: str, source: Object) -> Errors:
    errors = [required(f"{path}.{each}") for each in ("server", "path") if not source.get(each)]
    if not source.get("path", "").startswith("/"):
        errors.append(invalid(f"{path}.path", source.get("path", ""), "must be an absolute path"))
    return errors


def _downward_file(path: str, item: Object) -> Errors:
    target = item.get("path", "")
    errors = [] if target else [required(f"{path}.path")]
    errors += _local_path(f"{path}.path", target)
    if "fieldRef" in item:
        errors += field_reference(f"{path}.fieldRef", item["fieldRef"], VOLUME_FIELDS)
        if "resourceFieldRef" in item:
            said = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(invalid(path, "resource", said))
    elif "resourceFieldRef" in item:
        errors += resource_reference(f"{path}.resourceFieldRef", item["resourceFieldRef"], in_volume=True)
    else:
        errors.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    return [*errors, *_mode(f"{path}.mode", item.get("mode")), *_user(f"{path}.user", item.get("user"))]


def _downward(path: str, source: Object) -> Errors:
    errors = _mode(f"{path}.defaultMode", source.get("defaultMode"))
    for item in source.get("items", ()):
        errors += _downward_file(path, item)
    return errors


def _projected(path: str, source: Object) -> Errors:
    errors = _mode(f"{path}.defaultMode", source.get("defaultMode"))
    seen: set[str] = set()
    for place, each in enumerate(source.get("sources") or ()):
        errors += _projection(path, f"{path}.sources[{place}]", each, seen)
    return errors


def _projection(path: str, here: str, source: Object, seen: set[str]) -> Errors:
    errors: Errors = []
    found = [each for each in _PROJECTIONS if each in source]
    for name in found:
        part, where = source[name], f"{here}.{name}"
        items = part.get("items") or ()
        if name in ("secret", "configMap"):
            errors += [] if part.get("name") else [required(f"{where}.name")]
            for place, item in enumerate(items):
                errors += _key_to_path(f"{where}.items[{place}]", item)
                errors += _once(path, item.get("path", ""), part.get("name", ""), seen)
        elif name == "downwardAPI":
            for item in items:
                errors += _downward_file(where, item)
                errors += _once(path, item.get("path", ""), item.get("path", ""), seen)
        elif name == "serviceAccountToken":
            errors += _token(path, where, part)
    if len(found) > 1:
        errors.append(forbidden(here, "may not specify more than 1 volume type"))
    return errors


_PROJECTIONS: Final = (
    "secret",
    "configMap",
    "downwardAPI",
    "serviceAccountToken",
    "clusterTrustBundle",
    "podCertificate",
)


def _once(path: str, target: str, shown: str, seen: set[str]) -> Errors:
    if target and target in seen:
        return [invalid(path, shown, "conflicting duplicate paths")]
    seen.add(target)
    return []


def _token(path: str, here: str, source: Object) -> Errors:
    errors: Errors = []
    seconds, target = source.get("expirationSeconds", 3600), source.get("path", "")
    where = f"{here}.expirationSeconds"
    if seconds < 600:
        errors.append(invalid(where, seconds, "may not specify a duration less than 10 minutes"))
    if seconds > 2**32:
        errors.append(invalid(where, seconds, "may not specify a duration larger than 2^32 seconds"))
    return errors + (_local_path(f"{path}.path", target) if target else [required(f"{path}.path")])


def driver_name(path: str, name: str) -> Errors:
    """Errors of the name of a CSI driver."""
    if not name:
        return [required(path)]
    errors = [too_long(path, 63)] if len(name.encode()) > 63 else []
    return errors + [invalid(path, name, each) for each in dns_subdomain(name.lower())]


def _csi(path: str, source: Object) -> Errors:
    errors = driver_name(f"{path}.driver", source.get("driver", ""))
    if (secret := source.get("nodePublishSecretRef")) is not None:
        name = secret.get("name", "")
        where = f"{path}.nodePublishSecretRef.name"
        errors += check(f"{path}.name", name, dns_subdomain) if name else [required(where)]
    return errors


def template_metadata(path: str, meta: Object) -> Errors:
    """Errors of the metadata of a template, which has labels and annotations only."""
    errors = annotation_errors(f"{path}.annotations", meta.get("annotations"))
    errors += labels(f"{path}.labels", meta.get("labels"))
    others = [each for each in meta if each not in ("labels", "annotations")]
    return errors + [forbidden(f"{path}.{each}", "cannot be set") for each in others]


def _ephemeral(path: str, source: Object) -> Errors:
    template = source.get("volumeClaimTemplate")
    if template is None:
        return [required(f"{path}.volumeClaimTemplate")]
    here = f"{path}.volumeClaimTemplate"
    return [
        *template_metadata(f"{here}.metadata", template.get("metadata") or {}),
        *claim_spec(f"{here}.spec", template.get("spec") or {}),
    ]


def _image(path: str, source: Object) -> Errors:
    errors = [] if source.get("reference") else [required(f"{path}.reference")]
    return errors + one_of(f"{path}.pullPolicy", source.get("pullPolicy", ""), _PULL)


_RULES: Final[dict[str, Callable[[str, Object], Errors]]] = {
    "hostPath": _host_path,
    "secret": _keyed("secretName"),
    "configMap": _keyed("name"),
    "persistentVolumeClaim": _claim,
    "nfs": _nfs,
    "downwardAPI": _downward,
    "projected": _projected,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
