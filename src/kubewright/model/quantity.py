"""`Quantity`: Kubernetes' fixed-point number with a unit suffix (`k8s.io/apimachinery/pkg/api/resource`).

| text | family | means |
|---|---|---|
| `500m`, `2`, `4k`, `3G` | decimal SI: n u m, none, k M G T P E | powers of 1000 |
| `128Mi`, `2Gi` | binary SI: Ki Mi Gi Ti Pi Ei | powers of 1024 |
| `5e3`, `1E-3` | decimal exponent | powers of ten |

The value is held as a whole number of nanos. Nothing finer exists: smaller parts are rounded away from zero, "if you
want some resources, you should get some". A binary text above 2^63-1 means 2^63-1.

Canonical form (`str`): no fraction, the largest suffix that needs none, the family of the text (of the left operand
after arithmetic, of the right one where the left is zero). Binary amounts below 1024 or with a fraction print as
decimal SI. Two differences from Go, where its output is another number or not in its own documented form: an amount of
1000E and more keeps its zeros (Go drops the suffix and prints `1`), and texts such as `1.500` or `+1`, which Go prints
back as they came, are made canonical.

What was read is sent back as it was read: a read-modify-write must not turn a user's `0.5` into `500m`, which would be
a change to the server. Equality and order go by value.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from functools import lru_cache, total_ordering
from typing import Any, Final, Literal, final

from .pydantics import core_schema_of

__all__ = ["Quantity", "QuantityFamily"]

QuantityFamily = Literal["decimal", "binary", "exponent"]

_NANO: Final = 10**9
_CAP: Final = (2**63 - 1) * _NANO
_LIMIT: Final = 1000
"""Longest number, and largest power of ten, that is read: an `1e999999999` from a server must not fill the memory."""

_FORM: Final = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?", re.ASCII)
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIX: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_BINARY_SUFFIX: Final = ("", *_BINARY)
_EXACT: Final = Context(prec=4 * _LIMIT)
_CURE: Final = "write a number with one of n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or e<power>, such as 500m, 2 or 128Mi"


def _reject(text: object, rule: str) -> ValueError:
    return ValueError(f"quantity {text!r}: {rule}; {_CURE}")


def _round_away(amount: int, divisor: int) -> int:
    return -(-amount // divisor) if amount > 0 else amount // divisor


def _parse(text: str) -> tuple[int, QuantityFamily]:
    """The amount in nanos and the family of a text."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise _reject(text, "is not <number><suffix>")
    sign, whole, fraction, suffix = match.groups("")
    if not whole and not fraction:
        raise _reject(text, "has no digits")
    if len(whole) + len(fraction) > _LIMIT:
        raise _reject(f"{text[:20]}...", f"has more than {_LIMIT} digits")
    amount = int(whole + fraction)
    family: QuantityFamily
    if suffix in _BINARY:
        family = "binary"
        nanos = (amount << _BINARY[suffix]) * _NANO
        if fraction:
            nanos = _round_away(nanos, 10 ** len(fraction))
        nanos = min(nanos, _CAP)
        if 0 < nanos < _NANO:
            family = "decimal"
    else:
        power = _DECIMAL.get(suffix)
        family = "exponent" if power is None else "decimal"
        if power is None:
            power = int(suffix[1:]) if len(suffix) < 8 else _LIMIT + 1
            if abs(power) > _LIMIT:
                raise _reject(text, f"has a power of ten beyond {_LIMIT}")
        power += 9 - len(fraction)
        nanos = amount * 10**power if power >= 0 else _round_away(amount, 10**-power)
    return (-nanos if sign == "-" else nanos), family


def _canonical(nanos: int, family: QuantityFamily) -> str:
    if nanos == 0:
        return "0"
    if family == "binary":
        units, rest = divmod(nanos, _NANO)
        if not rest and not -1024 < units < 1024:
            step = 0
            while step < 6 and units % 1024 == 0:
                units //= 1024
                step += 1
            return f"{units}{_BINARY_SUFFIX[step]}"
        family = "decimal"
    amount, exponent = nanos, -9
    while amount % 1000 == 0 and (exponent < 18 or family == "exponent"):
        amount //= 1000
        exponent += 3
    if family == "decimal":
        return f"{amount}{_DECIMAL_SUFFIX[exponent]}"
    return f"{amount}e{exponent}" if exponent else str(amount)


