"""Checks of Pods: the spec, alone and in a template, and what may change of it."""

from __future__ import annotations

from typing import Any, Final

from kubewright.schema.structural.fielderrors import duplicate, forbidden, invalid, not_supported, required
from kubewright.schema.structural.metarules import dns_subdomain
from kubewright.schema.structural.values import copied, same

from .containers import PodFacts, containers, ephemeral_containers, image_without_spaces, init_containers
from .labels import annotation_errors, labels
from .resources import amount, container_resource_name
from .scheduling import affinity, spread, tolerations
from .security import no_host_users, pod_security
from .texts import (
    Errors,
    Object,
    at_least_0,
    check,
    dns_label_errors,
    dns_subdomain_errors,
    in_range,
    ip_errors,
    one_of,
    qualified_errors,
)
from .volumes import volumes

__all__ = ["any_pod", "pod", "pod_debugged", "pod_spec", "pod_template", "pod_update"]

_RESTART: Final = ("Always", "OnFailure", "Never")
_DNS: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MOST: Final = 2**31 - 1
_UPDATABLE: Final = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
    "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
    "previously negative)"
)


def pod_spec(path: str, spec: Object, meta: Object | None = None) -> Errors:
    """Errors of the spec of a Pod (with its metadata) or of a template."""
    good, errors = volumes(f"{path}.volumes", spec.get("volumes", ()), (meta or {}).get("name", ""))
    facts = PodFacts(spec, good)
    main, first = spec.get("containers") or [], spec.get("initContainers") or []
    errors += _claims(f"{path}.resourceClaims", spec.get("resourceClaims", ()))
    errors += containers(f"{path}.containers", main, facts)
    errors += init_containers(f"{path}.initContainers", first, main, facts)
    others = [*main, *first]
    errors += ephemeral_containers(f"{path}.ephemeralContainers", spec.get("ephemeralContainers", []), others, facts)
    if spec.get("hostNetwork"):
        errors += _host_ports(f"{path}.containers", main, is_pod=meta is not None)
    errors += one_of(f"{path}.restartPolicy", spec.get("restartPolicy", ""), _RESTART)
    errors += one_of(f"{path}.dnsPolicy", spec.get("dnsPolicy", ""), _DNS)
    errors += labels(f"{path}.nodeSelector", spec.get("nodeSelector"))
    errors += pod_security(f"{path}.securityContext", spec.get("securityContext"), spec)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        said = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.append(invalid(f"{path}.shareProcessNamespace", True, said))
    errors += affinity(f"{path}.affinity", spec.get("affinity"))
    errors += _dns_config(f"{path}.dnsConfig", spec.get("dnsConfig"), spec.get("dnsPolicy", ""))
    for place, gate in enumerate(spec.get("readinessGates", ())):
        errors += qualified_errors(f"{path}.readinessGates[{place}].conditionType", gate.get("conditionType", ""))
    errors += _scheduling_gates(f"{path}.schedulingGates", spec.get("schedulingGates", ()))
    errors += spread(f"{path}.topologySpreadConstraints", spec.get("topologySpreadConstraints", []))
    errors += no_host_users(path, spec)
    return errors + _names(path, spec)


def _names(path: str, spec: Object) -> Errors:
    errors: Errors = []
    for name in ("serviceAccountName", "nodeName"):
        if value := spec.get(name):
            errors += check(f"{path}.{name}", value, dns_subdomain)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None:
        errors += [invalid(f"{path}.activeDeadlineSeconds", deadline, each) for each in in_range(deadline, 1, _MOST)]
    for name in ("hostname", "subdomain"):
        if value := spec.get(name):
            errors += dns_label_errors(f"{path}.{name}", value)
    errors += tolerations(f"{path}.tolerations", spec.get("tolerations", ()))
    for place, alias in enumerate(spec.get("hostAliases", ())):
        here = f"{path}.hostAliases[{place}]"
        errors += ip_errors(f"{here}.ip", alias.get("ip", ""))
        for number, host in enumerate(alias.get("hostnames", ())):
            errors += dns_subdomain_errors(f"{here}.hostnames[{number}]", host)
    if value := spec.get("priorityClassName"):
        errors += check(f"{path}.priorityClassName", value, dns_subdomain)
    if (value := spec.get("runtimeClassName")) is not None:
        errors += check(f"{path}.runtimeClassName", value, dns_subdomain)
    if (value := spec.get("preemptionPolicy")) is not None:
        errors += one_of(f"{path}.preemptionPolicy", value, ("PreemptLowerPriority", "Never"))
    for name, value in (spec.get("overhead") or {}).items():
        here = f"{path}.overhead.limits[{name}]"
        errors += [*container_resource_name(here, name), *amount(here, name, value)]
    os_name = (spec.get("os") or {}).get("name")
    if os_name is not None and os_name not in ("linux", "windows"):
        known = ("linux", "windows")
        errors.append(not_supported(f"{path}.os", os_name, known) if os_name else required(f"{path}.os.name"))
    return errors


