"""Expressions of a policy, compiled, and one evaluation of several of them over the same inputs and budget.

`variables.x` is evaluated when it is first read, once in an evaluation. What it costs is on the budget of all, not on
the expression that reads it. Rule: apiserver/pkg/admission/plugin/cel (compile, composition, activation).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..environment import Environment
from ..errors import CompileError, EvaluationError, Interrupted
from ..k8s_authz import AuthorizerValue, ResourceCheck, ResourceRequest
from ..kubernetes import PER_CALL_LIMIT
from ..program import Program, ProgramError, parse_and_check, program_of
from ..types import DYN, Type
from .environment import with_variables
from .request import AdmissionInputs, namespace_value, request_value

__all__ = ["Activation", "Evaluation", "Expression", "PolicyError", "Variables", "compile_expression", "type_text"]

_OUT_OF_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"


class PolicyError(Exception):
    """An evaluation that has no result at all, in the server's words; the failure policy decides what it means."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression and what came of compiling it.

    Attributes:
        program: None where it does not compile.
        type: of its result; dyn where it does not compile.
        error: what is wrong with it, in the server's words; empty if nothing.
        is_internal: whether a server reports that as an internal error, not as an invalid value.
    """

    source: str
    program: Program | None = None
    type: Type = DYN
    error: str = ""
    is_internal: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one expression came to: a value, or an error in the server's words."""

    value: Any = None
    error: str = ""


def compile_expression(source: str, env: Environment, returns: Sequence[Type] = ()) -> Expression:
    """An expression that has to be of one of some types; of any type where none is given."""
    try:
        node = parse_and_check(source, env)
    except CompileError as error:
        return Expression(source, error=f"compilation failed: {error}")
    if returns and node.type not in returns:
        said = type_text(node.type)
        if len(returns) == 1:
            return Expression(source, error=f"must evaluate to {type_text(returns[0])} but got {said}")
        known = " ".join(map(type_text, returns))
        return Expression(source, error=f"must evaluate to one of [{known}] but got {said}")
    try:
        return Expression(source, program_of(source, node, env), node.type)
    except ProgramError as error:
        return Expression(source, error=f"program instantiation failed: {error}", is_internal=True)


_TEXTS: Final = {
    "null": "null_type",
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
    "any": "google.protobuf.Any",
}


def type_text(type_: Type) -> str:
    """A type as the server shows it beside the one that is wanted."""
    name = _TEXTS.get(type_.kind, type_.name)
    return f"{name}({', '.join(map(type_text, type_.params))})" if type_.params else name


class Variables:
    """The variables of a policy, in their order: each may read those before it.

    `env` is an environment that knows them all.
    """

    def __init__(self, declared: Sequence[Mapping[str, Any]], env: Environment) -> None:
        self.compiled: dict[str, Expression] = {}
        for each in declared:
            name = str(each.get("name", ""))
            self.compiled[name] = compile_expression(str(each.get("expression", "")), self.known_to(env))

    def known_to(self, env: Environment) -> Environment:
        """An environment with the variables that there are so far."""
        return with_variables(env, {name: each.type for name, each in self.compiled.items()})


class _Lazy(dict[str, Any]):
    """The value of `variables`: a dict that evaluates on reading."""

    __slots__ = ("_activation", "_compiled", "_errors")

    def __init__(self, compiled: Mapping[str, Expression], activation: Activation) -> None:
        super().__init__()
        self._compiled = compiled
        self._activation = activation
        self._errors: dict[str, str] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._compiled

    def __len__(self) -> int:
        return len(self._compiled)

    def __missing__(self, name: str) -> Any:
        expression = self._compiled.get(name)
        if expression is None:
            raise KeyError(name)
        failed = self._errors.get(name)
        if failed is None:
            value, failed = self._activation.variable(name, expression)
            self._errors[name] = failed
            if not failed:
                self[name] = value
        if failed:
            raise EvaluationError(failed)
        return self[name]


class Activation:
    """One evaluation of expressions over the same inputs.

    Args:
        variables: the policy's, if it has any.
        interrupted: as in `Program.evaluate`.
    """

    def __init__(
        self,
        inputs: AdmissionInputs,
        budget: int,
        variables: Variables | None = None,
        interrupted: Callable[[], bool] | None = None,
    ) -> None:
        self.budget = budget
        self._interrupted = interrupted
        self._spent = 0
        self._values: dict[str, Any] = {
            "object": inputs.object,
            "oldObject": inputs.old_object,
            "params": inputs.params,
            "request": request_value(inputs.request),
            "namespaceObject": namespace_value(inputs.namespace_object),
        }
        if inputs.authorizer is not None:
            asked = AuthorizerValue(inputs.authorizer)
            self._values["authorizer"] = asked
            self._values["authorizer.requestResource"] = _request_check(asked, inputs)
        if variables is not None:
            self._values["variables"] = _Lazy(variables.compiled, self)

    def evaluate(self, expression: Expression) -> Evaluation:
        """The value of an expression, or why it has none.

        Raises:
            PolicyError: the budget is used up.
            Interrupted: nobody wants to know any more.
        """
        if expression.program is None:
            return Evaluation(error=f"compilation error: {expression.error}")
        value: Any = None
        failed = ""
        try:
            value, cost = self._run(expression.program)
        except Interrupted:
            raise
        except EvaluationError as error:
            cost = error.cost
            failed = f"expression '{expression.source}' resulted in error: {error}"
        spent, self._spent = self._spent, 0
        if spent + cost > self.budget:
            raise PolicyError(_OUT_OF_BUDGET)
        self.budget -= spent + cost
        return Evaluation(value, failed)

    def variable(self, name: str, expression: Expression) -> tuple[Any, str]:
        """The value of a variable, and what is wrong with it."""
        shown = json.dumps(name)
        if expression.program is None:
            return None, f"composited variable {shown} fails to compile: {expression.error}"
        try:
            value, cost = self._run(expression.program)
        except Interrupted:
            raise
        except EvaluationError as error:
            self._spent += error.cost
            return None, f"composited variable {shown} fails to evaluate: {error}"
        self._spent += cost
        return value, ""

    def _run(self, program: Program) -> tuple[Any, int]:
        try:
            return program.evaluate_with_cost(self._values, cost_limit=PER_CALL_LIMIT, interrupted=self._interrupted)
        except Interrupted:
            raise
        except EvaluationError as error:
            missing = str(error).removeprefix("no such key: ")
            if missing.startswith("authorizer") and missing not in self._values:
                # An expression that may not ask, such as a message.
                raise _without_authorizer(missing, error.cost) from None
            raise


def _without_authorizer(name: str, cost: int) -> EvaluationError:
    error = EvaluationError(f"no such attribute(s): {name}")
    error.cost = cost
    return error


def _request_check(asked: AuthorizerValue, inputs: AdmissionInputs) -> ResourceCheck:
    request = inputs.request
    resource = request.request_resource or request.resource
    return ResourceCheck(
        asked,
        ResourceRequest(resource.group, resource.resource, "", request.sub_resource, request.namespace, request.name),
    )
