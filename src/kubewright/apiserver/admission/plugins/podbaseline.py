"""The checks of the level `baseline`: what lets a Pod out of its container by a known way.

A check takes `(metadata, spec)` and gives the violation or None; since when it holds is in `podchecks`. Rules:
pod-security-admission/policy.
"""

from __future__ import annotations

from typing import Any, Final

from kubewright.schema.structural.gotext import quoted

from .podviolations import Violation, called, containers_of, context_of, in_quotes, many, setters_of
from .world import Object

__all__ = [
    "SYSCTLS",
    "added_capabilities",
    "app_armor",
    "capabilities",
    "host_namespaces",
    "host_paths",
    "host_ports",
    "host_process",
    "hosts",
    "privileged",
    "proc_mount",
    "se_linux",
    "seccomp",
    "seccomp_notes",
    "sysctls",
]

_ARMOR_PREFIX: Final = "container.apparmor.security.beta.kubernetes.io/"
_PROFILES: Final = ("RuntimeDefault", "Localhost")


def app_armor(meta: Object, spec: Object) -> Violation | None:
    def bad(holder: Object) -> str | None:
        profile = context_of(holder).get("appArmorProfile")
        kind = None if profile is None else str(profile.get("type", ""))
        return kind if kind is not None and kind not in _PROFILES else None

    pod, containers, values = bad(spec), [], set()
    for each in containers_of(spec):
        if (kind := bad(each)) is not None:
            containers.append(each["name"])
            values.add(kind)
    if pod is not None:
        values.add(pod)
    notes = sorted(
        f"{key}={quoted(value)}"
        for key, value in (meta.get("annotations") or {}).items()
        if key.startswith(_ARMOR_PREFIX) and value not in ("", "runtime/default") and not value.startswith("localhost/")
    )
    setters = [each for each in (setters_of(pod is not None, containers),) if each]
    if notes:
        setters.append(many("annotation", len(notes)))
    if not setters:
        return None
    found = [*sorted(values), *notes]
    said = f"{' and '.join(setters)} must not set AppArmor profile type to {in_quotes(found)}"
    return Violation(many("forbidden AppArmor profile", len(found)), said)


