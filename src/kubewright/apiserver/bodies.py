"""Bodies of requests: bytes to a decoded object, and what strict decoding has to say of duplicates.

JSON and YAML, told apart by content type. A name that is there twice is only seen by a reader that looks: the fast one
drops the first silently. So a body that reads back byte for byte as it came has no duplicates; any other is read again
by a slower reader that counts names. Protobuf bodies are decoded by a hook, as its messages are somebody else's table.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import orjson

from kubewright.schema.structural.gotext import quoted
from kubewright.schema.structural.values import is_too_deep

from .errors import unsupported_media_type

__all__ = ["JSON_TYPES", "Body", "MediaType", "decode_json", "media_type", "read_body"]

MediaType = str

JSON_TYPES: Final = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_YAML: Final = "application/yaml"
_PROTOBUF: Final = "application/vnd.kubernetes.protobuf"

_SAFE_BRACKETS: Final = 150
"""So many brackets make no value that is too deep."""

_LONG_NUMBER: Final = re.compile(rb"[0-9]{19}")
_DIGITS: Final = 20
_TOO_DEEP: Final = "exceeded max depth"
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")

_OTHERWISE: Final = re.compile(rb'\\u|\x7f|"<<"|[:,\[]-?(?:[0-9]{19}|[0-9.]+[eE])')
"""Surrogates, what is not printed, merge keys, numbers that do not fit or have exponents; in texts too, at times."""
_LONG_NAME: Final = 1000
"""A scanner of YAML gives up looking for the colon after 1,024 characters."""

ProtobufReader = Callable[[bytes], dict[str, Any]]


class Body(NamedTuple):
    """A decoded body. `duplicates` as strict decoding warns of them: `duplicate field "spec.bar"`; `in_yaml`: the
    reader of YAML has found them, which says them together."""

    value: Any
    duplicates: tuple[str, ...] = ()
    in_yaml: bool = False

    @property
    def refused(self) -> tuple[str, ...]:
        """The duplicates as they are refused."""
        if not self.in_yaml or not self.duplicates:
            return self.duplicates
        lines = "\n  ".join(self.duplicates)
        return (f"yaml: unmarshal errors:\n  {lines}",)


class BadJson(ValueError):
    """Bytes that are no JSON; the text is the reader's."""


def media_type(header: str) -> MediaType:
    """The type of a Content-Type header, without its parameters."""
    return header.partition(";")[0].strip().lower()


def read_body(
    body: bytes, content_type: str, *, strict: bool, accepted: tuple[str, ...], protobuf: ProtobufReader | None = None
) -> Body:
    """Decode a body.

    Args:
        strict: look for duplicates.
        accepted: content types, for the error; the first is that of a body without one.

    Raises:
        StatusError: 415 for another content type.
        BadJson: it cannot be read.
    """
    kind = media_type(content_type) or accepted[0]
    if kind not in accepted or (kind == _PROTOBUF and protobuf is None):
        raise unsupported_media_type(accepted)
    if kind == _PROTOBUF:
        assert protobuf is not None
        return Body(protobuf(body))
    if kind == _YAML:
        compact = compact_json(body)
        if compact is not None:
            return compact
        from .yamlbodies import read_yaml

        return read_yaml(body, strict)
    return decode_json(body, strict=strict)


def decode_json(body: bytes, *, strict: bool) -> Body:
    """Decode JSON. Raises BadJson."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _slowly(body, strict)
    if _LONG_NUMBER.search(body):
        return _slowly(body, strict)
    _check_depth(value, body)
    if not strict or orjson.dumps(value) == body.rstrip():
        return Body(value)
    return _slowly(body, strict)


def _check_depth(value: Any, body: bytes) -> None:
    """A body needs a bracket for each level, so most are not looked at. Before anything that walks the value: what the
    readers take is bounded by the stack alone, and deeper than Python may recurse."""
    if body.count(b"{") + body.count(b"[") > _SAFE_BRACKETS and is_too_deep(value):
        raise BadJson(_TOO_DEEP)


def _slowly(body: bytes, strict: bool) -> Body:
    """The reader that sees names twice, and takes odd numbers and texts as Go does."""
    twice: dict[int, list[str]] = {}

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(items)
        if len(made) != len(items):
            names = [name for name, _ in items]
            twice[id(made)] = [name for name in made if names.count(name) > 1]
        return made

    try:
        value = json.loads(
            body.decode(errors="replace"),
            object_pairs_hook=pairs,
            parse_constant=_constant,
            parse_int=_integer,
            parse_float=_float,
        )
    except (ValueError, RecursionError) as error:
        raise BadJson(_as_go(error, body)) from None
    _check_depth(value, body)
    if _SURROGATE.search(body):
        value = _without_surrogates(value)
    found: list[str] = []
    if twice and strict:
        _paths(value, "", twice, found)
    return Body(value, tuple(found))


def _integer(text: str) -> int | float:
    """What has no place in 64 bits is a float, as in Go."""
    value = int(text) if len(text) <= _DIGITS else 0
    return value if len(text) <= _DIGITS and -(2**63) <= value < 2**63 else _float(text)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return value


def _without_surrogates(value: Any) -> Any:
    """Halves of characters that JSON may escape but UTF-8 cannot hold become U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(name): _without_surrogates(each) for name, each in value.items()}
    return [_without_surrogates(each) for each in value] if isinstance(value, list) else value


