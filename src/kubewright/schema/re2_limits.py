"""How high and how large an expression is as Go would have it, measured while it is read: what is too much ends it.

Go joins neighbouring literals to one, sequences in sequences to one sequence, and single characters of a choice to a
class; heights and sizes are of what is left then. Go takes out common starts of choices, too, which is not measured
here: next to a limit, this may be off by some nodes.

Rule: Go's regexp/syntax/parse.go, checkLimits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from .re2_tree import MAX_HEIGHT, MAX_NODES, MAX_RUNES, Choice, Concat, Node, Re2Error

__all__ = ["ASSERTION", "CLASS", "LITERAL", "Frame", "Limits", "Measure"]


class Measure(NamedTuple):
    """Of a part: how many nodes are above each other, how many instructions it becomes, and what it joins with."""

    height: int
    size: int
    kind: Literal["literal", "class", "concat", "choice", "other"]


LITERAL: Final = Measure(1, 1, "literal")
CLASS: Final = Measure(1, 1, "class")
ASSERTION: Final = Measure(1, 1, "other")


class Limits:
    """What an expression has so far.

    Raises:
        Re2Error: from every method, when that is too much.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.nodes = 0
        self.runes = 0
        self.repeats = 1

    def leaf(self, measure: Measure, runes: int) -> Measure:
        """Counts a part that has no parts."""
        self.runes += runes
        self.nodes += 1
        return self._checked(measure)

    def group(self, item: Measure) -> Measure:
        self.nodes += 1
        return self._checked(Measure(item.height + 1, item.size + 2, "other"))

    def repeat(self, item: Measure, low: int, high: int | None, *, counted: bool) -> Measure:
        self.nodes += 1
        if counted:
            self.repeats = min(self.repeats * max(low if high is None else high, 1), MAX_NODES)
        if high is None:
            size = 1 + low * item.size if low else 2 + item.size
        else:
            size = max(high * item.size + high - low, 1)
        return self._checked(Measure(item.height + 1, size, "other"))

    def concat(self, items: list[Measure]) -> Measure:
        if len(items) == 1:
            return items[0]
        size = sum(each.size for each in items)
        if items and all(each.kind == "literal" for each in items):
            return self._checked(Measure(1, size, "literal"))
        self.nodes += 1
        if not items:
            return self._checked(ASSERTION)
        height = 1 + max(each.height - (each.kind == "concat") for each in items)
        return self._checked(Measure(height, size, "concat"))

    def choice(self, items: list[Measure]) -> Measure:
        if len(items) == 1:
            return items[0]
        self.nodes += 1
        if all(each.kind == "class" or each == LITERAL for each in items):
            return self._checked(CLASS)
        height = 1 + max(each.height - (each.kind == "choice") for each in items)
        return self._checked(Measure(height, sum(each.size for each in items) + len(items) - 1, "choice"))

    def _checked(self, measure: Measure) -> Measure:
        if self.runes > MAX_RUNES or (measure.size > MAX_NODES and self.nodes >= MAX_NODES // self.repeats):
            raise Re2Error("expression too large", self.text)
        if measure.height > MAX_HEIGHT:
            raise Re2Error("expression nests too deeply", self.text)
        return measure


@dataclass(slots=True)
class Frame:
    """An open parenthesis: what it holds so far, with measures, and the flags to return to."""

    capturing: bool
    flags: frozenset[str]
    items: list[Node] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    choices: list[Node] = field(default_factory=list)
    measured: list[Measure] = field(default_factory=list)

    def add(self, node: Node, measure: Measure) -> None:
        self.items.append(node)
        self.measures.append(measure)

    def alternative(self, limits: Limits) -> None:
        """What stands since the last `|` is one of several."""
        self.choices.append(self.items[0] if len(self.items) == 1 else Concat(tuple(self.items)))
        self.measured.append(limits.concat(self.measures))
        self.items, self.measures = [], []

    def close(self, limits: Limits) -> tuple[Node, Measure]:
        self.alternative(limits)
        node = self.choices[0] if len(self.choices) == 1 else Choice(tuple(self.choices))
        return node, limits.choice(self.measured)
