"""Models to JSON bytes and back.

Decoding is strict where it is free and lenient where servers are not exact: a `null` where the model has no room for
one, and an absent field that the model requires, are accepted on a second, slower pass (Go writes `null` for an empty
slice, and an older server knows fewer fields). Anything else is a `DecodeError` that names the path.

An Object remembers the bytes it was decoded from (`origin_of`). They are what lets an update keep fields that the class
does not know, and they cost nothing: the cache hands out the bytes that it keeps anyway.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar, Union, cast, get_args, get_origin

import msgspec
import orjson

from .base import UNSET, Model, decode_hook, encode_hook
from .meta import ObjectMeta
from .resource import Object, info_of
from .unstructured import Unstructured

__all__ = ["DecodeError", "clone", "decode", "encode", "from_dict", "origin_of", "to_dict"]

T = TypeVar("T")
_ENCODER = msgspec.json.Encoder(enc_hook=encode_hook)
_META_DECODER = msgspec.json.Decoder(ObjectMeta, dec_hook=decode_hook)


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
        raise DecodeError(cls.__name__, "", str(error)) from None
    if issubclass(cls, Object):
        value.__dict__["_origin"] = data
    return cast("T", value)


def _make_decoder(cls: type[Any]) -> Callable[[bytes], Any]:
    decoder = msgspec.json.Decoder(cls, dec_hook=decode_hook).decode
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
        return _ENCODER.encode(obj)
    info = info_of(type(obj))
    if isinstance(obj, Unstructured):
        return _encode_unstructured(obj, status)
    parts = [b'{"apiVersion":%b,"kind":%b' % (_ENCODER.encode(info.api_version), _ENCODER.encode(info.kind))]
    cls = type(obj)
    required = _required(cls)
    for attribute, name in zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True):
        value = getattr(obj, attribute)
        if value is None or value is UNSET or (attribute == "status" and not status):
            continue
        if attribute not in required and isinstance(value, list | dict) and not value:
            continue
        data = _ENCODER.encode(value)
        if data == b"{}" and isinstance(value, Model) and attribute not in required:
            continue
        parts.append(b'"%b":%b' % (name.encode(), data))
    return b",".join(parts) + b"}"


def _required(cls: type[Object]) -> frozenset[str]:
    known = cls.__dict__.get("__required__")
    if known is None:
        known = frozenset(
            f.name
            for f in msgspec.structs.fields(cls)
            if (f.name == "spec" and f.default is UNSET) or f.default is f.default_factory is msgspec.NODEFAULT
        )
        cast("Any", cls).__required__ = known
    return cast("frozenset[str]", known)


def to_dict(obj: Model) -> dict[str, Any]:
    """The decoded JSON of a model: a fresh dictionary that shares nothing with it."""
    return cast("dict[str, Any]", orjson.loads(encode(obj)))


def clone(obj: T) -> T:
    """A deep copy through the wire form, with the memory of its origin."""
    copied = decode(type(obj), encode(cast("Model", obj)))
    if isinstance(obj, Object) and isinstance(copied, Object):
        copied.__dict__["_origin"] = obj.__dict__.get("_origin")
    return copied


def origin_of(obj: Object) -> bytes | None:
    """The JSON that `obj` was decoded from, or None for one that was made here."""
    return cast("bytes | None", obj.__dict__.get("_origin"))


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
    metadata = content.pop("metadata", None) or {}
    obj = cls(metadata=_META_DECODER.decode(orjson.dumps(_without_nulls(metadata))), content=content)
    obj.__dict__["_origin"] = data
    return obj


def _encode_unstructured(obj: Unstructured, status: bool) -> bytes:
    content = obj.content
    if not status and "status" in content:
        content = {name: value for name, value in content.items() if name != "status"}
    return _ENCODER.encode({"apiVersion": obj.api_version, "kind": obj.kind, "metadata": obj.metadata, **content})


# -- the second pass --------------------------------------------------------------------------------------------------


def _lenient(cls: type[Any], data: bytes, first: msgspec.ValidationError) -> Any:
    try:
        return msgspec.convert(_fit(cls, orjson.loads(data)), cls, dec_hook=decode_hook)
    except msgspec.ValidationError as error:
        raise _decode_error(cls, error) from None
    except orjson.JSONDecodeError:
        raise _decode_error(cls, first) from None


def _decode_error(cls: type[Any], error: msgspec.ValidationError) -> DecodeError:
    rule, _, path = str(error).partition(" - at `")
    return DecodeError(cls.__name__, path.rstrip("`"), rule)


def _without_nulls(value: dict[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if item is not None}


_ZERO: dict[Any, Any] = {str: "", int: 0, float: 0.0, bool: False}


def _fit(wanted: Any, value: Any) -> Any:
    """Drop nulls that `wanted` has no room for, and fill required fields that are absent with Go's zero values."""
    origin = get_origin(wanted)
    if origin in (Union, types.UnionType):
        arms = [arm for arm in get_args(wanted) if arm not in (type(None), msgspec.UnsetType)]
        return _fit(arms[0], value) if len(arms) == 1 and value is not None else value
    if origin is list and isinstance(value, list):
        (item,) = get_args(wanted) or (Any,)
        return [_fit(item, each) for each in value]
    if origin is dict and isinstance(value, dict):
        _, item = get_args(wanted) or (Any, Any)
        return {name: _fit(item, each) for name, each in value.items()}
    if isinstance(wanted, msgspec.StructMeta) and isinstance(value, dict):
        return _fit_struct(wanted, value)
    return value


def _fit_struct(wanted: Any, value: dict[str, Any]) -> dict[str, Any]:
    fitted = dict(value)
    for f in msgspec.structs.fields(wanted):
        present = fitted.get(f.encode_name)
        if present is None:
            if f.encode_name in fitted and not _takes_null(f.type):
                del fitted[f.encode_name]
            if f.required and f.encode_name not in fitted and (zero := _zero(f.type)) is not UNSET:
                fitted[f.encode_name] = zero
        else:
            fitted[f.encode_name] = _fit(f.type, present)
    return fitted


def _takes_null(wanted: Any) -> bool:
    return wanted is Any or type(None) in get_args(wanted) or wanted is type(None)


def _zero(wanted: Any) -> Any:
    if wanted in _ZERO:
        return _ZERO[wanted]
    origin = get_origin(wanted)
    if origin in (list, dict):
        return origin()
    if isinstance(wanted, msgspec.StructMeta):
        return _fit_struct(wanted, {})
    if wanted is datetime:
        return datetime.fromtimestamp(0, UTC)
    return UNSET
