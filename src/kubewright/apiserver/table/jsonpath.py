"""Kubernetes' JSON paths, as printer columns and `kubectl -o jsonpath` have them. (`client-go/util/jsonpath`.)

| written | selects |
|---|---|
| `.name`, `['name']`, `.a\\.b` | a field; of a list nothing |
| `[2]`, `[-1]`, `[1:3]`, `[::2]` | items |
| `[*]`, `.*` | all items, or the values of all fields |
| `..name`, `..*` | the same in everything below |
| `[?(@.a == "x")]` | items for which it holds: `==`, `!=`, `<`, `<=`, `>`, `>=`, or without an operator: there is one |
| `['a','b']`, `[0,2]` | several |

What is missing selects nothing and is no error. A path is read once and then asked of many objects; it has no loops
but those over the object, so it costs at most what it selects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, Protocol

from msgspec import Struct

__all__ = ["JsonPath", "JsonPathError"]

_LONGEST: Final = 4096


class JsonPathError(ValueError):
    """A path that cannot be read. The message names the path, the place and what is wrong there."""


class _Step(Protocol):
    def select(self, value: Any) -> Iterator[Any]: ...


class _Field(Struct, frozen=True):
    name: str

    def select(self, value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and self.name in value:
            yield value[self.name]


class _All(Struct, frozen=True):
    def select(self, value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            # Maps have no order in Go; by name, so that the same object always looks the same.
            for name in sorted(value):
                yield value[name]
        elif isinstance(value, list):
            yield from value


class _Items(Struct, frozen=True):
    start: int | None
    end: int | None
    step: int

    def select(self, value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from value[self.start : self.end : self.step]


class _Item(Struct, frozen=True):
    place: int

    def select(self, value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= self.place < len(value):
            yield value[self.place]


class _Several(Struct, frozen=True):
    steps: tuple[_Step, ...]

    def select(self, value: Any) -> Iterator[Any]:
        for step in self.steps:
            yield from step.select(value)


class _Below(Struct, frozen=True):
    def select(self, value: Any) -> Iterator[Any]:
        waiting = [value]
        while waiting:
            found = waiting.pop()
            if isinstance(found, dict | list):
                yield found
                inner = [found[name] for name in sorted(found)] if isinstance(found, dict) else found
                waiting.extend(reversed(inner))


class _Filter(Struct, frozen=True):
    left: JsonPath | _Literal
    operator: str
    right: JsonPath | _Literal | None

    def select(self, value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from (each for each in value if self._holds(each))

    def _holds(self, item: Any) -> bool:
        left = self.left.find(item)
        if self.right is None:
            return bool(left)
        right = self.right.find(item)
        if len(left) != 1 or len(right) != 1:
            return False
        return _compare(left[0], self.operator, right[0])


class _Literal(Struct, frozen=True):
    value: Any

    def find(self, value: Any) -> list[Any]:
        return [self.value]


def _compare(left: Any, operator: str, right: Any) -> bool:
    if operator == "==":
        return _same_type(left, right) and bool(left == right)
    if operator == "!=":
        return not _same_type(left, right) or bool(left != right)
    if not _same_type(left, right) or isinstance(left, bool | dict | list) or left is None:
        return False
    if operator == "<":
        return bool(left < right)
    if operator == "<=":
        return bool(left <= right)
    return bool(left > right) if operator == ">" else bool(left >= right)


def _same_type(left: Any, right: Any) -> bool:
    return _class(left) == _class(right)


def _class(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, int | float) else type(value).__name__


class JsonPath:
    """A path that has been read.

    Raises JsonPathError: it cannot be.
    """

    __slots__ = ("_steps", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > _LONGEST:
            raise JsonPathError(f"a JSON path of {len(text)} characters; at most {_LONGEST} are read")
        self._steps = _Reader(text).steps()

    def find(self, value: Any) -> list[Any]:
        """What is selected, in order; empty where there is nothing."""
        found = [value]
        for step in self._steps:
            found = [each for one in found for each in step.select(one)]
            if not found:
                break
        return found


_NAME: Final = re.compile(r"(?:\\.|[^.\[\]\\\s{}(),'\"=!<>])+")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_SLICE: Final = re.compile(r"(-?\d+)?:(-?\d+)?(?::(\d+))?$")
_OPERATOR: Final = re.compile(r"\s*(==|!=|<=|>=|<|>)\s*")


class _Reader:
    def __init__(self, text: str, place: int = 0) -> None:
        self.text, self.place = text, place
        if text.startswith("{") and text.endswith("}"):
            self.text = text[1:-1]

    def steps(self) -> tuple[_Step, ...]:
        """All of the text."""
        if self.text[:1] in ("$", "@"):
            self.place = 1
        found = self.some()
        if self.place < len(self.text):
            raise self.error("is not expected here")
        return found

    def some(self) -> tuple[_Step, ...]:
        """As many steps as there are."""
        found: list[_Step] = []
        while self.place < len(self.text):
            if self.text.startswith("..", self.place):
                self.place += 2
                found.append(_Below())
                if not self.text.startswith("[", self.place):
                    found.append(self.name())
            elif self.text[self.place] == ".":
                self.place += 1
                if self.place == len(self.text) or self.text[self.place] == "[":
                    continue
                found.append(self.name())
            elif self.text[self.place] == "[":
                found.append(self.brackets())
            elif not found and not self.place and _NAME.match(self.text):
                found.append(self.name())
            else:
                break
        return tuple(found)

    def name(self) -> _Step:
        if self.text.startswith("*", self.place):
            self.place += 1
            return _All()
        match = _NAME.match(self.text, self.place)
        if match is None:
            raise self.error("a field's name is expected")
        self.place = match.end()
        return _Field(re.sub(r"\\(.)", r"\1", match.group()))

    def brackets(self) -> _Step:
        if self.text.startswith("[?(", self.place):
            return self.filter()
        self.place += 1
        parts: list[_Step] = []
        while True:
            self.spaces()
            parts.append(self.part())
            self.spaces()
            end = self.text[self.place : self.place + 1]
            self.place += 1
            if end == "]":
                return parts[0] if len(parts) == 1 else _Several(tuple(parts))
            if end != ",":
                self.place -= 1
                raise self.error("a bracket is not closed")

    def part(self) -> _Step:
        first = self.text[self.place : self.place + 1]
        if first in ("'", '"'):
            return _Field(self.quoted())
        end = min((at for each in ",]" if (at := self.text.find(each, self.place)) >= 0), default=len(self.text))
        inner = self.text[self.place : end].strip()
        self.place = end
        if inner == "*":
            return _All()
        if re.fullmatch(r"-?\d+", inner):
            return _Item(int(inner))
        match = _SLICE.match(inner)
        if match is None:
            raise self.error(f"{inner!r} is no index, slice or quoted name")
        start, stop, step = match.groups()
        if step is not None and not int(step):
            raise self.error(f"{inner!r} goes on by 0; write 1 or more")
        return _Items(int(start) if start else None, int(stop) if stop else None, int(step) if step else 1)

    def quoted(self) -> str:
        mark = self.text[self.place]
        made: list[str] = []
        place = self.place + 1
        while place < len(self.text) and self.text[place] != mark:
            if self.text[place] == "\\" and place + 1 < len(self.text):
                place += 1
            made.append(self.text[place])
            place += 1
        if place >= len(self.text):
            raise self.error("a quote is not closed")
        self.place = place + 1
        return "".join(made)

    def filter(self) -> _Step:
        self.place += 3
        self.spaces()
        left = self.operand()
        match = _OPERATOR.match(self.text, self.place)
        operator, right = "", None
        if match is not None:
            operator, self.place = match.group(1), match.end()
            right = self.operand()
        self.spaces()
        if not self.text.startswith(")]", self.place):
            raise self.error("a filter is not closed by )]")
        self.place += 2
        return _Filter(left, operator, right)

    def operand(self) -> JsonPath | _Literal:
        first = self.text[self.place : self.place + 1]
        if first in ("'", '"'):
            return _Literal(self.quoted())
        if first in ("@", "$", "."):
            self.place += first != "."
            made = JsonPath.__new__(JsonPath)
            made.text, made._steps = self.text, self.some()
            return made
        for word, value in (("true", True), ("false", False)):
            if self.text.startswith(word, self.place):
                self.place += len(word)
                return _Literal(value)
        match = _NUMBER.match(self.text, self.place)
        if match is None:
            raise self.error("a path (@.x), a text, a number, true or false is expected")
        self.place = match.end()
        return _Literal(float(match.group()) if "." in match.group() else int(match.group()))

    def spaces(self) -> None:
        while self.text[self.place : self.place + 1] == " ":
            self.place += 1

    def error(self, what: str) -> JsonPathError:
        return JsonPathError(f"JSON path {self.text!r}, at {self.place}: {what}")