def _constant(text: str) -> Any:
    raise ValueError(f"invalid character {text[0]!r} looking for beginning of value")


def _paths(value: Any, path: str, twice: Mapping[int, list[str]], found: list[str]) -> None:
    """The paths of names that are there twice, in the order in which a reader comes to the end of their objects."""
    if isinstance(value, dict):
        for name, each in value.items():
            _paths(each, f"{path}{name}.", twice, found)
        found += [f'duplicate field "{path}{name}"' for name in twice.get(id(value), ())]
    elif isinstance(value, list):
        for place, each in enumerate(value):
            _paths(each, f"{path.removesuffix('.')}[{place}].", twice, found)


def json_problem(body: bytes) -> str:
    """Why bytes are no JSON, in the words of Go's reader; empty if they are."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        return _as_go(error, body)
    return _TOO_DEEP if is_too_deep(value) else ""


def _as_go(error: Exception, body: bytes) -> str:
    """What Go's decoder says of the same text, for the usual cases."""
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    if isinstance(error, UnicodeDecodeError):
        return f"invalid character {_quoted(chr(body[error.start]))} looking for beginning of value"
    if isinstance(error, json.JSONDecodeError):
        rest = error.doc[error.pos :].lstrip(" \t\r\n")
        if not rest or error.msg.startswith("Unterminated"):
            return "unexpected end of JSON input"
        character = _quoted(rest[0])
        for literal in ("true", "false", "null"):
            if rest[0] == literal[0] and not error.msg.startswith("Extra"):
                return _in_literal(rest, literal)
        if error.msg == "Extra data":
            return f"invalid character {character} after top-level value"
        if error.msg.startswith("Expecting property name"):
            return f"invalid character {character} looking for beginning of object key string"
        if error.msg.startswith("Expecting ':'"):
            return f"invalid character {character} after object key"
        if error.msg.startswith("Expecting ','"):
            inside = "array element" if _in_array(error.doc[: error.pos]) else "object key:value pair"
            return f"invalid character {character} after {inside}"
        return f"invalid character {character} looking for beginning of value"
    return str(error)


def _in_literal(rest: str, literal: str) -> str:
    for place, wanted in enumerate(literal):
        if place >= len(rest):
            return "unexpected end of JSON input"
        if rest[place] != wanted:
            return f"invalid character {_quoted(rest[place])} in literal {literal} (expecting '{wanted}')"
    return "unexpected end of JSON input"


def _quoted(character: str) -> str:
    return {"'": "'\\''", '"': "'\"'"}.get(character, f"'{quoted(character)[1:-1]}'")


def _in_array(before: str) -> bool:
    depth: list[str] = []
    for character in re.sub(r'"(?:\\.|[^"\\])*"', "", before):
        if character in "[{":
            depth.append(character)
        elif character in "]}" and depth:
            depth.pop()
    return bool(depth) and depth[-1] == "["


def compact_json(body: bytes) -> Body | None:
    """A body of YAML that is compact JSON in which nothing is written that YAML reads otherwise; None for any other.

    Programs apply in JSON, and a reader of YAML takes longer than all else of a request. What reads back byte for byte
    has no name twice.
    """
    if body[:1] != b"{" or not body.isascii() or _OTHERWISE.search(body):
        return None
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    _check_depth(value, body)
    if orjson.dumps(value) != body or (len(body) > _LONG_NAME and _has_long_names(value)):
        return None
    return Body(value, in_yaml=True)


def _has_long_names(value: Any) -> bool:
    if isinstance(value, dict):
        return any(len(name) >= _LONG_NAME or _has_long_names(each) for name, each in value.items())
    return isinstance(value, list) and any(map(_has_long_names, value))
