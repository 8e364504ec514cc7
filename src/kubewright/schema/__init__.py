"""Types to structural schemas to CustomResourceDefinitions. No I/O but the files of `manifests`."""

__all__ = [
    "Default",
    "Doc",
    "Drift",
    "EmbeddedResource",
    "Example",
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

from . import manifests
from .build import schema_of
from .crd import crd_of, crds_of_module, kinds_of_module
from .errors import SchemaCause, SchemaError
from .manifests import Drift, Manifest
from .markers import (
    Default,
    Doc,
    EmbeddedResource,
    Example,
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
