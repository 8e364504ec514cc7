"""Matching in time linear in the text, for expressions with which Python's `re` could take exponential time.

`(a+)+$` on thirty letters keeps a backtracking matcher busy for minutes; Go's regexp, and with it an API server, does
not notice. This is Thompson's construction: the tree becomes a program of few instructions, a search runs all its
threads at once. Sets of threads are remembered by the character that follows (a lazy automaton), which is bounded; to
find where a match is, threads keep their start and their priority (Pike's machine), so that the match is Go's.

Linear still means: times the length of the expression. A caller that must not wait gives `Work`, which is how many
threads may be looked at.

`danger` says how bad an expression can get for `re`; the caller chooses by it and the length of the text.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final

from .re2_tree import Assertion, Chars, Choice, Concat, Group, Node, Repeat

__all__ = ["Automaton", "TooLarge", "TooLong", "Work", "danger", "is_nullable"]

MAX_INSTRUCTIONS: Final = 200_000
MAX_REMEMBERED: Final = 20_000
_LONG: Final = 100
_BEGIN_OR_END, _NEWLINE, _WORD, _OTHER = range(4)


class TooLarge(Exception):
    """The expression has more instructions than this is for."""


class TooLong(Exception):
    """A search took more work than its caller allows."""


class Work:
    """What a search may still look at, in instructions; about a million a second. Several searches may share one."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, threads: int) -> None:
        self.left -= threads
        if self.left < 0:
            raise TooLong


def danger(root: Node) -> int:
    """0: `re` is linear. 1: quadratic or so, for long texts only. 2: exponential, or another match than Go's."""
    loops = 0
    todo = [(root, False)]
    is_long = False
    while todo:
        each, in_loop = todo.pop()
        match each:
            case Repeat():
                # Linear, but each place of the text is tried for so long.
                is_long = is_long or each.low > _LONG
                again = each.high is None or each.high > 1
                if again and is_nullable(each.item):
                    return 2
                if each.low != each.high:
                    loops += 1
                    if in_loop:
                        return 2
                todo.append((each.item, in_loop or again))
            case Group():
                todo.append((each.item, in_loop))
            case Choice():
                if in_loop:
                    return 2
                todo += [(item, in_loop) for item in each.items]
            case Concat():
                todo += [(item, in_loop) for item in each.items]
    return 2 if loops > 2 else max(min(loops, 1), is_long)


def is_nullable(node: Node) -> bool:
    """Whether the empty text may match."""
    match node:
        case Chars():
            return False
        case Assertion():
            return True
        case Repeat():
            return node.low == 0 or is_nullable(node.item)
        case Group():
            return is_nullable(node.item)
        case Concat():
            return all(map(is_nullable, node.items))
        case Choice():
            return any(map(is_nullable, node.items))


def _is_same_loop(outer: Repeat, inner: Repeat) -> bool:
    """`(?:x*)*`, `(?:x+)+` and `(?:x?)?`, which are one loop."""
    bounds = (outer.low, outer.high)
    return bounds in ((0, None), (1, None), (0, 1)) and (inner.low, inner.high, inner.greedy) == (*bounds, outer.greedy)


