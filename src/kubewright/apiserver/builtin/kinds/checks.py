"""Checks that need nothing but the object, in the form that `Rules` asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kubewright.schema.structural.fielderrors import FieldError

from ...strategy import Context

__all__ = ["changed", "created", "same_as_created"]

Object = dict[str, Any]


def created(check: Callable[[Object], list[FieldError]]) -> Callable[[Object, Context], list[FieldError]]:
    """A check of a new object."""
    return lambda obj, context: check(obj)


def changed(
    check: Callable[[Object, Object], list[FieldError]],
) -> Callable[[Object, Object, Context], list[FieldError]]:
    """A check of a changed object."""
    return lambda new, old, context: check(new, old)


def same_as_created(
    check: Callable[[Object], list[FieldError]],
) -> Callable[[Object, Object, Context], list[FieldError]]:
    """The check of a new object, asked of a changed one."""
    return lambda new, old, context: check(new)
