"""Which class a built-in kind has, without importing any until it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from kubewright.model import GroupVersionKind, Object

from ._index import MODULES

__all__ = ["built_in_kinds", "group_of", "module_of", "resolve"]


def resolve(gvk: GroupVersionKind) -> type[Object] | None:
    """The class of a built-in kind, or None for any other. Imports the module of its group version.

    `resolve(GroupVersionKind("apps", "v1", "Deployment"))` is `kubewright.models.apps.v1.Deployment`.
    """
    module, kinds = MODULES.get((gvk.group, gvk.version), ("", ()))
    if gvk.kind not in kinds:
        return None
    found: type[Object] = getattr(importlib.import_module(module), gvk.kind)
    return found


def built_in_kinds() -> Iterator[GroupVersionKind]:
    """All built-in kinds, by group and version. Imports nothing."""
    for (group, version), (_, kinds) in MODULES.items():
        for kind in kinds:
            yield GroupVersionKind(group, version, kind)


def module_of(group: str, version: str) -> str | None:
    """The module of a built-in group version: `("apps", "v1")` -> `kubewright.models.apps.v1`. None for any other."""
    module, _ = MODULES.get((group, version), (None, ()))
    return module


def group_of(package: str) -> str | None:
    """The API group of a package of this one: `rbac` -> `rbac.authorization.k8s.io`, `core` -> `""`. None: no such."""
    for (group, _), (module, _) in MODULES.items():
        if module.split(".")[2] == package:
            return group
    return None
