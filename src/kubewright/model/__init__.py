"""Typed values of the Kubernetes API. No I/O, no event loop."""

__all__ = [
    "AlreadyOwned",
    "Column",
    "Condition",
    "ConditionStatus",
    "DecodeError",
    "DecodedList",
    "DocumentError",
    "Duration",
    "FieldRequirement",
    "FieldSelector",
    "GroupKind",
    "GroupVersionKind",
    "GroupVersionResource",
    "IntOrString",
    "JSONPatchError",
    "Key",
    "KindConflict",
    "LabelSelector",
    "LabelSelectorRequirement",
    "ListMeta",
    "ManagedFieldsEntry",
    "MicroTime",
    "Model",
    "NoKindRegistered",
    "Object",
    "ObjectMeta",
    "OwnerError",
    "OwnerReference",
    "PatchTestFailed",
    "Quantity",
    "Requirement",
    "Resource",
    "ResourceInfo",
    "ScaleInfo",
    "Scheme",
    "Selector",
    "Time",
    "UNSET",
    "UnknownFields",
    "UnsetType",
    "Unstructured",
    "add_finalizer",
    "clone",
    "controller_of",
    "decode",
    "encode",
    "field",
    "find_condition",
    "format_time",
    "from_dict",
    "has_finalizer",
    "info_of",
    "is_controlled_by",
    "is_false",
    "is_owned_by",
    "is_true",
    "json_apply",
    "json_diff",
    "key_of",
    "merge_apply",
    "merge_conditions",
    "merge_diff",
    "now",
    "origin_of",
    "overlaid",
    "overlay",
    "owner_reference",
    "parse_time",
    "pointer",
    "remove_condition",
    "remove_finalizer",
    "remove_owner",
    "resolve_percent",
    "resource",
    "same_json",
    "set_condition",
    "set_controller",
    "set_owner",
    "split_pointer",
    "to_dict",
    "to_second",
    "unstructured",
]

from typing import TYPE_CHECKING

from kubewright._lazy import loading

from .base import UNSET, Model, UnsetType, field
from .codec import DecodeError, clone, decode, encode, from_dict, origin_of, to_dict
from .condition import (
    Condition,
    ConditionStatus,
    find_condition,
    is_false,
    is_true,
    merge_conditions,
    remove_condition,
    set_condition,
)
from .fieldselector import FieldRequirement, FieldSelector
from .gvk import GroupKind, GroupVersionKind, GroupVersionResource, Key
from .intorstring import IntOrString, resolve_percent
from .meta import ListMeta, ManagedFieldsEntry, ObjectMeta, OwnerReference
from .overlay import overlaid, overlay
from .owners import (
    AlreadyOwned,
    OwnerError,
    add_finalizer,
    controller_of,
    has_finalizer,
    is_controlled_by,
    is_owned_by,
    owner_reference,
    remove_finalizer,
    remove_owner,
    set_controller,
    set_owner,
)
from .patch import (
    JSONPatchError,
    PatchTestFailed,
    json_apply,
    json_diff,
    merge_apply,
    merge_diff,
    pointer,
    same_json,
    split_pointer,
)
from .quantity import Quantity
from .resource import Column, Object, Resource, ResourceInfo, ScaleInfo, info_of, key_of, resource
from .scheme import DecodedList, KindConflict, NoKindRegistered, Scheme
from .selector import LabelSelector, LabelSelectorRequirement, Requirement, Selector
from .times import Duration, MicroTime, Time, format_time, now, parse_time, to_second
from .unknown import UnknownFields
from .unstructured import Unstructured, unstructured

if TYPE_CHECKING:
    from .documents import DocumentError

# For who reads files.
__getattr__ = loading(__name__, {".documents": ("DocumentError",)})
