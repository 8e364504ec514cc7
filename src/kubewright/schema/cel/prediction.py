"""Which alternative the tokens ahead choose, where the first one alone does not tell; as ANTLR's SLL prediction does.

All ways through the grammar are followed at once, without regard to who called the rule, until one alternative is left.
Where none goes on, an alternative that had reached the end of its rule still is an answer; else the text from the first
token to the present one is what no alternative fits, which is what the message shows. What was found out is kept for
the same tokens later in the text, so that a long text costs its length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .grammar import Grammar, State

__all__ = ["NoAlternative", "Prediction"]

#: Where a way is: state, alternative, the stack of calls (its number), and if it left the rule of the decision.
_Way = tuple[int, int, int, bool]


class NoAlternative(Exception):
    """No alternative fits the tokens from one to another (both are numbers of tokens)."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__(start, end)
        self.start = start
        self.end = end


@dataclass(slots=True, eq=False)
class _Step:
    ways: frozenset[_Way]
    #: The alternative that is left, from 0; None while there are several.
    only: int | None = None
    after: dict[str, _Step | None] = field(default_factory=dict)


class Prediction:
    """Decisions of one parse. `kind_at` gives the kind of a token by its number."""

    def __init__(self, grammar: Grammar, kind_at: Callable[[int], str]) -> None:
        self.grammar = grammar
        self.kind_at = kind_at
        self._first: dict[tuple[int, int], _Step] = {}
        self._steps: dict[frozenset[_Way], _Step] = {}
        #: Stacks of calls: 0 is the empty one; of others the state to return to and the rest.
        self._stacks: list[tuple[int, int]] = [(-1, -1)]
        self._known: dict[tuple[int, int], int] = {}

    def choose(self, decision: State, precedence: int, at: int) -> int:
        """The number of the edge to take, from 0.

        Raises:
            NoAlternative: none fits.
        """
        key = (decision.number, precedence if decision.by_precedence else 0)
        step = self._first.get(key)
        if step is None:
            step = self._first[key] = _Step(self._start(decision, precedence))
        start = at
        while True:
            kind = self.kind_at(at)
            after = step.after.get(kind, step)
            if after is step:
                after = step.after[kind] = self._after(step, kind)
            if after is None:
                left = [alternative for _, alternative, _, outside in step.ways if outside]
                if left:
                    return min(left)
                raise NoAlternative(start, at)
            if after.only is not None:
                return after.only
            step = after
            if kind != "EOF":
                at += 1

    def _start(self, decision: State, precedence: int) -> frozenset[_Way]:
        seeds = [(edge.target.number, number, 0, False) for number, edge in enumerate(decision.edges)]
        least = precedence if decision.by_precedence else None
        ways, kept = self._reach(seeds, decision.rule, least)
        if not decision.by_precedence:
            return frozenset(ways)
        # What another turn of the loop reads is not read after leaving it.
        inside = {(state, stack) for state, alternative, stack, _ in ways if alternative == 0}
        return frozenset(way for way in ways if way[1] == 0 or way in kept or (way[0], way[2]) not in inside)

    def _after(self, step: _Step, kind: str) -> _Step | None:
        states = self.grammar.states
        moved = [
            (edge.target.number, alternative, stack, outside)
            for state, alternative, stack, outside in step.ways
            for edge in states[state].edges
            if edge.tokens is not None and kind in edge.tokens
        ]
        if not moved:
            return None
        alternatives = {way[1] for way in moved}
        ways = frozenset(self._reach(moved, "", None)[0] if len(alternatives) > 1 else moved)
        known = self._steps.get(ways)
        if known is None:
            known = self._steps[ways] = _Step(ways, min(alternatives) if self._is_decided(ways, kind) else None)
        return known

    def _is_decided(self, ways: frozenset[_Way], kind: str) -> bool:
        """One alternative is left, or those that are left will never differ."""
        if kind == "EOF" or len({way[1] for way in ways}) == 1:
            return True
        places: dict[tuple[int, int], set[int]] = {}
        states: dict[int, set[int]] = {}
        for state, alternative, stack, _ in ways:
            places.setdefault((state, stack), set()).add(alternative)
            states.setdefault(state, set()).add(alternative)
        return all(len(each) > 1 for each in states.values()) and any(len(each) > 1 for each in places.values())

    def _reach(self, seeds: Iterable[_Way], rule: str, precedence: int | None) -> tuple[set[_Way], set[_Way]]:
        """The ways to the next tokens; and of these the ones that come from a whole use of `rule` elsewhere.

        precedence: that of the rule now, for the conditions at the start of a loop; None where conditions hold.
        """
        grammar = self.grammar
        found: set[_Way] = set()
        whole: set[_Way] = set()
        seen: set[tuple[_Way, bool, bool]] = set()
        todo = [(way, precedence is not None, False) for way in seeds]
        while todo:
            item = todo.pop()
            if item in seen:
                continue
            seen.add(item)
            (number, alternative, stack, outside), conditions, suppressed = item
            state = grammar.states[number]
            if state.kind == "end":
                if stack:
                    back, rest = self._stacks[stack]
                    todo.append(((back, alternative, rest, outside), False, suppressed))
                else:
                    for follow, called in grammar.calls[state.rule]:
                        whole_use = suppressed or (called == 0 and state.rule == rule)
                        todo.append(((follow.number, alternative, 0, True), False, whole_use))
                continue
            for edge in state.edges:
                if edge.tokens is not None:
                    way = (number, alternative, stack, outside)
                    found.add(way)
                    if suppressed:
                        whole.add(way)
                elif edge.rule:
                    inner = self._push(edge.target.number, stack)
                    todo.append(((grammar.starts[edge.rule].number, alternative, inner, outside), False, suppressed))
                elif not (edge.least and conditions and precedence is not None and precedence > edge.least):
                    todo.append(((edge.target.number, alternative, stack, outside), conditions, suppressed))
        return found, whole

    def _push(self, back: int, rest: int) -> int:
        key = (back, rest)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self._stacks)
            self._stacks.append(key)
        return number
