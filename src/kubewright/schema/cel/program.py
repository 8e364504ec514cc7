"""Expressions to programs: parse, check, generate. The public face of the core.

A `Program` is immutable and may be evaluated from several threads at once. An expression nested so deep that Python's
stack ends is compiled on the stack of a new thread, and refused if that ends too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from .checker import check
from .codegen import generate
from .environment import Environment
from .errors import CompileError, EvaluationError, Problems
from .nodes import Node
from .parser import MAX_DEPTH, parse
from .types import Type

__all__ = ["NO_LIMIT", "Program", "ProgramError", "compile", "parse_and_check"]

NO_LIMIT: Final = 2**63
T = TypeVar("T")


class ProgramError(CompileError):
    """An expression whose types are right, with a constant part that has no value, such as `int("a")`."""

    def __init__(self, source: str, message: str) -> None:
        problems = Problems(source)
        problems.add(-1, message)
        super().__init__(source, problems.issues)
        self.message = message

    def __str__(self) -> str:
        return self.message


class Program:
    """A compiled expression.

    Attributes:
        source: the expression.
        type: the type of its result.
        node: its checked tree.
    """

    __slots__ = ("_run", "node", "source", "type")

    def __init__(self, source: str, node: Node, run: Callable[[Any, int], tuple[Any, int]]) -> None:
        self.source = source
        self.node = node
        self.type: Type = node.type
        self._run = run

    def evaluate(self, variables: Mapping[str, Any] | None = None, *, cost_limit: int = NO_LIMIT) -> Any:
        """The value for these variables. See `values` for which Python values stand for which types.

        Raises:
            EvaluationError: there is none; CostLimitExceeded when it cost more than `cost_limit`.
        """
        return self.evaluate_with_cost(variables, cost_limit=cost_limit)[0]

    def evaluate_with_cost(
        self, variables: Mapping[str, Any] | None = None, *, cost_limit: int = NO_LIMIT
    ) -> tuple[Any, int]:
        """The value, and what it cost in the server's units.

        Raises:
            EvaluationError: as `evaluate`; its `cost` is what was spent.
        """
        try:
            return self._run({} if variables is None else variables, cost_limit)
        except RecursionError:
            raise EvaluationError("the values nest too deeply") from None

    def __repr__(self) -> str:
        return f"Program({self.source!r})"


def parse_and_check(source: str, env: Environment) -> Node:
    """The checked tree of an expression.

    Raises:
        CompileError: it is not in the language, or its types are wrong; all problems together.
    """

    def run() -> Node:
        node = parse(source)
        problems = Problems(source)
        node.type = check(node, env, problems)
        problems.raise_if_any()
        return node

    return _with_stack(run, source)


def compile(source: str, env: Environment) -> Program:  # noqa: A001 - the name that `re` and Python have
    """A program from an expression.

    Raises:
        CompileError: as `parse_and_check`; ProgramError when a constant part has no value.
    """
    node = parse_and_check(source, env)

    def run() -> Program:
        try:
            return Program(source, node, generate(node, env, env.costs))
        except EvaluationError as error:
            raise ProgramError(source, str(error)) from None

    return _with_stack(run, source)


def _with_stack(run: Callable[[], T], source: str) -> T:
    try:
        return run()
    except RecursionError:
        pass
    found: list[T] = []
    failed: list[BaseException] = []

    def target() -> None:
        try:
            found.append(run())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=target, name="cel-compile")
    thread.start()
    thread.join()
    if found:
        return found[0]
    if isinstance(failed[0], RecursionError | MemoryError):
        raise ProgramError(source, f"expression recursion limit exceeded: {MAX_DEPTH}") from None
    raise failed[0]