@final
@total_ordering
class Quantity:
    """An amount of CPU, memory, storage or anything else that is counted with a suffix. Immutable.

    ```python
    Quantity("1.5Gi") + Quantity("512Mi")  # Quantity('2Gi')
    Quantity("100m") * 3 < 1  # True
    sum((c.resources.requests["cpu"] for c in containers), Quantity(0))
    ```

    Args:
        value: a text in one of the three families, a whole number, a Decimal, or another Quantity. A float is refused:
            the point of the type is that there is none.

    Raises:
        ValueError: the text is not a quantity.
        TypeError: the value is of another type.
    """

    __slots__ = ("_family", "_nanos", "_wire")

    _nanos: int
    _family: QuantityFamily
    _wire: str | int | float | None

    def __init__(self, value: str | int | Decimal | Quantity = 0) -> None:
        if type(value) is str:
            self._nanos, self._family = _parse(value)
            self._wire = value
        elif type(value) is int:
            self._nanos, self._family, self._wire = value * _NANO, "decimal", None
        elif isinstance(value, Quantity):
            self._nanos, self._family, self._wire = value._nanos, value._family, value._wire
        elif isinstance(value, Decimal):
            if not value.is_finite():
                raise _reject(str(value), "is not finite")
            self._nanos, self._family = _parse(f"{value:E}".replace("E+", "e"))[0], "decimal"
            self._wire = None
        else:
            raise TypeError(
                f"quantity {value!r}: a {type(value).__name__} is not exact; give a text such as '500m' or an int"
            )

    @classmethod
    def from_nanos(cls, nanos: int, family: QuantityFamily = "decimal") -> Quantity:
        """`nanos` billionths, printed with suffixes of `family`: `from_nanos(1500000000)` is `1500m`."""
        made = cls.__new__(cls)
        made._nanos, made._family, made._wire = nanos, family, None
        return made

    # -- the wire ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_wire(cls, value: Any) -> Quantity:
        """From a JSON string or number. Raises ValueError, TypeError."""
        if type(value) is str:
            return _from_text(value)
        if type(value) is int or type(value) is float:
            made = cls(repr(value))
            made._wire = value
            return made
        raise TypeError(f"quantity {value!r}: is neither a JSON string nor a number; {_CURE}")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return core_schema_of(cls, cls.from_wire, cls.to_wire)

    def to_wire(self) -> str | int | float:
        """What was read, unchanged; the canonical text of a computed one."""
        return str(self) if self._wire is None else self._wire

    # -- forms ------------------------------------------------------------------------------------------------------

    @property
    def family(self) -> QuantityFamily:
        """Which suffixes it is printed with."""
        return self._family

    @property
    def nanos(self) -> int:
        """The exact amount in billionths."""
        return self._nanos

    @property
    def milli(self) -> int:
        """Thousandths, rounded away from zero: `Quantity("0.5").milli == 500` (millicores)."""
        return _round_away(self._nanos, 10**6)

    def to_int(self) -> int:
        """Whole units (bytes, cores), rounded away from zero: `Quantity("1500m").to_int() == 2`."""
        return _round_away(self._nanos, _NANO)

    def as_decimal(self) -> Decimal:
        """The exact amount."""
        return Decimal(self._nanos).scaleb(-9, _EXACT)

    def __float__(self) -> float:
        return self._nanos / _NANO

    def __str__(self) -> str:
        return _canonical(self._nanos, self._family)

    def __repr__(self) -> str:
        return f"Quantity({str(self.to_wire())!r})"

    def __bool__(self) -> bool:
        """Whether it is not zero."""
        return self._nanos != 0

    # -- order ------------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Quantity):
            return self._nanos == other._nanos
        if type(other) is int:
            return self._nanos == other * _NANO
        return NotImplemented

    def __lt__(self, other: Quantity | int) -> bool:
        if isinstance(other, Quantity):
            return self._nanos < other._nanos
        if type(other) is int:
            return self._nanos < other * _NANO
        return NotImplemented

    def __hash__(self) -> int:
        units, rest = divmod(self._nanos, _NANO)
        return hash(self._nanos) if rest else hash(units)

    # -- arithmetic -------------------------------------------------------------------------------------------------

    def __add__(self, other: Quantity | int) -> Quantity:
        right = _operand(other)
        if right is None:
            return NotImplemented
        return Quantity.from_nanos(self._nanos + right._nanos, self._family if self._nanos else right._family)

    def __radd__(self, other: int) -> Quantity:
        left = _operand(other)
        return NotImplemented if left is None else left + self

    def __sub__(self, other: Quantity | int) -> Quantity:
        right = _operand(other)
        return NotImplemented if right is None else self + -right

    def __rsub__(self, other: int) -> Quantity:
        left = _operand(other)
        return NotImplemented if left is None else left - self

    def __mul__(self, factor: int) -> Quantity:
        if type(factor) is not int:
            return NotImplemented
        return Quantity.from_nanos(self._nanos * factor, self._family)

    __rmul__ = __mul__

    def __neg__(self) -> Quantity:
        return Quantity.from_nanos(-self._nanos, self._family)

    def __pos__(self) -> Quantity:
        return self

    def __abs__(self) -> Quantity:
        return -self if self._nanos < 0 else self

    # -- copies: it is immutable, so that one object does for all ------------------------------------------------------

    def __copy__(self) -> Quantity:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Quantity:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._wire is None:
            return Quantity.from_nanos, (self._nanos, self._family)
        return Quantity.from_wire, (self._wire,)


def _operand(value: object) -> Quantity | None:
    if isinstance(value, Quantity):
        return value
    return Quantity(value) if type(value) is int else None


@lru_cache(maxsize=4096)
def _from_text(text: str) -> Quantity:
    # A cluster has few different texts (100m, 128Mi, ...) on many objects: a known one costs a dictionary look-up.
    return Quantity(text.strip() if text[:1].isspace() or text[-1:].isspace() else text)
