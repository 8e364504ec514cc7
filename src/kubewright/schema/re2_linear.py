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
from collections.abc import Generator
from typing import Any, Final

from .re2_tree import Assertion, Chars, Choice, Concat, Group, Node, Repeat, fold

__all__ = ["MAX_INSTRUCTIONS", "Automaton", "TooLarge", "TooLong", "Work", "danger", "nullables", "program_size"]

MAX_INSTRUCTIONS: Final = 200_000
#: Steps from one set of threads to the next that are remembered, and threads in these sets; then all is forgotten.
MAX_STEPS: Final = 10_000
MAX_THREADS: Final = 50_000
_LONG: Final = 100
#: Of parts whose instructions are wanted: a part and where it goes on, each answered with its first instruction.
_Steps = Generator[tuple[Node, int], int, int]
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
    empty = nullables(root)
    todo = [(root, False)]
    is_long = False
    while todo:
        each, in_loop = todo.pop()
        match each:
            case Repeat():
                # Linear, but each place of the text is tried for so long.
                is_long = is_long or each.low > _LONG
                again = each.high is None or each.high > 1
                if again and id(each.item) in empty:
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


def program_size(root: Node) -> int:
    """How many instructions an automaton would have, about; without making it."""

    def size(node: Node, parts: list[int]) -> int:
        match node:
            case Chars() | Assertion():
                return 1
            case Group():
                return parts[0]
            case Concat() | Choice():
                return sum(parts) + len(parts)
            case Repeat():
                copies = max(node.low, 1) if node.high is None else node.high
                return copies * (parts[0] + 1) + 1

    return fold(root, size)[id(root)]


def nullables(root: Node) -> set[int]:
    """The ids of the nodes that may match the empty text."""

    def is_nullable(node: Node, parts: list[bool]) -> bool:
        match node:
            case Chars():
                return False
            case Assertion():
                return True
            case Repeat():
                return node.low == 0 or parts[0]
            case Group():
                return parts[0]
            case Concat():
                return all(parts)
            case Choice():
                return any(parts)

    return {each for each, may_be in fold(root, is_nullable).items() if may_be}


def _is_same_loop(outer: Repeat, inner: Repeat) -> bool:
    """`(?:x*)*`, `(?:x+)+` and `(?:x?)?`, which are one loop."""
    bounds = (outer.low, outer.high)
    return bounds in ((0, None), (1, None), (0, 1)) and (inner.low, inner.high, inner.greedy) == (*bounds, outer.greedy)


class _Memory:
    """Sets of threads by number, and which set follows which. Only grows: one that is full is dropped for a new one."""

    __slots__ = ("members", "numbers", "steps", "threads")

    def __init__(self) -> None:
        self.numbers: dict[frozenset[int], int] = {}
        self.members: list[frozenset[int]] = []
        self.steps: dict[tuple[int, int, str], int] = {}
        self.threads = 0

    @property
    def is_full(self) -> bool:
        return self.threads > MAX_THREADS or len(self.steps) > MAX_STEPS

    def number(self, members: frozenset[int]) -> int:
        known = self.numbers.get(members)
        if known is None:
            self.members.append(members)
            self.threads += len(members)
            known = self.numbers[members] = len(self.members) - 1
        return known


