"""Checks of security contexts, of Pods and of containers. Windows and AppArmor are left out."""

from __future__ import annotations

from typing import Final

from kubewright.schema.structural.fielderrors import forbidden, invalid, not_supported, required
from kubewright.schema.structural.gotext import GoStruct

from .texts import Errors, Object, in_range, relative_path

__all__ = ["container_security", "pod_security"]

_MOST_ID: Final = 2**31 - 1
_SECCOMP: Final = ("Localhost", "RuntimeDefault", "Unconfined")


def _ids(path: str, found: Object, names: tuple[str, ...]) -> Errors:
    errors: Errors = []
    for name in names:
        if (value := found.get(name)) is not None:
            errors += [invalid(f"{path}.{name}", value, each) for each in in_range(value, 0, _MOST_ID)]
    return errors


def pod_security(path: str, found: Object | None, spec: Object) -> Errors:
    """Errors of `spec.securityContext`."""
    if found is None:
        return []
    errors = _ids(path, found, ("fsGroup", "runAsUser", "runAsGroup"))
    for place, group in enumerate(found.get("supplementalGroups", ())):
        here = f"{path}.supplementalGroups[{place}]"
        errors += [invalid(here, group, each) for each in in_range(group, 0, _MOST_ID)]
    policy = found.get("fsGroupChangePolicy")
    if policy is not None and policy not in ("Always", "OnRootMismatch"):
        errors.append(not_supported(f"{path}.fsGroupChangePolicy", policy, ("Always", "OnRootMismatch")))
    errors += _seccomp(f"{path}.seccompProfile", found.get("seccompProfile"))
    groups = found.get("supplementalGroupsPolicy")
    if groups is not None and groups not in ("Merge", "Strict"):
        errors.append(not_supported(f"{path}.supplementalGroupsPolicy", groups, ("Merge", "Strict")))
    return errors


def _seccomp(path: str, profile: Object | None) -> Errors:
    if profile is None:
        return []
    errors: Errors = []
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        errors.append(required(f"{path}.type", "type is required when seccompProfile is set"))
    elif kind not in _SECCOMP:
        errors.append(not_supported(f"{path}.type", kind, _SECCOMP))
    where = f"{path}.localhostProfile"
    if kind == "Localhost":
        if local is None:
            errors.append(required(where, "must be set when seccomp type is Localhost"))
        else:
            errors += relative_path(where, local)
    elif local is not None:
        shown = GoStruct(Type=kind, LocalhostProfile=local)
        errors.append(invalid(where, shown, "can only be set when seccomp type is Localhost"))
    return errors


def container_security(path: str, found: Object | None, *, host_users: bool = True) -> Errors:
    """Errors of the security context of a container."""
    if found is None:
        return []
    errors = _ids(path, found, ("runAsUser", "runAsGroup"))
    mount = found.get("procMount")
    if mount is not None:
        if mount not in ("Default", "Unmasked"):
            errors.append(not_supported(f"{path}.procMount", mount, ("Default", "Unmasked")))
        if host_users and mount == "Unmasked":
            errors.append(invalid(f"{path}.procMount", mount, "`hostUsers` must be false to use `Unmasked`"))
    errors += _seccomp(f"{path}.seccompProfile", found.get("seccompProfile"))
    if found.get("allowPrivilegeEscalation") is False:
        if found.get("privileged"):
            said = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            errors.append(invalid(path, _shown(found), said))
        if "CAP_SYS_ADMIN" in ((found.get("capabilities") or {}).get("add") or ()):
            said = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            errors.append(invalid(path, _shown(found), said))
    return errors


_ORDER: Final = (
    "capabilities",
    "privileged",
    "seLinuxOptions",
    "windowsOptions",
    "runAsUser",
    "runAsGroup",
    "runAsNonRoot",
    "readOnlyRootFilesystem",
    "allowPrivilegeEscalation",
    "procMount",
    "seccompProfile",
    "appArmorProfile",
)


def _shown(found: Object) -> GoStruct:
    """A security context as Go's internal type, which has no JSON names, is shown."""
    made = GoStruct()
    for name in _ORDER:
        value = found.get(name)
        shown = "SELinuxOptions" if name == "seLinuxOptions" else name[0].upper() + name[1:]
        if name == "capabilities" and value is not None:
            value = GoStruct(Add=value.get("add"), Drop=value.get("drop"))
        made[shown] = value
    return made


def no_host_users(path: str, spec: Object) -> Errors:
    """Errors of a Pod with its own user namespace."""
    if spec.get("hostUsers", True):
        return []
    return [
        forbidden(f"{path}.{said}", "when `hostUsers` is false")
        for name, said in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC"))
        if spec.get(name)
    ]
