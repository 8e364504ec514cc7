"""Go's regular expressions in Python: the `pattern` of schemas, CEL's `matches` and `find`.

`compile(text)` reads the text by Go's rules (see `re2_syntax`), so that what a server refuses is refused here in the
same words, and what it accepts means the same: `$` is the end of the text, `\\d` is ASCII, `\\pL` and `\\Q...\\E` are
known, back references and lookaround are not. The tree is then written as a pattern for `re`, with every flag and
class resolved; no text of the user reaches `re` as it is.

`re` backtracks, Go does not: where that could take long, `re2_linear` matches instead. Linear is still times the size
of the expression, which `a{1000}` makes large: `limited()` bounds what all searches within it may do together.
"""

from __future__ import annotations

import re
import sys
from contextvars import ContextVar, Token
from functools import lru_cache
from typing import Final

from .re2_linear import MAX_INSTRUCTIONS, Automaton, TooLarge, TooLong, Work, danger, program_size
from .re2_syntax import parse
from .re2_tree import Assertion, Chars, Choice, Concat, Group, Node, Re2Error, Repeat, fold
from .re2_unicode import MAX_RUNE

__all__ = ["MAX_WORK", "Re2Error", "Regex", "TooLong", "Work", "compile", "limited", "quote_meta", "spend"]

_ASSERTIONS: Final = {
    "text begin": r"(?:\A)",
    "text end": r"(?:\Z)",
    "line begin": r"(?m:^)",
    "line end": r"(?m:$)",
    "word boundary": r"(?a:(?<=\w)(?!\w)|(?<!\w)(?=\w))",
    # Not \B: before Python 3.14 that does not match the empty text.
    "no word boundary": r"(?a:(?<=\w)(?=\w)|(?<!\w)(?!\w))",
}


#: By danger (see `re2_linear`): the longest text that `re` matches in no noticeable time.
_TRUSTED: Final = (sys.maxsize, 250, -1)
_WORST: Final = 2
_NONE: Final = re.compile(r"(?!)")
#: Of all character classes together: a thousand `\pL` would keep `re` busy for seconds.
MAX_RANGES: Final = 20_000
#: Characters of an expression. Go takes more, and keeps a server busy with them.
MAX_TEXT: Final = 250_000
#: What searches may look at, where nobody says otherwise: some seconds' worth.
MAX_WORK: Final = 2_000_000
_shared: ContextVar[Work | None] = ContextVar("kubewright_re2_work", default=None)


class limited(Work):  # noqa: N801 - used as `with limited():`
    """All searches within it together may look at so many instructions; one that needs more raises TooLong.

    Within another limit that one holds on.
    """

    __slots__ = ("_token",)

    def __init__(self, left: int = MAX_WORK) -> None:
        self.left = left
        self._token: Token[Work | None] | None = None

    def __enter__(self) -> None:
        if _shared.get() is None:
            self._token = _shared.set(self)

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _shared.reset(self._token)
            self._token = None


def spend(work: int) -> None:
    """Count what was done elsewhere against the limit, if there is one.

    Raises:
        TooLong: it is used up.
    """
    shared = _shared.get()
    if shared is not None:
        shared.spend(work)


