"""How Go prints values, because an API server's messages have values in them.

| function | Go | example |
|---|---|---|
| `quoted` | `%q`, `strconv.Quote` | `"a\\tb"` |
| `plain` | `%v` | `map[a:1 b:[x y]]`, `1e+06` |
| `as_json` | `json.Marshal` | `{"a":1}`: sorted names, `<` as `\\u003c`, 1.0 as `1` |

Values are JSON values: None, bool, int, float, str, list, dict. An int is Go's int64, a float its float64.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

__all__ = ["GoStruct", "as_json", "in_go", "kind_of", "plain", "quoted", "typed"]

_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_IN_JSON: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
_DEL: Final = 0x7F
_NAMES: Final = {str: "string", bool: "bool", int: "int64", float: "float64", list: "[]interface {}"}


class GoStruct(dict[str, Any]):
    """A value that Go has as a struct: its fields are written in their own order, not sorted."""


def quoted(text: str) -> str:
    """A Go string literal."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if (known := _ESCAPES.get(character)) is not None:
        return known
    if character.isprintable():
        return character
    code = ord(character)
    if code <= _DEL:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def plain(value: Any) -> str:
    """A value as `%v` shows it."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value, smallest=1e-4, largest=1e6)
    if isinstance(value, list):
        return "[" + " ".join(map(plain, value)) + "]"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{name}:{plain(value[name])}" for name in sorted(value)) + "]"
    return str(value)


def in_go(value: Any) -> str:
    """A value as `%#v` shows it."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return "[]interface {}{" + ", ".join(map(in_go, value)) + "}"
    if isinstance(value, dict):
        return typed(value) + "{" + ", ".join(f"{quoted(name)}:{in_go(value[name])}" for name in sorted(value)) + "}"
    return "interface {}(nil)" if value is None else plain(value)


def typed(value: Any) -> str:
    """The name of a value's type as `%T` shows it."""
    if value is None:
        return "<nil>"
    return _NAMES.get(type(value), "map[string]interface {}")


def as_json(value: Any) -> str:
    """Compact JSON, byte for byte what `encoding/json` writes."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + "".join(_IN_JSON.get(each) or _json_character(each) for each in value) + '"'
    if isinstance(value, float):
        shown = _number(value, smallest=1e-6, largest=1e21)
        # encoding/json writes 1e-7 where strconv writes 1e-07.
        return shown.replace("e-0", "e-")
    if isinstance(value, list):
        return "[" + ",".join(map(as_json, value)) + "]"
    if isinstance(value, dict):
        names = list(value) if isinstance(value, GoStruct) else sorted(value)
        return "{" + ",".join(f"{as_json(name)}:{as_json(value[name])}" for name in names) + "}"
    return str(value)


def _json_character(character: str) -> str:
    return character if character >= " " else f"\\u{ord(character):04x}"


def _number(value: float, smallest: float, largest: float) -> str:
    """The shortest digits that read back as `value`; with an exponent below `smallest` and from `largest` on."""
    if value == 0:
        return "-0" if str(value).startswith("-") else "0"
    if smallest <= abs(value) < largest:
        shown = format(Decimal(repr(value)), "f")
        return shown.removesuffix(".0")
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    mantissa = "".join(map(str, digits))
    power = int(exponent) + len(mantissa) - 1
    fraction = f".{mantissa[1:]}" if len(mantissa) > 1 else ""
    return f"{'-' if sign else ''}{mantissa[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02d}"


def kind_of(value: Any) -> str:
    """The JSON schema type of a value: a float is a number, also when it is whole."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "array" if isinstance(value, list) else "object"
