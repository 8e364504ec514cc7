"""The second pass of decoding: make JSON fit a model where servers are not exact. Slow, and seldom needed.

| in the JSON | becomes | because |
|---|---|---|
| null for a field that has no room for it | absent, so that the default counts | Go writes null for an empty slice |
| null in a list or a map that has no room for it | the zero value | that is what Go reads there |
| a required field that is absent | the zero value | an older server knows fewer fields |
| a spec that is absent | one of zero values | objects of other clients may have none |

Zero values are Go's: `""`, 0, false, an empty list, a struct of zero values. A value of a wrong type stays as it is,
for the decoder to refuse it with its path.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, get_args, get_origin

import msgspec

from .base import UNSET, model_fields, plain_type, takes_null
from .quantity import Quantity
from .times import Duration, MicroTime

__all__ = ["fit"]

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
}


def fit(wanted: Any, value: Any) -> Any:
    """`value`, decoded JSON, with the repairs of the module's table for the type `wanted`."""
    wanted, _ = plain_type(wanted)
    if isinstance(wanted, msgspec.StructMeta):
        return _fit_struct(wanted, value) if isinstance(value, dict) else value
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin is list and isinstance(value, list):
        return [_fit_item(arguments[0], item) for item in value]
    if origin is dict and isinstance(value, dict):
        return {name: _fit_item(arguments[1], item) for name, item in value.items()}
    return value


def _fit_item(wanted: Any, value: Any) -> Any:
    if value is not None:
        return fit(wanted, value)
    zero = UNSET if takes_null(wanted) else _zero(wanted)
    return None if zero is UNSET else zero


def _fit_struct(wanted: Any, value: dict[str, Any]) -> dict[str, Any]:
    fitted = dict(value)
    for field in model_fields(wanted):
        name = field.encode_name
        if fitted.get(name) is not None:
            fitted[name] = fit(field.type, fitted[name])
            continue
        if name in fitted and takes_null(field.type):
            continue
        fitted.pop(name, None)
        if field.required or _is_part(field):
            zero = _zero(field.type)
            if zero is not UNSET:
                fitted[name] = zero
    return fitted


def _is_part(field: Any) -> bool:
    """Whether it is a spec or a status, which says UNSET for "to be made" and not for "absent"."""
    return field.default is UNSET and not _takes_unset(field.type)


def _takes_unset(wanted: Any) -> bool:
    return msgspec.UnsetType in get_args(plain_type(wanted, unions=False)[0])


def _zero(wanted: Any) -> Any:
    """The zero value of a type in decoded JSON; UNSET for a type that has none."""
    wanted, _ = plain_type(wanted)
    if isinstance(wanted, msgspec.StructMeta):
        return _fit_struct(wanted, {})
    origin = get_origin(wanted)
    if origin in (list, dict):
        return origin()
    return _ZERO.get(wanted, UNSET)