class Regex:
    """A compiled expression. Immutable; safe to share.

    Attributes:
        text: as it was written.
        groups: the number of capturing groups.
        size: about how many instructions it has, repetitions written out.
    """

    __slots__ = ("_automaton", "_longest", "_re", "_tree", "groups", "size", "text")

    def __init__(self, text: str, tree: Node) -> None:
        self.text = text
        self._tree = tree
        self.size = program_size(tree)
        level = danger(tree)
        self.groups, ranges = _count_parts(tree)
        self._re = _NONE
        is_for_re = level < _WORST and ranges <= MAX_RANGES
        if is_for_re:
            try:
                self._re = re.compile(_write(tree))
            except (re.error, RecursionError, OverflowError):
                # What `re` has no stack for, an automaton has: Go takes a thousand groups in each other.
                is_for_re = False
        if not is_for_re and self.size > MAX_INSTRUCTIONS * 2:
            raise TooLarge
        #: What needs an automaton and is too large for one is refused here, before any text.
        self._automaton = None if is_for_re else Automaton(tree)
        #: The longest text that `re` is trusted with.
        self._longest = _TRUSTED[level] if is_for_re else -1

    def _linear(self, text: str) -> Automaton | None:
        """What to match a text with instead of `re`, if it is not to be trusted with that."""
        if len(text) <= self._longest:
            return None
        if self._automaton is None:
            try:
                self._automaton = Automaton(self._tree)
            except TooLarge:
                self._longest = sys.maxsize
        return self._automaton

    def search(self, text: str, work: Work | None = None) -> bool:
        """Whether the expression is found anywhere in `text` (Go's MatchString).

        Args:
            work: how much may be looked at to know; else what `limited` says.

        Raises:
            TooLong: that was not enough.
        """
        if len(text) > self._longest and (automaton := self._linear(text)) is not None:
            return automaton.search(text, work or _shared.get())
        return self._re.search(text) is not None

    def matches(self, text: str) -> bool:
        """`search` for the `pattern` of a schema: a text that takes more than MAX_WORK, or than is left of what
        `limited` gives, does not match.
        """
        if len(text) <= self._longest:
            return self._re.search(text) is not None
        try:
            return self.search(text, _shared.get() or Work(MAX_WORK))
        except TooLong:
            return False

    def find(self, text: str, work: Work | None = None) -> str | None:
        """The leftmost match, or None. `work` as in `search`."""
        span = self._span(text, 0, work)
        return None if span is None else text[span[0] : span[1]]

    def _span(self, text: str, at: int, work: Work | None) -> tuple[int, int] | None:
        automaton = self._linear(text)
        if automaton is not None:
            return automaton.find(text, at, work or _shared.get())
        found = self._re.search(text, at)
        return None if found is None else found.span()

    def find_all(self, text: str, limit: int = -1, work: Work | None = None) -> list[str]:
        """The matches from left to right, none overlapping; at most `limit` of them unless that is negative.

        `work` is for all of them.
        """
        found: list[str] = []
        at, end_of_last = 0, -1
        while at <= len(text) and (limit < 0 or len(found) < limit):
            span = self._span(text, at, work)
            if span is None:
                break
            start, end = span
            # Go takes no empty match right after another match.
            if start != end or start != end_of_last:
                found.append(text[start:end])
            end_of_last = end
            at = end if end > at or start != end else end + 1
        return found

    def __repr__(self) -> str:
        return f"Regex({self.text!r})"


@lru_cache(maxsize=256)
def compile(text: str) -> Regex:  # noqa: A001 - the name that `re` has
    """A regular expression in Go's syntax.

    Raises:
        Re2Error: Go's regexp refuses it; the message is Go's.
    """
    if len(text) > MAX_TEXT:
        raise Re2Error("expression too large", text)
    tree = parse(text)
    try:
        return Regex(text, tree)
    except TooLarge:
        raise Re2Error("expression too large", text) from None


def quote_meta(text: str) -> str:
    """`text` with a backslash before each character that has a meaning in an expression."""
    return "".join("\\" + char if char in r"\.+*?()|[]{}^$" else char for char in text)


def _count_parts(root: Node) -> tuple[int, int]:
    """How many groups and how many ranges of characters there are."""
    groups = ranges = 0
    todo = [root]
    while todo:
        node = todo.pop()
        match node:
            case Chars():
                ranges += len(node.ranges)
            case Group():
                groups += 1
                todo.append(node.item)
            case Repeat():
                todo.append(node.item)
            case Concat() | Choice():
                todo += node.items
    return groups, ranges


def _write(root: Node) -> str:
    def write(node: Node, parts: list[str]) -> str:
        match node:
            case Chars():
                return _write_chars(node.ranges)
            case Assertion():
                return _ASSERTIONS[node.kind]
            case Group():
                return f"({parts[0]})"
            case Concat():
                items = zip(node.items, parts, strict=True)
                return "".join(f"(?:{part})" if isinstance(item, Choice) else part for item, part in items)
            case Choice():
                return "|".join(parts)
            case Repeat():
                suffix = "" if node.greedy else "?"
                return f"(?:{parts[0]}){_count(node.low, node.high)}{suffix}"

    return fold(root, write)[id(root)]


def _count(low: int, high: int | None) -> str:
    if high is None:
        return {0: "*", 1: "+"}.get(low, f"{{{low},}}")
    return "?" if (low, high) == (0, 1) else f"{{{low},{high}}}"


def _write_chars(ranges: tuple[tuple[int, int], ...]) -> str:
    if not ranges:
        return r"(?!)"
    if ranges == ((0, MAX_RUNE),):
        return r"(?s:.)"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _rune(ranges[0][0])
    return "[" + "".join(_rune(low) if low == high else f"{_rune(low)}-{_rune(high)}" for low, high in ranges) + "]"


def _rune(rune: int) -> str:
    char = chr(rune)
    if char.isascii() and char.isalnum():
        return char
    return f"\\x{rune:02x}" if rune < 0x100 else f"\\u{rune:04x}" if rune < 0x10000 else f"\\U{rune:08x}"
