"""JSON merge patch (RFC 7386) as the server applies it.

One difference from the RFC: nulls are also taken out of objects inside of a list that a patch brings, unless the list
takes the place of an object.
"""

from __future__ import annotations

from typing import Any

from kubewright.schema.structural.gotext import kind_of

from .errors import bad_request

__all__ = ["merge_patch"]


def merge_patch(document: dict[str, Any], patch: Any) -> dict[str, Any]:
    """The document with a merge patch applied.

    Raises:
        PatchError: 400, the patch is not an object.
    """
    if patch is None:
        raise bad_request("Invalid JSON Patch")
    if not isinstance(patch, dict):
        kind = {"boolean": "bool", "integer": "number"}.get(kind_of(patch), kind_of(patch))
        said = f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
        raise bad_request(f"error decoding patch: {said}")
    return _merged(document, patch)


def _merged(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    made = dict(document)
    for name, value in patch.items():
        if value is None:
            made.pop(name, None)
            continue
        current = made.get(name)
        if not isinstance(current, dict):
            made[name] = _without_nulls(value)
        elif isinstance(value, dict):
            made[name] = _merged(current, value)
        else:
            made[name] = value
    return made


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return value
