"""Kubewright: the Kubernetes operator toolkit for Python.

The names that an operator is written with, loaded when first used: `import kubewright.model` does not load a client.
Each room has more: `kubewright.model`, `kubewright.models` (the built-in kinds), `kubewright.schema` (markers, CRDs),
`kubewright.client`, `kubewright.testing`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._version import __version__

__all__ = [
    "CacheOptions",
    "Client",
    "ClientConfig",
    "Column",
    "Condition",
    "Context",
    "JsonPatch",
    "Key",
    "KindCache",
    "LeaderElection",
    "MergePatch",
    "Model",
    "NotFound",
    "Object",
    "ObjectMeta",
    "Operator",
    "Quantity",
    "Resource",
    "Result",
    "Retry",
    "ScaleInfo",
    "SyncContext",
    "Terminal",
    "__version__",
    "after",
    "controller",
    "field",
    "index",
    "resource",
    "set_condition",
    "unstructured",
]

if TYPE_CHECKING:
    from .cache import CacheOptions, KindCache, index
    from .client import Client, ClientConfig, JsonPatch, MergePatch, NotFound
    from .controller import Context, Result, Retry, SyncContext, Terminal, after, controller
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
        field,
        resource,
        set_condition,
        unstructured,
    )
    from .operator import Operator

_HOMES = {
    ".cache": ("CacheOptions", "KindCache", "index"),
    ".client": ("Client", "ClientConfig", "JsonPatch", "MergePatch", "NotFound"),
    ".controller": ("Context", "Result", "Retry", "SyncContext", "Terminal", "after", "controller"),
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
        "field",
        "resource",
        "set_condition",
        "unstructured",
    ),
    ".manager": ("LeaderElection",),
    ".operator": ("Operator",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'kubewright' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


class _Face(ModuleType):
    """Keeps `kubewright.controller` the decorator, whatever is imported first.

    There is a room of that name as well, and importing a submodule makes it an attribute of its parent.
    `from kubewright.controller import ...` looks in sys.modules and is not touched by this.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face
