"""One rule of `x-kubernetes-validations`: compiled against what CEL sees of its schema, with its costs.

Nothing here fails: what is wrong with a rule is kept in words, as a server keeps it until it reports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from . import kubernetes
from .environment import Environment
from .errors import CompileError, EvaluationError, Interrupted
from .estimate import estimate
from .nodes import reads
from .program import Program, ProgramError, parse_and_check, program_of
from .schema_types import SchemaType, schema_type
from .sizes import Range
from .types import DURATION, TIMESTAMP, optional_of, type_of_type
from .values import Misfit

__all__ = ["MAX_MESSAGE_BYTES", "CompiledRule", "compile_rules", "size_estimator"]

MAX_MESSAGE_BYTES: Final = 5 * 1024
#: Types of schemas that the checker of rules knows by name; no program can be made with them.
_NAMES: Final = {
    name: (type_of_type(type_), Misfit(f"reference to undefined type: {name}"))
    for name, type_ in (("duration", DURATION), ("timestamp", TIMESTAMP))
}


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule and what came of compiling it.

    Attributes:
        rule: as in the schema.
        program: None where the rule is empty or wrong.
        error: what is wrong with the rule, in the server's words; empty if nothing.
        uses_old: whether it is a transition rule.
        max_cost: what one evaluation costs at most.
        message: the program of `messageExpression`, if it has one that is right.
        message_error: what is wrong with that.
        message_cost: what the message costs at most.
    """

    rule: Mapping[str, Any]
    program: Program | None = None
    error: str = ""
    uses_old: bool = False
    max_cost: int = 0
    message: Program | None = None
    message_error: str = ""
    message_cost: int = 0

    @property
    def is_optional_old(self) -> bool:
        return bool(self.rule.get("optionalOldSelf"))

    @property
    def text(self) -> str:
        """What names the rule in errors: its message, or else itself."""
        return str(self.rule.get("message") or self.rule.get("rule", "")).strip()

    @property
    def failed(self) -> str:
        """The message of an object that breaks it, unless `messageExpression` makes one."""
        return self.text if self.rule.get("message") else f"failed rule: {self.text}"


def size_estimator(root: SchemaType) -> Any:
    """Sizes by path below a variable (`self`, `@items`, a field) as the schema bounds them."""

    def size_of(path: Sequence[str]) -> Range | None:
        node: SchemaType | None = root
        for name in path[1:]:
            if node is None:
                return None
            if name in ("@items", "@values"):
                node = node.items
            elif name == "@keys":
                # The server gives the keys of maps no size.
                return Range(0, 0) if node.type.kind == "map" else None
            else:
                node = node.fields.get(name)
        return None if node is None else Range(0, node.max_elements)

    return size_of


def compile_rules(
    rules: Sequence[Mapping[str, Any]], schema: SchemaType, *, is_new: bool = False
) -> tuple[CompiledRule, ...]:
    """Rules over one schema.

    Args:
        is_new: by what a server lets into new objects, not by all that it can run.
    """
    # Types are named from the place of the rule, which errors show.
    schema = schema_type(schema.schema) or schema
    base = (kubernetes.new() if is_new else kubernetes.stored()).extend(constants=_NAMES)
    objects = schema.objects()
    plain = base.extend(variables={"self": schema.type, "oldSelf": schema.type}, objects=objects)
    optional = base.extend(variables={"self": schema.type, "oldSelf": optional_of(schema.type)}, objects=objects)
    size_of = size_estimator(schema)
    return tuple(_compile(rule, optional if rule.get("optionalOldSelf") else plain, size_of) for rule in rules)


def _compile(rule: Mapping[str, Any], env: Environment, size_of: Any) -> CompiledRule:
    source = str(rule.get("rule") or "")
    if not source.strip():
        return CompiledRule(rule)
    program, error = _program(source, env, "bool", "cel expression must evaluate to a bool", "")
    if program is None:
        return CompiledRule(rule, error=error)
    uses_old = reads(program.node, "oldSelf")
    cost = estimate(program.node, size_of).high
    text = str(rule.get("messageExpression") or "")
    if not text:
        return CompiledRule(rule, program, "", uses_old, cost)
    wrong = "messageExpression must evaluate to a string"
    message, message_error = _program(text, env, "string", wrong, "messageExpression ")
    message_cost = 0 if message is None else estimate(message.node, size_of).high
    return CompiledRule(rule, program, "", uses_old, cost, message, message_error, message_cost)


def _program(source: str, env: Environment, kind: str, wrong: str, what: str) -> tuple[Program | None, str]:
    try:
        node = parse_and_check(source, env)
        if node.type.kind != kind:
            return None, wrong
        return program_of(source, node, env), ""
    except ProgramError as error:
        return None, f"{what or 'program '}instantiation failed: {error}"
    except CompileError as error:
        return None, f"{what}compilation failed: {error}"


class MessageStops(Exception):
    """No further rule may run, because of a message's cost."""


def message_of(
    rule: CompiledRule,
    variables: Mapping[str, Any],
    budget: int,
    interrupted: Callable[[], bool] | None = None,
    *,
    is_sound: bool = True,
) -> tuple[str | None, int]:
    """The text of `messageExpression`, None where it makes no good one, and what is left of the budget.

    Args:
        is_sound: as of `Program.evaluate_with_cost`.

    Raises:
        MessageStops: the budget or the limit of one call is used up.
        Interrupted: nobody wants to know any more.
    """
    if rule.message is None:
        return None, budget
    source = _quoted(str(rule.rule.get("messageExpression", "")))
    try:
        text, cost = rule.message.evaluate_with_cost(
            variables, cost_limit=kubernetes.PER_CALL_LIMIT, interrupted=interrupted, is_sound=is_sound
        )
    except Interrupted:
        raise
    except EvaluationError as error:
        text, cost = None, error.cost
        if str(error).startswith("operation cancelled") and cost <= budget:
            raise MessageStops(
                "no further validation rules will be run due to call cost exceeds limit for messageExpression:"
                f" {source}"
            ) from None
    if cost > budget:
        raise MessageStops(
            "messageExpression evaluation failed due to running out of cost budget, no further validation rules"
            " will be run"
        )
    if not isinstance(text, str):
        return None, budget - cost
    text = text.strip()
    usable = text and "\n" not in text and len(text.encode()) <= MAX_MESSAGE_BYTES
    return (text if usable else None), budget - cost


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
