"""Whether an answer of a webhook has the types of an AdmissionReview or a ConversionReview. Pure.

What is of another type would otherwise be found out where it is used, which may be in the answer to the client. Says
what Go's decoder says. Rules: k8s.io/api/admission/v1/types.go, apiextensions/v1/types.go, `Status` of apimachinery.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from .registry.decoding import called_in_go

__all__ = ["type_problem"]

_STRUCTS: Final[Mapping[str, Mapping[str, str]]] = {
    "AdmissionReview": {"response": "AdmissionResponse"},
    "ConversionReview": {"response": "ConversionResponse"},
    "ConversionResponse": {"uid": "types.UID", "convertedObjects": "[]runtime.RawExtension", "result": "v1.Status"},
    "AdmissionResponse": {
        "uid": "types.UID",
        "allowed": "bool",
        "status": "v1.Status",
        "patch": "[]uint8",
        "patchType": "PatchType",
        "auditAnnotations": "map[string]string",
        "warnings": "[]string",
    },
    "Status": {
        "metadata": "v1.ListMeta",
        "status": "string",
        "message": "string",
        "reason": "v1.StatusReason",
        "details": "v1.StatusDetails",
        "code": "int32",
    },
    "ListMeta": {
        "selfLink": "string",
        "resourceVersion": "string",
        "continue": "string",
        "remainingItemCount": "int64",
    },
    "StatusDetails": {
        "name": "string",
        "group": "string",
        "kind": "string",
        "uid": "types.UID",
        "causes": "[]v1.StatusCause",
        "retryAfterSeconds": "int32",
    },
    "StatusCause": {"reason": "v1.CauseType", "message": "string", "field": "string"},
}
"""The fields of each struct with their types; what is no struct, and none of Go's own types, is a string."""

_OF_REVIEWS: Final = frozenset({"AdmissionResponse", "ConversionResponse", "PatchType"})
"""Types of the version of the review, which is part of their name."""

_BITS: Final = {"int32": 31, "int64": 63}


_OBJECT: Final = "runtime.RawExtension"
"""Anything: who wants the object reads it."""


def type_problem(
    answer: Mapping[str, Any], review: Literal["AdmissionReview", "ConversionReview"], version: str
) -> str:
    """What Go's decoder says of the first value of a wrong type; empty where there is none."""
    return _struct_problem(answer, review, "", version)


def _struct_problem(value: Mapping[str, Any], struct: str, path: str, version: str) -> str:
    for name, type_ in _STRUCTS[struct].items():
        here = f"{path}.{name}" if path else name
        if said := _problem(value.get(name), type_, struct, here, version):
            return said
    return ""


def _problem(value: Any, type_: str, struct: str, path: str, version: str) -> str:
    """`struct` is the innermost one, which is what the decoder names."""
    if type_ == _OBJECT:
        return ""
    if value is None or _fits(value, type_):
        return _below(value, type_, struct, path, version)
    found = called_in_go(value)
    if type(value) in (int, float) and type_ in _BITS:
        found = f"number {value}"
    shown = f"{version}.{type_}" if type_ in _OF_REVIEWS else type_
    return f"json: cannot unmarshal {found} into Go struct field {struct}.{path} of type {shown}"


def _fits(value: Any, type_: str) -> bool:
    if type_ in _BITS:
        return type(value) is int and -(1 << _BITS[type_]) <= value < 1 << _BITS[type_]
    if type_ == "bool":
        return type(value) is bool
    if type_.startswith("[]") and type_ != "[]uint8":
        return isinstance(value, list)
    if type_.startswith("map") or type_.removeprefix("v1.") in _STRUCTS:
        return isinstance(value, dict)
    return isinstance(value, str)


def _below(value: Any, type_: str, struct: str, path: str, version: str) -> str:
    if isinstance(value, dict) and (inner := type_.removeprefix("v1.")) in _STRUCTS:
        return _struct_problem(value, inner, path, version)
    if isinstance(value, list):
        items, of = value, type_.removeprefix("[]")
    elif isinstance(value, dict):
        items, of = list(value.values()), "string"
    else:
        return ""
    return next((said for each in items if (said := _problem(each, of, struct, path, version))), "")
