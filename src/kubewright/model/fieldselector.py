r"""Field selectors: `status.phase=Running,spec.nodeName!=a` (`apimachinery/pkg/fields`).

They know equality only, and a server knows a few fields of each kind only: `metadata.name` and `metadata.namespace`
everywhere, for custom resources also those of `selectableFields`. An absent field is the empty text. In a value, `\`,
`,` and `=` are written with a `\` before them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple, final

__all__ = ["FieldRequirement", "FieldSelector"]

_ESCAPED: Final = "\\,="


class FieldRequirement(NamedTuple):
    """One comparison: `FieldRequirement("status.phase", "!=", "Failed")`."""

    field: str
    operator: Literal["=", "!="]
    value: str

    def __str__(self) -> str:
        return f"{self.field}{self.operator}{_escape(self.value)}"


@final
class FieldSelector:
    """Which fields are meant. Immutable; equal when it says the same.

    Raises:
        ValueError: a field name is empty or has one of the characters that a server would take for an operator.
    """

    __slots__ = ("requirements",)

    requirements: tuple[FieldRequirement, ...]
    """Sorted, each once."""

    def __init__(self, requirements: Iterable[FieldRequirement] = ()) -> None:
        self.requirements = tuple(sorted(set(requirements)))
        for each in self.requirements:
            if not each.field or any(character in each.field for character in "\\,=!"):
                raise ValueError(
                    f"field name {each.field!r}: is empty or has one of \\ , = !; write a path such as status.phase"
                )
            if each.operator not in ("=", "!="):
                raise ValueError(f"field {each.field}: operator {each.operator!r} is neither = nor !=; use one of them")

    @classmethod
    def parse(cls, text: str) -> FieldSelector:
        """From the text form; the empty text selects everything. Raises ValueError naming the term."""
        return cls(_parse_term(text, term) for term in _split(text) if term)

    @classmethod
    def of(cls, value: str | Mapping[str, str] | FieldSelector) -> FieldSelector:
        """From text, or from fields that all have to be equal. Raises ValueError."""
        if isinstance(value, FieldSelector):
            return value
        if isinstance(value, str):
            return cls.parse(value)
        return cls(FieldRequirement(field, "=", wanted) for field, wanted in value.items())

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether fields, by name, fulfil every comparison."""
        return all((fields.get(each.field, "") == each.value) is (each.operator == "=") for each in self.requirements)

    def __and__(self, other: FieldSelector) -> FieldSelector:
        """What both select."""
        return FieldSelector(self.requirements + other.requirements)

    def __bool__(self) -> bool:
        """Whether it restricts anything."""
        return bool(self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def __repr__(self) -> str:
        return f"FieldSelector.parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return self.requirements == other.requirements if isinstance(other, FieldSelector) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.requirements)

    def __reduce__(self) -> tuple[type[FieldSelector], tuple[tuple[FieldRequirement, ...]]]:
        return FieldSelector, (self.requirements,)


def _escape(value: str) -> str:
    return "".join(f"\\{character}" if character in _ESCAPED else character for character in value)


def _split(text: str) -> list[str]:
    """The terms, with their escapes."""
    terms, start, escaped = [], 0, False
    for place, character in enumerate(text):
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == ",":
            terms.append(text[start:place])
            start = place + 1
    return [*terms, text[start:]]


def _parse_term(text: str, term: str) -> FieldRequirement:
    place = term.find("=")
    if place < 0:
        raise ValueError(f"field selector {text!r}: {term!r} has no = or !=; write field=value")
    operator: Literal["=", "!="] = "="
    name, value = term[:place], term[place + 1 :]
    if name.endswith("!"):
        operator, name = "!=", name[:-1]
    elif value.startswith("="):
        value = value[1:]
    return FieldRequirement(name, operator, _unescape(text, value))


def _unescape(text: str, value: str) -> str:
    found: list[str] = []
    characters = iter(value)
    for character in characters:
        if character == "\\":
            character = next(characters, "")
            if character not in _ESCAPED or not character:
                raise ValueError(
                    f"field selector {text!r}: '\\{character}' in {value!r}: only \\\\ \\, and \\= are escapes"
                )
        elif character in ",=":
            raise ValueError(f"field selector {text!r}: bare {character!r} in {value!r}; write '\\{character}'")
        found.append(character)
    return "".join(found)
