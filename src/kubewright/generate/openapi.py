"""OpenAPI v3 documents of an API server (`/openapi/v3/...`) to definitions.

One document describes one group version: `paths` say plural, scope and subresources of its kinds, `components` the
types, those of other groups included. The name of a schema is its Go package and type, such as
`io.k8s.api.apps.v1.Deployment`; that of a custom resource has the reversed group in the place of the package. The
group version of a package is what its kinds say in `x-kubernetes-group-version-kind`. A package without kinds has the
group of another version of it, one of Kubernetes' own the group that is known by its name (`io.k8s.api.rbac.v1`), and
any other is called by its last two parts (`meta/v1`).

A kind is a schema with a group version kind and an ObjectMeta, of a group version that one of the documents is about.
Lists are none: the client reads every list with one type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from kubewright.model import ResourceInfo, ScaleInfo
from kubewright.models import group_of

from .definitions import Definition, Definitions, Home, Schema
from .facts import CATEGORIES, SHORT_NAMES
from .naming import class_name

__all__ = ["add_openapi", "is_openapi"]

_PATH: Final = re.compile(
    r"/(?:api|apis/(?P<group>[^/{]+))/(?P<version>v[^/{]+)"
    r"(?P<namespaced>/namespaces/\{namespace\})?/(?P<plural>[^/{]+)(?:/\{name\}(?P<sub>/.+)?)?/?"
)
_KIND: Final = "x-kubernetes-group-version-kind"
_OBJECT_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_METHODS: Final = ("get", "post", "put", "patch", "delete")


@dataclass
class _Collection:
    """What the paths tell of one kind."""

    plural: str = ""
    namespaced: bool = False
    status: bool = False
    scale: bool = False


def is_openapi(document: Any) -> bool:
    """Whether decoded JSON is an OpenAPI v3 document."""
    return isinstance(document, dict) and str(document.get("openapi", "")).startswith("3.")


def add_openapi(definitions: Definitions, documents: Iterable[dict[str, Any]]) -> None:
    """Add the schemas and kinds of `documents`."""
    given = list(documents)
    schemas: dict[str, Schema] = {}
    for document in given:
        for name, schema in document.get("components", {}).get("schemas", {}).items():
            schemas.setdefault(name, schema)
    collections: dict[tuple[Home, str], _Collection] = {}
    about: set[Home] = set()
    for document in given:
        about |= _read_paths(document.get("paths", {}), collections)
    homes = _package_homes(schemas)
    for name, schema in schemas.items():
        package = name.rpartition(".")[0]
        home, kind = _kind_of(schema)
        resource = None
        if home is not None and home in about:
            resource = _info(home, kind, collections.get((home, kind), _Collection()))
        home = home or homes[package]
        structural = name == _name_of_custom(home, kind)
        definitions.add(Definition(name, class_name(name.rpartition(".")[2]), home, schema, resource, structural))


def _name_of_custom(home: Home, kind: str) -> str:
    """What an API server calls the schema of a custom resource."""
    group, version = home
    return ".".join([*reversed(group.split(".")), version, kind])


def _kind_of(schema: Schema) -> tuple[Home | None, str]:
    """Group version and kind of a schema, if it is an object's."""
    kinds = schema.get(_KIND, [])
    metadata = schema.get("properties", {}).get("metadata", {})
    parts = (metadata, *metadata.get("allOf", []))
    if len(kinds) != 1 or not any(_OBJECT_META in part.get("$ref", "") for part in parts):
        return None, ""
    return (kinds[0]["group"], kinds[0]["version"]), kinds[0]["kind"]


def _package_homes(schemas: dict[str, Schema]) -> dict[str, Home]:
    homes: dict[str, Home] = {}
    groups: dict[str, str] = {}
    for name, schema in schemas.items():
        home, _ = _kind_of(schema)
        if home is not None:
            package = name.rpartition(".")[0]
            homes[package] = home
            groups[package.rpartition(".")[0]] = home[0]
    for name in schemas:
        package = name.rpartition(".")[0]
        if package not in homes:
            family, _, version = package.rpartition(".")
            homes[package] = (groups.get(family, _group_named(family)), version)
    return homes


def _group_named(family: str) -> str:
    label = family.rpartition(".")[2]
    known = group_of(label) if family.startswith("io.k8s.") else None
    return label if known is None else known


def _read_paths(paths: dict[str, Any], collections: dict[tuple[Home, str], _Collection]) -> set[Home]:
    """Fill `collections`; the group versions that the paths are about."""
    about: set[Home] = set()
    by_plural: dict[tuple[Home, str], _Collection] = {}
    subresources: list[tuple[Home, str, str]] = []
    for path, operations in paths.items():
        match = _PATH.fullmatch(path)
        if match is None or match["plural"] == "watch":
            continue
        home = (match["group"] or "", match["version"])
        about.add(home)
        if match["sub"]:
            subresources.append((home, match["plural"], match["sub"]))
        for kind_home, kind in _kinds_in(operations):
            found = collections.setdefault((kind_home, kind), _Collection())
            found.namespaced |= match["namespaced"] is not None
            if not match["sub"]:
                found.plural = match["plural"]
                by_plural[home, match["plural"]] = found
    for home, plural, subresource in subresources:
        owner = by_plural.get((home, plural))
        if owner is not None:
            owner.status |= subresource == "/status"
            owner.scale |= subresource == "/scale"
    return about


def _kinds_in(operations: dict[str, Any]) -> Iterator[tuple[Home, str]]:
    for method in _METHODS:
        said = operations.get(method, {}).get(_KIND)
        if said:
            yield (said["group"], said["version"]), said["kind"]


def _info(home: Home, kind: str, collection: _Collection) -> ResourceInfo:
    group, version = home
    name = f"{collection.plural}.{group}" if group else collection.plural
    return ResourceInfo(
        group=group,
        version=version,
        kind=kind,
        plural=collection.plural,
        namespaced=collection.namespaced,
        singular=kind.lower(),
        list_kind=f"{kind}List",
        short_names=SHORT_NAMES.get(name, ()),
        categories=CATEGORIES.get(name, ()),
        status=collection.status,
        scale=ScaleInfo() if collection.scale else None,
    )
