"""Types to structural schemas to CustomResourceDefinitions. No I/O but the files of `manifests`.

The names are loaded when first used: who needs `kubewright.schema.structural` only, as an API server does, does not pay
for markers and builders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "AtLeastOneOf",
    "AtMostOneOf",
    "Default",
    "Discriminator",
    "Doc",
    "Drift",
    "EmbeddedResource",
    "ExactlyOneOf",
    "Example",
    "ExternalDocs",
    "Format",
    "Immutable",
    "ListAtomic",
    "ListMap",
    "ListSet",
    "Manifest",
    "MapAtomic",
    "MaxProperties",
    "MinProperties",
    "Nullable",
    "Pattern",
    "PreserveUnknown",
    "Rule",
    "SchemaCause",
    "SchemaError",
    "SchemaWarning",
    "Schemaless",
    "Title",
    "UniqueItems",
    "crd_of",
    "crds_of_module",
    "kinds_of_module",
    "manifests",
    "schema_of",
    "to_yaml",
]

if TYPE_CHECKING:
    from . import manifests
    from .build import schema_of
    from .crd import crd_of, crds_of_module, kinds_of_module
    from .errors import SchemaCause, SchemaError, SchemaWarning
    from .manifests import Drift, Manifest
    from .markers import (
        AtLeastOneOf,
        AtMostOneOf,
        Default,
        Discriminator,
        Doc,
        EmbeddedResource,
        ExactlyOneOf,
        Example,
        ExternalDocs,
        Format,
        Immutable,
        ListAtomic,
        ListMap,
        ListSet,
        MapAtomic,
        MaxProperties,
        MinProperties,
        Nullable,
        Pattern,
        PreserveUnknown,
        Rule,
        Schemaless,
        Title,
        UniqueItems,
    )
    from .yaml import to_yaml

_HOMES = {
    ".build": ("schema_of",),
    ".crd": (
        "crd_of",
        "crds_of_module",
        "kinds_of_module",
    ),
    ".errors": (
        "SchemaCause",
        "SchemaError",
        "SchemaWarning",
    ),
    ".manifests": (
        "Drift",
        "Manifest",
    ),
    ".markers": (
        "AtLeastOneOf",
        "AtMostOneOf",
        "Default",
        "Discriminator",
        "Doc",
        "EmbeddedResource",
        "ExactlyOneOf",
        "Example",
        "ExternalDocs",
        "Format",
        "Immutable",
        "ListAtomic",
        "ListMap",
        "ListSet",
        "MapAtomic",
        "MaxProperties",
        "MinProperties",
        "Nullable",
        "Pattern",
        "PreserveUnknown",
        "Rule",
        "Schemaless",
        "Title",
        "UniqueItems",
    ),
    ".yaml": ("to_yaml",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "manifests":
        return import_module(".manifests", __name__)
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'kubewright.schema' has no attribute {name!r}")
    value = getattr(import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
