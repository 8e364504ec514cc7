"""Models to JSON bytes and back.

Decoding is strict where it is free and lenient where servers are not exact: a `null` where the model has no room for
one, and an absent field that the model requires, are accepted on a second, slower pass (Go writes `null` for an empty
slice, and an older server knows fewer fields). Anything else is a `DecodeError` that names the path.

An Object remembers the bytes it was decoded from (`origin_of`). They are what lets an update keep fields that the class
does not know, and they cost nothing: the cache hands out the bytes that it keeps anyway. They also say whether a part
that is blank was there. What was absent and is read as a default or a zero value comes back absent, unless changed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar, cast, get_args

import msgspec
import orjson

from .base import (
    UNSET,
    Model,
    UnsetType,
    decode_hook,
    encode_hook,
    model_fields,
    plain_type,
    takes_null,
    unresolved,
)
from .lenient import Path, fit, is_part
from .meta import ObjectMeta
from .pydantics import is_pydantic
from .resource import Object, info_of
from .unknown import WIRE_NAME, flattened, keeper_of, may_hold
from .unstructured import Unstructured

__all__ = [
    "DecodeError",
    "clone",
    "decode",
    "decode_error",
    "encode",
    "encode_value",
    "from_dict",
    "origin_of",
    "to_dict",
]

T = TypeVar("T")
_ENCODER = msgspec.json.Encoder(enc_hook=encode_hook)
_NAMES = msgspec.json.Decoder(dict[str, msgspec.Raw])


class DecodeError(ValueError):
    """Bytes or a dictionary are not a value of the model.

    Attributes: `wanted` the model's name, `path` as `$.spec.replicas` (empty when the JSON itself is broken), `rule`.
    """

    def __init__(self, wanted: str, path: str, rule: str) -> None:
        super().__init__(wanted, path, rule)
        self.wanted, self.path, self.rule = wanted, path, rule

    def __str__(self) -> str:
        where = f"{self.wanted}{self.path[1:]}" if self.path else self.wanted
        return f"{where}: {self.rule}"


def decode(cls: type[T], data: bytes) -> T:
    """A value of `cls` from JSON bytes. Fields that the class does not know are ignored.

    Raises:
        DecodeError: not JSON, or not a value of `cls`.
    """
    if issubclass(cls, Unstructured):
        return cast("T", _decode_unstructured(cls, data))
    decoder = cls.__dict__.get("__decoder__") or _make_decoder(cls)
    try:
        value = decoder(data)
    except msgspec.ValidationError as error:
        value = _lenient(cls, data, error)
    except msgspec.DecodeError as error:
        raise decode_error(cls.__name__, error) from None
    if issubclass(cls, Object):
        _remember(value, data)
    return cast("T", value)


def _make_decoder(cls: type[Any]) -> Callable[[bytes], Any]:
    try:
        decoder: Callable[[bytes], Any] = msgspec.json.Decoder(cls, dec_hook=decode_hook).decode
    except NameError as error:
        raise unresolved(cls, error) from None
    keep = keeper_of(cls)
    if keep is not None:
        decoder = _keeping(decoder, keep)
    if isinstance(cls, msgspec.StructMeta):
        cast("Any", cls).__decoder__ = decoder
    return decoder


def _keeping(decoder: Callable[[bytes], Any], keep: Callable[[Any, Any], None]) -> Callable[[bytes], Any]:
    """`decoder` for a class that keeps unknown fields."""

    def decode_and_keep(data: bytes) -> Any:
        value = decoder(data)
        keep(value, msgspec.json.decode(data))
        return value

    return decode_and_keep


def from_dict(cls: type[T], data: dict[str, Any]) -> T:
    """A value of `cls` from decoded JSON. Raises DecodeError."""
    return decode(cls, orjson.dumps(data))


def encode(obj: Model, *, status: bool = True) -> bytes:
    """The JSON of a model; of an Object with `apiVersion` and `kind`.

    An empty metadata or status is left out, and what was absent when the object was decoded and has not been changed;
    `status=False` leaves out the status altogether.
    """
    if not isinstance(obj, Object):
        cls = type(obj)  # a part of one, which may be a pydantic model
        encoder: Callable[[Any], bytes] = cls.__dict__.get("__encoder__") or _make_encoder(cls)
        return encoder(obj)
    if isinstance(obj, Unstructured):
        info_of(type(obj))
        return _encode_unstructured(obj, status)
    head, declared = type(obj).__dict__.get("__parts__") or _make_parts(type(obj))
    parts = [head]
    for part in declared:
        value = getattr(obj, part.attribute)
        if part.is_left_out(value) or (not status and part.attribute == "status"):
            continue
        data = part.encode(value)
        if part.blank == data and not _was_there(obj, part, data):
            continue
        parts.append(part.prefix + data)
    whole = b",".join(parts) + b"}"
    zeros = obj.__dict__.get("_zeros")
    return whole if zeros is None else _without(whole, zeros)


def encode_value(value: Any) -> bytes:
    """The JSON of a value that may have Models anywhere in it, such as a patch."""
    return cast("bytes", flattened(_ENCODER.encode(value)))


def _make_encoder(cls: type[Any]) -> Callable[[Any], bytes]:
    encoder = encode_value if may_hold(cls) else _ENCODER.encode
    if isinstance(cls, msgspec.StructMeta):
        cast("Any", cls).__encoder__ = encoder
    return encoder


def _was_there(obj: Object, part: _Part, data: bytes) -> bool:
    """Whether a part that is blank is sent: as it was read; if it was made here, unless an empty one may be absent."""
    origin = origin_of(obj) if data else b"{}"
    if origin is None:
        return part.sends_empty or data != b"{}"
    return part.wire in _NAMES.decode(origin)


class _Part(NamedTuple):
    """How a field of an Object is sent."""

    attribute: str
    wire: str
    prefix: bytes
    default: Any
    encode: Callable[[Any], bytes]
    blank: bytes | None
    """What it is encoded as when it was absent, where that is not nothing."""
    sends_null: bool
    omits_empty: bool
    sends_empty: bool

    def is_left_out(self, value: Any) -> bool:
        if value is UNSET or value is None:
            return value is UNSET or not self.sends_null
        if isinstance(value, list | dict):
            return not value and self.omits_empty
        return value == self.default and type(value) is type(self.default)


def _make_parts(cls: type[Object]) -> tuple[bytes, tuple[_Part, ...]]:
    """How an object begins, and its parts."""
    info = info_of(cls)
    head = b'{"apiVersion":%b,"kind":%b' % (_ENCODER.encode(info.api_version), _ENCODER.encode(info.kind))
    parts: list[_Part] = []
    for each in model_fields(cls):
        can_be_absent = each.default is UNSET and UnsetType in get_args(plain_type(each.type, unions=False)[0])
        plain = plain_type(each.type)[0]
        is_model = isinstance(plain, msgspec.StructMeta) or is_pydantic(plain)
        inline = each.encode_name == WIRE_NAME
        parts.append(
            _Part(
                each.name,
                each.encode_name,
                b"" if inline else b"%b:" % _ENCODER.encode(each.encode_name),
                each.default,
                _members(cls) if inline else encode_value if may_hold(each.type) else _ENCODER.encode,
                _blank(each, plain),
                sends_null=takes_null(each.type) and (each.required or can_be_absent),
                omits_empty=each.default_factory in (list, dict),
                sends_empty=each.required or (is_model and each.name not in ("metadata", "status")),
            )
        )
    made = (head, tuple(parts))
    cast("Any", cls).__parts__ = made
    return made


def _members(cls: type[Object]) -> Callable[[Any], bytes]:
    """Writes unknown fields of a whole object beside the others."""
    named = {*cls.__struct_encode_fields__, *cls.__constants__}

    def encode_members(unknown: dict[str, Any]) -> bytes:
        return encode_value({name: value for name, value in unknown.items() if name not in named})[1:-1]

    return encode_members


def _blank(declared: Any, plain: Any) -> bytes | None:
    """What a part is encoded as that was absent: as it is made, if it is. What cannot be made is required."""
    if declared.encode_name == WIRE_NAME:
        return b""
    is_made = declared.default_factory is not msgspec.NODEFAULT or is_part(declared)
    if is_made and (isinstance(plain, msgspec.StructMeta) or is_pydantic(plain)):
        with suppress(TypeError, ValueError):
            return encode(plain())
    return None


def to_dict(obj: Model) -> dict[str, Any]:
    """The decoded JSON of a model: a fresh dictionary that shares nothing with it."""
    return cast("dict[str, Any]", orjson.loads(encode(obj)))


def clone(obj: T) -> T:
    """A deep copy through the wire form, with the memory of its origin."""
    copied = decode(type(obj), encode(cast("Model", obj)))
    if isinstance(obj, Object) and isinstance(copied, Object):
        _remember(copied, origin_of(obj))
    return copied


def origin_of(obj: Object) -> bytes | None:
    """The JSON that `obj` was decoded from, or None for one that was made here."""
    return cast("bytes | None", obj.__dict__.get("_origin"))


def _remember(obj: Any, origin: bytes | None) -> None:
    obj.__dict__["_origin"] = origin


# -- objects of kinds that have no class ------------------------------------------------------------------------------


def _decode_unstructured(cls: type[Unstructured], data: bytes) -> Unstructured:
    try:
        content = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise DecodeError(cls.__name__, "", str(error)) from None
    if not isinstance(content, dict):
        raise DecodeError(cls.__name__, "$", f"Expected `object`, got `{type(content).__name__}`")
    content.pop("apiVersion", None)
    content.pop("kind", None)
    obj = cls(metadata=_decode_metadata(cls, content.pop("metadata", None)), content=content)
    _remember(obj, data)
    return obj


def _decode_metadata(cls: type[Unstructured], metadata: Any) -> ObjectMeta:
    if metadata is None:
        return ObjectMeta()
    try:
        return msgspec.convert(metadata, ObjectMeta)
    except msgspec.ValidationError:
        pass
    try:
        return msgspec.convert(fit(ObjectMeta, metadata), ObjectMeta)
    except msgspec.ValidationError as error:
        raise decode_error(cls.__name__, error, "$.metadata") from None


def _encode_unstructured(obj: Unstructured, status: bool) -> bytes:
    content = obj.content
    if not status and "status" in content:
        content = {name: value for name, value in content.items() if name != "status"}
    return encode_value({"apiVersion": obj.api_version, "kind": obj.kind, "metadata": obj.metadata, **content})


# -- errors, and the second pass --------------------------------------------------------------------------------------


def _lenient(cls: type[Any], data: bytes, first: msgspec.ValidationError) -> Any:
    filled: list[Path] = []
    try:
        raw = msgspec.json.decode(data)
        value = msgspec.convert(fit(cls, raw, filled), cls, dec_hook=decode_hook)
    except msgspec.ValidationError as error:
        raise decode_error(cls.__name__, error) from None
    except msgspec.DecodeError:
        raise decode_error(cls.__name__, first) from None
    keep = keeper_of(cls)
    if keep is not None:
        keep(value, raw)
    if filled and isinstance(value, Object):
        dumped = to_dict(value)
        value.__dict__["_zeros"] = {path: _at(dumped, path) for path in filled}
    return value


def _at(value: Any, path: Path) -> Any:
    """The value at a path; UNSET where it is absent."""
    for part in path:
        if isinstance(value, dict):
            value = value.get(cast("str", part), UNSET)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return UNSET
    return value


def _without(data: bytes, zeros: dict[Path, Any]) -> bytes:
    """An encoded object without the zeros that stand for what was absent when it was decoded."""
    whole = msgspec.json.decode(data)
    for path, zero in zeros.items():
        above = _at(whole, path[:-1])
        if isinstance(above, dict) and _at(above, path[-1:]) == zero:
            del above[path[-1]]
    return msgspec.json.encode(whole)


def decode_error(wanted: str, error: msgspec.DecodeError, within: str = "$") -> DecodeError:
    """The error of msgspec as ours; paths start at `within`."""
    if not isinstance(error, msgspec.ValidationError):
        return DecodeError(wanted, "", str(error))
    rule, _, path = str(error).partition(" - at `")
    return DecodeError(wanted, within + path.rstrip("`").removeprefix("$"), rule)