class Automaton:
    """A compiled expression. Searches share what is remembered; that is safe between threads."""

    def __init__(self, node: Node) -> None:
        # An instruction is (kind, argument, next): char with starts and ends, split with another next, assert, match.
        self._code: list[tuple[str, Any, int]] = []
        end = self._emit("match", None, 0)
        self._start = self._compile(node, end)
        self._sets: dict[frozenset[int], int] = {}
        self._members: list[frozenset[int]] = []
        self._steps: dict[tuple[int, int, str], int] = {}

    # -- construction -------------------------------------------------------------------------------------------------

    def _emit(self, kind: str, argument: Any, then: int) -> int:
        if len(self._code) >= MAX_INSTRUCTIONS:
            raise TooLarge
        self._code.append((kind, argument, then))
        return len(self._code) - 1

    def _compile(self, node: Node, then: int) -> int:
        """Instructions for a node that go on at `then`; the first of them."""
        match node:
            case Chars():
                return self._emit("char", (tuple(low for low, _ in node.ranges), node.ranges), then)
            case Assertion():
                return self._emit("assert", node.kind, then)
            case Group():
                return self._compile(node.item, then)
            case Concat():
                for item in reversed(node.items):
                    then = self._compile(item, then)
                return then
            case Choice():
                first = self._compile(node.items[-1], then)
                for item in reversed(node.items[:-1]):
                    first = self._emit("split", first, self._compile(item, then))
                return first
            case Repeat():
                return self._repeat(node, then)

    def _repeat(self, node: Repeat, then: int) -> int:
        item = node.item
        if node.high == 0:
            return then
        while isinstance(item, Repeat) and _is_same_loop(node, item):
            item = item.item
        if node.high is None:
            after = self._plus(item, then, node.greedy) if node.low else self._star(item, then, node.greedy)
            copies = node.low - 1
        else:
            after = then
            for _ in range(node.high - node.low):
                after = self._either(self._compile(item, after), then, node.greedy)
            copies = node.low
        for _ in range(copies):
            after = self._compile(item, after)
        return after

    def _either(self, inside: int, outside: int, greedy: bool) -> int:
        return self._emit("split", outside, inside) if greedy else self._emit("split", inside, outside)

    def _plus(self, item: Node, then: int, greedy: bool) -> int:
        loop = self._emit("split", then, then)
        inside = self._compile(item, loop)
        self._code[loop] = ("split", then, inside) if greedy else ("split", inside, then)
        return inside

    def _star(self, item: Node, then: int, greedy: bool) -> int:
        if is_nullable(item):
            # (x+)? and not x*: of equal matches, the one that Go prefers.
            return self._either(self._plus(item, then, greedy), then, greedy)
        loop = self._emit("split", then, then)
        inside = self._compile(item, loop)
        self._code[loop] = ("split", then, inside) if greedy else ("split", inside, then)
        return loop

    # -- whether ------------------------------------------------------------------------------------------------------

    def search(self, text: str, work: Work | None = None) -> bool:
        """Whether there is a match anywhere.

        Raises:
            TooLong: to know took more than `work`.
        """
        state, before = self._state(frozenset((self._start,))), _BEGIN_OR_END
        steps = self._steps
        for char in text:
            following = steps.get((state, before, char))
            if following is None:
                following = self._step(state, before, char, work)
            if following < 0:
                return True
            state, before = following, _kind(char)
        return self._closed(self._members[state], before, _BEGIN_OR_END) is None

    def _state(self, members: frozenset[int]) -> int:
        known = self._sets.get(members)
        if known is None:
            self._members.append(members)
            known = self._sets[members] = len(self._members) - 1
        return known

    def _step(self, state: int, before: int, char: str, work: Work | None) -> int:
        """The state after a character, or -1 where a match ends before it."""
        closed = self._closed(self._members[state], before, _kind(char), work)
        if closed is None:
            result = -1
        else:
            rune = ord(char)
            after = {then for argument, then in closed if _holds(argument, rune)}
            result = self._state(frozenset(after | {self._start}))
        if len(self._steps) < MAX_REMEMBERED:
            self._steps[(state, before, char)] = result
        return result

    def _closed(
        self, members: frozenset[int], before: int, after: int, work: Work | None = None
    ) -> list[tuple[Any, int]] | None:
        """The characters that threads wait for between two kinds of neighbours; None where one has matched."""
        waiting: list[tuple[Any, int]] = []
        todo, seen = list(members), set(members)
        while todo:
            kind, argument, then = self._code[todo.pop()]
            if kind == "match":
                _spend(work, seen)
                return None
            if kind == "char":
                waiting.append((argument, then))
                continue
            nexts = (then, argument) if kind == "split" else (then,) if _asserts(argument, before, after) else ()
            for each in nexts:
                if each not in seen:
                    seen.add(each)
                    todo.append(each)
        _spend(work, seen)
        return waiting

    # -- where --------------------------------------------------------------------------------------------------------

    def find(self, text: str, at: int, work: Work | None = None) -> tuple[int, int] | None:
        """The leftmost match from `at` on, the one that Perl would find.

        Raises:
            TooLong: to know took more than `work`.
        """
        found: tuple[int, int] | None = None
        threads: list[tuple[int, int]] = []
        before = _kind(text[at - 1]) if at else _BEGIN_OR_END
        for place in range(at, len(text) + 1):
            after = _kind(text[place]) if place < len(text) else _BEGIN_OR_END
            if found is None:
                threads.append((self._start, place))
            waiting, match = self._follow(threads, before, after, work)
            if match is not None:
                found = (match, place)
            if place == len(text) or (not waiting and found is not None):
                break
            rune = ord(text[place])
            threads = [(then, start) for argument, then, start in waiting if _holds(argument, rune)]
            before = after
        return found

    def _follow(
        self, threads: list[tuple[int, int]], before: int, after: int, work: Work | None
    ) -> tuple[list[tuple[Any, int, int]], int | None]:
        """What threads wait for, in order of priority, and the start of the first that has matched."""
        waiting: list[tuple[Any, int, int]] = []
        seen: set[int] = set()
        for begin, start in threads:
            todo = [begin]
            while todo:
                pc = todo.pop()
                if pc in seen:
                    continue
                seen.add(pc)
                kind, argument, then = self._code[pc]
                if kind == "match":
                    _spend(work, seen)
                    return waiting, start
                if kind == "char":
                    waiting.append((argument, then, start))
                elif kind == "split":
                    todo += (argument, then)
                elif _asserts(argument, before, after):
                    todo.append(then)
        _spend(work, seen)
        return waiting, None


def _spend(work: Work | None, seen: set[int]) -> None:
    if work is not None:
        work.spend(1 + len(seen))


def _kind(char: str) -> int:
    if char == "\n":
        return _NEWLINE
    return _WORD if char.isascii() and (char.isalnum() or char == "_") else _OTHER


def _asserts(kind: str, before: int, after: int) -> bool:
    match kind:
        case "text begin":
            return before == _BEGIN_OR_END
        case "text end":
            return after == _BEGIN_OR_END
        case "line begin":
            return before in (_BEGIN_OR_END, _NEWLINE)
        case "line end":
            return after in (_BEGIN_OR_END, _NEWLINE)
        case "word boundary":
            return (before == _WORD) != (after == _WORD)
    return (before == _WORD) == (after == _WORD)


def _holds(argument: Any, rune: int) -> bool:
    starts, ranges = argument
    place = bisect_right(starts, rune) - 1
    return place >= 0 and rune <= ranges[place][1]
