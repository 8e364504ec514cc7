"""How the parts of an object may be owned: field by field, item by item, or only as a whole.

A `FieldType` is what a value may be there: a scalar, a list, a map, or several of them where the schema says nothing.

| schema | is owned |
|---|---|
| an object with properties, or with `additionalProperties` | by field |
| `x-kubernetes-map-type: atomic` | whole |
| a list | whole, unless |
| `x-kubernetes-list-type: set`, `map` | by value, by the values of its keys |
| nothing, or everything (preserved fields, free-form objects) | by what the value is: maps by field, lists whole |

Made from OpenAPI components or the schema of a definition, a part at a time, when something of that kind is written.
Rules: `kube-openapi/pkg/schemaconv`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["DEDUCED", "FieldType", "FieldTypes", "ListType", "MapType", "deduce"]

_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_QUANTITY: Final = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_RAW: Final = "io.k8s.apimachinery.pkg.runtime.RawExtension"
_NUMBERS: Final = frozenset({"integer", "number"})


class FieldType:
    """What a value may be. `scalar` is "", numeric, string, boolean or untyped; the makers are asked once."""

    __slots__ = ("_list", "_make_list", "_make_map", "_map", "scalar")

    def __init__(
        self,
        scalar: str = "",
        make_list: Callable[[], ListType] | None = None,
        make_map: Callable[[], MapType] | None = None,
    ) -> None:
        self.scalar = scalar
        self._make_list, self._make_map = make_list, make_map
        self._list: ListType | None = None
        self._map: MapType | None = None

    @property
    def list(self) -> ListType | None:
        if self._list is None and self._make_list is not None:
            self._list = self._make_list()
        return self._list

    @property
    def map(self) -> MapType | None:
        if self._map is None and self._make_map is not None:
            self._map = self._make_map()
        return self._map


class ListType:
    """`keys` of a list of objects that are told apart by them; none for a set. `defaults` are those of keys."""

    __slots__ = ("defaults", "elem", "is_associative", "keys")

    def __init__(
        self, elem: FieldType, *, is_associative: bool = False, keys: tuple[str, ...] = (), defaults: Mapping[str, Any]
    ) -> None:
        self.elem, self.is_associative, self.keys, self.defaults = elem, is_associative, keys, defaults


class MapType:
    """`fields` are named; `elem` is the type of all others, None where there may be no others."""

    __slots__ = ("elem", "fields", "is_atomic")

    def __init__(self, fields: Mapping[str, FieldType], elem: FieldType | None, *, is_atomic: bool = False) -> None:
        self.fields, self.elem, self.is_atomic = fields, elem, is_atomic

    def of(self, name: str) -> FieldType:
        """The type of a field; one that is not known is deduced."""
        found = self.fields.get(name)
        return found if found is not None else self.elem or DEDUCED


def _deduced_list() -> ListType:
    return ListType(DEDUCED, defaults={})


def _deduced_map() -> MapType:
    return MapType({}, DEDUCED)


DEDUCED: Final[FieldType] = FieldType("untyped", _deduced_list, _deduced_map)
_UNTYPED: Final = FieldType("untyped")


def deduce(type_: FieldType, value: Any) -> tuple[str, FieldType]:
    """As what a value is to be taken: map, scalar or list; "" for what has no type at all."""
    if isinstance(value, dict):
        if type_._make_map is not None:
            return "map", type_
    elif isinstance(value, list):
        if type_._make_list is not None:
            return "list", type_
    elif value is not None and type_.scalar:
        return "scalar", type_
    if type_._make_map is not None:
        return "map", type_
    if type_.scalar:
        return "scalar", type_
    return ("list" if type_._make_list is not None else ""), type_


class FieldTypes:
    """Makes the types of kinds.

    Args:
        component: an OpenAPI component by its name. Raises KeyError.
    """

    def __init__(self, component: Callable[[str], Mapping[str, Any]]) -> None:
        self._component = component
        self._named: dict[tuple[str, bool], FieldType] = {}

    def named(self, name: str, *, is_atomic: bool = False) -> FieldType:
        """The type of a component. Raises KeyError."""
        found = self._named.get((name, is_atomic))
        if found is None:
            if name == _QUANTITY:
                found = _UNTYPED
            elif name == _RAW:
                found = DEDUCED
            else:
                found = self._parsed(self._component(name), False, is_atomic=is_atomic)
            self._named[name, is_atomic] = found
        return found

    def custom(self, schema: Mapping[str, Any] | None) -> FieldType:
        """The type of a custom kind, from the schema of its definition."""
        if not schema:
            return DEDUCED
        own = {"apiVersion": FieldType("string"), "kind": FieldType("string"), "metadata": self.named(_META)}
        parsed = self._parsed({"type": "object", **schema}, False)
        inner = parsed.map
        if inner is None:
            return DEDUCED
        return FieldType(make_map=lambda: MapType({**inner.fields, **own}, inner.elem))

    def _of(self, schema: Mapping[str, Any], preserves: bool) -> FieldType:
        target = schema.get("$ref")
        if target is None and len(schema.get("allOf") or ()) == 1:
            target = schema["allOf"][0].get("$ref")
        if isinstance(target, str):
            return self.named(target.rpartition("/")[2], is_atomic=schema.get("x-kubernetes-map-type") == "atomic")
        return self._parsed(schema, preserves)

    def _parsed(self, schema: Mapping[str, Any], preserves: bool, *, is_atomic: bool = False) -> FieldType:
        preserves = preserves or schema.get("x-kubernetes-preserve-unknown-fields") is True
        kind = schema.get("type", "")
        if kind in _NUMBERS:
            return FieldType("numeric")
        if kind in ("string", "boolean"):
            return FieldType(kind)

        def make_list() -> ListType:
            return self._list(schema, preserves)

        def make_map() -> MapType:
            return self._map(schema, preserves, is_atomic)

        if kind == "object":
            return FieldType(make_map=make_map)
        if kind == "array":
            return FieldType(make_list=make_list)
        return FieldType("untyped", make_list, make_map)

    def _list(self, schema: Mapping[str, Any], preserves: bool) -> ListType:
        items = schema.get("items")
        elem = DEDUCED if items is None else self._of(items, preserves)
        kind = schema.get("x-kubernetes-list-type", "atomic")
        keys = tuple(schema.get("x-kubernetes-list-map-keys") or ()) if kind == "map" else ()
        defaults = self._key_defaults(items, keys) if items is not None and keys else {}
        return ListType(elem, is_associative=kind in ("set", "map"), keys=keys, defaults=defaults)

    def _key_defaults(self, items: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
        target = items.get("$ref") or next((each.get("$ref") for each in items.get("allOf") or ()), None)
        schema = items if target is None else self._component(str(target).rpartition("/")[2])
        properties = schema.get("properties") or {}
        found = {key: (properties.get(key) or {}).get("default") for key in keys}
        return {key: each for key, each in found.items() if each is not None}

    def _map(self, schema: Mapping[str, Any], preserves: bool, is_atomic: bool) -> MapType:
        properties = schema.get("properties") or {}
        fields = {name: self._of(each, preserves) for name, each in properties.items()}
        more = schema.get("additionalProperties")
        elem: FieldType | None
        if more is None:
            elem = DEDUCED if preserves or not properties else None
        elif isinstance(more, Mapping):
            elem = self._of(more, preserves)
        else:
            elem = DEDUCED if more else None
        return MapType(fields, elem, is_atomic=is_atomic or schema.get("x-kubernetes-map-type") == "atomic")
