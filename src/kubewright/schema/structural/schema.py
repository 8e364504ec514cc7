"""One structural schema, compiled: validate, prune, default.

`Structural(schema)` reads the schema once; after that it is immutable and may be shared by threads. It knows nothing of
kinds, metadata of root objects or versions: that is `resource`. Rules (`x-kubernetes-validations`) are CEL, which
lives elsewhere: give a `RuleEvaluator` for them, or be told in `unevaluated` which were not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Protocol

from ..re2 import limited
from .checks import Check, predicate
from .correlation import Correlated
from .explain import explain
from .fielderrors import FieldError, child, invalid
from .listtypes import list_errors
from .metarules import embedded_errors
from .node import Node
from .pruning import drop_nulls, fill_defaults, prune
from .values import json_value

__all__ = ["RuleCompiler", "RuleEvaluator", "Structural"]

_UNLIMITED = nullcontext()
_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


class RuleEvaluator(Protocol):
    """The rules of one schema, compiled."""

    def evaluate(self, new: Any, old: Any, past: Correlated | None) -> Sequence[FieldError]:
        """The errors of a value whose structure is valid.

        Args:
            old: the value that it replaces; None on creation.
            past: the two correlated, on an update; its `field` and `item` follow a schema down, and `is_unchanged` says
                whether an error is one that was there before.
        """


RuleCompiler = Callable[[Mapping[str, Any]], RuleEvaluator]
"""Makes the evaluator of a schema; called once per schema that has rules."""


class Structural:
    """A compiled schema.

    Args:
        schema: JSONSchemaProps of apiextensions.k8s.io/v1, as a dictionary. It is read, not kept.
        rules: evaluates `x-kubernetes-validations`; without it they are only listed.

    Raises:
        SchemaShapeError: the schema cannot be read, or one of its patterns is no RE2 expression.
    """

    def __init__(self, schema: Mapping[str, Any], *, rules: RuleCompiler | None = None) -> None:
        self.node = Node(schema)
        self._is_valid: Check = predicate(self.node)
        self._has_patterns = self.node.has_patterns
        self.has_rules = self.node.has_rules
        self._rules = rules(schema) if rules is not None and self.has_rules else None
        self.unevaluated: tuple[str, ...] = () if self._rules is not None else tuple(_rules_of(self.node, ""))
        """Where rules stand that nobody evaluates: `spec: self.min <= self.max`."""

    def is_valid(self, value: Any) -> bool:
        """Whether the structure of a value is valid: types, bounds, required fields. No list types, no rules."""
        with limited() if self._has_patterns else _UNLIMITED:
            return self._is_valid(value)

    def structure_errors(self, value: Any, *, past: Correlated | None = None, below: str = "") -> list[FieldError]:
        """What `is_valid` objects to; on an update, without what is unchanged."""
        with limited() if self._has_patterns else _UNLIMITED:
            if self._is_valid(value):
                return []
            return explain(self.node, value, past=past, below=below)

    def errors(self, value: Any, old: Any = None, *, path: str = "") -> list[FieldError]:
        """All errors of a value: structure, embedded resources, list types, rules; in this order, as a server's.

        Args:
            value: a JSON value as `values.json_value` makes it. It is not changed.
            old: the value that it replaces. Errors that were there before and stand in an unchanged place are dropped.
        """
        past = None if old is None else Correlated(value, old, self.node)
        errors = self.structure_errors(value, past=past, below=path)
        errors += embedded_errors(self.node, value, path)
        if old is None or not list_errors(self.node, old, path):
            errors += list_errors(self.node, value, path)
        return errors + self.rule_errors(value, old, past, errors)

    def rule_errors(
        self, value: Any, old: Any, past: Correlated | None, errors: Sequence[FieldError]
    ) -> list[FieldError]:
        """What rules say, or the note that they were not looked at because of `errors`."""
        if not self.has_rules:
            return []
        if any(error.is_blocking for error in errors):
            return [invalid("", None, _NOT_CHECKED)]
        return [] if self._rules is None else list(self._rules.evaluate(value, old, past))

    def prune(self, value: Any, *, is_root: bool = False) -> tuple[Any, list[str]]:
        """A copy without fields that the schema does not name, and their paths."""
        made = json_value(value)
        return made, prune(made, self.node, is_root=is_root)

    def defaulted(self, value: Any) -> Any:
        """A copy with defaults where fields are absent, and without nulls that the schema does not allow."""
        made = json_value(value)
        drop_nulls(made, self.node)
        fill_defaults(made, self.node)
        return made


def _rules_of(node: Node, path: str) -> Iterator[str]:
    for rule in node.rules:
        yield f"{path or 'object'}: {rule.get('rule', '')}"
    for name, each in node.properties.items():
        yield from _rules_of(each, child(path, name))
    if node.additional is not None:
        yield from _rules_of(node.additional, f"{path}[*]")
    if node.items is not None:
        yield from _rules_of(node.items, f"{path}[*]")
