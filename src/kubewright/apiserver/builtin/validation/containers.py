"""Checks of containers: ordinary ones, init containers, ephemeral ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kubewright.schema.structural.fielderrors import (
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_many,
)

from .env import environment, environment_from
from .handlers import lifecycle, probes
from .resources import requirements
from .security import container_security
from .texts import Errors, Object, check, dns_label_errors, one_of, port_name, port_number, relative_path

__all__ = ["PodFacts", "containers", "ephemeral_containers", "init_containers"]

_PULL: Final = ("Always", "IfNotPresent", "Never")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_MESSAGES: Final = ("File", "FallbackToLogsOnError")
_RESTART: Final = ("Always", "Never", "OnFailure")
_PROPAGATION: Final = ("Bidirectional", "HostToContainer", "None")
_READ_ONLY: Final = ("Disabled", "Enabled", "IfPossible")
_ONLY_SIDECARS: Final = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL: Final = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)


class PodFacts:
    """What containers have to know of their Pod: volumes by name, names of claims, grace period, policies."""

    def __init__(self, spec: Object, volumes: dict[str, Object]) -> None:
        self.volumes = volumes
        self.claims = {each.get("name", "") for each in spec.get("resourceClaims", ())}
        self.grace_seconds: int | None = spec.get("terminationGracePeriodSeconds")
        self.restart_policy: str = spec.get("restartPolicy", "")
        self.host_users: bool = spec.get("hostUsers", True)
        self.os_name: str = (spec.get("os") or {}).get("name", "")


def containers(path: str, found: list[Object], pod: PodFacts) -> Errors:
    """Errors of `spec.containers`."""
    if not found:
        return [required(path)]
    errors: Errors = []
    names: set[str] = set()
    for place, container in enumerate(found):
        here = f"{path}[{place}]"
        errors += _common(here, container, pod)
        name = container.get("name", "")
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(name)
        if "lifecycle" in container:
            errors += lifecycle(f"{here}.lifecycle", container["lifecycle"], pod.grace_seconds, pod.os_name)
        errors += probes(here, container, pod.grace_seconds)
        errors += _restart_policy(here, container)
    return [*errors, *_host_ports(path, found)]


def init_containers(path: str, found: list[Object], others: list[Object], pod: PodFacts) -> Errors:
    """Errors of `spec.initContainers`."""
    errors: Errors = []
    names = {each.get("name", "") for each in others}
    for place, container in enumerate(found):
        here = f"{path}[{place}]"
        errors += _common(here, container, pod)
        errors += _restart_policy(here, container)
        name = container.get("name", "")
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        elif name:
            names.add(name)
        errors += _host_ports(path, [container])
        if container.get("restartPolicy") == "Always":
            if "lifecycle" in container:
                errors += lifecycle(f"{here}.lifecycle", container["lifecycle"], pod.grace_seconds, pod.os_name)
            errors += probes(here, container, pod.grace_seconds)
        else:
            for each in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
                if each in container:
                    errors.append(forbidden(f"{here}.{each}", _ONLY_SIDECARS))
    return errors


def ephemeral_containers(path: str, found: list[Object], others: list[Object], pod: PodFacts) -> Errors:
    """Errors of `spec.ephemeralContainers`; `others` are the containers and init containers."""
    errors: Errors = []
    known = {each.get("name", "") for each in others}
    names = set(known)
    for place, container in enumerate(found):
        here = f"{path}[{place}]"
        errors += _common(here, container, pod)
        errors += image_without_spaces(here, container)
        name, target = container.get("name", ""), container.get("targetContainerName", "")
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(name)
        if target and target not in known:
            errors.append(not_found(f"{here}.targetContainerName", target))
        said = "cannot be set for an Ephemeral Container"
        errors += [forbidden(f"{here}.{each}", said) for each in _NOT_EPHEMERAL if container.get(each)]
        for number, mount in enumerate(container.get("volumeMounts", ())):
            for each in ("subPath", "subPathExpr"):
                if mount.get(each):
                    errors.append(forbidden(f"{here}.volumeMounts[{number}].{each}", said))
    return errors


def _common(path: str, container: Object, pod: PodFacts) -> Errors:
    name = container.get("name", "")
    errors = dns_label_errors(f"{path}.name", name) if name else [required(f"{path}.name")]
    if not container.get("image"):
        errors.append(required(f"{path}.image"))
    policy = container.get("terminationMessagePolicy", "")
    errors += one_of(f"{path}.terminationMessagePolicy", policy, _MESSAGES)
    errors += _ports(f"{path}.ports", container.get("ports", ()))
    errors += environment(f"{path}.env", container.get("env", ()))
    errors += environment_from(f"{path}.envFrom", container.get("envFrom", ()))
    errors += _mounts(f"{path}.volumeMounts", container, pod)
    errors += _devices(f"{path}.volumeDevices", container, pod)
    errors += one_of(f"{path}.imagePullPolicy", container.get("imagePullPolicy", ""), _PULL)
    errors += requirements(f"{path}.resources", container.get("resources", {}), pod.claims)
    errors += _resize(f"{path}.resizePolicy", container.get("resizePolicy", ()), pod.restart_policy)
    return errors + container_security(
        f"{path}.securityContext", container.get("securityContext"), host_users=pod.host_users
    )


def image_without_spaces(path: str, container: Object) -> Errors:
    """Errors of an image with spaces around it."""
    image = container.get("image", "")
    said = "must not have leading or trailing whitespace"
    return [invalid(f"{path}.image", image, said)] if image != image.strip() else []


def _restart_policy(path: str, container: Object) -> Errors:
    errors: Errors = []
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules", ())
    if policy is None:
        if rules:
            said = "must specify restartPolicy when restart rules are used"
            errors.append(required(f"{path}.restartPolicy", said))
    elif policy not in _RESTART:
        errors.append(not_supported(f"{path}.restartPolicy", policy, _RESTART))
    if len(rules) > 20:
        errors.append(too_many(f"{path}.restartPolicyRules", len(rules), 20))
    for place, rule in enumerate(rules):
        here = f"{path}.restartPolicyRules[{place}]"
        if rule.get("action") not in ("Restart", "RestartAllContainers"):
            known = ("Restart", "RestartAllContainers")
            errors.append(not_supported(f"{here}.action", rule.get("action", ""), known))
        codes = rule.get("exitCodes")
        if codes is None:
            errors.append(required(f"{here}.exitCodes", "must be specified"))
        elif codes.get("operator") not in ("In", "NotIn"):
            errors.append(not_supported(f"{here}.exitCodes.operator", codes.get("operator", ""), ("In", "NotIn")))
    return errors


def _ports(path: str, ports: Iterable[Object]) -> Errors:
    errors: Errors = []
    names: set[str] = set()
    for place, port in enumerate(ports):
        here = f"{path}[{place}]"
        if name := port.get("name"):
            problems = check(f"{here}.name", name, port_name)
            if not problems and name in names:
                problems = [duplicate(f"{here}.name", name)]
            errors += problems
            names.add(name)
        number, host = port.get("containerPort", 0), port.get("hostPort", 0)
        where = f"{here}.containerPort"
        errors += check(where, number, port_number) if number else [required(where)]
        errors += check(f"{here}.hostPort", host, port_number) if host else []
        errors += one_of(f"{here}.protocol", port.get("protocol", ""), _PROTOCOLS)
    return errors


def _host_ports(path: str, found: Iterable[Object]) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for place, container in enumerate(found):
        for number, port in enumerate(container.get("ports", ())):
            if host := port.get("hostPort"):
                key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{host}"
                if key in seen:
                    errors.append(duplicate(f"{path}[{place}].ports[{number}].hostPort", key))
                seen.add(key)
    return errors


def _mounts(path: str, container: Object, pod: PodFacts) -> Errors:
    errors: Errors = []
    devices = {each.get("name"): each.get("devicePath") for each in container.get("volumeDevices", ())}
    seen: set[str] = set()
    for place, mount in enumerate(container.get("volumeMounts", ())):
        here, name, target = f"{path}[{place}]", mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            errors.append(required(f"{here}.name"))
        if name not in pod.volumes:
            errors.append(not_found(f"{here}.name", name))
        if not target:
            errors.append(required(f"{here}.mountPath"))
        if target in seen:
            errors.append(invalid(f"{here}.mountPath", target, "must be unique"))
        seen.add(target)
        if name in devices:
            errors.append(invalid(f"{here}.name", name, "must not already exist in volumeDevices"))
        if target in devices.values():
            said = "must not already exist as a path in volumeDevices"
            errors.append(invalid(f"{here}.mountPath", target, said))
        errors += _sub_paths(path, here, mount) + _propagation(path, mount, container)
    return errors


def _sub_paths(path: str, here: str, mount: Object) -> Errors:
    errors: Errors = []
    plain, expanded = mount.get("subPath", ""), mount.get("subPathExpr", "")
    if plain:
        errors += relative_path(f"{path}.subPath", plain)
    if expanded:
        if plain:
            said = "subPathExpr and subPath are mutually exclusive"
            errors.append(invalid(f"{here}.subPathExpr", expanded, said))
        errors += relative_path(f"{path}.subPathExpr", expanded)
    return errors


def _propagation(path: str, mount: Object, container: Object) -> Errors:
    errors: Errors = []
    mode, where = mount.get("mountPropagation"), f"{path}.mountPropagation"
    if mode is not None:
        if mode not in _PROPAGATION:
            errors.append(not_supported(where, mode, _PROPAGATION))
        if mode == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
            said = "Bidirectional mount propagation is available only to privileged containers"
            errors.append(forbidden(where, said))
    recursive, where = mount.get("recursiveReadOnly"), f"{path}.recursiveReadOnly"
    if recursive in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            errors.append(forbidden(where, "may only be specified when readOnly is true"))
        if mode not in (None, "None"):
            said = "may only be specified when mountPropagation is None or not specified"
            errors.append(forbidden(where, said))
    elif recursive is not None and recursive != "Disabled":
        errors.append(not_supported(where, recursive, _READ_ONLY))
    return errors


def _devices(path: str, container: Object, pod: PodFacts) -> Errors:
    errors: Errors = []
    mounts = {each.get("name"): each.get("mountPath") for each in container.get("volumeMounts", ())}
    names: set[str] = set()
    paths: set[str] = set()
    for place, device in enumerate(container.get("volumeDevices", ())):
        here, name, target = f"{path}[{place}]", device.get("name", ""), device.get("devicePath", "")
        source = pod.volumes.get(name)
        if not name:
            errors.append(required(f"{here}.name"))
        if name in names:
            errors.append(invalid(f"{here}.name", name, "must be unique"))
        if source is None:
            errors.append(not_found(f"{here}.name", name))
        elif "persistentVolumeClaim" not in source and "ephemeral" not in source:
            said = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            errors.append(invalid(f"{here}.name", name, said))
        if not target:
            errors.append(required(f"{here}.devicePath"))
        if target in paths:
            errors.append(invalid(f"{here}.devicePath", target, "must be unique"))
        if ".." in target.split("/"):
            errors.append(invalid(f"{here}.devicePath", target, "can not contain backsteps ('..')"))
        else:
            paths.add(target)
        if name in mounts:
            errors.append(invalid(f"{here}.name", name, "must not already exist in volumeMounts"))
        if target in mounts.values():
            said = "must not already exist as a path in volumeMounts"
            errors.append(invalid(f"{here}.devicePath", target, said))
        names.add(name)
    return errors


def _resize(path: str, policies: Iterable[Object], restart_policy: str) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for place, policy in enumerate(policies):
        resource, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if resource in seen:
            errors.append(duplicate(f"{path}[{place}]", resource))
        seen.add(resource)
        errors += one_of(path, resource, ("cpu", "memory"))
        errors += one_of(path, restart, ("NotRequired", "RestartContainer"))
        if restart_policy == "Never" and restart != "NotRequired":
            said = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            errors.append(invalid(path, restart, said))
    return errors
