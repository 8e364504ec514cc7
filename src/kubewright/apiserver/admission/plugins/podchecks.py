"""The pod security standards: which checks make up the levels `baseline` and `restricted`, in which version.

A check is a row: its level, and from which minor version of Kubernetes on it is which function; one of `restricted` may
take the place of one of `baseline`. What they look at is in `podbaseline` and `podrestricted`. Rules:
pod-security-admission/policy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final

from . import podbaseline as baseline
from . import podrestricted as restricted
from .podviolations import Violation
from .world import Object

__all__ = ["LATEST", "violations"]

LATEST: Final = 37
"""The newest version in which a check changed."""

Check = Callable[[Object, Object], "Violation | None"]
"""`(metadata, spec)` of a Pod to what is wrong."""


def _not_on_windows(check: Check) -> Check:
    return lambda meta, spec: None if (spec.get("os") or {}).get("name") == "windows" else check(meta, spec)


def _not_in_user_namespace(check: Check) -> Check:
    return lambda meta, spec: None if spec.get("hostUsers") is False else check(meta, spec)


_TYPES: Final = frozenset({"", "container_t", "container_init_t", "container_kvm_t"})
"""The types of SELinux that were allowed from the beginning."""
_BASELINE: Final[dict[str, dict[int, Check]]] = {
    "appArmorProfile": {0: baseline.app_armor},
    "capabilities_baseline": {0: baseline.capabilities},
    "hostNamespaces": {0: baseline.host_namespaces},
    "hostPathVolumes": {0: baseline.host_paths},
    "hostPorts": {0: baseline.host_ports},
    "hostProbesAndHostLifecycle": {34: baseline.hosts},
    "privileged": {0: baseline.privileged},
    "procMount": {0: baseline.proc_mount, 35: _not_in_user_namespace(baseline.proc_mount)},
    "seLinuxOptions": {
        0: partial(baseline.se_linux, _TYPES),
        31: partial(baseline.se_linux, _TYPES | {"container_engine_t"}),
    },
    "seccompProfile_baseline": {0: baseline.seccomp_notes, 19: baseline.seccomp},
    "sysctls": {minor: partial(baseline.sysctls, minor) for minor in baseline.SYSCTLS},
    "windowsHostProcess": {0: baseline.host_process},
}
_RESTRICTED: Final[dict[str, dict[int, Check]]] = {
    "allowPrivilegeEscalation": {8: restricted.escalation, 25: _not_on_windows(restricted.escalation)},
    "capabilities_restricted": {22: restricted.dropped, 25: _not_on_windows(restricted.dropped)},
    "procMount_restricted": {35: baseline.proc_mount},
    "restrictedVolumes": {0: restricted.volumes},
    "runAsNonRoot": {0: restricted.non_root, 35: _not_in_user_namespace(restricted.non_root)},
    "runAsUser": {23: restricted.user, 35: _not_in_user_namespace(restricted.user)},
    "seccompProfile_restricted": {19: restricted.seccomp_set, 25: _not_on_windows(restricted.seccomp_set)},
}
_INSTEAD_OF: Final = {
    "capabilities_restricted": "capabilities_baseline",
    "procMount_restricted": "procMount",
    "restrictedVolumes": "hostPathVolumes",
    "seccompProfile_restricted": "seccompProfile_baseline",
}


def violations(level: str, minor: int | None, meta: Object, spec: Object) -> list[Violation]:
    """What of a Pod is against a level.

    Args:
        minor: the version 1.x of the rules; None for the latest.
    """
    if level == "privileged":
        return []
    checks = _checks(level, LATEST if minor is None else min(minor, LATEST))
    return [found for check in checks if (found := check(meta, spec)) is not None]


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
