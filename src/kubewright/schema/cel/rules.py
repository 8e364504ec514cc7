"""`x-kubernetes-validations` at work: the rules of a structural schema over an object, or over a change of one.

`Rules(schema)` compiles the rules of a schema once and is immutable then. It is the `RuleEvaluator` of
`schema.structural`: rules run on values whose structure is valid, parents before children, until a budget of costs is
used up. `check_rules(schema, new, old)` is the short way. One run over an object is in `rule_run`.

Rule: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go (1.37).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..structural.fielderrors import FieldError
from .fieldpath import normalize
from .kubernetes import PER_OBJECT_LIMIT
from .rule import CompiledRule, compile_rules
from .rule_run import History, Past, RuleNode, Run
from .schema_meta import escape
from .schema_types import SchemaType, schema_type

__all__ = ["Past", "Rules", "check_rules"]


class Rules:
    """The compiled rules of one schema.

    Args:
        schema: a structural schema as in a CRD (`openAPIV3Schema`, or one below it).
        is_root: whether it is that of a whole object: `apiVersion`, `kind` and `metadata` are then known to rules.
        budget: what all rules of one object may cost together.

    A rule that does not compile is an error of every object, as on a server.
    """

    def __init__(self, schema: Mapping[str, Any], *, is_root: bool = True, budget: int = PER_OBJECT_LIMIT) -> None:
        self._root = _node(schema, schema, schema_type(schema, root=is_root))
        self._budget = budget

    @property
    def compiled(self) -> tuple[CompiledRule, ...]:
        """All rules, parents first."""
        found: list[CompiledRule] = []
        todo = [self._root]
        while todo:
            node = todo.pop(0)
            if node is not None:
                found += node.rules
                todo += [*node.all_of, *node.fields.values(), node.values, node.items]
        return tuple(found)

    def evaluate(
        self,
        new: Any,
        old: Any = None,
        past: Past | None = None,
        *,
        path: str = "",
        interrupted: Callable[[], bool] | None = None,
    ) -> list[FieldError]:
        """What rules say of a value, or of a change.

        Args:
            new: JSON data that the schema allows.
            old: what it replaces; None on creation.
            past: both correlated, for ratcheting; nothing is ratcheted without it.
            path: of the value, for the errors.
            interrupted: whether nobody wants to know any more; asked now and then.

        Raises:
            Interrupted: nobody does.
        """
        return self._run(new, old, past, path, interrupted).errors

    def ratcheted(self, new: Any, old: Any, past: Past, *, path: str = "") -> list[FieldError]:
        """What a change breaks on values that it leaves alone: no errors of the change, but worth a warning."""
        return self._run(new, old, past, path, None).ratcheted

    def _run(self, new: Any, old: Any, past: Past | None, path: str, interrupted: Callable[[], bool] | None) -> Run:
        run = Run(self._budget, interrupted)
        if self._root is not None:
            run.value(self._root, path, new, old, History(past))
        return run


def check_rules(schema: Mapping[str, Any], new: Any, old: Any = None, *, is_root: bool = True) -> list[FieldError]:
    """What the rules of a schema say of an object, or of a change from `old` to `new`. Structure is not checked.

    For many objects keep a `Rules`: compiling costs more than evaluating.
    """
    return Rules(schema, is_root=is_root).evaluate(new, old)


def _node(validation: Mapping[str, Any], schema: Mapping[str, Any], seen: SchemaType | None) -> RuleNode | None:
    rules = validation.get("x-kubernetes-validations") or ()
    compiled = compile_rules(rules, seen) if rules and seen is not None else ()
    fields: dict[str, RuleNode] = {}
    for name, each in (validation.get("properties") or {}).items():
        inner = (schema.get("properties") or {}).get(name)
        if inner is None or seen is None:
            continue
        escaped = escape(name)
        if escaped is None:
            inner_seen = schema_type(inner, root=bool(inner.get("x-kubernetes-embedded-resource")))
        else:
            inner_seen = seen.fields.get(escaped)
        if inner_seen is not None and (made := _node(each, inner, inner_seen)) is not None:
            fields[name] = made
    node = RuleNode(
        schema,
        seen,
        compiled,
        tuple(normalize(str(rule.get("fieldPath") or ""), schema) or "" for rule in rules) if compiled else (),
        fields,
        _below(validation, schema, seen, "additionalProperties"),
        _below(validation, schema, seen, "items"),
        tuple(made for each in validation.get("allOf") or () if (made := _node(each, schema, seen)) is not None),
    )
    return None if node.is_empty else node


def _below(
    validation: Mapping[str, Any], schema: Mapping[str, Any], seen: SchemaType | None, keyword: str
) -> RuleNode | None:
    inner, inner_schema = validation.get(keyword), schema.get(keyword)
    if not isinstance(inner, Mapping) or not isinstance(inner_schema, Mapping):
        return None
    return _node(inner, inner_schema, None if seen is None else seen.items)
