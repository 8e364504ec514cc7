"""Markers of other libraries, in our words: groups of `annotated_types`, msgspec's `Meta`, pydantic's `Field`.

| theirs | ours |
|---|---|
| `Interval`, `Len`, `StringConstraints` | their parts |
| `Meta(ge=1, description=...)`, `Field(ge=1, description=..., examples=...)` | `Ge(1)`, `Doc(...)`, `Example(...)` |
| `pattern` of pydantic | `Pattern` |
| `UuidVersion`, `Base64Bytes` | `Format`, `Base64` |
| `AfterValidator` and what else runs in Python | `PythonOnly`: a warning, or an error where it changes the form |
| `Strict`, `allow_inf_nan`, `FailFast` and the like | nothing: JSON is as strict |

Pydantic is looked at and never imported: who does not use it does not need it. annotated_types is imported where
something of it is at hand: that takes 8 ms.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

import msgspec

from .markers import Doc, Example, Format, Marker, Pattern, Title

__all__ = ["Base64", "PythonOnly", "documented", "flatten"]

_RULE_CURE: Final = "say what it demands as a Rule or a marker too, so that a server refuses it first"
_FORM_CURE: Final = "declare the type that it has on the wire"
_CHANGES_TEXT: Final = ("strip_whitespace", "to_upper", "to_lower", "ascii_only")


class PythonOnly(msgspec.Struct, Marker, frozen=True):
    """Something that only Python does. `fatal`: a schema would be wrong without it."""

    what: str
    cure: str = _RULE_CURE
    fatal: bool = False


class Base64(msgspec.Struct, Marker, frozen=True):
    """Bytes that are base64 on the wire, which is not what pydantic does with plain bytes."""


def flatten(metadata: Iterable[Any]) -> Iterator[Any]:
    """The markers of an `Annotated`: groups taken apart, those of other libraries in our words."""
    for item in metadata:
        if isinstance(item, msgspec.Meta):
            yield from _of_meta(item)
        elif type(item).__module__.startswith("pydantic."):
            yield from _of_pydantic(item)
        elif _is_group(item):
            yield from flatten(cast("Iterable[Any]", item))
        else:
            yield item


def _is_group(item: Any) -> bool:
    if "annotated_types" not in sys.modules:
        return False
    from annotated_types import GroupedMetadata

    return isinstance(item, GroupedMetadata)


def _of_meta(meta: msgspec.Meta) -> Iterator[Any]:
    from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen, MultipleOf

    spelled = (
        ("ge", Ge),
        ("gt", Gt),
        ("le", Le),
        ("lt", Lt),
        ("multiple_of", MultipleOf),
        ("pattern", Pattern),
        ("min_length", MinLen),
        ("max_length", MaxLen),
    )
    for attribute, marker in spelled:
        value = getattr(meta, attribute)
        if value is not None:
            yield cast("Any", marker)(value)
    yield from documented(meta)


def documented(item: Any) -> Iterator[Any]:
    """Title, description and the first example of a `Meta` or `FieldInfo`."""
    if item.title is not None:
        yield Title(item.title)
    if item.description is not None:
        yield Doc(item.description)
    for example in item.examples or ():
        yield Example(example)
        break


def _of_pydantic(item: Any) -> Iterator[Any]:
    name = type(item).__name__
    if name == "FieldInfo":
        yield from flatten(item.metadata)
        yield from documented(item)
    elif name in ("AfterValidator", "BeforeValidator", "WrapValidator"):
        yield PythonOnly(f"the validator {_called(item.func)}")
    elif name == "PlainValidator":
        yield PythonOnly(f"the validator {_called(item.func)} in the place of its type's", _FORM_CURE, fatal=True)
    elif name in ("PlainSerializer", "WrapSerializer"):
        yield PythonOnly(f"the serializer {_called(item.func)}, which changes its form", _FORM_CURE, fatal=True)
    elif name == "EncodedBytes" and item.encoder.__name__ == "Base64Encoder":
        yield Base64()
    elif name in ("EncodedBytes", "EncodedStr", "GetPydanticSchema"):
        yield PythonOnly(f"{name}, a form of its own", _FORM_CURE, fatal=True)
    elif name == "UuidVersion":
        known = item.uuid_version in (3, 4, 5)
        yield Format(f"uuid{item.uuid_version}") if known else PythonOnly(f"the demand for UUIDs {item.uuid_version}")
    elif name == "PathType":
        yield PythonOnly(f"the demand for a path ({item.path_type})")
    else:
        yield from _general(item)


def _general(item: Any) -> Iterator[Any]:
    """`StringConstraints` and the bag that pydantic puts everything else in."""
    from annotated_types import MaxLen, MinLen

    said = getattr(item, "__dict__", {})
    if (pattern := said.get("pattern")) is not None:
        yield Pattern(getattr(pattern, "pattern", pattern))
    if said.get("min_length") is not None:
        yield MinLen(said["min_length"])
    if said.get("max_length") is not None:
        yield MaxLen(said["max_length"])
    for name in _CHANGES_TEXT:
        if said.get(name):
            yield PythonOnly(name, "say what it demands as a Pattern")


def _called(function: Any) -> str:
    return str(getattr(function, "__name__", function))
