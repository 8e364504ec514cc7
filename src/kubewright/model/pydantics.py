"""Pydantic models as a spec or status, or below one; and our types inside of pydantic's.

Pydantic is not needed and never imported unless it is there already: its classes are known by what they carry. They
keep their own habits (names, aliases, validators), and one of ours, so that a server sees the same of both kinds of
class: `None` and empty containers that are defaults are left out on the wire, any other default is always sent.

A pydantic model is read from JSON in pydantic's own JSON mode: a datetime from its text, bytes as its configuration
says, also where the model is strict.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any, Protocol, cast

import orjson

__all__ = ["PydanticModel", "complaints", "core_schema_of", "from_wire", "is_pydantic", "to_wire", "wire_types"]


class PydanticModel(Protocol):
    """What a type checker may know of a pydantic model."""

    def model_dump(self) -> dict[str, Any]: ...

    def model_dump_json(self) -> str: ...


def is_pydantic(wanted: Any) -> bool:
    """Whether a class is a pydantic model."""
    pydantic = sys.modules.get("pydantic")
    base = getattr(pydantic, "BaseModel", None)
    return base is not None and isinstance(wanted, type) and issubclass(wanted, base)


def wire_types(wanted: Any) -> dict[str, Any]:
    """The types of a model's fields, with their metadata, by name on the wire."""
    return {
        info.serialization_alias or name: Annotated[(info.annotation, *info.metadata)]
        if info.metadata
        else info.annotation
        for name, info in wanted.model_fields.items()
    }


def from_wire(wanted: Any, value: Any) -> Any:
    """A pydantic model from decoded JSON. Raises ValueError: each complaint with the path inside of the model."""
    try:
        return wanted.model_validate_json(orjson.dumps(value))
    except ValueError as error:
        raise ValueError(complaints(error)) from None


def complaints(error: Exception) -> str:
    """What an error says, in one line; of pydantic's, each complaint with its path."""
    errors = getattr(error, "errors", None)
    if errors is None:
        return str(error)
    return "; ".join(f"{_path(each['loc'])}: {each['msg']}".removeprefix(": ") for each in errors())


def _path(location: tuple[Any, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).lstrip(".")


def to_wire(value: Any) -> Any:
    """A pydantic model as decoded JSON, without what it leaves out."""
    return _left(value, value.model_dump(mode="json", by_alias=True))


def _left(value: Any, dumped: Any) -> Any:
    """`dumped`, of which `value` is the origin, without Nones and empty containers that are defaults."""
    if isinstance(value, list | tuple) and isinstance(dumped, list):
        return [_left(item, each) for item, each in zip(value, dumped, strict=True)]
    if isinstance(value, dict) and isinstance(dumped, dict):
        pairs = zip(value.values(), dumped.items(), strict=True)
        return {name: _left(item, each) for item, (name, each) in pairs}
    if not is_pydantic(type(value)) or not isinstance(dumped, dict):
        return dumped
    left = dict(dumped)
    for name, info in type(value).model_fields.items():
        wire = info.serialization_alias or name
        if wire not in left:
            continue
        if _is_left_out(left[wire], info):
            del left[wire]
        else:
            left[wire] = _left(getattr(value, name), left[wire])
    return left


def _is_left_out(dumped: Any, info: Any) -> bool:
    if info.is_required():
        return False
    if dumped is None:
        return info.default is None and not any(type(marker).__name__ == "Nullable" for marker in info.metadata)
    return dumped in ([], {}) and dumped == info.get_default(call_default_factory=True, validated_data={})


def core_schema_of(cls: Any, read: Callable[[Any], Any], write: Callable[[Any], Any]) -> Any:
    """What pydantic asks of a type that is not its own (`__get_pydantic_core_schema__`)."""
    from pydantic_core import core_schema

    def validate(value: Any) -> Any:
        return value if isinstance(value, cls) else cast("Any", read(value))

    return core_schema.no_info_plain_validator_function(
        validate,
        serialization=core_schema.plain_serializer_function_ser_schema(write, when_used="json"),
        json_schema_input_schema=core_schema.any_schema(),
    )