class Automaton:
    """A compiled expression. Searches share what is remembered; that is safe between threads."""

    def __init__(self, node: Node) -> None:
        # An instruction is (kind, argument, next): char with starts and ends, split with another next, assert, match.
        self._code: list[tuple[str, Any, int]] = []
        # Copies of a repeated class share its starts.
        self._starts: dict[int, tuple[int, ...]] = {}
        self._empty = nullables(node)
        end = self._emit("match", None, 0)
        self._start = self._compile(node, end)
        del self._empty
        self._memory = _Memory()

    # -- construction -------------------------------------------------------------------------------------------------

    def _emit(self, kind: str, argument: Any, then: int) -> int:
        if len(self._code) >= MAX_INSTRUCTIONS:
            raise TooLarge
        self._code.append((kind, argument, then))
        return len(self._code) - 1

    def _compile(self, node: Node, then: int) -> int:
        """Instructions for a node that go on at `then`; the first of them. Trees are deeper than Python's stack."""
        waiting = [self._steps(node, then)]
        first: int | None = None
        while waiting:
            try:
                part, then = next(waiting[-1]) if first is None else waiting[-1].send(first)
            except StopIteration as done:
                waiting.pop()
                first = done.value
                continue
            match part:
                case Chars():
                    first = self._chars(part, then)
                case Assertion():
                    first = self._emit("assert", part.kind, then)
                case _:
                    first = None
                    waiting.append(self._steps(part, then))
        assert first is not None
        return first

    def _chars(self, node: Chars, then: int) -> int:
        starts = self._starts.get(id(node))
        if starts is None:
            starts = self._starts[id(node)] = tuple(low for low, _ in node.ranges)
        return self._emit("char", (starts, node.ranges), then)

    def _steps(self, node: Node, then: int) -> _Steps:
        match node:
            case Chars() | Assertion():
                return (yield node, then)
            case Group():
                return (yield node.item, then)
            case Concat():
                for item in reversed(node.items):
                    then = yield item, then
                return then
            case Choice():
                first = yield node.items[-1], then
                for item in reversed(node.items[:-1]):
                    first = self._emit("split", first, (yield item, then))
                return first
            case Repeat():
                return (yield from self._repeat(node, then))

    def _repeat(self, node: Repeat, then: int) -> _Steps:
        item = node.item
        if node.high == 0:
            return then
        while isinstance(item, Repeat) and _is_same_loop(node, item):
            item = item.item
        if node.high is None:
            after = yield from (self._plus if node.low else self._star)(item, then, node.greedy)
            copies = node.low - 1
        else:
            after = then
            for _ in range(node.high - node.low):
                after = self._either((yield item, after), then, node.greedy)
            copies = node.low
        for _ in range(copies):
            after = yield item, after
        return after

    def _either(self, inside: int, outside: int, greedy: bool) -> int:
        return self._emit("split", outside, inside) if greedy else self._emit("split", inside, outside)

    def _plus(self, item: Node, then: int, greedy: bool) -> _Steps:
        loop = self._emit("split", then, then)
        inside = yield item, loop
        self._code[loop] = ("split", then, inside) if greedy else ("split", inside, then)
        return inside

    def _star(self, item: Node, then: int, greedy: bool) -> _Steps:
        if id(item) in self._empty:
            # (x+)? and not x*: of equal matches, the one that Go prefers.
            return self._either((yield from self._plus(item, then, greedy)), then, greedy)
        loop = self._emit("split", then, then)
        inside = yield item, loop
        self._code[loop] = ("split", then, inside) if greedy else ("split", inside, then)
        return loop

    # -- whether ------------------------------------------------------------------------------------------------------

    def search(self, text: str, work: Work | None = None) -> bool:
        """Whether there is a match anywhere.

        Raises:
            TooLong: to know took more than `work`.
        """
        # Another thread may take a new memory meanwhile; numbers are those of this one.
        memory, before = self._memory, _BEGIN_OR_END
        state = memory.number(frozenset((self._start,)))
        for char in text:
            following = memory.steps.get((state, before, char))
            if following is None:
                found = self._step(memory.members[state], before, char, work)
                if memory.is_full:
                    memory = self._memory = _Memory()
                    following = -1 if found is None else memory.number(found)
                else:
                    following = -1 if found is None else memory.number(found)
                    memory.steps[(state, before, char)] = following
            if following < 0:
                return True
            state, before = following, _kind(char)
        return self._closed(memory.members[state], before, _BEGIN_OR_END) is None

    def _step(self, members: frozenset[int], before: int, char: str, work: Work | None) -> frozenset[int] | None:
        """The threads after a character, or None where a match ends before it."""
        closed = self._closed(members, before, _kind(char), work)
        if closed is None:
            return None
        rune = ord(char)
        return frozenset({then for argument, then in closed if _holds(argument, rune)} | {self._start})

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
