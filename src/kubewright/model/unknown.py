"""Where a Model keeps the fields that it does not name: `UnknownFields`.

A class that an API server keeps unknown fields of (`x-kubernetes-preserve-unknown-fields`) may say so with a field for
them. On the wire they stand beside the named ones, as they came:

```python
class Values(Model):
    replicas: int = 1
    others: UnknownFields = {}  # {"replicas": 2, "mode": "x"} -> Values(replicas=2, others={"mode": "x"})
```

It is a field like any other (constructor, `==`, `repr`, copies, pickles); two things are its own:

- JSON -> Model: msgspec passes over what a class does not name. So the JSON is read a second time, and a walk along the
  fields that lead to such classes picks up what was passed over (`keeper_of`).
- Model -> JSON: msgspec writes the field under `WIRE_NAME`, which no JSON has by chance, and `flattened` lifts its
  content up. A name of the class wins over one in it.

Classes that lead to no such field pay for neither: which ones do is found when their decoder or encoder is made.
Rejected: room in every Model (eight bytes and the garbage collector's attention for each), and a decoder of our own.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, get_args, get_origin

import msgspec
from msgspec import StructMeta
from typing_extensions import TypeAliasType

__all__ = [
    "Keeper",
    "UnknownFields",
    "WIRE_NAME",
    "flattened",
    "is_unknown",
    "keeper_of",
    "may_hold",
    "says_unknown",
    "unknown_field_of",
]


class _Unknown:
    """The marker in `UnknownFields`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UnknownFields"


_MARKER: Final = _Unknown()

UnknownFields: TypeAlias = Annotated[dict[str, Any], _MARKER]
"""The type of the field that keeps what its class does not name, as decoded JSON: `others: UnknownFields = {}`."""

WIRE_NAME: Final = "\ufdd0unknown"
"""Begins with a code point that Unicode keeps out of text."""

_MARK: Final = f'"{WIRE_NAME}":'.encode()
_BUILT_IN: Final = ("kubewright.models.", "kubewright.model.")
_UNIONS: Final = (Union, types.UnionType)

Keeper: TypeAlias = Callable[[Any, Any], None]
"""Gives a typed value the unknown fields of the JSON that it was decoded from."""


# -- the field --------------------------------------------------------------------------------------------------------


def is_unknown(annotation: Any) -> bool:
    """Whether an annotation is `UnknownFields`."""
    return get_origin(annotation) is Annotated and any(each is _MARKER for each in annotation.__metadata__)


def says_unknown(annotation: Any, module: str) -> bool:
    """The same of one that may still be text: in a module with `from __future__ import annotations`."""
    if not isinstance(annotation, str):
        return is_unknown(annotation)
    first, *rest = annotation.strip().split(".")
    found = getattr(sys.modules.get(module), first, None)
    for name in rest:
        found = getattr(found, name, None)
    return is_unknown(found) or (found is None and [first, *rest][-1] == "UnknownFields")


# -- Model -> JSON ----------------------------------------------------------------------------------------------------


def flattened(value: Any) -> Any:
    """JSON, encoded or decoded, with the content of every `UnknownFields` in the object around it."""
    if not isinstance(value, bytes):
        return _flat(value)
    return msgspec.json.encode(_flat(msgspec.json.decode(value))) if _MARK in value else value


def _flat(value: Any) -> Any:
    if isinstance(value, list):
        return [_flat(item) for item in value]
    if not isinstance(value, dict):
        return value
    unknown = value.get(WIRE_NAME)
    if not isinstance(unknown, dict):
        return {name: _flat(item) for name, item in value.items()}
    named = {name: _flat(item) for name, item in value.items() if name != WIRE_NAME}
    return {**named, **{name: _flat(item) for name, item in unknown.items() if name not in named}}


def may_hold(wanted: Any) -> bool:
    """Whether a value of the type may have unknown fields in it: a class says so, or it is any JSON."""
    return any(part in (Any, object) or unknown_field_of(part) is not None for part in _Types(wanted).parts)


# -- JSON -> Model ----------------------------------------------------------------------------------------------------


def keeper_of(wanted: Any) -> Keeper | None:
    """What picks up the unknown fields of a type; None where no class in it keeps any."""
    types = _Types(wanted)
    return _Keepers(types).of(wanted) if types.leading else None


