"""Faces of packages whose names are loaded when first used: who needs one part does not wait for the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["loading"]


def loading(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package, from its modules (`".manager"`) and the names that each has for the face."""
    home_of = {name: home for home, names in homes.items() for name in names}

    def load(name: str) -> Any:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(home, package), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
