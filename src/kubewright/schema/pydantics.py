"""The fields of pydantic models, as the walk over classes knows fields. The same meaning gives the same schema.

| pydantic | here |
|---|---|
| `x: T` | required |
| `x: T \\| None = None` | optional; absent, never null |
| `x: T \\| None` | required, and null is a value of its own |
| `x: T \\| None = value` | optional with a default, and null is a value of its own |
| alias, `alias_generator` | the name on the wire; reading and writing have to agree |
| `extra="allow"` | unknown fields are kept |
| `Field(description, examples, title, ge, pattern, ...)` | `Doc`, `Example`, `Title`, `Ge`, `Pattern`, ... |
| validators of fields and models | a warning: a server runs none of them |
| serializers, computed or excluded fields, aliases that differ | an error |

A server that takes what a validator would refuse stores it, and the operator cannot read the object. A `Rule` that says
the same beside it closes the gap; nobody can say it for the author.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Annotated, Any, Final, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo

from ..model.pydantics import is_pydantic
from .foreign import PythonOnly, documented
from .markers import Marker, Nullable, PreserveUnknown, Title
from .node import Node
from .spelling import spell_out

__all__ = ["class_markers_of", "fields_of", "is_pydantic", "literal_tag", "pydantic_node", "root_type"]

_ALIAS_CURE: Final = "give one alias for both (alias=)"


def root_type(cls: Any) -> Any:
    """What a RootModel holds, or None for another model."""
    if not any(base.__name__ == "RootModel" for base in cls.__mro__):
        return None
    return _annotated(cls.model_fields["root"], [])


def fields_of(cls: Any) -> list[FieldInfo]:
    """The fields of a pydantic model. Raises NameError: an annotation cannot be resolved."""
    if not cls.__pydantic_complete__:
        cls.model_rebuild()
    found = []
    for name, info in cls.model_fields.items():
        markers: list[Marker] = [*_odd(name, info), *_decorated(cls, name)]
        default: Any = msgspec.NODEFAULT
        factory: Any = msgspec.NODEFAULT
        if info.default_factory is not None:
            factory = info.default_factory
        elif not info.is_required():
            default = info.default
        if default is not None and spell_out(info.annotation).none:
            markers.append(Nullable())
        wire = info.serialization_alias or name
        found.append(FieldInfo(name, wire, _annotated(info, markers), default, factory))
    return found


def _decorated(cls: Any, name: str) -> Iterator[PythonOnly]:
    """What decorated functions of a model do to a field."""
    decorators = cls.__pydantic_decorators__
    for each in (*decorators.field_validators.values(), *decorators.validators.values()):
        if name in each.info.fields or "*" in each.info.fields:
            yield PythonOnly(f"the validator {each.cls_var_name}")
    for each in decorators.field_serializers.values():
        if name in each.info.fields or "*" in each.info.fields:
            what = f"the serializer {each.cls_var_name}, which changes its form"
            yield PythonOnly(what, "declare the type that it has on the wire", fatal=True)


def _annotated(info: Any, markers: list[Marker]) -> Any:
    said = (*info.metadata, *documented(info), *markers)
    return Annotated[(info.annotation, *said)] if said else info.annotation


def _odd(name: str, info: Any) -> Iterator[PythonOnly]:
    written = info.serialization_alias or name
    read = info.validation_alias if info.validation_alias is not None else info.alias or name
    if not isinstance(read, str):
        yield PythonOnly(f"several names to be read by ({read!r})", _ALIAS_CURE, fatal=True)
    elif read != written:
        yield PythonOnly(f"the name {written!r} to be written and {read!r} to be read by", _ALIAS_CURE, fatal=True)
    if info.exclude:
        yield PythonOnly("exclude=True, so that it is never sent", "make it a private attribute", fatal=True)
    if info.default_factory is not None and info.default_factory_takes_validated_data:
        yield PythonOnly("a default made from other fields", "fill it in when reconciling", fatal=True)


def class_markers_of(cls: Any) -> list[Any]:
    """What is said of a model as a whole."""
    decorators = cls.__pydantic_decorators__
    found: list[Marker] = []
    if cls.model_config.get("extra") == "allow":
        found.append(PreserveUnknown())
    if title := cls.model_config.get("title"):
        found.append(Title(title))
    for kind in ("model_validators", "root_validators"):
        found += [PythonOnly(f"the validator {name}") for name in getattr(decorators, kind)]
    for name in decorators.model_serializers:
        cure = "declare the fields as they are on the wire"
        found.append(PythonOnly(f"the serializer {name}, which changes its form", cure, fatal=True))
    for name in decorators.computed_fields:
        cure = "make it a plain property, or a field that a controller fills in"
        found.append(PythonOnly(f"the computed field {name}, which a server knows nothing of", cure, fatal=True))
    return found


def literal_tag(arms: tuple[Any, ...]) -> str | None:
    """The wire name of the field that tells pydantic models of a union apart: a Literal of one text in each."""
    tags: list[dict[str, str]] = []
    for arm in arms:
        if not is_pydantic(arm):
            return None
        found = {}
        for name, info in arm.model_fields.items():
            values = get_args(info.annotation) if get_origin(info.annotation) is not None else ()
            if str(get_origin(info.annotation)) == "typing.Literal" and len(values) == 1 and isinstance(values[0], str):
                found[info.serialization_alias or name] = values[0]
        tags.append(found)
    for name in tags[0] if tags else ():
        values = tuple(each.get(name, "") for each in tags)
        if all(values) and len(set(values)) == len(values):
            return name
    return None


_TEXTS: Final = {
    "EmailStr": "email",
    "IPv4Address": "ipv4",
    "IPv6Address": "ipv6",
    "IPv4Network": "cidr",
    "IPv6Network": "cidr",
}
_DATES: Final = {"PastDate": "the demand for the past", "FutureDate": "the demand for the future"}
_TIMES: Final = {
    "AwareDatetime": None,
    "PastDatetime": "the demand for the past",
    "FutureDatetime": "the demand for the future",
}


def pydantic_node(core: Any) -> tuple[Node, str | None] | None:
    """The node of a type that only pydantic reads, and what of it a server does not check. None for others."""
    if not isinstance(core, type):
        return None
    name, home = core.__name__, core.__module__
    if name in _TEXTS and home.startswith(("pydantic.", "ipaddress")):
        return Node("string", {"format": _TEXTS[name], "type": "string"}), None
    if home.startswith("pydantic.") and any(base.__name__ in ("_BaseUrl", "AnyUrl") for base in core.__mro__):
        return Node("string", {"format": "uri", "type": "string"}), None
    if home.startswith("pydantic.") and name in _TIMES:
        return Node("time", {"format": "date-time", "type": "string"}), _TIMES[name]
    if home.startswith("pydantic.") and name in _DATES:
        return Node("time", {"format": "date", "type": "string"}), _DATES[name]
    if issubclass(core, PurePath):
        return Node("string", {"type": "string"}), None
    return None