def _claims(path: str, claims: Any) -> Errors:
    errors: Errors = []
    names: set[str] = set()
    for place, claim in enumerate(claims):
        here, name = f"{path}[{place}]", claim.get("name", "")
        if not name:
            errors.append(required(f"{here}.name"))
        elif name in names:
            errors.append(duplicate(f"{here}.name", name))
        else:
            errors += dns_label_errors(f"{here}.name", name)
        names.add(name)
    return errors


def _host_ports(path: str, found: list[Object], *, is_pod: bool) -> Errors:
    errors: Errors = []
    for place, container in enumerate(found):
        for number, port in enumerate(container.get("ports", ())):
            host = port.get("hostPort", 0)
            if (is_pod or host) and host != port.get("containerPort", 0):
                said = "must match `containerPort` when `hostNetwork` is true"
                errors.append(invalid(f"{path}[{place}].ports[{number}].hostPort", host, said))
    return errors


def _dns_config(path: str, config: Object | None, policy: str) -> Errors:
    if policy == "None":
        if config is None:
            return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not config.get("nameservers"):
            said = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [required(f"{path}.nameservers", said)]
    if config is None:
        return []
    errors: Errors = []
    servers, searches = config.get("nameservers", []), config.get("searches", [])
    if len(servers) > 3:
        errors.append(invalid(f"{path}.nameservers", servers, "must not have more than 3 nameservers"))
    for place, server in enumerate(servers):
        errors += ip_errors(f"{path}.nameservers[{place}]", server)
    if len(searches) > 32:
        errors.append(invalid(f"{path}.searches", searches, "must not have more than 32 search paths"))
    if len(" ".join(searches).encode()) > 2048:
        said = "must not have more than 2048 characters (including spaces) in the search list"
        errors.append(invalid(f"{path}.searches", searches, said))
    for place, option in enumerate(config.get("options", ())):
        if not option.get("name"):
            errors.append(required(f"{path}.options[{place}]", "must not be empty"))
    return errors


def _scheduling_gates(path: str, gates: Any) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for place, gate in enumerate(gates):
        name = gate.get("name", "")
        errors += qualified_errors(f"{path}[{place}]", name)
        if name in seen:
            errors.append(duplicate(f"{path}[{place}]", name))
        seen.add(name)
    return errors


def pod_template(path: str, template: Object) -> Errors:
    """Errors of a template of Pods."""
    meta, spec = template.get("metadata") or {}, template.get("spec") or {}
    errors = labels(f"{path}.labels", meta.get("labels"))
    errors += annotation_errors(f"{path}.annotations", meta.get("annotations"))
    errors += pod_spec(f"{path}.spec", spec)
    if spec.get("ephemeralContainers"):
        said = "ephemeral containers not allowed in pod template"
        errors.append(forbidden(f"{path}.spec.ephemeralContainers", said))
    return errors


