"""The rules of the built-in kinds, one file per group of groups.

`RULES` is by API version and kind; a kind that is not there has none of its own (names are DNS subdomains, nothing else
is checked). `PARTS` are subresources that change one part of the object; `SCALED` the kinds with a Scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ..rules import Rules
from ..scale import Scaled
from ..validation import configuration
from ..validation.pods import pod_debugged
from . import core as core_kinds
from . import others, workloads
from .checks import changed
from .pods import resized

__all__ = ["PARTS", "RULES", "SCALED", "Part"]


class Part(Struct, frozen=True):
    """The path of what a subresource changes, and what checks the change."""

    path: tuple[str, ...]
    check: Callable[..., Any] | None = None


_CHECKED_AGAIN: Final = frozenset(
    {
        "ClusterRole",
        "ClusterRoleBinding",
        "ConfigMap",
        "ControllerRevision",
        "CSINode",
        "EndpointSlice",
        "Endpoints",
        "FlowSchema",
        "Ingress",
        "IngressClass",
        "Node",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Role",
        "RoleBinding",
        "Secret",
        "ServiceAccount",
        "StatefulSet",
        "VolumeAttachment",
        "VolumeAttributesClass",
    }
)
"""Kinds whose changes go through the checks of new objects."""

_OTHER_FINALIZERS: Final = ("admissionregistration.k8s.io/v1", "apiextensions.k8s.io/v1", "apiregistration.k8s.io/v1")
"""Groups that are not of the core's making, whose finalizers are qualified names and that is all."""


def _with_metadata(key: tuple[str, str], rules: Rules) -> Rules:
    api_version, kind = key
    again = kind in _CHECKED_AGAIN
    return replace(rules, checks_finalizers=api_version not in _OTHER_FINALIZERS, checks_metadata_again=again)


RULES: Final[Mapping[tuple[str, str], Rules]] = {
    key: _with_metadata(key, rules) for key, rules in {**core_kinds.RULES, **workloads.RULES, **others.RULES}.items()
}

PARTS: Final[Mapping[tuple[str, str], Part]] = {
    ("Namespace", "finalize"): Part(("spec", "finalizers"), changed(configuration.finalized)),
    ("Pod", "ephemeralcontainers"): Part(("spec", "ephemeralContainers"), changed(pod_debugged)),
    ("Pod", "resize"): Part(("spec", "containers"), resized),
    ("CertificateSigningRequest", "approval"): Part(("status", "conditions")),
}

SCALED: Final[Mapping[str, Scaled]] = {
    "Deployment": Scaled("apps", "Deployment"),
    "ReplicaSet": Scaled("apps", "ReplicaSet"),
    "StatefulSet": Scaled("apps", "StatefulSet"),
    "ReplicationController": Scaled("", "ReplicationController", is_plain=True),
}
