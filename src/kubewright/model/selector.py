"""Label selectors: the text form, the `LabelSelector` of the API, and what they match (`apimachinery/pkg/labels`).

| text | matches labels that |
|---|---|
| `a=b`, `a==b`, `a in (b,c)` | have `a` with one of the values |
| `a!=b`, `a notin (b,c)` | have `a` with another value, or have no `a` |
| `a`, `!a` | have `a`; have no `a` |
| `a>5`, `a<5` | have `a` with a whole number that is greater, less |

Requirements are joined with commas and all have to hold. No requirement matches everything. What matches nothing
(`Selector.nothing()`, as an absent LabelSelector does) is an ordinary selector that contradicts itself: sent to a
server as text it still matches nothing, where Go's prints as the empty text, which matches everything.

A `Selector` is a value: checked once when made, compared and hashed by what it says, printed in one form (sorted by
key, `==` as `=`, values sorted and once each).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias, cast, final

from .base import Model
from .names import label_key_problem, label_value_problem

__all__ = [
    "LabelSelector",
    "LabelSelectorRequirement",
    "Operator",
    "Requirement",
    "Selector",
]

Operator: TypeAlias = Literal["=", "!=", "in", "notin", "exists", "!", ">", "<"]

_OPERATORS: Final = ("=", "!=", "in", "notin", "exists", "!", ">", "<")
_API_OPERATORS: Final[dict[str, Operator]] = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,40}", re.ASCII)


class LabelSelectorRequirement(Model):
    """One expression of a LabelSelector. `operator` is In, NotIn, Exists or DoesNotExist."""

    key: str
    operator: str
    values: list[str] = []


class LabelSelector(Model):
    """meta/v1 LabelSelector, as Deployments and NetworkPolicies hold it. An empty one selects everything."""

    match_labels: dict[str, str] = {}
    match_expressions: list[LabelSelectorRequirement] = []


@final
class Requirement:
    """One key, an operator and its values. Immutable.

    Raises:
        ValueError: key or values break the rules of labels, or their number does not fit the operator.
    """

    __slots__ = ("_number", "key", "operator", "values")

    key: str
    operator: Operator
    values: tuple[str, ...]
    """Sorted, each once. One for `=`, `!=`, `>`, `<`; none for `exists` and `!`."""

    def __init__(self, key: str, operator: Operator, values: Iterable[str] = ()) -> None:
        if problem := label_key_problem(key):
            raise ValueError(f"label key {key!r}: {problem}")
        self.key, self.operator = key, operator
        self.values = tuple(sorted(set(values)))
        self._check()
        self._number = int(self.values[0]) if operator in (">", "<") else 0

    def _check(self) -> None:
        count = len(self.values)
        if self.operator not in _OPERATORS:
            raise ValueError(f"label {self.key}: operator {self.operator!r} is none of {' '.join(_OPERATORS)}")
        if self.operator in ("exists", "!"):
            if count:
                raise ValueError(f"label {self.key}: takes no value with operator {self.operator}; leave them out")
        elif self.operator in ("in", "notin"):
            if not count:
                raise ValueError(f"label {self.key}: operator {self.operator} has no value; give at least one")
        elif count != 1:
            raise ValueError(
                f"label {self.key}: operator {self.operator} has {count} values; give one, or use in/notin"
            )
        for value in self.values:
            if problem := label_value_problem(value):
                raise ValueError(f"label {self.key} value {value!r}: {problem}")
            if self.operator in (">", "<") and _as_int64(value) is None:
                raise ValueError(f"label {self.key} value {value!r}: is not a whole number; {self.operator} needs one")

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels fulfil it."""
        operator, value = self.operator, labels.get(self.key)
        if operator == "=" or operator == "in":
            return value is not None and value in self.values
        if operator == "!=" or operator == "notin":
            return value is None or value not in self.values
        if operator == "exists":
            return value is not None
        if operator == "!":
            return value is None
        number = None if value is None else _as_int64(value)
        if number is None:
            return False
        return number > self._number if operator == ">" else number < self._number

    def __str__(self) -> str:
        if self.operator == "exists":
            return self.key
        if self.operator == "!":
            return f"!{self.key}"
        if self.operator in ("in", "notin"):
            return f"{self.key} {self.operator} ({','.join(self.values)})"
        return f"{self.key}{self.operator}{self.values[0]}"

    def __repr__(self) -> str:
        return f"Requirement({self.key!r}, {self.operator!r}, {list(self.values)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Requirement):
            return NotImplemented
        return (self.key, self.operator, self.values) == (other.key, other.operator, other.values)

    def __hash__(self) -> int:
        return hash((self.key, self.operator, self.values))

    def __reduce__(self) -> tuple[type[Requirement], tuple[str, str, tuple[str, ...]]]:
        return Requirement, (self.key, self.operator, self.values)


