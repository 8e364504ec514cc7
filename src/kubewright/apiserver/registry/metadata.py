"""What the server itself does with metadata: names, namespaces, system fields, what may not change.

Rules: `registry/rest/{meta,create,update}.go`, `endpoints/handlers/rest.go`, `api/validation/objectmeta.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kubewright.schema.structural.fielderrors import FieldError, invalid
from kubewright.schema.structural.metarules import meta_errors
from kubewright.schema.structural.values import same

from ..catalog import ResourceType
from ..errors import bad_request

__all__ = [
    "check_name",
    "dedupe_owners",
    "ensure_namespace",
    "fill_system_fields",
    "generic_errors",
    "keep_system_fields",
    "meta_of",
    "name_errors",
    "wipe_system_fields",
]

_SYSTEM: Final = ("creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")


def _path_segment(name: str) -> list[str]:
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{each}'" for each in "/%" if each in name]


def meta_of(obj: dict[str, Any]) -> dict[str, Any]:
    """The metadata of an object, which gets some if it has none."""
    found = obj.get("metadata")
    if found is None:
        found = obj["metadata"] = {}
    return found


def wipe_system_fields(meta: dict[str, Any]) -> None:
    """Drop what callers cannot set on what they create."""
    for name in _SYSTEM:
        meta.pop(name, None)


def fill_system_fields(meta: dict[str, Any], uid: str, now: str) -> None:
    """Set what the server sets on what is created."""
    meta["uid"], meta["creationTimestamp"] = uid, now


def ensure_namespace(kind: ResourceType, meta: dict[str, Any], namespace: str) -> None:
    """Give an object the namespace of its request. Raises StatusError: it says another one."""
    wanted = namespace if kind.namespaced else ""
    said = meta.get("namespace", "")
    if said == wanted:
        return
    if not said:
        meta["namespace"] = wanted
    elif not wanted:
        del meta["namespace"]
    else:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")


def check_name(meta: dict[str, Any], name: str) -> None:
    """Raises StatusError: the object is not the one of the URL."""
    said = meta.get("name", "")
    if not said:
        why = f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
        raise bad_request(why)
    if said != name:
        raise bad_request(f"the name of the object ({said}) does not match the name on the URL ({name})")


def dedupe_owners(meta: dict[str, Any], warn: Callable[[str], None], *, after_admission: bool = False) -> None:
    """Drop owner references that are there twice, and say so."""
    owners = meta.get("ownerReferences")
    if not owners or len(owners) < 2:
        return
    kept: list[Any] = []
    twice: list[str] = []
    for owner in owners:
        if any(same(owner, each) for each in kept):
            twice.append(str(owner.get("uid", "")))
        else:
            kept.append(owner)
    if twice:
        when = " after mutating admission happens" if after_admission else ""
        warn(
            f".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+,"
            f" and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
            f"{', '.join(twice)}"
        )
        meta["ownerReferences"] = kept


def name_errors(meta: dict[str, Any]) -> list[FieldError]:
    """What is asked of all names, whatever a kind asks: they are a segment of a path."""
    found = ((name, meta.get(name, "")) for name in ("generateName", "name"))
    return [invalid(f"metadata.{name}", value, said) for name, value in found for said in _path_segment(value)]


def generic_errors(meta: dict[str, Any], *, namespaced: bool) -> list[FieldError]:
    """What is asked of the metadata of all kinds alike; a name has to be a segment of a path."""
    return meta_errors(meta, namespaced=namespaced, name_rule=_path_segment)


def keep_system_fields(meta: dict[str, Any], old: dict[str, Any]) -> None:
    """Give a changed object what no update changes."""
    meta.pop("selfLink", None)
    if not meta.get("uid"):
        meta["uid"] = old.get("uid", "")
    if "creationTimestamp" in old:
        meta["creationTimestamp"] = old["creationTimestamp"]
    if "deletionTimestamp" in old:
        meta["deletionTimestamp"] = old["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in old and "deletionGracePeriodSeconds" not in meta:
        meta["deletionGracePeriodSeconds"] = old["deletionGracePeriodSeconds"]
