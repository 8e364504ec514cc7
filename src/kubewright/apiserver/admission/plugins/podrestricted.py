"""The checks that the level `restricted` has besides or instead: what a hardened Pod has to give up, or to say.

A check takes `(metadata, spec)` and gives the violation or None; since when it holds, and which of `baseline` it
replaces, is in `podchecks`. Rules: pod-security-admission/policy.
"""

from __future__ import annotations

from typing import Final

from .podbaseline import added_capabilities, seccomp
from .podviolations import Violation, called, containers_of, context_of, in_quotes, many, setters_of
from .world import Object

__all__ = ["dropped", "escalation", "non_root", "seccomp_set", "user", "volumes"]


def escalation(meta: Object, spec: Object) -> Violation | None:
    found = [
        each["name"] for each in containers_of(spec) if context_of(each).get("allowPrivilegeEscalation") is not False
    ]
    said = f"{called(found)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", said) if found else None


def dropped(meta: Object, spec: Object) -> Violation | None:
    missing = [
        each["name"]
        for each in containers_of(spec)
        if "ALL" not in ((context_of(each).get("capabilities") or {}).get("drop") or ())
    ]
    containers, found = added_capabilities(spec, frozenset({"NET_BIND_SERVICE"}))
    said = [f'{called(missing)} must set securityContext.capabilities.drop=["ALL"]'] if missing else []
    if containers:
        said.append(f"{called(containers)} must not include {in_quotes(found)} in securityContext.capabilities.add")
    return Violation("unrestricted capabilities", "; ".join(said)) if said else None


_VOLUMES: Final = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
)


def volumes(meta: Object, spec: Object) -> Violation | None:
    names, types = [], set()
    for volume in spec.get("volumes") or ():
        kinds = [name for name, value in volume.items() if name != "name" and value is not None]
        if not any(each in _VOLUMES for each in kinds):
            names.append(volume["name"])
            types.add(kinds[0] if kinds else "unknown")
    if not names:
        return None
    verb, what = many("uses", len(names), "use"), many("restricted volume type", len(types))
    said = f"{many('volume', len(names))} {in_quotes(names)} {verb} {what} {in_quotes(sorted(types))}"
    return Violation("restricted volume types", said)


def non_root(meta: Object, spec: Object) -> Violation | None:
    whole = context_of(spec).get("runAsNonRoot")
    explicit, implicit = [], []
    for each in containers_of(spec):
        own = context_of(each).get("runAsNonRoot")
        if own is False:
            explicit.append(each["name"])
        elif own is None and not whole:
            implicit.append(each["name"])
    reason = "runAsNonRoot != true"
    if whole is False or explicit:
        said = f"{setters_of(whole is False, explicit)} must not set securityContext.runAsNonRoot=false"
        return Violation(reason, said)
    said = f"pod or {called(implicit)} must set securityContext.runAsNonRoot=true"
    return Violation(reason, said) if implicit else None


def user(meta: Object, spec: Object) -> Violation | None:
    def is_root(holder: Object) -> bool:
        found = context_of(holder).get("runAsUser")
        return found is not None and int(found) == 0

    pod, containers = is_root(spec), [each["name"] for each in containers_of(spec) if is_root(each)]
    said = f"{setters_of(pod, containers)} must not set runAsUser=0"
    return Violation("runAsUser=0", said) if pod or containers else None


def seccomp_set(meta: Object, spec: Object) -> Violation | None:
    if (explicit := seccomp(meta, spec)) is not None:
        return explicit
    if context_of(spec).get("seccompProfile") is not None:
        return None
    found = [each["name"] for each in containers_of(spec) if context_of(each).get("seccompProfile") is None]
    said = f'pod or {called(found)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", said) if found else None