_CAPABILITIES: Final = frozenset(
    {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP"}
    | {"SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}
)


def added_capabilities(spec: Object, allowed: frozenset[str]) -> tuple[list[str], list[str]]:
    """The containers that add other capabilities, and these."""
    containers, found = [], set()
    for each in containers_of(spec):
        wrong = set((context_of(each).get("capabilities") or {}).get("add") or ()) - allowed
        if wrong:
            containers.append(each["name"])
            found |= wrong
    return containers, sorted(found)


def capabilities(meta: Object, spec: Object) -> Violation | None:
    containers, found = added_capabilities(spec, _CAPABILITIES)
    if not containers:
        return None
    said = f"{called(containers)} must not include {in_quotes(found)} in securityContext.capabilities.add"
    return Violation("non-default capabilities", said)


def host_namespaces(meta: Object, spec: Object) -> Violation | None:
    found = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return Violation("host namespaces", ", ".join(found)) if found else None


def host_paths(meta: Object, spec: Object) -> Violation | None:
    found = [each["name"] for each in spec.get("volumes") or () if each.get("hostPath") is not None]
    return Violation("hostPath volumes", f"{many('volume', len(found))} {in_quotes(found)}") if found else None


def host_ports(meta: Object, spec: Object) -> Violation | None:
    containers, found = [], set()
    for each in containers_of(spec):
        ports = {str(port["hostPort"]) for port in each.get("ports") or () if port.get("hostPort")}
        if ports:
            containers.append(each["name"])
            found |= ports
    if not containers:
        return None
    verb, what = many("uses", len(containers), "use"), many("hostPort", len(found))
    return Violation("hostPort", f"{called(containers)} {verb} {what} {', '.join(sorted(found))}")


def hosts(meta: Object, spec: Object) -> Violation | None:
    containers, found = set(), set()
    for each in containers_of(spec):
        handlers: list[Any] = [each.get(name) for name in ("livenessProbe", "readinessProbe", "startupProbe")]
        handlers += [(each.get("lifecycle") or {}).get(name) for name in ("postStart", "preStop")]
        for handler in handlers:
            for kind in ("httpGet", "tcpSocket"):
                if host := ((handler or {}).get(kind) or {}).get("host"):
                    containers.add(each["name"])
                    found.add(host)
    if not containers:
        return None
    verb, what = many("uses", len(containers), "use"), many("probe or lifecycle host", len(found))
    return Violation(
        "probe or lifecycle host", f"{called(sorted(containers))} {verb} {what} {in_quotes(sorted(found))}"
    )


def privileged(meta: Object, spec: Object) -> Violation | None:
    found = [each["name"] for each in containers_of(spec) if context_of(each).get("privileged")]
    said = f"{called(found)} must not set securityContext.privileged=true"
    return Violation("privileged", said) if found else None


def proc_mount(meta: Object, spec: Object) -> Violation | None:
    wrong = {
        each["name"]: context_of(each)["procMount"]
        for each in containers_of(spec)
        if context_of(each).get("procMount") not in (None, "Default")
    }
    if not wrong:
        return None
    said = f"{called(list(wrong))} must not set securityContext.procMount to {in_quotes(sorted(set(wrong.values())))}"
    return Violation("procMount", said)


def se_linux(allowed: frozenset[str], meta: Object, spec: Object) -> Violation | None:
    types: set[str] = set()
    parts: set[str] = set()

    def is_bad(holder: Object) -> bool:
        found = context_of(holder).get("seLinuxOptions")
        if found is None:
            return False
        kind = found.get("type", "")
        wrong = {name for name in ("user", "role") if found.get(name)}
        parts.update(wrong)
        if kind not in allowed:
            types.add(kind)
        return bool(wrong) or kind not in allowed

    pod = is_bad(spec)
    containers = [each["name"] for each in containers_of(spec) if is_bad(each)]
    if not pod and not containers:
        return None
    said = [f"{many('type', len(types))} {in_quotes(sorted(types))}"] if types else []
    said += [f"{name} may not be set" for name in ("user", "role") if name in parts]
    start = f"{setters_of(pod, containers)} set forbidden securityContext.seLinuxOptions"
    return Violation("seLinuxOptions", f"{start}: {'; '.join(said)}")


_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"


def seccomp_notes(meta: Object, spec: Object) -> Violation | None:
    notes = meta.get("annotations") or {}
    keys = [_SECCOMP_POD, *(f"{_SECCOMP_CONTAINER}{each['name']}" for each in containers_of(spec))]
    found = sorted(
        {
            f"{key}={quoted(notes[key])}"
            for key in keys
            if key in notes
            and notes[key] not in ("runtime/default", "docker/default")
            and not notes[key].startswith("localhost/")
        }
    )
    said = f"forbidden {many('annotation', len(found))} {', '.join(found)}"
    return Violation("seccompProfile", said) if found else None


def seccomp(meta: Object, spec: Object) -> Violation | None:
    values: set[str] = set()

    def is_bad(holder: Object) -> bool:
        profile = context_of(holder).get("seccompProfile")
        if profile is None or profile.get("type") in _PROFILES:
            return False
        values.add(str(profile.get("type", "")))
        return True

    pod = is_bad(spec)
    containers = [each["name"] for each in containers_of(spec) if is_bad(each)]
    if not pod and not containers:
        return None
    said = f"must not set securityContext.seccompProfile.type to {in_quotes(sorted(values))}"
    return Violation("seccompProfile", f"{setters_of(pod, containers)} {said}")


SYSCTLS: Final = {
    0: frozenset(
        {"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies"}
        | {"net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start"}
    ),
    27: frozenset({"net.ipv4.ip_local_reserved_ports"}),
    29: frozenset(
        {"net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl"}
        | {"net.ipv4.tcp_keepalive_probes"}
    ),
    32: frozenset({"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}),
    37: frozenset({"net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"}),
}
"""What each version lets in besides those before."""


def sysctls(minor: int, meta: Object, spec: Object) -> Violation | None:
    allowed = {name for since, names in SYSCTLS.items() if since <= minor for name in names}
    found = [each["name"] for each in context_of(spec).get("sysctls") or () if each["name"] not in allowed]
    return Violation("forbidden sysctls", ", ".join(found)) if found else None


def host_process(meta: Object, spec: Object) -> Violation | None:
    def is_bad(holder: Object) -> bool:
        return bool((context_of(holder).get("windowsOptions") or {}).get("hostProcess"))

    pod, containers = is_bad(spec), [each["name"] for each in containers_of(spec) if is_bad(each)]
    said = f"{setters_of(pod, containers)} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", said) if pod or containers else None
