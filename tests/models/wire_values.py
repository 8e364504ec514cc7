"""Hypothesis strategies: JSON that a server could send for a model, made from the model's own types.

Every value differs from the default of its field, so that encoding leaves out none. Fields that are always sent are
always there. `depth` bounds how far optional objects go.
"""

from __future__ import annotations

import types
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st

from kubewright.model import Duration, MicroTime, Quantity
from kubewright.model.base import Always

TEXT = st.text("abcXYZ-/é", min_size=1, max_size=6)
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(1, 2**53),
    float: st.integers(1, 1000).map(lambda number: number / 4),
    bool: st.just(True),
    bytes: st.sampled_from(["AA==", "a3ViZQ=="]),
    datetime: st.sampled_from(["2026-01-02T03:04:05Z", "1970-01-01T00:00:01Z"]),
    MicroTime: st.sampled_from(["2026-01-02T03:04:05.000000Z", "2026-01-02T03:04:05.678900Z"]),
    Quantity: st.sampled_from(["1", "0.5", "500m", "2Gi", "1e3"]),
    Duration: st.sampled_from(["1m", "90s"]),
    Any: st.one_of(TEXT, st.integers(-9, 9), st.lists(st.booleans()), st.dictionaries(TEXT, st.none() | TEXT)),
}


@cache
def wire_values(wanted: Any, depth: int = 3) -> st.SearchStrategy[Any]:
    """JSON for a type, as Python values."""
    if wanted in SCALARS:
        return SCALARS[wanted]
    origin = get_origin(wanted)
    if origin is Annotated:
        return wire_values(get_args(wanted)[0], depth)
    if origin is Literal:
        return st.sampled_from(get_args(wanted))
    if origin in (Union, types.UnionType):
        return st.one_of([wire_values(arm, depth) for arm in get_args(wanted) if arm is not type(None)])
    if origin is list:
        return st.lists(wire_values(get_args(wanted)[0], depth - 1), min_size=1, max_size=2)
    if origin is dict:
        return st.dictionaries(TEXT, wire_values(get_args(wanted)[1], depth - 1), min_size=1, max_size=2)
    return st.deferred(lambda: _objects(wanted, depth))


@cache
def _objects(cls: Any, depth: int) -> st.SearchStrategy[dict[str, Any]]:
    required, optional = {}, {}
    for f in msgspec.structs.fields(cls):
        if f.required or isinstance(f.default_factory, Always):
            required[f.encode_name] = wire_values(f.type, depth - 1)
        elif depth > 0 or not _holds_objects(f.type):
            optional[f.encode_name] = wire_values(f.type, depth - 1)
    return st.fixed_dictionaries(required, optional=optional)


def _holds_objects(wanted: Any) -> bool:
    return isinstance(wanted, msgspec.StructMeta) or any(_holds_objects(part) for part in get_args(wanted))