def _as_int64(text: str) -> int | None:
    if _INTEGER.fullmatch(text) is None:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


@final
class Selector:
    """Which labels are meant. Immutable; equal when it says the same.

    ```python
    Selector.parse("app=web,tier in (front,edge),!canary").matches(pod.metadata.labels)
    Selector.of({"app": "web"}) & Selector.parse("tier!=back")
    ```
    """

    __slots__ = ("_equal", "_other", "requirements")

    requirements: tuple[Requirement, ...]
    """Sorted by key, each once."""

    def __init__(self, requirements: Iterable[Requirement] = ()) -> None:
        self.requirements = tuple(sorted(set(requirements), key=lambda each: (each.key, str(each))))
        # Most selectors are a few equalities: those are one comparison of dictionary views.
        equal: dict[str, str] = {}
        other: list[Requirement] = []
        for each in self.requirements:
            if each.operator == "=" and each.key not in equal:
                equal[each.key] = each.values[0]
            else:
                other.append(each)
        self._equal, self._other = equal.items(), tuple(other)

    @classmethod
    def parse(cls, text: str) -> Selector:
        """From the text form. The empty text selects everything.

        Raises:
            ValueError: naming the text, the place and what was expected there.
        """
        return cls(_Parser(text).requirements())

    @classmethod
    def everything(cls) -> Selector:
        """No requirement: all objects, also those without labels."""
        return cls()

    @classmethod
    def nothing(cls) -> Selector:
        """No object at all; see the head of the module for its text."""
        return _NOTHING

    @classmethod
    def of(cls, value: str | Mapping[str, str] | LabelSelector | Selector) -> Selector:
        """From any form: text, labels that all have to be equal, a LabelSelector. Raises ValueError."""
        if isinstance(value, Selector):
            return value
        if isinstance(value, str):
            return cls.parse(value)
        if isinstance(value, LabelSelector):
            return cls.from_label_selector(value)
        return cls.from_labels(value)

    @classmethod
    def from_labels(cls, labels: Mapping[str, str] | None = None, /, **more: str) -> Selector:
        """All these labels with just these values: `from_labels(app="web")`. None given: everything."""
        return cls(Requirement(key, "=", (value,)) for key, value in {**(labels or {}), **more}.items())

    @classmethod
    def from_label_selector(cls, selector: LabelSelector | None) -> Selector:
        """As the API means it: an empty one selects everything, an absent one (None) nothing. Raises ValueError."""
        if selector is None:
            return _NOTHING
        requirements = [Requirement(key, "=", (value,)) for key, value in selector.match_labels.items()]
        for each in selector.match_expressions:
            operator = _API_OPERATORS.get(each.operator)
            if operator is None:
                raise ValueError(
                    f"label {each.key}: operator {each.operator!r} is none of {', '.join(_API_OPERATORS)}; use one"
                )
            requirements.append(Requirement(each.key, operator, each.values))
        return cls(requirements)

    def to_label_selector(self) -> LabelSelector:
        """For a field of an object. Raises ValueError: a LabelSelector cannot say `>` or `<`."""
        api_names = {operator: name for name, operator in _API_OPERATORS.items()}
        made = LabelSelector()
        for each in self.requirements:
            if each.operator == "=" and each.key not in made.match_labels:
                made.match_labels[each.key] = each.values[0]
                continue
            operator = {"=": "In", "!=": "NotIn"}.get(each.operator) or api_names.get(each.operator)
            if operator is None:
                raise ValueError(
                    f"label {each.key}: a LabelSelector has no operator {each.operator}; compare elsewhere"
                )
            made.match_expressions.append(
                LabelSelectorRequirement(key=each.key, operator=operator, values=list(each.values))
            )
        return made

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels fulfil every requirement."""
        if not self._equal <= labels.items():
            return False
        return all(each.matches(labels) for each in self._other)

    def __and__(self, other: Selector) -> Selector:
        """What both select."""
        return Selector(self.requirements + other.requirements)

    def __bool__(self) -> bool:
        """Whether it restricts anything: False for the one that selects everything."""
        return bool(self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def __repr__(self) -> str:
        return f"Selector.parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return self.requirements == other.requirements if isinstance(other, Selector) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.requirements)

    def __reduce__(self) -> tuple[type[Selector], tuple[tuple[Requirement, ...]]]:
        return Selector, (self.requirements,)


_SYMBOLS: Final = "=!(),<>"
_TOKEN: Final = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+)", re.ASCII)
_BLANK: Final = " \t\r\n"


class _Parser:
    """Recursive descent over tokens. `in` and `notin` are operators after a key, and words anywhere else."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, int]] = [
            (match.group(1), match.start(1)) for match in _TOKEN.finditer(text.rstrip(_BLANK))
        ]
        self._next = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        if not self._tokens:
            return found
        while True:
            found.append(self._requirement())
            if self._peek() is None:
                return found
            self._expect(",", "',' or the end")

    def _requirement(self) -> Requirement:
        absent = self._take("!")
        key = self._word("a label key" if absent else "a label key or '!'")
        if absent:
            return Requirement(key, "!")
        symbol = self._peek()
        if symbol is None or symbol == ",":
            return Requirement(key, "exists")
        if symbol not in ("=", "==", "!=", ">", "<", "in", "notin"):
            raise self._unexpected("one of = == != in notin < >")
        self._next += 1
        operator = cast("Operator", "=" if symbol == "==" else symbol)
        if operator in ("in", "notin"):
            return Requirement(key, operator, self._values())
        return Requirement(key, operator, (self._word_or_nothing("a value"),))

    def _values(self) -> list[str]:
        self._expect("(", "'('")
        found = [self._word_or_nothing("a value, ',' or ')'")]
        while not self._take(")"):
            self._expect(",", "',' or ')'")
            found.append(self._word_or_nothing("a value, ',' or ')'"))
        return found

    def _word_or_nothing(self, wanted: str) -> str:
        return "" if self._peek() in (None, ",", ")") else self._word(wanted)

    def _word(self, wanted: str) -> str:
        token = self._peek()
        if token is None or token[0] in _SYMBOLS:
            raise self._unexpected(wanted)
        self._next += 1
        return token

    def _take(self, token: str) -> bool:
        taken = self._peek() == token
        self._next += taken
        return taken

    def _expect(self, token: str, wanted: str) -> None:
        if not self._take(token):
            raise self._unexpected(wanted)

    def _peek(self) -> str | None:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else None

    def _unexpected(self, wanted: str) -> ValueError:
        if self._next < len(self._tokens):
            token, place = self._tokens[self._next]
            found = f"has {token!r} at character {place + 1}"
        else:
            found = "ends"
        return ValueError(f"label selector {self._text!r}: {found} where {wanted} is expected")


_NOTHING: Final = Selector([Requirement("nothing", "exists"), Requirement("nothing", "!")])
