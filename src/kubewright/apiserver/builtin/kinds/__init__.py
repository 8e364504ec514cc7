"""The rules of the built-in kinds, one file per group of groups.

`RULES` is by API version and kind; a kind that is not there has none of its own (names are DNS subdomains, nothing else
is checked). `PART_CHECKS` are the checks of subresources that change one part of the object. All validation comes with
this package, so that it is loaded when a kind is first used, not when a server starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from ..rules import CheckChange, Rules
from ..validation import configuration
from ..validation.pods import pod_debugged
from . import core as core_kinds
from . import others, workloads
from .checks import changed
from .pods import resized

__all__ = ["PART_CHECKS", "RULES"]


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

PART_CHECKS: Final[Mapping[tuple[str, str], CheckChange]] = {
    ("Namespace", "finalize"): changed(configuration.finalized),
    ("Pod", "ephemeralcontainers"): changed(pod_debugged),
    ("Pod", "resize"): resized,
}
"""What checks the change that a subresource makes, by kind and subresource."""
