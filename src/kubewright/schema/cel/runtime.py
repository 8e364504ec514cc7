"""What generated code calls beside operators: entries of maps, ranges of macros, the end of a program with an error.

`GLOBALS` is the namespace that every generated function starts from.
"""

from __future__ import annotations

from typing import Any, Final

from . import ops
from .errors import EvaluationError, EvaluationStopped
from .values import Optional, decode_key, encode_key

__all__ = ["ERRORS", "GLOBALS", "final", "insert"]

ERRORS: Final = (EvaluationError, KeyError, TypeError, AttributeError, ValueError, IndexError)


def _hold(held: Exception | None, caught: Exception) -> Exception:
    """The error that an operator or macro keeps until it is decided whether it counts: the first."""
    if isinstance(caught, EvaluationStopped):
        raise caught
    return caught if held is None else held


def _put(entries: dict[Any, Any], key: Any, value: Any) -> None:
    """An entry of a literal: the last of equal keys stays."""
    if not ops.is_key(key):
        raise EvaluationError(f"unsupported key type: {ops.type_name(key)}")
    entries[encode_key(key)] = value


def insert(entries: dict[Any, Any], key: Any, value: Any) -> None:
    """An entry of a transformed map: keys are told apart."""
    encoded = encode_key(key)
    if encoded in entries:
        raise EvaluationError(f"insert failed: key {ops.show_key(key)} already exists")
    entries[encoded] = value


def _keys(value: Any) -> Any:
    """What a macro of one variable runs over."""
    if isinstance(value, dict):
        return [decode_key(key) for key in value]
    if isinstance(value, list):
        return value
    raise EvaluationError(f"got '{_go_name(value)}', expected iterable type")


def _pairs(value: Any) -> Any:
    """What a macro of two variables runs over."""
    if isinstance(value, dict):
        return [(decode_key(key), each) for key, each in value.items()]
    if isinstance(value, list):
        return enumerate(value)
    raise EvaluationError(f"unsupported comprehension range type: {_go_name(value)}")


def _no_such_key(error: Exception, keys: tuple[str, ...]) -> str | None:
    """What is said of a selection from null, if the error is of one."""
    if not isinstance(error, TypeError) or "'NoneType' object is not subscriptable" not in str(error):
        return None
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_code.co_filename != "<cel>":
        return None
    place = (trace.tb_lineno or 1) - 2
    return f"no such key: {keys[place]}" if 0 <= place < len(keys) else None


#: By the name of a type in CEL, what the server shows in its place.
_GO_NAMES: Final = {
    "bool": "types.Bool", "int": "types.Int", "uint": "types.Uint", "double": "types.Double", "string": "types.String",
    "bytes": "types.Bytes", "null_type": "types.Null", "google.protobuf.Timestamp": "types.Timestamp",
    "google.protobuf.Duration": "types.Duration", "optional_type": "*types.Optional", "type": "*types.Type",
    "kubernetes.Quantity": "cel.Quantity", "kubernetes.URL": "cel.URL", "net.IP": "cel.IP", "net.CIDR": "cel.CIDR",
    "kubernetes.Semver": "cel.Semver", "kubernetes.NamedFormat": "*cel.Format",
}  # fmt: skip


def _go_name(value: Any) -> str:
    name = ops.type_name(value)
    return _GO_NAMES.get(name, name)


GLOBALS: Final[dict[str, Any]] = {
    "ERRORS": ERRORS,
    "Optional": Optional,
    "boolean": ops.boolean,
    "put": _put,
    "insert": insert,
    "keys": _keys,
    "pairs": _pairs,
    "select": ops.select,
    "select_optional": ops.select_optional,
    "has_field": ops.has_field,
    "hold": _hold,
    "has_sound": ops.has_sound,
    "in_sound_map": ops.in_sound_map,
    "sound": ops.sound,
    "sound_optional": ops.sound_optional,
    "index": ops.index,
    "index_list": ops.index_list,
    "index_map": ops.index_map,
    "len": len,
}


def final(error: Exception, cost: int, keys: tuple[str, ...]) -> EvaluationError:
    """The error that a program ends with, from what its code raised.

    Args:
        keys: of the selections, by their line from the second on.
    """
    if isinstance(error, KeyError):
        error = EvaluationError(f"no such key: {ops.show_key(decode_key(error.args[0]))}")
    elif not isinstance(error, EvaluationError):
        if not isinstance(error, ERRORS):
            raise error
        error = EvaluationError(_no_such_key(error, keys) or "no such overload")
    error.cost = cost
    return error.with_traceback(None)
