"""What a server says beside an answer: of what is allowed and does not do what it seems to (`pkg/api/*/warnings.go`).

Of Pods and their templates, of Services, claims, classes and Ingresses. A change is looked at only when it raised the
generation; a changed Pod is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from kubewright.model.quantity import Quantity
from kubewright.schema.structural.gotext import quoted
from kubewright.schema.structural.metarules import dns_label

from .texts import Object

__all__ = ["claim", "cron_job", "ingress", "job", "pod", "service", "stateful_set", "storage_class", "workload"]

Warnings = list[str]
Warner = Callable[[Object, Object | None, Any], Warnings]

_OLD_LABELS: Final = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
_OLD_ANNOTATIONS: Final = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_OLD_VOLUMES: Final = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_GO_VOLUMES: Final = {"storageos": "storageOS"}
_NO_SELECTOR: Final = "a null labelSelector results in matching no pod"
_SURPRISING: Final = "which can result in surprising behavior; a DNS label is recommended"


def _name(obj: Object, used_as: str) -> Warnings:
    problems = dns_label(obj["metadata"].get("name", ""))
    return [f"metadata.name: this is used in {used_as}, {_SURPRISING}: [{' '.join(problems)}]"] if problems else []


def _grew(obj: Object, old: Object | None) -> bool:
    return old is None or obj["metadata"].get("generation") != old["metadata"].get("generation")


# -- by kind ----------------------------------------------------------------------------------------------------------


def pod(obj: Object, old: Object | None, context: Any) -> Warnings:
    """Warnings of a new Pod."""
    if old is not None:
        return []
    return _name(obj, "the Pod's hostname") + _of_pod("", obj["spec"], obj["metadata"])


def workload(*, names_pods: bool) -> Warner:
    """What warns of kinds with a template. `names_pods` for those whose name becomes a part of names of Pods."""

    def warn(obj: Object, old: Object | None, context: Any) -> Warnings:
        found = _name(obj, "Pod names and hostnames") if names_pods and old is None else []
        return found + _of_template("spec.template", obj["spec"].get("template")) if _grew(obj, old) else found

    return warn


def stateful_set(obj: Object, old: Object | None, context: Any) -> Warnings:
    """Warnings of a StatefulSet."""
    found = _of_template("spec.template", obj["spec"].get("template")) if _grew(obj, old) else []
    for place, template in enumerate(obj["spec"].get("volumeClaimTemplates") or ()):
        where = f"spec.volumeClaimTemplates[{place}]" + (".Spec" if old is not None else "")
        found += _of_claim(where, template.get("spec") or {})
    return found


def job(obj: Object, old: Object | None, context: Any) -> Warnings:
    """Warnings of a Job."""
    found = _name(obj, "Pod names and hostnames") if old is None else []
    return found + _of_job("spec", obj["spec"]) if _grew(obj, old) else found


def cron_job(obj: Object, old: Object | None, context: Any) -> Warnings:
    """Warnings of a CronJob."""
    found = _name(obj, "Pod names and hostnames") if old is None else []
    if _grew(obj, old):
        found += _of_job("spec.jobTemplate.spec", obj["spec"]["jobTemplate"].get("spec") or {})
    if old is not None and "TZ" in obj["spec"].get("schedule", ""):
        page = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/"
        said = f"cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see {page} for more details"
        found.append(said)
    return found


def _of_job(path: str, spec: Object) -> Warnings:
    found: Warnings = []
    is_large = spec.get("completions", 0) > 100_000 and spec.get("parallelism", 0) > 10_000
    if spec.get("completionMode") == "Indexed" and is_large:
        found.append(
            f"{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than "
            "10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        )
    return found + _of_template(f"{path}.template", spec.get("template"))


def claim(obj: Object, old: Object | None, context: Any) -> Warnings:
    """Warnings of a PersistentVolumeClaim."""
    return _of_claim("spec", obj["spec"])


def storage_class(obj: Object, old: Object | None, context: Any) -> Warnings:
    """Warnings of a StorageClass."""
    return [
        f"allowedTopologies[{place}].matchLabelExpressions[{number}].key: {_OLD_LABELS[each['key']]}"
        for place, term in enumerate(obj.get("allowedTopologies") or ())
        for number, each in enumerate(term.get("matchLabelExpressions") or ())
        if each.get("key") in _OLD_LABELS
    ]


def ingress(obj: Object, old: Object | None, context: Any) -> Warnings:
    """Warnings of a new Ingress."""
    name = "kubernetes.io/ingress.class"
    is_set = name in obj["metadata"].get("annotations", {})
    if old is not None or not is_set or obj["spec"].get("ingressClassName") is not None:
        return []
    return [f"annotation \"{name}\" is deprecated, please use 'spec.ingressClassName' instead"]


def service(obj: Object, old: Object | None, context: Any) -> Warnings:
    """Warnings of a Service."""
    spec, found = obj["spec"], []
    kind, outside = spec.get("type"), spec.get("externalIPs") or []
    is_headless = kind == "ClusterIP" and spec.get("clusterIP") == "None"
    if "service.kubernetes.io/topology-aware-hints" in obj["metadata"].get("annotations", {}):
        found.append(
            "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
            "service.kubernetes.io/topology-mode instead"
        )
    if is_headless:
        ignored = "is ignored for headless services"
        found += [f"spec.loadBalancerIP {ignored}"] if spec.get("loadBalancerIP") else []
        found += [f"spec.externalIPs {ignored}"] if outside else []
        found += [f"spec.SessionAffinity {ignored}"] if spec.get("sessionAffinity") != "None" else []
    elif outside and kind != "ExternalName":
        found.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if kind == "ExternalName" and outside:
        found.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if kind != "ExternalName" and spec.get("externalName"):
        found.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        found.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return found


# -- Pods and their templates -----------------------------------------------------------------------------------------


def _of_template(path: str, template: Object | None) -> Warnings:
    if template is None:
        return []
    return _of_pod(f"{path}.", template.get("spec") or {}, template.get("metadata") or {})


def _of_pod(path: str, spec: Object, meta: Object) -> Warnings:
    found = [f"{path}spec.nodeSelector[{each}]: {_OLD_LABELS[each]}" for each in _old(spec.get("nodeSelector") or ())]
    for place, each in enumerate(spec.get("topologySpreadConstraints") or ()):
        here, key = f"{path}spec.topologySpreadConstraints[{place}]", each.get("topologyKey", "")
        if key in _OLD_LABELS:
            found.append(f"{here}.topologyKey: {key} is {_OLD_LABELS[key]}")
        if each.get("labelSelector") is None:
            found.append(f"{here}.labelSelector: {_NO_SELECTOR}")
    annotations = meta.get("annotations") or {}
    found += [
        f"{path}metadata.annotations[{name}]: {said}" for name, said in _OLD_ANNOTATIONS.items() if name in annotations
    ]
    for place, volume in enumerate(spec.get("volumes") or ()):
        here = f"{path}spec.volumes[{place}]"
        found += [
            f"{here}.{_GO_VOLUMES.get(name, name)}: {said}" for name, said in _OLD_VOLUMES.items() if name in volume
        ]
        if template := (volume.get("ephemeral") or {}).get("volumeClaimTemplate"):
            found += _of_claim(f"{here}.ephemeral.volumeClaimTemplate.spec", template.get("spec") or {})
    found += _twice(f"{path}spec.hostAliases", spec.get("hostAliases") or (), "ip")
    secrets = spec.get("imagePullSecrets") or ()
    found += _twice(f"{path}spec.imagePullSecrets", secrets, "name")
    for place, each in enumerate(secrets):
        if not each.get("name"):
            found.append(f'{path}spec.imagePullSecrets[{place}].name: invalid empty name ""')
    found += _overhead(f"{path}spec.overhead", spec.get("overhead") or {})
    containers = list(_containers(f"{path}spec", spec))
    for here, container in containers:
        found += _of_container(here, container)
    found += _of_ports(containers)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        said = "must be >= 0; negative values are invalid and will be treated as 1"
        found.append(f"{path}spec.terminationGracePeriodSeconds: {said}")
    for name in ("podAffinity", "podAntiAffinity"):
        found += _of_affinity(f"{path}spec.affinity.{name}", (spec.get("affinity") or {}).get(name) or {})
    return found


def _old(names: Iterable[str]) -> list[str]:
    return sorted(each for each in names if each in _OLD_LABELS)


def _twice(path: str, items: Iterable[Object], name: str) -> Warnings:
    found: Warnings = []
    seen: set[str] = set()
    for place, item in enumerate(items):
        value = item.get(name, "")
        if value in seen:
            found.append(f"{path}[{place}].{name}: duplicate {name} {quoted(value)}")
        seen.add(value)
    return found


def _containers(path: str, spec: Object) -> Iterator[tuple[str, Object]]:
    for name in ("initContainers", "containers", "ephemeralContainers"):
        for place, each in enumerate(spec.get(name) or ()):
            yield f"{path}.{name}[{place}]", each


def _fractional(path: str, amounts: Object, name: str) -> Warnings:
    value = amounts.get(name)
    if value is None or -(-Quantity(value).nanos // 10**6) % 1000 == 0:
        return []
    return [f"{path}[{name}]: fractional byte value {quoted(value)} is invalid, must be an integer"]


def _overhead(path: str, amounts: Object) -> Warnings:
    return [each for name in ("memory", "ephemeral-storage") for each in _fractional(path, amounts, name)]


def _of_claim(path: str, spec: Object) -> Warnings:
    resources = spec.get("resources") or {}
    return [
        each
        for part in ("requests", "limits")
        for each in _fractional(f"{path}.resources.{part}", resources.get(part) or {}, "storage")
    ]


def _of_container(path: str, container: Object) -> Warnings:
    resources = container.get("resources") or {}
    found = [
        each
        for name in ("memory", "ephemeral-storage")
        for part in ("limits", "requests")
        for each in _fractional(f"{path}.resources.{part}", resources.get(part) or {}, name)
    ]
    seen: set[str] = set()
    for place, each in enumerate(container.get("env") or ()):
        name, value = each.get("name", ""), each.get("value", "")
        reference = f"$({name})"
        # A variable may build on the one of the same name before it.
        builds_on = not each.get("valueFrom") and value != reference and reference in value
        if name in seen and not builds_on:
            said = f"hides previous definition of {quoted(name)}, which may be dropped when using apply"
            found.append(f"{path}.env[{place}]: {said}")
        seen.add(name)
    return found


def _of_ports(containers: Iterable[tuple[str, Object]]) -> Warnings:
    found: Warnings = []
    ports: dict[tuple[int, str], list[tuple[str, Object]]] = {}
    every = [
        (f"{path}.ports[{place}]", port)
        for path, container in containers
        for place, port in enumerate(container.get("ports") or ())
    ]
    for here, port in every:
        others = ports.setdefault((port.get("containerPort", 0), port.get("protocol", "")), [])
        for there, other in others:
            if how := _overlap(port, other):
                found.append(f"{here}: {how} port definition with {there}")
        others.append((here, port))
    names: dict[str, str] = {}
    for here, port in every:
        if not (name := port.get("name")):
            continue
        if name in names:
            there = names[name]
            use = f"services and probes that select ports by name will use {there}"
            found.append(f"{here}: duplicate port name {quoted(name)} with {there}, {use}")
        else:
            names[name] = here
    return found


def _overlap(port: Object, other: Object) -> str:
    ip, their_ip = port.get("hostIP", ""), other.get("hostIP", "")
    number, theirs = port.get("hostPort", 0), other.get("hostPort", 0)
    if (ip, number) == (their_ip, theirs):
        return "duplicate"
    if not number or not theirs:
        return "overlapping"
    return "dangerously ambiguous" if number == theirs and (not ip) != (not their_ip) else ""


def _of_affinity(path: str, affinity: Object) -> Warnings:
    required, preferred = (f"{each}DuringSchedulingIgnoredDuringExecution" for each in ("required", "preferred"))
    found = [
        f"{path}.{required}[{place}].labelSelector: {_NO_SELECTOR}"
        for place, term in enumerate(affinity.get(required) or ())
        if term.get("labelSelector") is None
    ]
    return found + [
        f"{path}.{preferred}[{place}].podAffinityTerm.labelSelector: {_NO_SELECTOR}"
        for place, term in enumerate(affinity.get(preferred) or ())
        if (term.get("podAffinityTerm") or {}).get("labelSelector") is None
    ]
