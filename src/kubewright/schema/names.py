"""The names of a kind, and labels and annotations of its CRD: what a server asks of them before it looks at a schema.

Rules: `apiextensions-apiserver/pkg/apis/apiextensions/validation` and, for the shape of names, RFC 1035 and 1123 as
`apimachinery/pkg/util/validation` reads them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from ..model import ResourceInfo
from ..model.names import label_key_problem, label_value_problem
from .errors import Place, Problems

__all__ = ["check_names", "metadata_of", "version_order"]

_LABEL: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_GROUP: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+")
_VERSION: Final = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STAGE: Final = {"alpha": 0, "beta": 1, None: 2}
_TAKEN: Final = frozenset(
    (
        *("cj", "cm", "crd", "crds", "cs", "csr", "deploy", "ds", "ep", "ev", "hpa", "ing", "ip", "limits", "netpol"),
        *("no", "ns", "pc", "pdb", "po", "pv", "pvc", "quota", "rc", "rs", "sa", "sc", "sts", "svc", "vac"),
    )
)
"""Short names of built-in kinds (1.37): kubectl takes the built-in one, so another can never be used."""

_APPROVED: Final = "api-approved.kubernetes.io"
_LABEL_CURE: Final = "use lower-case letters, digits and '-', a letter first, at most 63"
_LONGEST_WARNING: Final = 256
_LONGEST_GROUP: Final = 253


def check_names(info: ResourceInfo, place: Place, problems: Problems) -> None:
    """Report every name that a server would refuse."""
    if not info.group:
        cure = "give @resource a group that you own, such as group='example.com'"
        problems.add(place, "the core group is only for built-in kinds", cure)
    elif len(info.group) > _LONGEST_GROUP or _GROUP.fullmatch(info.group) is None:
        problems.add(place, f"group={info.group!r} is not a domain", "use one with a dot, such as 'cache.example.com'")
    elif re.search(r"(^|\.)(k8s|kubernetes)\.io$", info.group) and _APPROVED not in dict(info.annotations):
        cure = f"use a domain of your own, or give it in annotations={{{_APPROVED!r}: ...}}"
        problems.add(place, f"group={info.group!r} belongs to Kubernetes; it needs the project's approval", cure)
    for what, name in (
        ("version", info.version),
        ("plural", info.plural),
        ("singular", info.singular),
        ("kind", info.kind.lower()),
        *(("short_names", each) for each in info.short_names),
        *(("categories", each) for each in info.categories),
    ):
        if _LABEL.fullmatch(name) is None:
            shown = info.kind if what == "kind" else name
            problems.add(place, f"{what}: {shown!r} is not a DNS label", _LABEL_CURE)
    for short in info.short_names:
        if short in _TAKEN:
            rule = f"short_names: {short!r} belongs to a built-in kind, which is the one that kubectl would show"
            problems.add(place, rule, "choose another")
    if info.kind == info.list_kind:
        problems.add(place, f"kind and list kind are both {info.kind!r}", "give them two names")
    _check_warning(info, place, problems)


def _check_warning(info: ResourceInfo, place: Place, problems: Problems) -> None:
    warning = info.deprecation_warning
    if warning is None:
        return
    if not info.deprecated:
        problems.add(place, "deprecation_warning without deprecated", "add deprecated=True, or take the warning away")
    if not warning or len(warning.encode()) > _LONGEST_WARNING:
        problems.add(place, f"deprecation_warning has {len(warning.encode())} bytes", "write 1 to 256 bytes")
    if any(unicodedata.category(character).startswith(("C", "Zl", "Zp")) for character in warning):
        problems.add(place, "deprecation_warning has a character that cannot be printed", "write one plain line")


def metadata_of(versions: Sequence[tuple[Place, ResourceInfo]], problems: Problems) -> dict[str, dict[str, str]]:
    """Labels and annotations of the CRD: those of all versions together."""
    made: dict[str, dict[str, str]] = {}
    for place, info in versions:
        for kind, given in (("annotations", info.annotations), ("labels", info.labels)):
            for key, value in given:
                problem = label_key_problem(key) or (label_value_problem(value) if kind == "labels" else None)
                if problem is not None:
                    rule, _, cure = problem.partition("; ")
                    problems.add(place, f"{kind}: {key}={value!r} {rule}", cure)
                there = made.setdefault(kind, {})
                if there.setdefault(key, value) != value:
                    rule = f"{kind}: {key} is {value!r}, and {there[key]!r} in another version"
                    problems.add(place, rule, "the versions share one CRD; make them equal")
    return made


def version_order(version: str) -> tuple[int, int, int, str]:
    """A key that sorts versions as Kubernetes prefers them, best last: v1alpha1, v1beta1, v1beta2, v1, v2, v10."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return (-1, 0, 0, version)
    return (_STAGE[match[2]], int(match[1]), int(match[3] or 0), version)
