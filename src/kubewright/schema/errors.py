"""What is wrong with the types a schema is made from.

One run reports everything it finds: a `Problems` collects, `SchemaError` carries the causes. Each cause keeps its facts
as attributes and says them in one line, `class.field (file:line): rule; cure`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import msgspec

__all__ = ["Place", "Problems", "SchemaCause", "SchemaError", "SchemaWarning"]


class SchemaCause(msgspec.Struct, frozen=True):
    """One thing that keeps a class from having a schema.

    `owner` is the class's name; `field` the Python name of the field, with `[]` for an item of a list, `{}` for a value
    and `{key}` for a key of a dictionary; empty for the class itself. `source` is `file:line` where it is known.
    """

    owner: str
    field: str
    rule: str
    cure: str
    source: str = ""

    def __str__(self) -> str:
        where = f"{self.owner}.{self.field}" if self.field else self.owner
        source = f" ({self.source})" if self.source else ""
        return f"{where}{source}: {self.rule}; {self.cure}"


class SchemaError(ValueError):
    """Types that cannot be a custom resource definition. `causes` has all that was found, in order."""

    def __init__(self, causes: Sequence[SchemaCause]) -> None:
        super().__init__(*causes)
        self.causes: tuple[SchemaCause, ...] = tuple(causes)

    def __str__(self) -> str:
        if len(self.causes) == 1:
            return str(self.causes[0])
        return "\n  ".join([f"{len(self.causes)} problems", *map(str, self.causes)])


class SchemaWarning(UserWarning):
    """Something of a type that its schema cannot say, so that a server takes what Python refuses. Has the `cause`."""

    def __init__(self, cause: SchemaCause) -> None:
        super().__init__(cause)
        self.cause = cause

    def __str__(self) -> str:
        return str(self.cause)


class Place(msgspec.Struct, frozen=True):
    """Where in the classes the builder is, for messages."""

    owner: str
    field: str = ""
    source: str = ""

    def below(self, suffix: str) -> Place:
        """The same field, deeper: its items (`[]`), values (`{}`) or keys (`{key}`)."""
        return Place(self.owner, self.field + suffix, self.source)


class Problems:
    """Collects the causes of one run; the same cause counts once, however often its class is used."""

    def __init__(self) -> None:
        self._causes: dict[SchemaCause, None] = {}
        self._warnings: dict[SchemaCause, None] = {}
        self._located: list[tuple[object, Place]] = []

    def locate(self, what: object, place: Place) -> None:
        """Remember where a part of a schema comes from, for a check of the finished whole."""
        self._located.append((what, place))

    def place_of(self, what: object) -> Place | None:
        """Where the very object was located."""
        return next((place for located, place in self._located if located is what), None)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is wrong so far."""
        return not self._causes

    def add(self, place: Place, rule: str, cure: str) -> None:
        self._causes[SchemaCause(place.owner, place.field, rule, cure, place.source)] = None

    def warn(self, place: Place, rule: str, cure: str) -> None:
        """Add what keeps no class from having a schema, and should be known."""
        self._warnings[SchemaCause(place.owner, place.field, rule, cure, place.source)] = None

    def raise_if_any(self) -> None:
        """Give the warnings. Raises SchemaError: something was added."""
        if self._causes:
            raise SchemaError(tuple(self._causes))
        for cause in self._warnings:
            warnings.warn(SchemaWarning(cause), stacklevel=3)
