"""Types with a schema of their own: scalars, and the values of Kubernetes that have a form on the wire.

The forms are controller-gen's, so that a CRD reads the same whichever tool made it, with two exceptions. A Duration
says its pattern: what a server lets in is what `Duration` can read (controller-gen says `type: string`, and an operator
finds out at run time). Metadata of an embedded template keeps its labels, annotations, names and finalizers
(controller-gen says `type: object` unless it is told otherwise, and servers then prune them).
"""

from __future__ import annotations

import copy
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from ..model import Condition, Duration, MicroTime, ObjectMeta, Quantity
from .node import Kind, Node, Schema

__all__ = ["KIND_DOC", "ROOT_METADATA", "VERSION_DOC", "int_or_string", "known_node"]

VERSION_DOC: Final = (
    "Group and version of the schema this object is written in. A server converts between the versions that it serves, "
    "and refuses any other.\n\n"
    "More: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
)
KIND_DOC: Final = (
    "What this object is, in CamelCase. A server knows it from the address of the request; it cannot be changed.\n\n"
    "More: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)

_INT_OR_STRING: Final[Schema] = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
_QUANTITY_PATTERN: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
_DURATION_PATTERN: Final = r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"

_STRINGS: Final[Schema] = {"type": "object", "additionalProperties": {"type": "string"}}
_EMBEDDED_METADATA: Final[Schema] = {
    "type": "object",
    "properties": {
        "annotations": _STRINGS,
        "finalizers": {"type": "array", "items": {"type": "string"}},
        "generateName": {"type": "string"},
        "labels": _STRINGS,
        "name": {"type": "string"},
        "namespace": {"type": "string"},
    },
}
ROOT_METADATA: Final[Schema] = {
    "type": "object",
    "properties": {
        **_EMBEDDED_METADATA["properties"],
        "creationTimestamp": {"type": "string", "format": "date-time"},
        "deletionGracePeriodSeconds": {"type": "integer"},
        "deletionTimestamp": {"type": "string", "format": "date-time"},
        "generation": {"type": "integer"},
        "ownerReferences": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("apiVersion", "kind", "name", "uid")},
            },
        },
        "resourceVersion": {"type": "string"},
        "selfLink": {"type": "string"},
        "uid": {"type": "string"},
    },
}
"""What a path may name in an object's metadata. A CRD itself says no more than `type: object`."""

_CONDITION: Final[Schema] = {
    "description": "One statement about the object, made by its controller.",
    "type": "object",
    "properties": {
        "lastTransitionTime": {
            "description": "When the status last became another.",
            "format": "date-time",
            "type": "string",
        },
        "message": {"description": "Details for people; may be empty.", "maxLength": 32768, "type": "string"},
        "observedGeneration": {
            "description": "The metadata.generation that it was made for. Older than the object's: outdated.",
            "format": "int64",
            "minimum": 0,
            "type": "integer",
        },
        "reason": {
            "description": "Why the status is what it is: one CamelCase word for programs.",
            "maxLength": 1024,
            "minLength": 1,
            "pattern": r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
            "type": "string",
        },
        "status": {
            "description": "Whether it holds.",
            "enum": ["True", "False", "Unknown"],
            "type": "string",
        },
        "type": {
            "description": "What it is about: CamelCase, or example.com/CamelCase.",
            "maxLength": 316,
            "pattern": r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
            r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
            "type": "string",
        },
    },
    "required": ["lastTransitionTime", "message", "reason", "status", "type"],
}

_KNOWN: Final[dict[Any, tuple[Kind, Schema]]] = {
    bool: ("boolean", {"type": "boolean"}),
    int: ("integer", {"format": "int64", "type": "integer"}),
    float: ("number", {"type": "number"}),
    str: ("string", {"type": "string"}),
    bytes: ("bytes", {"format": "byte", "type": "string"}),
    datetime: ("time", {"format": "date-time", "type": "string"}),
    MicroTime: ("time", {"format": "date-time", "type": "string"}),
    date: ("time", {"format": "date", "type": "string"}),
    UUID: ("string", {"format": "uuid", "type": "string"}),
    Duration: ("duration", {"format": "duration", "pattern": _DURATION_PATTERN, "type": "string"}),
    Quantity: ("quantity", {**_INT_OR_STRING, "pattern": _QUANTITY_PATTERN}),
    Any: ("any", {"x-kubernetes-preserve-unknown-fields": True}),
    ObjectMeta: ("object", _EMBEDDED_METADATA),
    Condition: ("object", _CONDITION),
}


def known_node(wanted: Any) -> Node | None:
    """The node of a type that has a schema of its own, or None."""
    try:
        kind, schema = _KNOWN[wanted]
    except (KeyError, TypeError):
        return None
    return Node(kind, copy.deepcopy(schema), names={name: name for name in schema.get("properties", {})})


def int_or_string() -> Node:
    """The node of `int | str`."""
    return Node("int-or-string", copy.deepcopy(_INT_OR_STRING))
