"""Regular expressions as Go reads them (RE2 syntax, flags of `regexp.MustCompile`), to a tree.

Knows which texts Go's regexp accepts, with which words it refuses the others, and what each text means; it does not
match anything and knows nothing of Python's `re`.

Rule: https://github.com/google/re2/wiki/Syntax and Go's regexp/syntax package.
"""

from __future__ import annotations

from typing import Final, NoReturn

from .re2_limits import ASSERTION, CLASS, LITERAL, Frame, Limits, Measure
from .re2_tree import (
    ANY,
    ANY_BUT_NEWLINE,
    MAX_REPEAT,
    Assertion,
    Chars,
    Group,
    Node,
    Re2Error,
    Repeat,
    flatten,
    within,
)
from .re2_unicode import MAX_RUNE, PERL, POSIX, Ranges, fold_ranges, merge, named_ranges, negate

__all__ = ["parse"]

#: Groups in groups; deeper ones may hold sequences in sequences without number.
DEEP: Final = 100
CONTROLS: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


def parse(text: str) -> Node:
    """The tree of a regular expression.

    Raises:
        Re2Error: Go's regexp refuses it.
    """
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.flags: frozenset[str] = frozenset()
        self.limits = Limits(text)
        self.frame = Frame(False, self.flags)
        self.open: list[Frame] = []
        self.depth = 0

    def fail(self, rule: str, start: int, end: int | None = None) -> NoReturn:
        raise Re2Error(rule, self.text[start:end])

    def parse(self) -> Node:
        text = self.text
        last_repeat = -1
        while self.at < len(text):
            start = self.at
            repeat = -1
            char = text[start]
            if char == "(":
                self.left_paren()
            elif char == "|":
                self.at += 1
                self.frame.alternative(self.limits)
            elif char == ")":
                self.right_paren()
            elif char in "*+?":
                self.at += 1
                low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
                self.repeat(start, low, high, last_repeat, counted=False)
                repeat = last_repeat if last_repeat >= 0 else start
            elif char == "{" and (counts := self.counts()) is not None:
                low, high = counts
                if low > MAX_REPEAT or (high is not None and (high > MAX_REPEAT or low > high)):
                    self.fail("invalid repeat count", start, self.at)
                self.repeat(start, low, high, last_repeat, counted=True)
                repeat = start
            else:
                self.single(char)
            last_repeat = repeat
        if self.open:
            self.fail("missing closing )", 0)
        node, _ = self.frame.close(self.limits)
        return flatten(node) if self.depth > DEEP else node

    # -- groups -------------------------------------------------------------------------------------------------------

    def left_paren(self) -> None:
        text, start = self.text, self.at
        if not text.startswith("(?", start):
            self.push(True, 1)
            return
        if (text.startswith("(?P<", start) and len(text) - start > 4) or (
            text.startswith("(?<", start) and len(text) - start > 3
        ):
            begin = start + (4 if text[start + 2] == "P" else 3)
            end = text.find(">", start)
            if end < 0:
                self.fail("invalid named capture", start)
            name = text[begin:end]
            if not name or not all(char == "_" or (char.isascii() and char.isalnum()) for char in name):
                self.fail("invalid named capture", start, end + 1)
            self.push(True, end + 1 - start)
            return
        self.set_flags(start)

    def set_flags(self, start: int) -> None:
        text, flags = self.text, set(self.flags)
        at, adding, seen = start + 2, True, True
        while at < len(text):
            char = text[at]
            at += 1
            if char in "imsU":
                (flags.add if adding else flags.discard)(char)
                seen = True
            elif char == "-" and adding:
                adding = seen = False
            elif char in ":)" and seen:
                if char == ":":
                    self.push(False, at - start)
                self.flags = frozenset(flags)
                self.at = at
                return
            else:
                break
        self.fail("invalid or unsupported Perl syntax", start, at)

    def push(self, capturing: bool, length: int) -> None:
        self.open.append(self.frame)
        self.frame = Frame(capturing, self.flags)
        self.depth = max(self.depth, len(self.open))
        self.at += length

    def right_paren(self) -> None:
        if not self.open:
            self.fail("unexpected )", 0)
        done = self.frame
        node, measure = self.frame.close(self.limits)
        self.frame = self.open.pop()
        if done.capturing:
            node, measure = Group(node), self.limits.group(measure)
        self.frame.add(node, measure)
        self.flags = done.flags
        self.at += 1

    # -- repetition ---------------------------------------------------------------------------------------------------

    def repeat(self, start: int, low: int, high: int | None, last_repeat: int, *, counted: bool) -> None:
        greedy = "U" not in self.flags
        if self.text.startswith("?", self.at):
            self.at += 1
            greedy = not greedy
        if last_repeat >= 0:
            self.fail("invalid nested repetition operator", last_repeat, self.at)
        if not self.frame.items:
            self.fail("missing argument to repetition operator", start, self.at)
        node = Repeat(self.frame.items[-1], low, high, greedy)
        self.frame.measures[-1] = self.limits.repeat(self.frame.measures[-1], low, high, counted=counted)
        if counted and (low >= 2 or (high or 0) >= 2) and not within(node, MAX_REPEAT):
            self.fail("invalid repeat count", start, self.at)
        self.frame.items[-1] = node

    def counts(self) -> tuple[int, int | None] | None:
        """The numbers of `{n}`, `{n,}`, `{n,m}`, or None: then the brace is a literal."""
        text, at = self.text, self.at + 1
        low, at = self.number(at)
        if low is None:
            return None
        high: int | None = low
        if text.startswith(",", at):
            at += 1
            if text.startswith("}", at):
                high = None
            else:
                high, at = self.number(at)
                if high is None:
                    return None
        if not text.startswith("}", at):
            return None
        self.at = at + 1
        return low, high

    def number(self, at: int) -> tuple[int | None, int]:
        start = at
        while at < len(self.text) and "0" <= self.text[at] <= "9":
            at += 1
        digits = self.text[start:at]
        if not digits or (len(digits) > 1 and digits[0] == "0"):
            return None, start
        return (int(digits) if len(digits) < 9 else MAX_REPEAT + 1), at

    # -- single characters --------------------------------------------------------------------------------------------

    def single(self, char: str) -> None:
        flags = self.flags
        if char == "^":
            self.assertion("line begin" if "m" in flags else "text begin")
        elif char == "$":
            self.assertion("line end" if "m" in flags else "text end")
        elif char == ".":
            self.leaf(ANY if "s" in flags else ANY_BUT_NEWLINE, CLASS, 0)
        elif char == "[":
            self.chars(self.char_class())
            return
        elif char == "\\":
            self.escape()
            return
        else:
            self.literal(ord(char))
        self.at += 1

    def leaf(self, node: Node, measure: Measure, runes: int) -> None:
        self.frame.add(node, self.limits.leaf(measure, runes))

    def assertion(self, kind: str) -> None:
        self.leaf(Assertion(kind), ASSERTION, 0)

    def literal(self, rune: int) -> None:
        ranges: Ranges = ((rune, rune),)
        self.leaf(Chars(fold_ranges(ranges) if "i" in self.flags else ranges), LITERAL, 1)

    def chars(self, ranges: Ranges) -> None:
        is_one = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
        self.leaf(Chars(ranges), LITERAL if is_one else CLASS, 2 * len(ranges))

    def escape(self) -> None:
        text, start = self.text, self.at
        follows = text[start + 1 : start + 2]
        assertion = {"A": "text begin", "z": "text end", "b": "word boundary", "B": "no word boundary"}.get(follows)
        if assertion is not None:
            self.assertion(assertion)
            self.at += 2
        elif follows == "C":
            self.fail("invalid escape sequence", start, start + 2)
        elif follows == "Q":
            end = text.find("\\E", start + 2)
            for char in text[start + 2 : end if end >= 0 else None]:
                self.literal(ord(char))
            self.at = end + 2 if end >= 0 else len(text)
        elif (ranges := self.class_escape()) is not None:
            self.chars(ranges)
        else:
            self.literal(self.escaped_rune())

    def class_escape(self) -> Ranges | None:
        """What `\\d`, `\\pL` and their like hold, or None where there is no such thing."""
        text, start = self.text, self.at
        if text[start : start + 1] != "\\" or start + 1 >= len(text):
            return None
        letter = text[start + 1]
        if letter in "dswDSW":
            self.at += 2
            ranges = PERL[letter.lower()]
            if "i" in self.flags:
                ranges = fold_ranges(ranges)
            return ranges if letter.islower() else negate(ranges)
        if letter not in "pP":
            return None
        positive = letter == "p"
        if start + 2 >= len(text):
            return None
        if text[start + 2] == "{":
            end = text.find("}", start)
            if end < 0:
                self.fail("invalid character class range", start)
            name, self.at = text[start + 3 : end], end + 1
        else:
            name, self.at = text[start + 2], start + 3
        if name.startswith("^"):
            positive, name = not positive, name[1:]
        found = named_ranges(name)
        if found is None:
            self.fail("invalid character class range", start, self.at)
        if "i" in self.flags:
            found = fold_ranges(found)
        return found if positive else negate(found)

    def escaped_rune(self) -> int:
        text, start = self.text, self.at
        if start + 1 >= len(text):
            raise Re2Error("trailing backslash at end of expression", "")
        char = text[start + 1]
        at = start + 2
        if char in CONTROLS:
            self.at = at
            return CONTROLS[char]
        if "0" <= char <= "7":
            if char == "0" or "0" <= text[at : at + 1] <= "7":
                while at < start + 4 and "0" <= text[at : at + 1] <= "7":
                    at += 1
                self.at = at
                return int(text[start + 1 : at], 8)
        elif char == "x":
            if text.startswith("{", at):
                return self.braced_rune(start, at + 1)
            at += 2
            if at <= len(text) and all(map(_is_hex, text[at - 2 : at])):
                self.at = at
                return int(text[at - 2 : at], 16)
        elif char.isascii() and not char.isalnum():
            self.at = at
            return ord(char)
        raise Re2Error("invalid escape sequence", text[start:at])

    def braced_rune(self, start: int, at: int) -> int:
        """The rune of `\\x{...}`, read digit by digit: an error shows what was read so far."""
        rune = digits = 0
        while True:
            char = self.text[at : at + 1]
            at += len(char)
            if char == "}" and digits:
                self.at = at
                return rune
            if not char or not _is_hex(char):
                self.fail("invalid escape sequence", start, at)
            rune = rune * 16 + int(char, 16)
            if rune > MAX_RUNE:
                self.fail("invalid escape sequence", start, at)
            digits += 1

    # -- classes ------------------------------------------------------------------------------------------------------

    def char_class(self) -> Ranges:
        text, whole = self.text, self.at
        self.at += 1
        negated = text.startswith("^", self.at)
        if negated:
            self.at += 1
        found: list[tuple[int, int]] = []
        first = True
        while self.at >= len(text) or text[self.at] != "]" or first:
            first = False
            named = self.posix_class()
            if named is None:
                named = self.class_escape()
            if named is not None:
                found.extend(named)
                continue
            start = self.at
            low = high = self.class_rune(whole)
            if text.startswith("-", self.at) and self.at + 1 < len(text) and text[self.at + 1] != "]":
                self.at += 1
                high = self.class_rune(whole)
                if high < low:
                    self.fail("invalid character class range", start, self.at)
            ranges: Ranges = ((low, high),)
            found.extend(fold_ranges(ranges) if "i" in self.flags else ranges)
        self.at += 1
        ranges = merge(found)
        return negate(ranges) if negated else ranges

    def posix_class(self) -> Ranges | None:
        if not self.text.startswith("[:", self.at):
            return None
        end = self.text.find(":]", self.at + 2)
        if end < 0:
            return None
        start, name = self.at, self.text[self.at + 2 : end]
        negated = name.startswith("^")
        ranges = POSIX.get(name[negated:])
        if ranges is None:
            self.fail("invalid character class range", start, end + 2)
        self.at = end + 2
        if "i" in self.flags:
            ranges = fold_ranges(ranges)
        return negate(ranges) if negated else ranges

    def class_rune(self, whole: int) -> int:
        if self.at >= len(self.text):
            self.fail("missing closing ]", whole)
        char = self.text[self.at]
        if char == "\\":
            return self.escaped_rune()
        self.at += 1
        return ord(char)


def _is_hex(char: str) -> bool:
    return char in "0123456789abcdefABCDEF"
