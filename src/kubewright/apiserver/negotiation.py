"""Which representation an `Accept` header asks for.

The clauses are tried in the order of their quality; the first that somebody can write wins, and without one the answer
is 406 with the types that there are. `as=Table` and the like are conversions: a `Transform` by kind makes their
representation (Tables are registered by who makes them). Rule: `apiserver/pkg/endpoints/handlers/negotiation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from .errors import not_acceptable
from .representation import AS_IS, AS_YAML, METADATA, METADATA_LIST, MetadataOfList, MetadataOnly, Representation

__all__ = ["Clause", "Transform", "clauses", "negotiate"]

_ACCEPTED: Final = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_META_GROUP: Final = "meta.k8s.io"
_META_VERSIONS: Final = ("v1", "v1beta1")

Transform = Callable[[str, Mapping[str, str]], Representation]
"""Makes a representation: `(api version of the wanted kind, query parameters)`."""


class Clause(NamedTuple):
    """One alternative of an Accept header."""

    type: str
    subtype: str
    parameters: tuple[tuple[str, str], ...]

    def parameter(self, name: str) -> str:
        for key, value in self.parameters:
            if key == name:
                return value
        return ""


@lru_cache(maxsize=256)
def clauses(header: str) -> tuple[Clause, ...]:
    """The alternatives of an Accept header, the best first."""
    found: list[tuple[float, int, Clause]] = []
    for place, part in enumerate(header.split(",")):
        kind, *rest = (each.strip() for each in part.split(";"))
        if not kind:
            continue
        quality = 1.0
        parameters: list[tuple[str, str]] = []
        for each in rest:
            name, _, value = each.partition("=")
            name, value = name.strip(), value.strip().strip('"')
            if name == "q":
                try:
                    quality = float(value)
                except ValueError:
                    quality = 0.0
            else:
                parameters.append((name, value))
        main, _, sub = kind.lower().partition("/")
        found.append((-quality, place, Clause(main, sub or "*", tuple(parameters))))
    return tuple(clause for _, _, clause in sorted(found, key=lambda each: each[:2]))


def negotiate(
    header: str,
    *,
    is_custom: bool,
    transforms: Mapping[str, Transform],
    query: Mapping[str, str],
) -> Representation:
    """The representation that a header asks for.

    Args:
        transforms: by kind, such as Table; PartialObjectMetadata and its list are always known.

    Raises:
        StatusError: 406.
    """
    if not header or header == "*/*":
        return AS_IS
    found = clauses(header)
    if not is_custom and not any(map(_is_known, found)):
        raise not_acceptable(_ACCEPTED, by_type=True)
    for clause in found:
        wanted = clause.parameter("as")
        if not _is_json(clause):
            if (clause.type, clause.subtype) == ("application", "yaml") and not wanted:
                return AS_YAML
            continue
        if not wanted:
            if clause.parameter("g") or clause.parameter("v"):
                continue
            return AS_IS
        group, version = clause.parameter("g"), clause.parameter("v")
        if group != _META_GROUP or version not in _META_VERSIONS:
            continue
        if wanted == "PartialObjectMetadata":
            return METADATA if version == "v1" else MetadataOnly(f"{_META_GROUP}/{version}")
        if wanted == "PartialObjectMetadataList":
            return METADATA_LIST if version == "v1" else MetadataOfList(f"{_META_GROUP}/{version}")
        if wanted in transforms:
            return transforms[wanted](f"{_META_GROUP}/{version}", query)
    raise not_acceptable(_ACCEPTED)


def _is_known(clause: Clause) -> bool:
    """Whether the router of built-in kinds lets a type through: by its whole name, or anything."""
    return (clause.type, clause.subtype) == ("*", "*") or f"{clause.type}/{clause.subtype}" in _ACCEPTED


def _is_json(clause: Clause) -> bool:
    if clause.type == "*":
        return clause.subtype == "*"
    return clause.type == "application" and clause.subtype in ("json", "*")
