"""The second pass of decoding: make JSON fit a model where servers are not exact. Slow, and seldom needed.

| in the JSON | becomes | because |
|---|---|---|
| null for a field that has no room for it | absent, so that the default counts | Go writes null for an empty slice |
| null in a list or a map that has no room for it | the zero value | that is what Go reads there |
| a required field that is absent | the zero value | an older server knows fewer fields |
| `1.0` or `1e3` for an int | 1, 1000 | to JSON they are integers, and servers take them |
| a spec that is absent | one of zero values | objects of other clients may have none |

Zero values are Go's: `""`, 0, false, an empty list, a struct of zero values. A value of a wrong type stays as it is,
for the decoder to refuse it with its path.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, get_args, get_origin

import msgspec

from .base import UNSET, model_fields, plain_type, takes_null
from .quantity import Quantity
from .times import Duration, MicroTime

__all__ = ["Path", "fit", "is_part"]

_EPOCH: Final = datetime.fromtimestamp(0, UTC)
_ZERO: Final[dict[Any, Any]] = {
    str: "",
    int: 0,
    float: 0.0,
    bool: False,
    datetime: _EPOCH,
    MicroTime: MicroTime.of(_EPOCH).to_wire(),
    Duration: "0s",
    Quantity: "0",
    Any: None,
}


Path: TypeAlias = tuple[str | int, ...]


def fit(wanted: Any, value: Any, filled: list[Path] | None = None, path: Path = ()) -> Any:
    """`value`, decoded JSON, with the repairs of the module's table for the type `wanted`.

    Args:
        filled: gets the paths of fields that were absent and are not any more.
        path: where the value is.
    """
    wanted, _ = plain_type(wanted)
    if _is_struct(wanted):
        return _fit_struct(wanted, value, filled, path) if isinstance(value, dict) else value
    if wanted is int and isinstance(value, float) and value.is_integer():
        return int(value)
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin is list and isinstance(value, list):
        return [_fit_item(arguments[0], item, filled, (*path, place)) for place, item in enumerate(value)]
    if origin is dict and isinstance(value, dict):
        return {name: _fit_item(arguments[1], item, filled, (*path, name)) for name, item in value.items()}
    return value


def _fit_item(wanted: Any, value: Any, filled: list[Path] | None, path: Path) -> Any:
    if value is not None:
        return fit(wanted, value, filled, path)
    zero = UNSET if takes_null(wanted) else _zero(wanted)
    return None if zero is UNSET else zero


def _fit_struct(wanted: Any, value: dict[str, Any], filled: list[Path] | None, path: Path) -> dict[str, Any]:
    fitted = dict(value)
    for field in model_fields(wanted):
        name = field.encode_name
        if fitted.get(name) is not None:
            fitted[name] = fit(field.type, fitted[name], filled, (*path, name))
            continue
        if name in fitted and takes_null(field.type):
            continue
        was_absent = fitted.pop(name, UNSET) is UNSET
        if field.required or is_part(field):
            zero = _zero(field.type)
            if zero is not UNSET:
                fitted[name] = zero
                if filled is not None and was_absent:
                    filled.append((*path, name))
    return fitted


def is_part(field: Any) -> bool:
    """Whether it is a spec or a status, which says UNSET for "to be made" and not for "absent"."""
    return field.default is UNSET and not _takes_unset(field.type)


def _is_struct(wanted: Any) -> bool:
    return isinstance(get_origin(wanted) or wanted, msgspec.StructMeta)


def _takes_unset(wanted: Any) -> bool:
    return msgspec.UnsetType in get_args(plain_type(wanted, unions=False)[0])


def _zero(wanted: Any) -> Any:
    """The zero value of a type in decoded JSON; UNSET for a type that has none."""
    arms = set(get_args(plain_type(wanted, unions=False)[0]))
    if arms in ({int, str}, {int, float}):
        return 0
    wanted, _ = plain_type(wanted)
    if _is_struct(wanted):
        return _fit_struct(wanted, {}, None, ())
    origin = get_origin(wanted)
    if origin in (list, dict):
        return origin()
    return _ZERO.get(wanted, UNSET)
