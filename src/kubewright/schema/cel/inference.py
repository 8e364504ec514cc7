"""Which type fits where: substitution of type parameters, as cel-go's checker does it.

A `Substitution` holds what is known of type parameters so far. A failed attempt leaves it as it was (changes are
logged and taken back, instead of a copy for each attempt). `dyn` and errors fit everything.
"""

from __future__ import annotations

from .types import DYN, Type

__all__ = ["Substitution", "is_same_or_less_specific", "most_general"]

_NULLABLE = frozenset({"opaque", "object", "any", "duration", "timestamp", "null"})
_LOOSE = frozenset({"dyn", "any", "error"})


def is_same_or_less_specific(one: Type, other: Type) -> bool:
    if one.is_dyn or one.kind == "param":
        return True
    if other.is_dyn or other.kind == "param" or one.kind != other.kind:
        return False
    if one.kind in ("opaque", "list", "map"):
        return (
            one.name == other.name
            and len(one.params) == len(other.params)
            and all(map(is_same_or_less_specific, one.params, other.params))
        )
    return one.kind == "type" or one == other


def most_general(one: Type, other: Type) -> Type:
    return one if is_same_or_less_specific(one, other) else other


class Substitution:
    def __init__(self) -> None:
        self._known: dict[str, Type] = {}
        self._log: list[tuple[str, Type | None]] = []
        #: How many type parameters were made. Some errors show the name of one.
        self.made = 0

    def fresh(self) -> Type:
        """A type parameter that nothing is known of."""
        self.made += 1
        return Type("param", f"_var{self.made - 1}")

    def skip(self, count: int) -> None:
        """Leave out names of parameters that a server makes there."""
        self.made += count

    def assignable(self, value: Type, place: Type) -> bool:
        """Whether a value of one type fits a place of the other; what that tells of parameters is kept if so."""
        return self.all_assignable((value,), (place,))

    def all_assignable(self, values: tuple[Type, ...] | list[Type], places: tuple[Type, ...] | list[Type]) -> bool:
        mark = len(self._log)
        if self._all(values, places):
            return True
        while len(self._log) > mark:
            name, before = self._log.pop()
            if before is None:
                del self._known[name]
            else:
                self._known[name] = before
        return False

    def apply(self, type_: Type, free_to_dyn: bool = False) -> Type:
        """The type with all known parameters replaced; unknown ones by dyn, if so wished."""
        if type_.kind == "param":
            known = self._known.get(type_.name)
            if known is not None:
                return self.apply(known, free_to_dyn)
            return DYN if free_to_dyn else type_
        if not type_.params:
            return type_
        params = tuple(self.apply(each, free_to_dyn) for each in type_.params)
        return type_ if params == type_.params else Type(type_.kind, type_.name, params)

    def _set(self, name: str, type_: Type) -> None:
        self._log.append((name, self._known.get(name)))
        self._known[name] = type_

    def _all(self, values: tuple[Type, ...] | list[Type], places: tuple[Type, ...] | list[Type]) -> bool:
        if len(values) != len(places):
            return False
        # A loop, not all(): this is the checker's hottest line.
        for value, place in zip(values, places, strict=True):  # noqa: SIM110
            if not self._one(value, place):
                return False
        return True

    def _one(self, value: Type, place: Type) -> bool:
        if value is place and not value.params and value.kind != "param":
            return True
        if place.kind == "param":
            fits, known = self._bind(value, place)
            if fits:
                return True
            if known:
                return False
        if value.kind == "param":
            return self._bind(place, value)[0]
        if value.kind in _LOOSE or place.kind in _LOOSE:
            return True
        if value.kind == "null":
            return place.kind in _NULLABLE
        if place.kind == "null":
            return value.kind in _NULLABLE
        if value.kind == "type":
            return place.kind == "type"
        if value.kind in ("opaque", "list", "map"):
            return value.kind == place.kind and value.name == place.name and self._all(value.params, place.params)
        return value.kind == place.kind and value.name == place.name

    def _bind(self, type_: Type, parameter: Type) -> tuple[bool, bool]:
        """Whether the type can stand for the parameter, and whether the parameter stood for something already."""
        if type_ == parameter:
            return True, True
        known = self._known.get(parameter.name)
        if known is not None:
            if known == type_:
                return True, True
            if self._one(type_, known):
                general = most_general(type_, known)
                if not self._occurs(parameter, general):
                    self._set(parameter.name, general)
                return True, True
            return False, True
        if not self._occurs(parameter, type_):
            self._set(parameter.name, type_)
            return True, False
        return False, False

    def _occurs(self, parameter: Type, type_: Type) -> bool:
        if parameter == type_:
            return True
        if type_.kind == "param":
            known = self._known.get(type_.name)
            return known is not None and self._occurs(parameter, known)
        return any(self._occurs(parameter, each) for each in type_.params)
