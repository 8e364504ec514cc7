"""The pod security standards: what a Pod may not ask for at the levels `baseline` and `restricted`.

A check is a row of `_CHECKS`: its level, and from which minor version of Kubernetes on it is which function; one of
`restricted` may take the place of one of `baseline`. Each gives what is wrong, shortly and in full. Rules:
pod-security-admission/policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from kubewright.schema.structural.gotext import quoted

from .world import Object

__all__ = ["LATEST", "Violation", "violations"]

LATEST: Final = 37
"""The newest version in which a check changed."""


class Violation(NamedTuple):
    """A rule that a Pod breaks. `detail` may be empty."""

    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


Check = Callable[[Object, Object], "Violation | None"]
"""`(metadata, spec)` of a Pod to what is wrong."""


def violations(level: str, minor: int | None, meta: Object, spec: Object) -> list[Violation]:
    """What of a Pod is against a level.

    Args:
        minor: the version 1.x of the rules; None for the latest.
    """
    if level == "privileged":
        return []
    checks = _checks(level, LATEST if minor is None else min(minor, LATEST))
    return [found for check in checks if (found := check(meta, spec)) is not None]


# -- helpers ----------------------------------------------------------------------------------------------------------


def _containers(spec: Object) -> Iterator[Object]:
    for field in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(field) or ()


def _context(holder: Object) -> Object:
    found: Object = holder.get("securityContext") or {}
    return found


def _names(items: Iterable[str]) -> str:
    return ", ".join(f'"{each}"' for each in items)


def _many(word: str, count: int, plural: str = "") -> str:
    return word if count == 1 else plural or f"{word}s"


def _called(containers: list[str]) -> str:
    return f"{_many('container', len(containers))} {_names(containers)}"


def _setters(pod: bool, containers: list[str]) -> str:
    return " and ".join([*(["pod"] if pod else []), *([_called(containers)] if containers else [])])


def _not_on_windows(check: Check) -> Check:
    return lambda meta, spec: None if (spec.get("os") or {}).get("name") == "windows" else check(meta, spec)


def _not_in_user_namespace(check: Check) -> Check:
    return lambda meta, spec: None if spec.get("hostUsers") is False else check(meta, spec)


# -- baseline ---------------------------------------------------------------------------------------------------------

_ARMOR_PREFIX: Final = "container.apparmor.security.beta.kubernetes.io/"
_PROFILES: Final = ("RuntimeDefault", "Localhost")


def _app_armor(meta: Object, spec: Object) -> Violation | None:
    def bad(holder: Object) -> str | None:
        profile = _context(holder).get("appArmorProfile")
        kind = None if profile is None else str(profile.get("type", ""))
        return kind if kind is not None and kind not in _PROFILES else None

    pod, containers, values = bad(spec), [], set()
    for each in _containers(spec):
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
    setters = [each for each in (_setters(pod is not None, containers),) if each]
    if notes:
        setters.append(_many("annotation", len(notes)))
    if not setters:
        return None
    found = [*sorted(values), *notes]
    said = f"{' and '.join(setters)} must not set AppArmor profile type to {_names(found)}"
    return Violation(_many("forbidden AppArmor profile", len(found)), said)


_CAPABILITIES: Final = frozenset(
    {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP"}
    | {"SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}
)


def _added(spec: Object, allowed: frozenset[str]) -> tuple[list[str], list[str]]:
    """The containers that add other capabilities, and these."""
    containers, found = [], set()
    for each in _containers(spec):
        wrong = set((_context(each).get("capabilities") or {}).get("add") or ()) - allowed
        if wrong:
            containers.append(each["name"])
            found |= wrong
    return containers, sorted(found)


def _capabilities(meta: Object, spec: Object) -> Violation | None:
    containers, found = _added(spec, _CAPABILITIES)
    if not containers:
        return None
    said = f"{_called(containers)} must not include {_names(found)} in securityContext.capabilities.add"
    return Violation("non-default capabilities", said)


def _host_namespaces(meta: Object, spec: Object) -> Violation | None:
    found = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return Violation("host namespaces", ", ".join(found)) if found else None


def _host_paths(meta: Object, spec: Object) -> Violation | None:
    found = [each["name"] for each in spec.get("volumes") or () if each.get("hostPath") is not None]
    return Violation("hostPath volumes", f"{_many('volume', len(found))} {_names(found)}") if found else None


def _host_ports(meta: Object, spec: Object) -> Violation | None:
    containers, found = [], set()
    for each in _containers(spec):
        ports = {str(port["hostPort"]) for port in each.get("ports") or () if port.get("hostPort")}
        if ports:
            containers.append(each["name"])
            found |= ports
    if not containers:
        return None
    verb, what = _many("uses", len(containers), "use"), _many("hostPort", len(found))
    return Violation("hostPort", f"{_called(containers)} {verb} {what} {', '.join(sorted(found))}")


def _hosts(meta: Object, spec: Object) -> Violation | None:
    containers, found = set(), set()
    for each in _containers(spec):
        handlers: list[Any] = [each.get(name) for name in ("livenessProbe", "readinessProbe", "startupProbe")]
        handlers += [(each.get("lifecycle") or {}).get(name) for name in ("postStart", "preStop")]
        for handler in handlers:
            for kind in ("httpGet", "tcpSocket"):
                if host := ((handler or {}).get(kind) or {}).get("host"):
                    containers.add(each["name"])
                    found.add(host)
    if not containers:
        return None
    verb, what = _many("uses", len(containers), "use"), _many("probe or lifecycle host", len(found))
    return Violation("probe or lifecycle host", f"{_called(sorted(containers))} {verb} {what} {_names(sorted(found))}")


def _privileged(meta: Object, spec: Object) -> Violation | None:
    found = [each["name"] for each in _containers(spec) if _context(each).get("privileged")]
    said = f"{_called(found)} must not set securityContext.privileged=true"
    return Violation("privileged", said) if found else None


def _proc_mount(meta: Object, spec: Object) -> Violation | None:
    wrong = {
        each["name"]: _context(each)["procMount"]
        for each in _containers(spec)
        if _context(each).get("procMount") not in (None, "Default")
    }
    if not wrong:
        return None
    said = f"{_called(list(wrong))} must not set securityContext.procMount to {_names(sorted(set(wrong.values())))}"
    return Violation("procMount", said)


_LABELS: Final = frozenset({"", "container_t", "container_init_t", "container_kvm_t"})


def _se_linux(allowed: frozenset[str], meta: Object, spec: Object) -> Violation | None:
    types: set[str] = set()
    parts: set[str] = set()

    def is_bad(holder: Object) -> bool:
        found = _context(holder).get("seLinuxOptions")
        if found is None:
            return False
        kind = found.get("type", "")
        wrong = {name for name in ("user", "role") if found.get(name)}
        parts.update(wrong)
        if kind not in allowed:
            types.add(kind)
        return bool(wrong) or kind not in allowed

    pod = is_bad(spec)
    containers = [each["name"] for each in _containers(spec) if is_bad(each)]
    if not pod and not containers:
        return None
    said = [f"{_many('type', len(types))} {_names(sorted(types))}"] if types else []
    said += [f"{name} may not be set" for name in ("user", "role") if name in parts]
    start = f"{_setters(pod, containers)} set forbidden securityContext.seLinuxOptions"
    return Violation("seLinuxOptions", f"{start}: {'; '.join(said)}")


_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"


def _seccomp_notes(meta: Object, spec: Object) -> Violation | None:
    notes = meta.get("annotations") or {}
    keys = [_SECCOMP_POD, *(f"{_SECCOMP_CONTAINER}{each['name']}" for each in _containers(spec))]
    found = sorted(
        {
            f"{key}={quoted(notes[key])}"
            for key in keys
            if key in notes
            and notes[key] not in ("runtime/default", "docker/default")
            and not notes[key].startswith("localhost/")
        }
    )
    said = f"forbidden {_many('annotation', len(found))} {', '.join(found)}"
    return Violation("seccompProfile", said) if found else None


def _seccomp(meta: Object, spec: Object) -> Violation | None:
    values: set[str] = set()

    def is_bad(holder: Object) -> bool:
        profile = _context(holder).get("seccompProfile")
        if profile is None or profile.get("type") in _PROFILES:
            return False
        values.add(str(profile.get("type", "")))
        return True

    pod = is_bad(spec)
    containers = [each["name"] for each in _containers(spec) if is_bad(each)]
    if not pod and not containers:
        return None
    said = f"must not set securityContext.seccompProfile.type to {_names(sorted(values))}"
    return Violation("seccompProfile", f"{_setters(pod, containers)} {said}")


_SYSCTLS: Final = {
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


def _sysctls(minor: int, meta: Object, spec: Object) -> Violation | None:
    allowed = {name for since, names in _SYSCTLS.items() if since <= minor for name in names}
    found = [each["name"] for each in _context(spec).get("sysctls") or () if each["name"] not in allowed]
    return Violation("forbidden sysctls", ", ".join(found)) if found else None


def _host_process(meta: Object, spec: Object) -> Violation | None:
    def is_bad(holder: Object) -> bool:
        return bool((_context(holder).get("windowsOptions") or {}).get("hostProcess"))

    pod, containers = is_bad(spec), [each["name"] for each in _containers(spec) if is_bad(each)]
    said = f"{_setters(pod, containers)} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", said) if pod or containers else None


# -- restricted -------------------------------------------------------------------------------------------------------


def _escalation(meta: Object, spec: Object) -> Violation | None:
    found = [each["name"] for each in _containers(spec) if _context(each).get("allowPrivilegeEscalation") is not False]
    said = f"{_called(found)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", said) if found else None


def _dropped(meta: Object, spec: Object) -> Violation | None:
    missing = [
        each["name"]
        for each in _containers(spec)
        if "ALL" not in ((_context(each).get("capabilities") or {}).get("drop") or ())
    ]
    containers, found = _added(spec, frozenset({"NET_BIND_SERVICE"}))
    said = [f'{_called(missing)} must set securityContext.capabilities.drop=["ALL"]'] if missing else []
    if containers:
        said.append(f"{_called(containers)} must not include {_names(found)} in securityContext.capabilities.add")
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


def _volumes(meta: Object, spec: Object) -> Violation | None:
    names, types = [], set()
    for volume in spec.get("volumes") or ():
        kinds = [name for name, value in volume.items() if name != "name" and value is not None]
        if not any(each in _VOLUMES for each in kinds):
            names.append(volume["name"])
            types.add(kinds[0] if kinds else "unknown")
    if not names:
        return None
    verb, what = _many("uses", len(names), "use"), _many("restricted volume type", len(types))
    said = f"{_many('volume', len(names))} {_names(names)} {verb} {what} {_names(sorted(types))}"
    return Violation("restricted volume types", said)


def _non_root(meta: Object, spec: Object) -> Violation | None:
    whole = _context(spec).get("runAsNonRoot")
    explicit, implicit = [], []
    for each in _containers(spec):
        own = _context(each).get("runAsNonRoot")
        if own is False:
            explicit.append(each["name"])
        elif own is None and not whole:
            implicit.append(each["name"])
    reason = "runAsNonRoot != true"
    if whole is False or explicit:
        said = f"{_setters(whole is False, explicit)} must not set securityContext.runAsNonRoot=false"
        return Violation(reason, said)
    said = f"pod or {_called(implicit)} must set securityContext.runAsNonRoot=true"
    return Violation(reason, said) if implicit else None


def _user(meta: Object, spec: Object) -> Violation | None:
    def is_root(holder: Object) -> bool:
        found = _context(holder).get("runAsUser")
        return found is not None and int(found) == 0

    pod, containers = is_root(spec), [each["name"] for each in _containers(spec) if is_root(each)]
    said = f"{_setters(pod, containers)} must not set runAsUser=0"
    return Violation("runAsUser=0", said) if pod or containers else None


def _seccomp_set(meta: Object, spec: Object) -> Violation | None:
    if (explicit := _seccomp(meta, spec)) is not None:
        return explicit
    if _context(spec).get("seccompProfile") is not None:
        return None
    found = [each["name"] for each in _containers(spec) if _context(each).get("seccompProfile") is None]
    said = f'pod or {_called(found)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", said) if found else None


# -- which, when ------------------------------------------------------------------------------------------------------

_BASELINE: Final[dict[str, dict[int, Check]]] = {
    "appArmorProfile": {0: _app_armor},
    "capabilities_baseline": {0: _capabilities},
    "hostNamespaces": {0: _host_namespaces},
    "hostPathVolumes": {0: _host_paths},
    "hostPorts": {0: _host_ports},
    "hostProbesAndHostLifecycle": {34: _hosts},
    "privileged": {0: _privileged},
    "procMount": {0: _proc_mount, 35: _not_in_user_namespace(_proc_mount)},
    "seLinuxOptions": {0: partial(_se_linux, _LABELS), 31: partial(_se_linux, _LABELS | {"container_engine_t"})},
    "seccompProfile_baseline": {0: _seccomp_notes, 19: _seccomp},
    "sysctls": {minor: partial(_sysctls, minor) for minor in _SYSCTLS},
    "windowsHostProcess": {0: _host_process},
}
_RESTRICTED: Final[dict[str, dict[int, Check]]] = {
    "allowPrivilegeEscalation": {8: _escalation, 25: _not_on_windows(_escalation)},
    "capabilities_restricted": {22: _dropped, 25: _not_on_windows(_dropped)},
    "procMount_restricted": {35: _proc_mount},
    "restrictedVolumes": {0: _volumes},
    "runAsNonRoot": {0: _non_root, 35: _not_in_user_namespace(_non_root)},
    "runAsUser": {23: _user, 35: _not_in_user_namespace(_user)},
    "seccompProfile_restricted": {19: _seccomp_set, 25: _not_on_windows(_seccomp_set)},
}
_INSTEAD_OF: Final = {
    "capabilities_restricted": "capabilities_baseline",
    "procMount_restricted": "procMount",
    "restrictedVolumes": "hostPathVolumes",
    "seccompProfile_restricted": "seccompProfile_baseline",
}


@lru_cache(maxsize=64)
def _checks(level: str, minor: int) -> tuple[Check, ...]:
    """The checks of a level in a version, in their order."""
    base, more = _of(_BASELINE, minor), _of(_RESTRICTED, minor)
    if level == "baseline":
        return tuple(base.values())
    replaced = {_INSTEAD_OF.get(name) for name in more}
    return tuple([check for name, check in base.items() if name not in replaced] + list(more.values()))


def _of(checks: dict[str, dict[int, Check]], minor: int) -> dict[str, Check]:
    found = {}
    for name, versions in checks.items():
        since = [each for each in versions if each <= minor]
        if since:
            found[name] = versions[max(since)]
    return found
