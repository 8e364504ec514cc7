"""Models to JSON bytes and back.

Decoding is strict where it is free and lenient where servers are not exact: a `null` where the model has no room for
one, and an absent field that the model requires, are accepted on a second, slower pass (Go writes `null` for an empty
slice, and an older server knows fewer fields). Anything else is a `DecodeError` that names the path.

An Object remembers the bytes it was decoded from (`origin_of`). They are what lets an update keep fields that the class
does not know, and they cost nothing: the cache hands out the bytes that it keeps anyway.
"""

from __future__ import annotations

from collections.abc import Callable
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
from .lenient import fit
from .meta import ObjectMeta
from .pydantics import is_pydantic
from .resource import Object, info_of
from .unstructured import Unstructured

__all__ = ["DecodeError", "clone", "decode", "decode_error", "encode", "from_dict", "origin_of", "to_dict"]

T = TypeVar("T")
_ENCODER = msgspec.json.Encoder(enc_hook=encode_hook)


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
        decoder = msgspec.json.Decoder(cls, dec_hook=decode_hook).decode
    except NameError as error:
        raise unresolved(cls, error) from None
    if isinstance(cls, msgspec.StructMeta):
        cast("Any", cls).__decoder__ = decoder
    return decoder


def from_dict(cls: type[T], data: dict[str, Any]) -> T:
    """A value of `cls` from decoded JSON. Raises DecodeError."""
    return decode(cls, orjson.dumps(data))


def encode(obj: Model, *, status: bool = True) -> bytes:
    """The JSON of a model; of an Object with `apiVersion` and `kind`.

    An empty metadata or status is left out; `status=False` leaves out the status altogether.
    """
    if not isinstance(obj, Object):
        return _ENCODER.encode(obj)  # a part of one, which may be a pydantic model
    info = info_of(type(obj))
    if isinstance(obj, Unstructured):
        return _encode_unstructured(obj, status)
    parts = [b'{"apiVersion":%b,"kind":%b' % (_ENCODER.encode(info.api_version), _ENCODER.encode(info.kind))]
    for part in type(obj).__dict__.get("__parts__") or _make_parts(type(obj)):
        value = getattr(obj, part.attribute)
        if part.is_left_out(value) or (not status and part.attribute == "status"):
            continue
        data = _ENCODER.encode(value)
        if data != b"{}" or part.sends_empty:
            parts.append(part.prefix + data)
    return b",".join(parts) + b"}"


class _Part(NamedTuple):
    """How a field of an Object is sent."""

    attribute: str
    prefix: bytes
    default: Any
    sends_null: bool
    sends_empty: bool

    def is_left_out(self, value: Any) -> bool:
        if value is UNSET or value is None:
            return value is UNSET or not self.sends_null
        if isinstance(value, list | dict):
            return not value and not self.sends_empty
        return value == self.default and type(value) is type(self.default)


def _make_parts(cls: type[Object]) -> tuple[_Part, ...]:
    parts: list[_Part] = []
    for each in model_fields(cls):
        can_be_absent = each.default is UNSET and UnsetType in get_args(plain_type(each.type, unions=False)[0])
        plain = plain_type(each.type)[0]
        is_model = isinstance(plain, msgspec.StructMeta) or is_pydantic(plain)
        parts.append(
            _Part(
                each.name,
                b"%b:" % _ENCODER.encode(each.encode_name),
                each.default,
                sends_null=takes_null(each.type) and (each.required or can_be_absent),
                sends_empty=each.required or (is_model and each.name not in ("metadata", "status")),
            )
        )
    made = tuple(parts)
    cast("Any", cls).__parts__ = made
    return made


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
    return _ENCODER.encode({"apiVersion": obj.api_version, "kind": obj.kind, "metadata": obj.metadata, **content})


# -- errors, and the second pass --------------------------------------------------------------------------------------


def _lenient(cls: type[Any], data: bytes, first: msgspec.ValidationError) -> Any:
    try:
        return msgspec.convert(fit(cls, orjson.loads(data)), cls, dec_hook=decode_hook)
    except msgspec.ValidationError as error:
        raise decode_error(cls.__name__, error) from None
    except orjson.JSONDecodeError:
        raise decode_error(cls.__name__, first) from None


def decode_error(wanted: str, error: msgspec.DecodeError, within: str = "$") -> DecodeError:
    """The error of msgspec as ours; paths start at `within`."""
    if not isinstance(error, msgspec.ValidationError):
        return DecodeError(wanted, "", str(error))
    rule, _, path = str(error).partition(" - at `")
    return DecodeError(wanted, within + path.rstrip("`").removeprefix("$"), rule)
