"""The rules of the built-in kinds, one file per group of groups.

`RULES` is by API version and kind; a kind that is not there has none of its own (names are DNS subdomains, nothing else
is checked). `PARTS` are subresources that change one part of the object; `SCALED` the kinds with a Scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..rules import Rules
from ..scale import Scaled
from . import core as core_kinds
from . import others, workloads

__all__ = ["PARTS", "RULES", "SCALED", "Part"]


@dataclass(frozen=True, slots=True)
class Part:
    """The path of what a subresource changes, and what checks the change."""

    path: tuple[str, ...]
    check: Callable[..., Any] | None = None


RULES: Final[Mapping[tuple[str, str], Rules]] = {**core_kinds.RULES, **workloads.RULES, **others.RULES}

PARTS: Final[Mapping[tuple[str, str], Part]] = {
    ("Namespace", "finalize"): Part(("spec", "finalizers")),
    ("Pod", "ephemeralcontainers"): Part(("spec", "ephemeralContainers")),
    ("Pod", "resize"): Part(("spec", "containers")),
    ("CertificateSigningRequest", "approval"): Part(("status", "conditions")),
}

SCALED: Final[Mapping[str, Scaled]] = {
    "Deployment": Scaled("apps", "Deployment"),
    "ReplicaSet": Scaled("apps", "ReplicaSet"),
    "StatefulSet": Scaled("apps", "StatefulSet"),
    "ReplicationController": Scaled("", "ReplicationController", is_plain=True),
}
