"""Checks of labels, annotations and label selectors (`apimachinery/pkg/apis/meta/v1/validation`)."""

from __future__ import annotations

from typing import Any

from kubewright.schema.structural.fielderrors import forbidden, invalid, required, too_long
from kubewright.schema.structural.gotext import GoStruct
from kubewright.schema.structural.metarules import label_value, qualified_name

from .texts import Errors, Object, check

__all__ = [
    "annotation_errors",
    "as_shown",
    "finalizer_errors",
    "is_valid_selector",
    "label_selector",
    "labels",
    "requirement_errors",
]

_MOST_ANNOTATIONS = 256 * 1024


def labels(path: str, found: dict[str, str] | None) -> Errors:
    """Errors of a map of labels."""
    errors: Errors = []
    for name, value in (found or {}).items():
        errors += [*check(path, name, qualified_name), *check(path, value, label_value)]
    return errors


def annotation_errors(path: str, found: dict[str, str] | None) -> Errors:
    """Errors of a map of annotations."""
    errors: Errors = []
    for name in found or {}:
        errors += [invalid(path, name, each) for each in qualified_name(name.lower())]
    size = sum(len(name.encode()) + len(value.encode()) for name, value in (found or {}).items())
    if size > _MOST_ANNOTATIONS:
        errors.append(too_long(path, _MOST_ANNOTATIONS))
    return errors


def finalizer_errors(meta: Object) -> Errors:
    """Errors of finalizers that are neither of Kubernetes nor of a domain."""
    said = "name is neither a standard finalizer name nor is it fully qualified"
    return [
        invalid(f"metadata.finalizers[{place}]", each, said)
        for place, each in enumerate(meta.get("finalizers") or ())
        if "/" not in each and each not in ("kubernetes", "orphan", "foregroundDeletion")
    ]


def label_selector(path: str, selector: Object | None) -> Errors:
    """Errors of a LabelSelector."""
    if selector is None:
        return []
    errors = labels(f"{path}.matchLabels", selector.get("matchLabels"))
    for place, each in enumerate(selector.get("matchExpressions") or ()):
        errors += requirement_errors(f"{path}.matchExpressions[{place}]", each)
    return errors


def requirement_errors(path: str, requirement: Object, *, any_operator: bool = False) -> Errors:
    """Errors of one expression. `any_operator`: one that is not known is no error."""
    errors: Errors = []
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            errors.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            said = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden(f"{path}.values", said))
    elif not any_operator:
        errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    errors += check(f"{path}.key", requirement.get("key", ""), qualified_name)
    for place, value in enumerate(values):
        errors += check(f"{path}.values[{place}]", value, label_value)
    return errors


def as_shown(selector: Any) -> Any:
    """A LabelSelector with its fields in the order of the Go type, in which errors show it."""
    if not isinstance(selector, dict):
        return selector
    made = GoStruct({name: selector[name] for name in ("matchLabels", "matchExpressions") if name in selector})
    if "matchExpressions" in made:
        made["matchExpressions"] = [
            GoStruct({name: each[name] for name in ("key", "operator", "values") if name in each})
            for each in made["matchExpressions"]
        ]
    return made


def is_valid_selector(selector: Any) -> bool:
    """Whether a LabelSelector can be made into a selector."""
    return not label_selector("", selector)
