"""Expressions to programs: parse, check, generate. The public face of the core.

An expression nested so deep that Python's stack ends is compiled on the stack of a new thread, and refused if that
ends too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from .checker import check
from .codegen import Run, generate
from .environment import Environment
from .errors import CompileError, CostLimitExceeded, EvaluationError, Interrupted, Problems
from .nodes import Node
from .parser import MAX_DEPTH, parse
from .types import Type

__all__ = ["CHECK_EVERY", "NO_LIMIT", "Program", "ProgramError", "compile", "parse_and_check", "program_of"]

NO_LIMIT: Final = 2**63
#: How much may be spent before it is asked again whether the result is still wanted: a few milliseconds.
CHECK_EVERY: Final = 5_000
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
    """A compiled expression. Immutable.

    Guarantees:
        P1: it may be evaluated from several threads at once.
        P2: an evaluation ends. One with a `cost_limit` ends soon after that is spent; a single call (a pattern on a
            long text, a set against a set) that would cost more than is left does not begin.
        P3: it changes nothing: neither the variables nor anything else.

    Cancellation: `interrupted` is asked in loops and before long calls, at least once per `CHECK_EVERY` units of cost.
    When it says True the evaluation ends with `Interrupted`, and neither `||` nor a macro absorbs that. Give it an
    event's `is_set`, or a comparison of a clock with a deadline.

    Caveats: a single call is not interrupted; with Kubernetes' limit of 1,000,000 one takes some seconds at worst.

    Attributes:
        source: the expression.
        type: the type of its result.
        node: its checked tree.
    """

    __slots__ = ("_env", "_run", "_wary", "node", "source", "type")

    def __init__(self, source: str, node: Node, env: Environment) -> None:
        self.source = source
        self.node = node
        self.type: Type = node.type
        self._env = env
        self._run = generate(node, env, env.costs)
        self._wary: Run | None = None

    def evaluate(
        self,
        variables: Mapping[str, Any] | None = None,
        *,
        cost_limit: int = NO_LIMIT,
        interrupted: Callable[[], bool] | None = None,
    ) -> Any:
        """The value for these variables. See `values` for which Python values stand for which types.

        Args:
            cost_limit: what it may cost at most, in the server's units.
            interrupted: whether the result is no longer wanted; asked now and then.

        Raises:
            EvaluationError: there is none; CostLimitExceeded and Interrupted when it was stopped.
        """
        return self.evaluate_with_cost(variables, cost_limit=cost_limit, interrupted=interrupted)[0]

    def evaluate_with_cost(
        self,
        variables: Mapping[str, Any] | None = None,
        *,
        cost_limit: int = NO_LIMIT,
        interrupted: Callable[[], bool] | None = None,
        is_sound: bool = True,
    ) -> tuple[Any, int]:
        """The value, and what it cost in the server's units.

        Args:
            is_sound: whether all variables are of their types; False where `SchemaType.value` found misfits.

        Raises:
            EvaluationError: as `evaluate`; its `cost` is what was spent.
        """
        given = {} if variables is None else variables
        run = self._run if is_sound else self._wary_run()
        try:
            if interrupted is None:
                return run(given, cost_limit, _exceeded)
            return run(given, min(cost_limit, CHECK_EVERY), _Checkpoints(cost_limit, interrupted))
        except RecursionError:
            raise EvaluationError("the values nest too deeply") from None

    def _wary_run(self) -> Run:
        if self._wary is None:
            self._wary = _with_stack(
                lambda: generate(self.node, self._env, self._env.costs, is_sound=False), self.source
            )
        return self._wary

    def __repr__(self) -> str:
        return f"Program({self.source!r})"


def _exceeded(cost: int) -> int:
    raise CostLimitExceeded


class _Checkpoints:
    """The limits of an evaluation that can be interrupted: the next checkpoint, until the last one is passed."""

    __slots__ = ("_interrupted", "_limit")

    def __init__(self, limit: int, interrupted: Callable[[], bool]) -> None:
        self._limit = limit
        self._interrupted = interrupted

    def __call__(self, cost: int) -> int:
        if cost > self._limit:
            raise CostLimitExceeded
        if self._interrupted():
            raise Interrupted
        return min(self._limit, cost + CHECK_EVERY)


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
    return program_of(source, parse_and_check(source, env), env)


def program_of(source: str, node: Node, env: Environment) -> Program:
    """The program of a checked tree.

    Raises:
        ProgramError: a constant part has no value.
    """

    def run() -> Program:
        try:
            return Program(source, node, env)
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
