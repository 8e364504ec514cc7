"""Typed values of the Kubernetes API. No I/O, no event loop."""

__all__ = [
    "UNSET",
    "Column",
    "DecodeError",
    "GroupKind",
    "GroupVersionKind",
    "GroupVersionResource",
    "Key",
    "ListMeta",
    "ManagedFieldsEntry",
    "Model",
    "Object",
    "ObjectMeta",
    "OwnerReference",
    "Resource",
    "ResourceInfo",
    "ScaleInfo",
    "Unstructured",
    "UnsetType",
    "clone",
    "decode",
    "encode",
    "field",
    "from_dict",
    "info_of",
    "key_of",
    "origin_of",
    "resource",
    "to_dict",
    "unstructured",
]

from .base import UNSET, Model, UnsetType, field
from .codec import DecodeError, clone, decode, encode, from_dict, origin_of, to_dict
from .gvk import GroupKind, GroupVersionKind, GroupVersionResource, Key
from .meta import ListMeta, ManagedFieldsEntry, ObjectMeta, OwnerReference
from .resource import Column, Object, Resource, ResourceInfo, ScaleInfo, info_of, key_of, resource
from .unstructured import Unstructured, unstructured