def any_pod(obj: Object) -> Errors:
    """Errors of a Pod, be it new or not."""
    meta, spec = obj["metadata"], obj["spec"]
    errors = pod_spec("spec", spec, meta)
    if not spec.get("serviceAccountName"):
        for place, volume in enumerate(spec.get("volumes", ())):
            for number, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
                if "serviceAccountToken" in source:
                    where = f"spec.volumes[{place}].projected.sources[{number}].serviceAccountToken"
                    errors.append(forbidden(where, "must not be specified when serviceAccountName is not set"))
    errors += at_least_0("spec.terminationGracePeriodSeconds", spec.get("terminationGracePeriodSeconds"))
    for name in ("containers", "initContainers"):
        for place, container in enumerate(spec.get(name) or ()):
            errors += image_without_spaces(f"spec.{name}[{place}]", container)
    return errors


def pod(obj: Object) -> Errors:
    """Errors of a new Pod."""
    spec = obj["spec"]
    errors = any_pod(obj)
    if spec.get("ephemeralContainers"):
        errors.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        errors.append(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"))
    return errors


def pod_update(new: Object, old: Object) -> Errors:
    """Errors of a changed Pod."""
    errors = any_pod(new)
    after, before = new["spec"], old["spec"]
    for name in ("containers", "initContainers"):
        ours, theirs = after.get(name) or [], before.get(name) or []
        if len(ours) != len(theirs):
            return [*errors, forbidden(f"spec.{name}", "pod updates may not add or remove containers")]
        for place, container in enumerate(ours):
            if not container.get("image"):
                errors.append(required(f"spec.{name}[{place}].image"))
            errors += image_without_spaces(f"spec.{name}[{place}]", container)
    deadline, was = after.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    where = "spec.activeDeadlineSeconds"
    if deadline is not None:
        if problems := in_range(deadline, 0, _MOST):
            return [*errors, invalid(where, deadline, problems[0])]
        if was is not None and was < deadline:
            return [*errors, invalid(where, deadline, "must be less than or equal to previous value")]
    elif was is not None:
        errors.append(invalid(where, None, "must not update from a positive integer to nil value"))
    errors += _only_added("spec.tolerations", after.get("tolerations", []), before.get("tolerations", []))
    gone = {each["name"] for each in before.get("schedulingGates", ())}
    for place, gate in enumerate(after.get("schedulingGates", ())):
        if gate["name"] not in gone:
            said = "only deletion is allowed, but found new scheduling gate '" + gate["name"] + "'"
            errors.append(forbidden(f"spec.schedulingGates[{place}].name", said))
    if not same(_comparable(after, before), before):
        errors.append(forbidden("spec", f"pod updates may not change fields other than {_UPDATABLE}\n"))
    return errors


def pod_debugged(new: Object, old: Object) -> Errors:
    """Errors of a change of the ephemeral containers: they may be added only."""
    errors = any_pod(new)
    ours = {each["name"]: each for each in new["spec"].get("ephemeralContainers") or ()}
    for each in old["spec"].get("ephemeralContainers") or ():
        if (now := ours.get(each["name"])) is None or not same(now, each):
            how = "removed\n" if now is None else "changed\n"
            said = f'existing ephemeral containers "{each["name"]}" may not be {how}'
            errors.append(forbidden("spec.ephemeralContainers", said))
    return errors


def _only_added(path: str, new: list[Object], old: list[Object]) -> Errors:
    def timeless(toleration: Object) -> Object:
        return {name: each for name, each in toleration.items() if name != "tolerationSeconds"}

    kept = [timeless(each) for each in new]
    if any(timeless(each) not in kept for each in old):
        return [forbidden(path, "existing toleration can not be modified except its tolerationSeconds")]
    return tolerations(path, new)


def _comparable(after: Object, before: Object) -> Object:
    """The new spec with what may change as it was."""
    made: Object = copied(after)
    for name in ("containers", "initContainers"):
        for ours, theirs in zip(made.get(name) or (), before.get(name) or (), strict=True):
            ours["image"] = theirs.get("image", "")
    for name in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        made.pop(name, None)
        if name in before:
            made[name] = before[name]
    if before.get("terminationGracePeriodSeconds", 0) < 0 and made.get("terminationGracePeriodSeconds") == 1:
        made["terminationGracePeriodSeconds"] = before["terminationGracePeriodSeconds"]
    if before.get("schedulingGates"):
        for name in ("nodeSelector", "affinity"):
            made.pop(name, None)
            if name in before:
                made[name] = before[name]
    return made
