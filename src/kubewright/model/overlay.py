"""Unknown fields survive a read-modify-write: lay a typed change over the JSON that the object was read from.

A class knows the fields of one version; the server may have more, and an update replaces the whole object. So what is
sent is not the dump of the typed object but the original JSON with the difference of two dumps applied to it: `before`,
of the object as it was decoded, and `after`, of the object as it was changed.

| in `before` -> `after` | in the result |
|---|---|
| equal | as in the origin, whatever its form: an unknown field, a null, an absent default, `0.5` for `500m` |
| changed, added | as in `after` |
| gone | removed, with everything in it |

Objects are gone through field by field. Of a list, an item of `after` takes over the unknown fields of the item that it
was: the one with the same keys where the class data names keys; else the one that is equal, then the one that has most
fields in common, then the one at the same place. The last two are guesses: give lists of objects keys.

Keys come from the model classes on the way down: `__list_map_keys__` of the class that has the list (wire names of
list and keys), or `keys` of a marker in its annotation (`ListMap("name")`), or `__item_keys__` of the class of the
items (conditions by type).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, get_args, get_origin

import msgspec
import orjson

from .base import model_fields, plain_type
from .codec import decode, origin_of, to_dict
from .patch import same_json
from .pydantics import is_pydantic, wire_types
from .resource import Object

__all__ = ["overlaid", "overlay"]

_ABSENT: Final[Any] = object()
_MAX_PAIRS: Final = 10_000
"""How many pairs of items are compared to find which is which; beyond, the place decides."""


class _Field(NamedTuple):
    wanted: Any
    keys: tuple[str, ...]


def overlaid(obj: Object) -> dict[str, Any]:
    """The whole of `obj` as an update sends it: the JSON it was decoded from with the typed changes since.

    An object that was made here and not decoded is its own dump.
    """
    origin, after = origin_of(obj), to_dict(obj)
    if origin is None:
        return after
    merged = overlay(origin, to_dict(decode(type(obj), origin)), after, type(obj))
    # Items of a list come without: their list says it for them.
    return {**merged, "apiVersion": after["apiVersion"], "kind": after["kind"]}


def overlay(
    origin: bytes | Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any], model: type | None = None
) -> dict[str, Any]:
    """`origin` with the difference of two typed dumps applied to it.

    Args:
        origin: the object as it was read.
        before: the dump of the typed object that was decoded from `origin`.
        after: the dump of the typed object as it is now.
        model: the class of both, for the keys of lists. Without it no list has any.

    Nothing that is passed in is changed; the result shares parts with it.
    """
    raw: dict[str, Any] = orjson.loads(origin) if isinstance(origin, bytes) else dict(origin)
    # The dump of an Object leaves out a part that is empty, which is no reason to drop what others keep in it.
    emptied: dict[str, Any] = {
        name: {} for name, part in before.items() if name not in after and isinstance(part, dict)
    }
    return _objects(raw, dict(before), {**after, **emptied}, model)


def _values(origin: Any, before: Any, after: Any, wanted: Any, keys: tuple[str, ...]) -> Any:
    if isinstance(after, dict) and isinstance(origin, dict):
        return _objects(origin, before if isinstance(before, dict) else {}, after, wanted)
    if same_json(before, after):
        return origin
    if isinstance(after, list) and isinstance(before, list) and isinstance(origin, list) and len(origin) == len(before):
        return _lists(origin, before, after, _items(wanted), keys)
    return after


def _objects(origin: dict[str, Any], before: dict[str, Any], after: dict[str, Any], wanted: Any) -> dict[str, Any]:
    known = _fields(wanted) if isinstance(wanted, msgspec.StructMeta) or is_pydantic(wanted) else {}
    of_map = _Field(_items(wanted), ())
    result = dict(origin)
    for name in before:
        if name not in after:
            result.pop(name, None)
    for name, value in after.items():
        was = before.get(name, _ABSENT)
        if name in origin:
            field = known.get(name, of_map)
            result[name] = _values(origin[name], was, value, field.wanted, field.keys)
        elif was is _ABSENT or not same_json(was, value):
            result[name] = value
    return result


# -- lists ------------------------------------------------------------------------------------------------------------


def _lists(origin: list[Any], before: list[Any], after: list[Any], item: Any, keys: tuple[str, ...]) -> list[Any]:
    keys = keys or getattr(item, "__item_keys__", ())
    was = _by_keys(before, after, keys) if keys else _by_likeness(before, after)
    return [
        value if place not in was else _values(origin[was[place]], before[was[place]], value, item, ())
        for place, value in enumerate(after)
    ]


def _by_keys(before: list[Any], after: list[Any], keys: tuple[str, ...]) -> dict[int, int]:
    """Places in `after` -> places in `before`."""
    places: dict[bytes, int] = {}
    for place, value in enumerate(before):
        if isinstance(value, dict):
            places.setdefault(_canonical([value.get(key) for key in keys]), place)
    found: dict[int, int] = {}
    for place, value in enumerate(after):
        if isinstance(value, dict):
            old = places.pop(_canonical([value.get(key) for key in keys]), None)
            if old is not None:
                found[place] = old
    return found


def _by_likeness(before: list[Any], after: list[Any]) -> dict[int, int]:
    """Places in `after` -> places in `before`: equal, then alike, then the same place."""
    equal: dict[bytes, list[int]] = {}
    for place, value in enumerate(before):
        equal.setdefault(_canonical(value), []).append(place)
    found: dict[int, int] = {}
    for place, value in enumerate(after):
        places = equal.get(_canonical(value))
        if places:
            old = place if place in places else places[0]
            places.remove(old)
            found[place] = old
    taken = set(found.values())
    fresh = [place for place, value in enumerate(after) if place not in found and isinstance(value, dict)]
    free = [place for place, value in enumerate(before) if place not in taken and isinstance(value, dict)]
    if len(fresh) * len(free) <= _MAX_PAIRS:
        pairs = [(_likeness(before[old], after[new]), old == new, -new, -old) for new in fresh for old in free]
    else:
        pairs = [(0, True, -place, -place) for place in set(fresh) & set(free)]
    for score, same_place, new, old in sorted(pairs, reverse=True):
        if (score or same_place) and -new not in found and -old not in taken:
            found[-new] = -old
            taken.add(-old)
    return found


def _likeness(old: dict[str, Any], new: dict[str, Any]) -> int:
    return sum(name in old and same_json(old[name], value) for name, value in new.items())


def _canonical(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


# -- class data -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2048)
def _fields(model: Any) -> dict[str, _Field]:
    """What is known of the fields of a model, by their names on the wire."""
    named: Mapping[str, tuple[str, ...]] = getattr(model, "__list_map_keys__", {})
    found: dict[str, _Field] = {}
    typed = wire_types(model) if is_pydantic(model) else {each.encode_name: each.type for each in model_fields(model)}
    for name, annotation in typed.items():
        wanted, markers = plain_type(annotation)
        marked = next((marker.keys for marker in markers if isinstance(getattr(marker, "keys", None), tuple)), ())
        found[name] = _Field(wanted, tuple(named.get(name, marked)))
    return found


def _items(wanted: Any) -> Any:
    """The type of the items of a list type, or of the values of a dictionary type."""
    arguments = get_args(wanted)
    return plain_type(arguments[-1])[0] if get_origin(wanted) in (list, dict) and arguments else Any
