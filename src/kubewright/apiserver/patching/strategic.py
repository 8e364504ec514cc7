"""Strategic merge patch: a merge patch that knows which lists are sets and maps.

What a field is comes from the Go type of the kind, as a `PatchMeta`: `patchStrategy` (merge, replace, retainKeys) and
`patchMergeKey`. Directives in the patch:

| directive | where | effect |
|---|---|---|
| `$patch: replace` | an object | takes the place of the old one |
| `$patch: delete` | an object; an item with its merge key | empties the object; removes the items with that key |
| `$patch: replace` | an item of nothing else | the rest of the list takes the place of the old one |
| `$retainKeys: [...]` | an object | fields that are not named are removed |
| `$deleteFromPrimitiveList/NAME: [...]` | an object | removes values of the list NAME |
| `$setElementOrder/NAME: [...]` | an object | the order of the list NAME after the merge |

Rules and texts are those of `apimachinery/pkg/util/strategicpatch`. Items keep the order of the patch among themselves,
and that of the object among themselves; where both know an item, the object's order decides. A null that removes
nothing is dropped. Errors are codes as the real server chooses them, 500 for most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key
from typing import Any, Final, Protocol

from kubewright.schema.structural.gotext import plain, typed
from kubewright.schema.structural.values import copied, same

from .errors import PatchError, bad_request, unexplained, unprocessable

__all__ = ["PatchMeta", "strategic_merge_patch"]

_PATCH: Final = "$patch"
_RETAIN: Final = "$retainKeys"
_DELETE_FROM: Final = "$deleteFromPrimitiveList"
_ORDER: Final = "$setElementOrder"
_BAD_DELETE: Final = "invalid patch format of primitive list"
_BAD_RETAIN: Final = "invalid patch format of retainKeys"
_BAD_ORDER: Final = "invalid patch format of setElementOrder list"

Object = dict[str, Any]


class PatchMeta(Protocol):
    """What patches have to know of a Go type."""

    @property
    def go_kind(self) -> str:
        """`struct`, `map`, `slice`, `string`, ..."""

    def patch_field(self, name: str) -> tuple[PatchMeta, str, str]:
        """Type, strategy and merge key of a field. Raises KeyError, with the text for the user."""

    def patch_items(self) -> PatchMeta:
        """The type of the items of a list. Raises KeyError."""


def strategic_merge_patch(original: Object, patch: Object, meta: PatchMeta) -> Object:
    """The object with a strategic merge patch applied.

    Raises:
        PatchError: 400 for a directive of a wrong form, 422 for lists of lists, 500 for all else.
    """
    return _merge_object(copied(original), copied(patch), meta)


def _merge_object(original: Object, patch: Object, meta: PatchMeta) -> Object:
    if _PATCH in patch:
        directive = patch.pop(_PATCH)
        if directive == "replace":
            return patch
        if directive == "delete":
            return {}
        raise _bad_directive(directive, {_PATCH: directive, **patch})
    _retain(original, patch)
    _ordered_lists(original, patch, meta)
    for name, value in patch.items():
        deletes = name.startswith(_DELETE_FROM)
        _merge_field(original, _after(name, _DELETE_FROM) if deletes else name, value, meta, deletes=deletes)
    return original


def _merge_field(original: Object, name: str, value: Any, meta: PatchMeta, *, deletes: bool) -> None:
    if value is None:
        original.pop(name, None)
    elif name not in original or type(original[name]) is not type(value):
        if not deletes:
            _take(original, name, _without_nulls(value))
    elif isinstance(value, dict):
        below, strategy, _ = _field(meta, name)
        original[name] = value if strategy == "replace" else _merge_object(original[name], value, below)
    elif isinstance(value, list):
        below, strategy, merge_key = _list_field(meta, name)
        if strategy == "merge" or deletes:
            original[name] = _merge_list(original[name], value, below, merge_key, deletes=deletes)
        else:
            original[name] = value
    else:
        original[name] = value


def _take(original: Object, name: str, value: Any) -> None:
    kept, value = _without_directives(value)
    if kept:
        original[name] = value
    else:
        original.pop(name, None)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _without_directives(value: Any) -> tuple[bool, Any]:
    """Whether a value of a patch is one to keep, and what is left of it."""
    if isinstance(value, dict):
        if _PATCH in value:
            return False, None
        items = ((name, _without_directives(each)) for name, each in value.items())
        return True, {name: each for name, (kept, each) in items if kept}
    if isinstance(value, list):
        return True, [each for kept, each in map(_without_directives, value) if kept]
    return True, value


# -- directives of an object ------------------------------------------------------------------------------------------


def _retain(original: Object, patch: Object) -> None:
    if _RETAIN not in patch:
        return
    names = patch.pop(_RETAIN)
    if not isinstance(names, list):
        raise bad_request(_BAD_RETAIN)
    for name, value in patch.items():
        if value is not None and not name.startswith((_DELETE_FROM, _ORDER)) and name not in names:
            raise bad_request(_BAD_RETAIN)
    for name in [each for each in original if each not in names]:
        del original[name]


def _ordered_lists(original: Object, patch: Object, meta: PatchMeta) -> None:
    """Merge the lists whose order the patch sets, and take them out of the patch."""
    for directive in [each for each in patch if each.startswith(_ORDER)]:
        order = patch.pop(directive)
        if not isinstance(order, list):
            raise _wrong_type([], order)
        name = _after(directive, _ORDER)
        for holder in (original, patch):
            if name in holder and not isinstance(holder[name], list):
                raise _wrong_type([], holder[name])
        below, strategy, merge_key = _list_field(meta, name)
        _check_order(patch.get(name, []), order, merge_key)
        if name not in original and name not in patch:
            continue
        _merge_in_order(original, patch, name, order, below, strategy, merge_key)


def _merge_in_order(
    original: Object, patch: Object, name: str, order: list[Any], meta: PatchMeta, strategy: str, merge_key: str
) -> None:
    live = original.get(name, [])
    if name not in patch:
        merged = live
    elif name not in original:
        merged = _without_directives(patch[name])[1]
    elif strategy == "merge":
        merged = _merge_list(list(live), patch[name], meta, merge_key)
    else:
        merged = patch[name]
    kind = _kind_of_items(live, patch.get(name, []))
    original[name] = _arrange(merged, order, live, merge_key, kind)
    patch.pop(name, None)


def _check_order(patch: list[Any], order: list[Any], merge_key: str) -> None:
    """The items of the patch are in the order that it sets."""
    if not order or not patch:
        return
    items = [each for each in patch if not (merge_key and _directive_of(each) == "delete")]
    place = 0
    for wanted in order:
        while place < len(items) and isinstance(items[place], dict) and _PATCH in items[place]:
            place += 1
        if place == len(items):
            break
        if _equal_keys(items[place], wanted, merge_key):
            place += 1
    if place < len(items):
        shown = f"The order in patch list:\n{plain(patch)}\n doesn't match {_ORDER} list:\n{plain(order)}\n"
        raise unexplained(shown)


def _equal_keys(left: Any, right: Any, merge_key: str) -> bool:
    return _equal(_key_of(left, merge_key), _key_of(right, merge_key)) if merge_key else _equal(left, right)


# -- lists ------------------------------------------------------------------------------------------------------------


def _merge_list(
    original: list[Any], patch: list[Any], meta: PatchMeta, merge_key: str, *, deletes: bool = False
) -> list[Any]:
    if not original and not patch:
        return original
    kind = _kind_of_items(original, patch)
    if kind is not dict:
        if deletes:
            return [each for each in original if not _has(patch, each)]
        merged = _each_once([*original, *patch])
        return _arrange(merged, patch, original, merge_key, kind)
    if not merge_key:
        raise unexplained(f"cannot merge lists without merge key for {meta.go_kind}")
    live, added = _apply_item_directives(original, patch, merge_key)
    merged = list(live)
    for item in added:
        value = _key_of(item, merge_key)
        place = _place(merged, merge_key, value)
        if place < 0:
            merged.append(item)
        else:
            merged[place] = _merge_object(merged[place], item, meta)
    return _arrange(merged, added, live, merge_key, kind)


def _apply_item_directives(original: list[Any], patch: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """The list without what the patch deletes, and the items of the patch that are none."""
    items: list[Any] = []
    replaces = False
    for item in patch:
        if _PATCH not in item:
            items.append(item)
            continue
        directive = item[_PATCH]
        if directive == "delete":
            value = _key_of(item, merge_key)
            while (place := _place(original, merge_key, value)) >= 0:
                original = original[:place] + original[place + 1 :]
        elif directive == "replace":
            replaces = True
        elif directive == "merge":
            raise unexplained("merging lists cannot yet be specified in the patch")
        else:
            raise _bad_directive(directive, item)
    return (items, []) if replaces else (original, items)


def _arrange(merged: list[Any], patch_order: list[Any], live_order: list[Any], merge_key: str, kind: type) -> list[Any]:
    """Sort what the patch names by the patch, the rest by the object, and put the two together by the object."""
    ours: list[Any] = []
    rest: list[Any] = []
    named = _places(patch_order, merge_key)
    for item in merged:
        (rest if named(item) < 0 else ours).append(item)
    in_live = _places(live_order, merge_key)
    ours = _sorted(ours, named, kind, merge_key)
    rest = _sorted(rest, in_live, kind, merge_key)
    made: list[Any] = []
    left, right = 0, 0
    while left < len(rest) and right < len(ours):
        first, second = in_live(rest[left]), in_live(ours[right])
        if first >= 0 and second >= 0 and first < second:
            made.append(rest[left])
            left += 1
        else:
            made.append(ours[right])
            right += 1
    return [*made, *rest[left:], *ours[right:]]


def _sorted(items: list[Any], place: Callable[[Any], int], kind: type, merge_key: str) -> list[Any]:
    if kind is dict:
        for item in items:
            _key_of(item, merge_key)
    if any(place(item) < 0 for item in items):
        # Nobody says where these belong; the server's order is then that of its sorting algorithm.
        known = sorted((item for item in items if place(item) >= 0), key=cmp_to_key(lambda a, b: place(a) - place(b)))
        return [*(item for item in items if place(item) < 0), *known]
    return sorted(items, key=place)


def _places(order: list[Any], merge_key: str) -> Callable[[Any], int]:
    """The first place of a value, or of its merge key, in a list; -1 where it is not."""
    if merge_key:
        for each in order:
            if not isinstance(each, dict):
                raise unexplained(f"value for key {order.index(each)} is not a map")
        values = [each.get(merge_key, _NO) for each in order]
        return lambda item: _first(values, _key_of(item, merge_key))
    return lambda item: _first(order, item)


class _Nothing:
    pass


_NO: Final = _Nothing()


def _first(values: list[Any], wanted: Any) -> int:
    for place, value in enumerate(values):
        if _equal(value, wanted):
            return place
    return -1


def _place(items: list[Any], merge_key: str, value: Any) -> int:
    for place, item in enumerate(items):
        if not isinstance(item, dict):
            raise unexplained(f"value for key {place} is not a map")
        if merge_key in item and _equal(item[merge_key], value):
            return place
    return -1


def _each_once(values: list[Any]) -> list[Any]:
    made: list[Any] = []
    for value in values:
        if not _has(made, value):
            made.append(value)
    return made


def _has(values: Iterable[Any], wanted: Any) -> bool:
    return any(_equal(each, wanted) for each in values)


def _equal(left: Any, right: Any) -> bool:
    return same(left, right)


def _kind_of_items(*lists: list[Any]) -> type:
    kind: type | None = None
    for items in lists:
        for item in items:
            if kind is None:
                if isinstance(item, list):
                    raise unprocessable("lists of lists are not supported")
                kind = type(item)
            elif type(item) is not kind:
                raise unexplained(f"list element types are not identical: {plain([*lists])}")
    if kind is None:
        raise unexplained("no elements in any of the given slices")
    return kind


# -- what patches know of the type ------------------------------------------------------------------------------------


def _field(meta: PatchMeta, name: str) -> tuple[PatchMeta, str, str]:
    try:
        below, strategy, merge_key = meta.patch_field(name)
    except KeyError as error:
        raise unexplained(str(error.args[0])) from None
    parts = [each for each in strategy.split(",") if each != "retainKeys"]
    return below, parts[0] if parts else "", merge_key


def _list_field(meta: PatchMeta, name: str) -> tuple[PatchMeta, str, str]:
    below, strategy, merge_key = _field(meta, name)
    try:
        return below.patch_items(), strategy, merge_key
    except KeyError as error:
        raise unexplained(str(error.args[0])) from None


def _after(name: str, prefix: str) -> str:
    first, slash, rest = name.partition("/")
    if not slash or first != prefix:
        raise bad_request(_BAD_DELETE if prefix == _DELETE_FROM else _BAD_ORDER)
    return rest


def _directive_of(item: Any) -> Any:
    if not isinstance(item, dict):
        raise _wrong_type({}, item)
    return item.get(_PATCH)


def _key_of(item: Any, merge_key: str) -> Any:
    if not isinstance(item, dict):
        raise _wrong_type({}, item)
    if merge_key not in item:
        raise unexplained(f"map: {plain(item)} does not contain declared merge key: {merge_key}")
    return item[merge_key]


def _wrong_type(wanted: Any, found: Any) -> PatchError:
    return unexplained(f"expected a {typed(wanted)}, but received a {typed(found)}")


def _bad_directive(directive: Any, patch: Object) -> PatchError:
    shown = directive if isinstance(directive, str) else f"%!s({typed(directive)}={plain(directive)})"
    return unexplained(f"unknown patch type: {shown} in map: {plain(patch)}")
