"""What a way into an object writes: the status beside its subresource, all else through the object itself.

Some ways write less than that; of what they do not write nobody becomes the owner. Rules: `GetResetFields` of the
server's strategies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..catalog import ResourceType
from .paths import FieldPath, FieldSet

__all__ = ["written_by"]

_WITH_METADATA: Final = (("f:spec",), ("f:metadata",))
_NOT_BY_STATUS: Final[Mapping[str, tuple[FieldPath, ...]]] = {
    "": _WITH_METADATA,
    "Deployment": (("f:spec",), ("f:metadata", "f:labels")),
    "Pod": (("f:spec",), ("f:metadata", "f:deletionTimestamp"), ("f:metadata", "f:ownerReferences")),
    **dict.fromkeys(
        (
            "CSINode",
            "CompositePodGroup",
            "DeviceTaintRule",
            "Eviction",
            "EvictionRequest",
            "FlowSchema",
            "PodCertificateRequest",
            "PodGroup",
            "PriorityLevelConfiguration",
            "ResourcePoolStatusRequest",
            "ResourceClaim",
            "ServiceCIDR",
            "StorageVersion",
            "StorageVersionMigration",
            "VolumeAttachment",
        ),
        _WITH_METADATA,
    ),
}
"""What a write of the status does not write, by kind ("" for all custom ones); of all others the spec."""


def written_by(paths: FieldSet, kind: ResourceType, subresource: str) -> FieldSet:
    """Those of the paths that a write through the object (or a subresource) writes."""
    if subresource == "status":
        others = _NOT_BY_STATUS.get("" if kind.is_custom else kind.kind, (("f:spec",),))
    elif "status" in kind.subresources:
        others = (("f:status",),)
    else:
        return paths
    return frozenset(path for path in paths if not any(path[: len(each)] == each for each in others))
