"""The names that controllers give to what they make of a template: `pod-template-hash` and that of ControllerRevisions.

Controllers hash a Pod template as Go prints it, with the names of fields and types. `podtemplate.json` has those
(`hack/gotypes/podtemplate` prints it); how they are printed is told here. A template is taken as the API server stores
it, with its defaults.
Rules: `kubernetes/pkg/controller/controller_utils.go` (ComputeHash), `.../history/controller_history.go`,
`k8s.io/utils/dump`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import orjson

from kubewright.model import Quantity
from kubewright.schema.structural.gotext import as_json

__all__ = ["revision_hash", "template_hash"]

_TYPES: Final = Path(__file__).with_name("podtemplate.json")
_TEMPLATE: Final = "core/v1.PodTemplateSpec"
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_OFFSET: Final = 2166136261
_PRIME: Final = 16777619
_TIME: Final = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"
_INTEGERS: Final = frozenset({"int", "int32", "int64", "uint8"})
_QUANTITY: Final = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(.*)", re.DOTALL)
_MOST: Final = 2**63 - 1
_WORD: Final = 2**64 - 1
_MOST_DIGITS: Final = 18
_MOST_BINARY_DIGITS: Final = 14
_LEAST_SCALE: Final = -9
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def template_hash(template: dict[str, Any], collisions: int | None) -> str:
    """The `pod-template-hash` of a template, after so many collisions (`status.collisionCount`; None: never any)."""
    return _template_hash(orjson.dumps(template, option=orjson.OPT_SORT_KEYS), collisions)


@lru_cache(maxsize=256)
def _template_hash(template: bytes, collisions: int | None) -> str:
    text = "".join(_printed(_TEMPLATE, orjson.loads(template), shown=True)).encode()
    if collisions is not None:
        text += collisions.to_bytes(4, "little") + bytes(4)
    hashed = _OFFSET
    for byte in text:
        hashed = (hashed ^ byte) * _PRIME & 0xFFFFFFFF
    return _spelled(hashed)


def revision_hash(data: dict[str, Any], collisions: int | None) -> str:
    """The hash in the name of a ControllerRevision with that data."""
    text = as_json(data).encode()
    if collisions is not None:
        text += str(collisions).encode()
    hashed = _OFFSET
    for byte in text:
        hashed = hashed * _PRIME & 0xFFFFFFFF ^ byte
    return _spelled(hashed)


def _spelled(number: int) -> str:
    return "".join(_LETTERS[ord(digit) % len(_LETTERS)] for digit in str(number))


@lru_cache(maxsize=1)
def _types() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = orjson.loads(_TYPES.read_bytes())
    return found


def _said(type_: str) -> str:
    """What Go calls a type."""
    if type_.startswith(("*", "[]")):
        start = 1 if type_[0] == "*" else 2
        return type_[:start] + _said(type_[start:])
    if type_.startswith("map["):
        key, _, below = type_[4:].partition("]")
        return f"map[{_said(key)}]{_said(below)}"
    return type_.rpartition("/")[2]


def _printed(type_: str, value: Any, *, shown: bool) -> Iterator[str]:
    """A value as Go prints it; `shown`: with its type."""
    if type_[0] == "*":
        if shown:
            yield f"({_said(type_)})"
        elif value is not None:
            yield "<*>"
        if value is None:
            yield "<nil>"
        else:
            yield from _printed(type_[1:], value, shown=False)
        return
    if shown:
        yield f"({_said(type_)})"
    made = _types().get(type_)
    kind = made["kind"] if made else type_
    if type_ == "meta/v1.Time":
        yield _TIME
    elif type_ == "util/intstr.IntOrString":
        yield _int_or_string(value)
    elif type_ == "api/resource.Quantity":
        yield _quantity(value)
    elif type_.startswith("[]") or kind == "slice":
        yield from _items(made["elem"] if made else type_[2:], value)
    elif type_.startswith("map[") or kind == "map":
        yield from _entries(made["elem"] if made else type_.partition("]")[2], value)
    elif made is not None and kind == "struct":
        yield from _fields(made["fields"], value or {})
    elif kind == "bool":
        yield "true" if value else "false"
    elif kind in _INTEGERS:
        yield str(value or 0)
    else:
        yield value or ""


def _items(below: str, value: Any) -> Iterator[str]:
    if not value:
        yield "<nil>"
        return
    yield "["
    for place, each in enumerate(value):
        if place:
            yield " "
        yield from _printed(below, each, shown=False)
    yield "]"


def _entries(below: str, value: Any) -> Iterator[str]:
    if not value:
        yield "<nil>"
        return
    yield "map["
    for place, key in enumerate(sorted(value, key=lambda each: each.encode())):
        yield f" {key}:" if place else f"{key}:"
        yield from _printed(below, value[key], shown=False)
    yield "]"


def _fields(fields: list[list[str]], value: dict[str, Any]) -> Iterator[str]:
    yield "{"
    for place, (go_name, name, type_) in enumerate(fields):
        yield f" {go_name}:" if place else f"{go_name}:"
        yield from _printed(type_, value.get(name) if name else value, shown=True)
    yield "}"


def _int_or_string(value: Any) -> str:
    is_text = isinstance(value, str)
    number, text = (0, value) if is_text else (value or 0, "")
    return f"{{Type:(intstr.Type){int(is_text)} IntVal:(int32){number} StrVal:(string){text}}}"


def _quantity(value: Any) -> str:
    """A quantity as it is parsed: a small number with its scale, and the text where that is the canonical one; or a
    large one, in billionths.
    """
    text = "" if value is None else str(value)
    family = Quantity(text).family if text else "decimal"
    said = {"binary": "BinarySI", "decimal": "DecimalSI"}.get(family, "DecimalExponent") if text else ""
    found = _amount(text)
    if found is None:
        amount, scale, kept, large = 0, 0, "", _large(Quantity(text).nanos)
    else:
        (amount, scale, kept), large = found, "<nil>"
    return (
        f"{{i:(resource.int64Amount){{value:(int64){amount} scale:(resource.Scale){scale}}} "
        f"d:(resource.infDecAmount){{Dec:(*inf.Dec){large}}} s:(string){kept} Format:(resource.Format){said}}}"
    )


def _amount(text: str) -> tuple[int, int, str] | None:
    """Number, scale and canonical text; None: it is too large for that."""
    if text in ("", "0"):
        return 0, 0, text
    found = _QUANTITY.fullmatch(text)
    assert found is not None, "the server has let it in"
    whole, fraction, suffix = found[2].lstrip("0") or "0", found[3] or "", found[4]
    digits = whole + fraction
    number = int(digits)
    sign = -1 if found[1] == "-" else 1
    if suffix in _BINARY:
        exponent = _BINARY[suffix]
        amount = number << exponent
        if fraction or _MOST_BINARY_DIGITS - len(whole) - exponent * 3 // 10 < 0 or amount > _MOST:
            return None
        return sign * amount, 0, text if number & 7 else ""
    scale = (_DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])) - len(fraction)
    if len(digits) > _MOST_DIGITS or scale < _LEAST_SCALE:
        return None
    canonical = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    return sign * number, scale, text if canonical else ""


def _large(nanos: int) -> str:
    number, words = abs(nanos), []
    while number:
        words.append(str(number & _WORD))
        number >>= 64
    sign = "true" if nanos < 0 else "false"
    return f"{{unscaled:(big.Int){{neg:(bool){sign} abs:(big.nat)[{' '.join(words)}]}} scale:(inf.Scale)9}}"
