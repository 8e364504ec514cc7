"""The numbers that the scale subresource reads: whole, not negative, within 32 bits.

The texts are those of `registry/customresource/validator.go`, with Go's names of types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .fielderrors import FieldError, invalid
from .gotext import plain, typed

__all__ = ["scale_errors"]

_MOST: Final = 2**31 - 1


def scale_errors(scale: Mapping[str, Any], value: dict[str, Any], *, status_only: bool = False) -> list[FieldError]:
    """Errors at the paths of a scale subresource; none without one (an empty mapping)."""
    errors: list[FieldError] = []
    if not scale:
        return errors
    for keyword in ("statusReplicasPath",) if status_only else ("specReplicasPath", "statusReplicasPath"):
        errors += _replicas(str(scale.get(keyword, "")), value)
    path = scale.get("labelSelectorPath")
    if path is not None:
        found, text = _at(path, value, str, "string")
        if text:
            errors.append(invalid(path, found or "", text))
    return errors


def _replicas(path: str, value: dict[str, Any]) -> list[FieldError]:
    found, text = _at(path, value, int, "int64")
    if text:
        return [invalid(path, 0, text)]
    if found is not None and found < 0:
        return [invalid(path, found, "should be a non-negative integer")]
    if found is not None and found > _MOST:
        return [invalid(path, found, f"should be less than or equal to {_MOST}")]
    return []


def _at(path: str, value: Any, kind: type, called: str) -> tuple[Any, str]:
    """What is at a path, None where nothing is; and what is wrong with it."""
    steps = path.removeprefix(".").split(".")
    here = value
    for place, step in enumerate(steps):
        if here is None:
            return None, ""
        if not isinstance(here, dict):
            shown = "." + ".".join(steps[: place + 1])
            return None, f"{shown} accessor error: {_is(here)}, expected map[string]interface{{}}"
        if step not in here:
            return None, ""
        here = here[step]
    if not isinstance(here, kind) or isinstance(here, bool):
        return None, f".{'.'.join(steps)} accessor error: {_is(here)}, expected {called}"
    return here, ""


def _is(value: Any) -> str:
    return f"{plain(value)} is of the type {typed(value)}"
