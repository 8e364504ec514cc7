"""Kubewright: the Kubernetes operator toolkit for Python.

The names that an operator is written with, loaded when first used: `import kubewright.model` does not load a client.
Each room has more: `kubewright.model`, `kubewright.models` (the built-in kinds), `kubewright.schema` (markers, CRDs),
`kubewright.client`, `kubewright.testing`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from ._lazy import loading
from ._version import __version__

__all__ = [
    "CacheOptions",
    "Cause",
    "Change",
    "Client",
    "ClientConfig",
    "Column",
    "Condition",
    "Context",
    "JsonPatch",
    "Key",
    "KindCache",
    "LeaderElection",
    "Lookup",
    "MergePatch",
    "Model",
    "NotFound",
    "Object",
    "ObjectMeta",
    "Operator",
    "OutsideCache",
    "Predicate",
    "Quantity",
    "Resource",
    "Result",
    "Retry",
    "ScaleInfo",
    "SourceContext",
    "SyncContext",
    "Terminal",
    "UnknownFields",
    "__version__",
    "after",
    "annotation_changed",
    "changed",
    "changed_outside_status",
    "condition_changed",
    "controller",
    "every",
    "field",
    "field_index",
    "generation_changed",
    "has_label",
    "index",
    "label_changed",
    "matches_labels",
    "on",
    "owned",
    "resource",
    "resource_version_changed",
    "set_condition",
    "source",
    "unstructured",
    "watches",
    "where",
]

if TYPE_CHECKING:
    from .cache import CacheOptions, KindCache, OutsideCache, field_index, index
    from .client import Client, ClientConfig, JsonPatch, MergePatch, NotFound
    from .controller import (
        Cause,
        Context,
        Lookup,
        Result,
        Retry,
        SourceContext,
        SyncContext,
        Terminal,
        after,
        controller,
        every,
        owned,
        source,
        watches,
    )
    from .controller.predicates import (
        Change,
        Predicate,
        annotation_changed,
        changed,
        changed_outside_status,
        condition_changed,
        generation_changed,
        has_label,
        label_changed,
        matches_labels,
        on,
        resource_version_changed,
        where,
    )
    from .manager import LeaderElection
    from .model import (
        Column,
        Condition,
        Key,
        Model,
        Object,
        ObjectMeta,
        Quantity,
        Resource,
        ScaleInfo,
        UnknownFields,
        field,
        resource,
        set_condition,
        unstructured,
    )
    from .operator import Operator

_HOMES = {
    ".cache": ("CacheOptions", "KindCache", "OutsideCache", "field_index", "index"),
    ".client": ("Client", "ClientConfig", "JsonPatch", "MergePatch", "NotFound"),
    ".controller": (
        "Cause",
        "Context",
        "Lookup",
        "Result",
        "Retry",
        "SourceContext",
        "SyncContext",
        "Terminal",
        "after",
        "controller",
        "every",
        "owned",
        "source",
        "watches",
    ),
    ".controller.predicates": (
        "Change",
        "Predicate",
        "annotation_changed",
        "changed",
        "changed_outside_status",
        "condition_changed",
        "generation_changed",
        "has_label",
        "label_changed",
        "matches_labels",
        "on",
        "resource_version_changed",
        "where",
    ),
    ".model": (
        "Column",
        "Condition",
        "Key",
        "Model",
        "Object",
        "ObjectMeta",
        "Quantity",
        "Resource",
        "ScaleInfo",
        "UnknownFields",
        "field",
        "resource",
        "set_condition",
        "unstructured",
    ),
    ".manager": ("LeaderElection",),
    ".operator": ("Operator",),
}
_NAMES = frozenset(name for names in _HOMES.values() for name in names)


__getattr__ = loading(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__


class _Face(ModuleType):
    """Keeps `kubewright.controller` the decorator, whatever is imported first.

    There is a room of that name as well, and importing a submodule makes it an attribute of its parent.
    `from kubewright.controller import ...` looks in sys.modules and is not touched by this.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _NAMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face
