"""Checks of the environment of containers, and of references to fields of the Pod (downward API)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from kubewright.model.quantity import Quantity
from kubewright.schema.structural.fielderrors import invalid, not_supported, required
from kubewright.schema.structural.metarules import dns_subdomain

from .texts import (
    Errors,
    Object,
    check,
    config_map_key,
    dns_label_errors,
    env_name,
    qualified_errors,
    without_backsteps,
)

__all__ = ["ENV_FIELDS", "VOLUME_FIELDS", "environment", "environment_from", "field_reference", "resource_reference"]

ENV_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
VOLUME_FIELDS: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_FIELDS: Final = frozenset({*ENV_FIELDS, *VOLUME_FIELDS, "spec.restartPolicy", "spec.hostname"})
_SUBSCRIPT: Final = re.compile(r"([^\[]+)\['(.*)'\]", re.DOTALL)
_RESOURCES: Final = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE: Final = ("limits.hugepages-", "requests.hugepages-")
_UNITS: Final = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def environment(path: str, variables: Iterable[Object]) -> Errors:
    """Errors of `env`."""
    errors: Errors = []
    for place, variable in enumerate(variables):
        here = f"{path}[{place}]"
        name = variable.get("name", "")
        errors += check(f"{here}.name", name, env_name) if name else [required(f"{here}.name")]
        if (source := variable.get("valueFrom")) is not None:
            errors += _value_from(f"{here}.valueFrom", source, variable.get("value", ""))
    return errors


def _value_from(path: str, source: Object, value: str) -> Errors:
    errors: Errors = []
    found = [each for each in _SOURCES if each in source]
    for name in found:
        here, reference = f"{path}.{name}", source[name]
        if name == "fieldRef":
            errors += field_reference(here, reference, ENV_FIELDS)
        elif name == "resourceFieldRef":
            errors += resource_reference(here, reference)
        elif name == "fileKeyRef":
            errors += _file_key(here, reference)
        else:
            errors += _key(here, reference)
    if not found:
        said = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        errors.append(invalid(path, "", said))
    elif value:
        errors.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif len(found) > 1:
        errors.append(invalid(path, "", "may not have more than one field specified at a time"))
    return errors


def _key(path: str, reference: Object) -> Errors:
    errors = check(f"{path}.name", reference.get("name", ""), dns_subdomain)
    key = reference.get("key", "")
    return errors + (check(f"{path}.key", key, config_map_key) if key else [required(f"{path}.key")])


def _file_key(path: str, reference: Object) -> Errors:
    key, volume, file = (reference.get(name, "") for name in ("key", "volumeName", "path"))
    errors = check(f"{path}.key", key, env_name) if key else [required(f"{path}.key")]
    where = f"{path}.volumeName"
    errors += dns_label_errors(where, volume) if volume else [required(where)]
    return errors + (without_backsteps(f"{path}.path", file) if file else [required(f"{path}.path")])


def field_reference(path: str, reference: Object, known: Iterable[str]) -> Errors:
    """Errors of a `fieldRef`."""
    field = reference.get("fieldPath", "")
    if not reference.get("apiVersion"):
        return [required(f"{path}.apiVersion")]
    if not field:
        return [required(f"{path}.fieldPath")]
    match = _SUBSCRIPT.fullmatch(field)
    if match is not None and match[1] in ("metadata.annotations", "metadata.labels"):
        subscript = match[2].lower() if match[1] == "metadata.annotations" else match[2]
        return qualified_errors(path, subscript)
    if match is not None and match[1] in _FIELDS:
        return [invalid(path, match[1], "does not support subscript")]
    if reference["apiVersion"] != "v1" or field not in _FIELDS:
        said = "unsupported pod version" if reference["apiVersion"] != "v1" else "field label not supported"
        shown = reference["apiVersion"] if reference["apiVersion"] != "v1" else field
        return [invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {said}: {shown}")]
    if field not in known:
        return [not_supported(f"{path}.fieldPath", field, sorted(known))]
    return []


def resource_reference(path: str, reference: Object, *, in_volume: bool = False) -> Errors:
    """Errors of a `resourceFieldRef`."""
    errors: Errors = []
    resource = reference.get("resource", "")
    if in_volume and not reference.get("containerName"):
        errors.append(required(f"{path}.containerName"))
    elif not resource:
        errors.append(required(f"{path}.resource"))
    elif resource not in _RESOURCES and not resource.startswith(_HUGE):
        errors.append(not_supported(f"{path}.resource", resource, _RESOURCES))
    return errors + _divisor(path, resource, reference.get("divisor", "0"))


def _divisor(path: str, resource: str, divisor: str) -> Errors:
    if Quantity(divisor) == 0:
        return []
    kind = resource.partition(".")[2]
    if kind == "cpu":
        said = "" if divisor in ("1m", "1") else "only divisor's values 1m and 1 are supported with the cpu resource"
    elif divisor in _UNITS:
        said = ""
    else:
        named = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}.get(kind, "")
        named = "hugepages" if resource.startswith(_HUGE) else named
        said = f"only divisor's values {', '.join(_UNITS)} are supported with the {named} resource" if named else ""
    return [invalid(f"{path}.divisor", resource, said)] if said else []


def environment_from(path: str, sources: Iterable[Object]) -> Errors:
    """Errors of `envFrom`."""
    errors: Errors = []
    for place, source in enumerate(sources):
        here = f"{path}[{place}]"
        if prefix := source.get("prefix"):
            errors += check(f"{here}.prefix", prefix, env_name)
        found = [each for each in ("configMapRef", "secretRef") if each in source]
        for name in found:
            where, value = f"{here}.{name}.name", _name_of(source[name])
            errors += check(where, value, dns_subdomain) if value else [required(where)]
        if not found:
            errors.append(invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(found) > 1:
            errors.append(invalid(path, "", "may not have more than one field specified at a time"))
    return errors


def _name_of(reference: Any) -> str:
    return str(reference.get("name") or "")
