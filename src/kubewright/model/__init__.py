"""Typed values of the Kubernetes API. No I/O, no event loop."""

__all__ = [
    "UNSET",
    "Column",
    "DecodeError",
    "Duration",
    "GroupKind",
    "GroupVersionKind",
    "GroupVersionResource",
    "IntOrString",
    "Key",
    "ListMeta",
    "ManagedFieldsEntry",
    "MicroTime",
    "Model",
    "Object",
    "ObjectMeta",
    "OwnerReference",
    "Quantity",
    "Resource",
    "ResourceInfo",
    "ScaleInfo",
    "Time",
    "UnsetType",
    "Unstructured",
    "clone",
    "decode",
    "encode",
    "field",
    "format_time",
    "from_dict",
    "info_of",
    "key_of",
    "now",
    "origin_of",
    "parse_time",
    "resolve_percent",
    "resource",
    "to_dict",
    "to_second",
    "unstructured",
]

from .base import UNSET, Model, UnsetType, field
from .codec import DecodeError, clone, decode, encode, from_dict, origin_of, to_dict
from .gvk import GroupKind, GroupVersionKind, GroupVersionResource, Key
from .intorstring import IntOrString, resolve_percent
from .meta import ListMeta, ManagedFieldsEntry, ObjectMeta, OwnerReference
from .quantity import Quantity
from .resource import Column, Object, Resource, ResourceInfo, ScaleInfo, info_of, key_of, resource
from .times import Duration, MicroTime, Time, format_time, now, parse_time, to_second
from .unstructured import Unstructured, unstructured
