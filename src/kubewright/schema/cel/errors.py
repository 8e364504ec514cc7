"""What can be wrong with an expression: when it is compiled, and when it is evaluated.

Compile errors carry every problem found with its place; `str()` is the text that a server shows, with a caret below
the character. Evaluation errors carry cel-go's text. Both are `CelError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = [
    "MAX_ISSUES", "CelError", "CompileError", "CostLimitExceeded", "EvaluationError", "EvaluationStopped",
    "Interrupted", "Issue", "Problems",
]  # fmt: skip

MAX_ISSUES: Final = 100
MAX_SNIPPET: Final = 16_384


class CelError(Exception):
    """Base of the errors of this package."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One problem at one place.

    Attributes:
        message: such as `undefined field 'foo'`.
        line: from 1; -1 when the problem has no place.
        column: from 0, in characters; -1 when the problem has no place.
    """

    message: str
    line: int
    column: int


class CompileError(CelError):
    """An expression that does not compile. `issues` is never empty; `source` is the expression."""

    def __init__(self, source: str, issues: Sequence[Issue]) -> None:
        self.source = source
        self.issues = tuple(sorted(issues, key=lambda issue: (issue.line, issue.column)))
        super().__init__(source, self.issues)

    def __str__(self) -> str:
        lines = self.source.split("\n")
        shown = [_display(issue, lines) for issue in self.issues[:MAX_ISSUES]]
        if len(self.issues) > MAX_ISSUES:
            shown.append(f"{len(self.issues) - MAX_ISSUES} more errors were truncated")
        return "\n".join(shown)


class EvaluationError(CelError):
    """An expression that has no value for these variables, such as `no such key: a`."""

    #: The cost up to the error; set by the program.
    cost: int = 0


class EvaluationStopped(EvaluationError):
    """The evaluation was ended before it had a result. No operator or macro absorbs this error."""


class CostLimitExceeded(EvaluationStopped):
    """It cost more than its limit, or was about to."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Interrupted(EvaluationStopped):
    """Whoever asked for it no longer wants the result."""

    def __init__(self) -> None:
        super().__init__("operation interrupted")


def _display(issue: Issue, lines: list[str]) -> str:
    if lines == [""]:
        # Of an empty expression no place is known but the line.
        return f"ERROR: <input>:{issue.line}:0: {issue.message}"
    text = f"ERROR: <input>:{issue.line}:{issue.column + 1}: {issue.message}"
    if 1 <= issue.line <= len(lines) and len(lines[issue.line - 1]) <= MAX_SNIPPET:
        snippet = lines[issue.line - 1].replace("\t", " ")
        dots = "".join("." if char.isascii() else "\uff0e" for char in snippet[: max(issue.column, 0)])
        under = snippet[issue.column : issue.column + 1] if issue.column >= 0 else ""
        text += f"\n | {snippet}\n | {dots}{'^' if under.isascii() else chr(0xFF3E)}"
    return text


class Problems:
    """Collects issues at offsets (in characters) of one source."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.issues: list[Issue] = []

    def add(self, offset: int, message: str) -> None:
        if offset < 0:
            # Below -1 it stands before the first character: the place of what could not be read.
            self.issues.append(Issue(message, -1, -1) if offset == -1 else Issue(message, 1, -1))
            return
        line = self.source.count("\n", 0, offset)
        start = self.source.rfind("\n", 0, offset) + 1
        self.issues.append(Issue(message, line + 1, offset - start))

    def raise_if_any(self) -> None:
        if self.issues:
            raise CompileError(self.source, self.issues)