class _Keepers:
    """The keepers of one type, each class once: types may hold themselves."""

    def __init__(self, known: _Types) -> None:
        self._types = known
        self._classes: dict[Any, Keeper] = {}

    def of(self, wanted: Any) -> Keeper | None:
        if self._types.leading.isdisjoint(_parts(wanted)):
            return None
        wanted = _plain(wanted)
        origin, arguments = get_origin(wanted), get_args(wanted)
        if origin in _UNIONS:
            return self._of_union(arguments)
        if origin in (list, dict):
            inner = self.of(arguments[-1])
            return None if inner is None else (_in_list if origin is list else _in_map)(inner)
        return self._of_class(wanted)

    def _of_union(self, arms: tuple[Any, ...]) -> Keeper:
        """Of a union one arm at most is a list and one a map; classes are told apart by what was decoded."""
        by_type = {get_origin(_plain(arm)) or _plain(arm): found for arm in arms if (found := self.of(arm))}

        def keep(value: Any, raw: Any) -> None:
            found = by_type.get(type(value))
            if found is not None:
                found(value, raw)

        return keep

    def _of_class(self, cls: Any) -> Keeper:
        if cls in self._classes:
            return self._classes[cls]
        plain = get_origin(cls) or cls
        named = frozenset(plain.__struct_encode_fields__) | getattr(plain, "__constants__", frozenset())
        config = plain.__struct_config__
        if config.tag is not None:
            named |= {config.tag_field}
        unknown = unknown_field_of(plain)
        below: list[tuple[str, str, Keeper]] = []

        def keep(value: Any, raw: Any) -> None:
            if not isinstance(raw, dict):
                return
            for attribute, wire, inner in below:
                if raw.get(wire) is not None:
                    inner(getattr(value, attribute), raw[wire])
            if unknown is not None:
                rest = {name: item for name, item in raw.items() if name not in named}
                msgspec.structs.force_setattr(value, unknown, rest)

        self._classes[cls] = keep
        for name, wire, wanted in self._types.fields[cls]:
            inner = None if name == unknown else self.of(wanted)
            if inner is not None:
                below.append((name, wire, inner))
        return keep


def _in_list(inner: Keeper) -> Keeper:
    def keep(value: Any, raw: Any) -> None:
        if isinstance(value, list) and isinstance(raw, list):
            for item, each in zip(value, raw, strict=False):
                inner(item, each)

    return keep


def _in_map(inner: Keeper) -> Keeper:
    def keep(value: Any, raw: Any) -> None:
        if isinstance(value, dict) and isinstance(raw, dict):
            for name, item in value.items():
                inner(item, raw.get(name))

    return keep


# -- types ------------------------------------------------------------------------------------------------------------


class _Types:
    """All types that a type is made of.

    `parts` has the classes and what is no class; `fields` name, wire name and type of each class's fields; `leading`
    the classes that lead to one with `UnknownFields`, and those themselves. Built-in kinds have none, and are not
    looked into.
    """

    def __init__(self, wanted: Any) -> None:
        self.parts: set[Any] = set()
        self.fields: dict[Any, list[tuple[str, str, Any]]] = {}
        users: dict[Any, list[Any]] = {}
        new = list(_parts(wanted))
        while new:
            part = new.pop()
            if part in self.parts:
                continue
            self.parts.add(part)
            if not _is_class(part) or (get_origin(part) or part).__module__.startswith(_BUILT_IN):
                continue
            self.fields[part] = [(each.name, each.encode_name, each.type) for each in _fields(part)]
            for _, _, below in self.fields[part]:
                for each in _parts(below):
                    users.setdefault(each, []).append(part)
                    new.append(each)
        self.leading: set[Any] = set()
        new = [part for part in self.fields if unknown_field_of(part) is not None]
        while new:
            part = new.pop()
            if part not in self.leading:
                self.leading.add(part)
                new += users.get(part, ())


def unknown_field_of(wanted: Any) -> str | None:
    """The name of the field that keeps what a Model does not name; None for one without, and for other types."""
    plain = get_origin(wanted) or wanted
    if not isinstance(plain, StructMeta):
        return None
    names = zip(plain.__struct_fields__, plain.__struct_encode_fields__, strict=True)
    return next((name for name, wire in names if wire == WIRE_NAME), None)


def _fields(cls: Any) -> tuple[Any, ...]:
    from .base import model_fields

    return model_fields(cls)


def _parts(wanted: Any) -> Iterator[Any]:
    """The classes in a type, and whatever else is no list, map or union."""
    wanted = _plain(wanted)
    if _is_class(wanted) or not get_args(wanted) or get_origin(wanted) is Literal:
        yield wanted
        return
    for each in get_args(wanted):
        yield from _parts(each)


def _is_class(wanted: Any) -> bool:
    return isinstance(get_origin(wanted) or wanted, StructMeta)


def _plain(wanted: Any) -> Any:
    while True:
        if get_origin(wanted) is Annotated:
            wanted = get_args(wanted)[0]
        elif isinstance(wanted, TypeAliasType):
            wanted = wanted.__value__
        else:
            return wanted
