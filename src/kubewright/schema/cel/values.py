"""Values at run time, where Python's own do not fit.

| CEL | Python |
|---|---|
| null, bool, int, double, string, bytes | None, bool, int, float, str, bytes |
| uint | `UInt`, an int with a type of its own |
| list, map, object | list, dict, dict (`ObjectValue` where the expression made it) |
| timestamp, duration | `Timestamp`, `Duration`: integer nanoseconds, as datetime has only microseconds |
| optional | `Optional` |
| type | `TypeValue` |

What data of a schema has beside these, and expressions do not make, is at the end: `SetList` to `Misfit`.

Python says `True == 1` and hashes both alike; CEL does not. So bool keys of maps are kept as `TRUE_KEY` and
`FALSE_KEY`: `encode_key` and `decode_key` convert.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import total_ordering
from typing import Any, Final, NoReturn

from .errors import EvaluationError

__all__ = [
    "ABSENT",
    "FALSE_KEY",
    "TRUE_KEY",
    "Duration",
    "KeptObject",
    "MapList",
    "Misfit",
    "ObjectValue",
    "Optional",
    "Preserved",
    "SetList",
    "StrictList",
    "StrictMap",
    "Timestamp",
    "TypeValue",
    "UInt",
    "decode_key",
    "encode_key",
]


class UInt(int):
    """An unsigned 64-bit integer."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{int(self)}u"


@total_ordering
class _Nanoseconds:
    __slots__ = ("ns",)

    def __init__(self, ns: int) -> None:
        self.ns = ns

    def __eq__(self, other: object) -> bool:
        return other.__class__ is self.__class__ and other.ns == self.ns

    def __lt__(self, other: _Nanoseconds) -> bool:
        return self.ns < other.ns

    def __hash__(self) -> int:
        return hash((self.__class__, self.ns))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.ns})"


class Timestamp(_Nanoseconds):
    """An instant, in nanoseconds since 1970 UTC; within the years 1 to 9999.

    `offset` is the zone's offset in seconds, which is kept for showing the instant as it was written.
    """

    __slots__ = ("offset",)

    def __init__(self, ns: int, offset: int = 0) -> None:
        self.ns = ns
        self.offset = offset


class Duration(_Nanoseconds):
    """A length of time in nanoseconds, within 64 bits."""

    __slots__ = ()


class TypeValue:
    """A type as a value: what `type(x)` returns."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeValue) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"TypeValue({self.name!r})"


ABSENT: Final[Any] = object()


class Optional:
    """A value or none; `Optional()` is none."""

    __slots__ = ("value",)

    def __init__(self, value: Any = ABSENT) -> None:
        self.value = value

    @property
    def present(self) -> bool:
        return self.value is not ABSENT

    def __repr__(self) -> str:
        return f"optional.of({self.value!r})" if self.present else "optional.none()"


class _BoolKey:
    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


TRUE_KEY: Final = _BoolKey(True)
FALSE_KEY: Final = _BoolKey(False)


def encode_key(key: Any) -> Any:
    """A value as the key of a dict."""
    return (TRUE_KEY if key else FALSE_KEY) if key.__class__ is bool else key


def decode_key(key: Any) -> Any:
    """The key of a dict as a value."""
    return key.value if key.__class__ is _BoolKey else key


class ObjectValue(dict[str, Any]):
    """An object that an expression made, `Name{...}`: equal only to one of its type."""

    __slots__ = ("cel_type",)

    def __init__(self, cel_type: str, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.cel_type = cel_type


# -- of data with a schema --------------------------------------------------------------------------------------------


class SetList(list[Any]):
    """A list that its schema calls a set: equal in any order; `+` adds what is not in it."""

    __slots__ = ()


class MapList(list[Any]):
    """A list that its schema calls a map: items are told apart by `keys`; equal in any order; `+` replaces by key.

    Attributes:
        data: the JSON that it was made of; None of what an expression made.
        names: the keys as identifiers, by which the server looks into the data.
    """

    __slots__ = ("data", "keys", "names")

    def __init__(
        self, items: list[Any], keys: tuple[str, ...], data: list[Any] | None = None, names: tuple[str, ...] = ()
    ) -> None:
        super().__init__(items)
        self.keys = keys
        self.data = data
        self.names = names

    def key_of(self, item: Any) -> tuple[Any, ...]:
        return tuple(item.get(key) for key in self.keys) if isinstance(item, dict) else ()


class StrictList(list[Any]):
    """A list of objects or lists that may be null: comparing one with null is an error, not False."""

    __slots__ = ()


class StrictMap(dict[str, Any]):
    """A map of such values."""

    __slots__ = ()


class KeptObject(dict[str, Any]):
    """An object of which rules see less than there is: `raw` is all of it, `known` the fields of its schema."""

    __slots__ = ("known", "raw")

    def __init__(self, seen: dict[str, Any], raw: dict[str, Any], known: AbstractSet[str]) -> None:
        super().__init__(seen)
        self.raw = raw
        self.known = known


class Preserved:
    """JSON whose schema only says that it is preserved. No rule sees it, but `==` of what it is in does."""

    __slots__ = ("raw",)

    def __init__(self, raw: Any) -> None:
        self.raw = raw


class Misfit:
    """What data that is not of its schema's type is to a rule: an error wherever it is read.

    Programs read values through `sound()` then. What functions find inside of lists fails by itself.
    """

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message

    def error(self) -> EvaluationError:
        return EvaluationError(self.message)

    def _fail(self, *_: object) -> NoReturn:
        raise self.error()

    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __len__ = __iter__ = _fail
    __hash__ = __getitem__ = __contains__ = __str__ = _fail

    def __repr__(self) -> str:
        return f"Misfit({self.message!r})"
