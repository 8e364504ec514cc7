"""What each marker does to a schema, on which kinds of value, and what to write where it means nothing.

One table, `_MEANINGS`, has a function for every marker of ours (those of lists, maps and openness are in `topology`),
and `_meanings_of_theirs` for those of annotated_types. A function gets the node and all markers of its family that
stand there (an alias may bring some along), and says what is wrong with them. Bounds and lengths of several markers are
joined to the tightest; a second `Pattern` or `Format` is an error, because no one field of a schema can hold two.

Rules are carried, not read: whether an expression compiles and what it costs is for the CEL engine. Only what can be
said from the outside is checked here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, get_args

from .errors import Place, Problems
from .foreign import Base64, PythonOnly
from .formats import INTEGER_FORMATS, NUMBER_FORMATS, STRING_FORMATS, nearest, pattern_problem
from .markers import (
    Default,
    Doc,
    Example,
    ExternalDocs,
    Format,
    Immutable,
    MaxProperties,
    MinProperties,
    Nullable,
    Pattern,
    Reason,
    Rule,
    Schemaless,
    Title,
    spell,
)
from .node import CALLED, Node, mentions_old_self
from .paths import PathError, closest, follow
from .topology import TOPOLOGY, meaningless, no_past
from .unions import UNIONS

__all__ = ["constrain"]

_ELSEWHERE: Final = (Default, Doc, Example, Nullable, Schemaless, Base64)
"""Read by the builder."""


def constrain(node: Node, markers: Sequence[Any], place: Place, problems: Problems) -> None:
    """Put the markers of a type into its schema."""
    if node.kind == "broken":
        return
    groups: dict[Any, list[Any]] = {}
    for marker in markers:
        meaning = _meaning(marker)
        if meaning is not None:
            groups.setdefault(meaning, []).append(marker)
        elif _is_unknown(marker):
            cure = "say it as a Rule, or check it when reconciling"
            problems.add(place, f"{spell(marker)} cannot be checked by a server", cure)
    for meaning, group in groups.items():
        meaning(node, group, place, problems)


def _meaning(marker: Any) -> Callable[..., None] | None:
    if isinstance(marker, _ELSEWHERE):
        return None
    for meanings in (_MEANINGS, _meanings_of_theirs() if _may_be_theirs() else {}):
        for kind, meaning in meanings.items():
            if isinstance(marker, kind):
                return meaning
    return None


def _may_be_theirs() -> bool:
    """Whether anything can be of annotated_types: who has something of it has imported it, which takes 8 ms."""
    return "annotated_types" in sys.modules


def _is_unknown(marker: Any) -> bool:
    """Whether it asks for something that nothing here understands."""
    if not _may_be_theirs():
        return False
    import annotated_types as at

    return isinstance(marker, at.BaseMetadata) and not isinstance(marker, at.Unit)  # of which nobody asks anything


# -- numbers ----------------------------------------------------------------------------------------------------------

_NUMBERS: Final = ("integer", "number", "int-or-string")
"""Of an IntOrString, bounds mean the integer and lengths the string."""

_COMPARE: Final = {
    "string": "bound the length of a str with MinLen and MaxLen",
    "list": "bound the length of a list with MinLen and MaxLen",
    "dict": "bound the number of keys with MinProperties and MaxProperties",
    "object": "put it on a field of the Model",
    "quantity": "compare with Rule(\"quantity(string(self)).compareTo(quantity('1Gi')) >= 0\")",
    "duration": "compare with Rule(\"self >= duration('1s')\")",
    "time": "compare with Rule(\"self >= timestamp('2026-01-01T00:00:00Z')\")",
}


def _bounds(node: Node, group: list[Any], place: Place, problems: Problems) -> None:
    if node.kind not in _NUMBERS:
        for marker in group:
            meaningless(node, marker, place, problems, _COMPARE.get(node.kind, "take it away"))
        return
    import annotated_types as at

    lower: list[tuple[float, bool]] = []
    upper: list[tuple[float, bool]] = []
    for marker in group:
        value = next(getattr(marker, name) for name in ("ge", "gt", "le", "lt") if hasattr(marker, name))
        if (cure := _not_a_bound(value, node.kind)) is not None:
            problems.add(place, f"{spell(marker)} cannot bound {CALLED[node.kind]}", cure)
            continue
        (lower if isinstance(marker, at.Ge | at.Gt) else upper).append((value, isinstance(marker, at.Gt | at.Lt)))
    low = max(lower, default=None)
    high = min(upper, key=lambda bound: (bound[0], not bound[1]), default=None)
    if low is not None:
        node.schema.update({"minimum": low[0]} | ({"exclusiveMinimum": True} if low[1] else {}))
    if high is not None:
        node.schema.update({"maximum": high[0]} | ({"exclusiveMaximum": True} if high[1] else {}))
    if low and high and not _any_between(low, high, node.kind != "number"):
        shown = " and ".join(map(spell, group))
        problems.add(place, f"{shown} leave no value", "widen one of them")


def _not_a_bound(value: Any, kind: str) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return "give a finite number"
    if kind != "number" and value != int(value):
        return "give a whole number"
    if kind != "number" and not -(2**63) <= value < 2**63:
        return "stay within 64 bits"
    return None


def _any_between(low: tuple[float, bool], high: tuple[float, bool], whole: bool) -> bool:
    if whole:
        return low[0] + low[1] <= high[0] - high[1]
    return low[0] < high[0] or (low[0] == high[0] and not low[1] and not high[1])


def _multiple(node: Node, group: list[Any], place: Place, problems: Problems) -> None:
    marker = _single(group, place, problems)
    if node.kind not in _NUMBERS:
        meaningless(node, marker, place, problems, _COMPARE.get(node.kind, "take it away"))
    elif (cure := _not_a_bound(marker.multiple_of, node.kind)) is not None:
        problems.add(place, f"{spell(marker)} cannot divide {CALLED[node.kind]}", cure)
    elif marker.multiple_of <= 0:
        problems.add(place, f"{spell(marker)} is not above zero", "give a number above zero")
    else:
        node.schema["multipleOf"] = marker.multiple_of


# -- lengths and counts -----------------------------------------------------------------------------------------------

_LENGTHS: Final = {
    "string": ("minLength", "maxLength"),
    "int-or-string": ("minLength", "maxLength"),
    "list": ("minItems", "maxItems"),
    "dict": ("minProperties", "maxProperties"),
    "object": ("minProperties", "maxProperties"),
}


def _lengths(node: Node, group: list[Any], place: Place, problems: Problems) -> None:
    import annotated_types as at

    least, most = _LENGTHS.get(node.kind, ("", ""))
    for marker in group:
        counts = isinstance(marker, MinProperties | MaxProperties)
        if node.kind not in (("dict", "object") if counts else ("string", "int-or-string", "list", "dict")):
            meaningless(node, marker, place, problems, _length_cure(node.kind, counts))
            continue
        at_least = isinstance(marker, at.MinLen | MinProperties)
        value = marker.count if counts else marker.min_length if at_least else marker.max_length
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            problems.add(place, f"{spell(marker)} is not a length", "give a whole number from 0 on")
        elif at_least and value > 0:
            node.schema[least] = max(value, node.schema.get(least, 0))
        elif not at_least:
            node.schema[most] = min(value, node.schema.get(most, value))
    if node.schema.get(least, 0) > node.schema.get(most, math.inf):
        problems.add(place, f"{' and '.join(map(spell, group))} leave no value", "widen one of them")


def _length_cure(kind: str, counted: bool) -> str:
    if kind in ("integer", "number"):
        return "bound a number with Ge, Gt, Le and Lt"
    if kind == "object":
        return "count fields with MinProperties and MaxProperties, or put it on a field of the Model"
    if kind == "bytes":
        return "a server would count base64 characters; use Rule('size(self) <= 1024')"
    if counted and kind in ("string", "list"):
        return f"bound the length of {CALLED[kind]} with MinLen and MaxLen"
    return "take it away"


# -- strings ----------------------------------------------------------------------------------------------------------


def _pattern(node: Node, group: list[Any], place: Place, problems: Problems) -> None:
    marker = _single(group, place, problems)
    if node.kind not in ("string", "int-or-string"):
        cure = "list the values in the Literal or Enum" if node.kind == "choice" else "take it away"
        if node.kind in ("list", "dict"):
            cure = f"put it on the items: {node.kind}[{'str, ' * (node.kind == 'dict')}Annotated[str, {spell(marker)}]]"
        if node.kind in ("time", "duration", "quantity", "bytes"):
            cure = "take it away, the type has its form; or declare a str"
        meaningless(node, marker, place, problems, cure)
    elif (problem := pattern_problem(marker.regex)) is not None:
        problems.add(place, f"{spell(marker)} {problem[0]}", problem[1])
    else:
        node.schema["pattern"] = marker.regex


def _format(node: Node, group: list[Any], place: Place, problems: Problems) -> None:
    marker = _single(group, place, problems)
    known = {"string": STRING_FORMATS, "integer": INTEGER_FORMATS, "number": NUMBER_FORMATS}.get(node.kind)
    if known is None:
        meaningless(node, marker, place, problems, "take it away, the type has its form")
    elif marker.name not in known:
        cure = nearest(marker.name, known, node.kind)
        problems.add(place, f"{spell(marker)} is not a format that servers check of {CALLED[node.kind]}", cure)
    else:
        node.schema["format"] = marker.name


def _single(group: list[Any], place: Place, problems: Problems) -> Any:
    if any(marker != group[0] for marker in group):
        cure = "keep one; what they say together is one regular expression, or a Rule"
        problems.add(place, f"{' and '.join(map(spell, group))} stand side by side", cure)
    return group[-1]


# -- rules ------------------------------------------------------------------------------------------------------------


def _rules(node: Node, group: list[Rule], place: Place, problems: Problems) -> None:
    for rule in group:
        for broken, cure in _rule_problems(node, rule):
            problems.add(place, f"{spell(rule)} {broken}", cure)
        node.rule(
            rule.expr.strip(),
            message=rule.message,
            messageExpression=rule.message_expression,
            reason=rule.reason,
            fieldPath=rule.field_path,
            optionalOldSelf=rule.optional_old_self,
        )
        problems.locate(node.schema["x-kubernetes-validations"][-1], place)


def _rule_problems(node: Node, rule: Rule) -> Iterable[tuple[str, str]]:
    if node.kind == "any" and "type" not in node.schema:
        yield "cannot see into any JSON", "declare a type, or dict[str, Any] with a rule on the object above"
    if not rule.expr.strip():
        yield "is empty", "write a CEL expression over self"
    if "\n" in rule.expr.strip() and not rule.message:
        yield "has several lines and no message", "add message="
    if rule.message is not None and (not rule.message.strip() or "\n" in rule.message.strip()):
        yield "has a message that is not one line", "write one line"
    if rule.message_expression is not None and not rule.message_expression.strip():
        yield "has an empty message_expression", "take it away"
    if rule.reason is not None and rule.reason not in get_args(Reason):
        yield f"has the reason {rule.reason!r}", f"use one of {', '.join(get_args(Reason))}"
    if rule.optional_old_self is not None and not mentions_old_self(rule.expr):
        yield "sets optional_old_self and does not look at oldSelf", "take it away"
    if node.uncorrelated and mentions_old_self(rule.expr):
        yield no_past(node), f"mark {node.uncorrelated} with ListMap, or move the rule above it"
    if rule.field_path is not None:
        try:
            follow(node.schema, rule.field_path)
        except PathError as error:
            near = closest(node.schema, rule.field_path)
            yield f"has a field_path that {error}", f"write {near!r}" if near else "name a field below self"


def _immutable(node: Node, group: list[Immutable], place: Place, problems: Problems) -> None:
    if node.kind == "any" and "type" not in node.schema:
        meaningless(node, group[0], place, problems, "declare a type")
    elif node.uncorrelated:
        problems.add(place, f"Immutable() {no_past(node)}", f"mark {node.uncorrelated} with ListMap")
    else:
        node.rule("self == oldSelf", message="is immutable")
        problems.locate(node.schema["x-kubernetes-validations"][-1], place)


def _title(node: Node, group: list[Title], place: Place, problems: Problems) -> None:
    node.schema["title"] = group[-1].text


def _external_docs(node: Node, group: list[ExternalDocs], place: Place, problems: Problems) -> None:
    marker = group[-1]
    if not marker.url.startswith(("http://", "https://")):
        problems.add(place, f"{spell(marker)} is not an address", "begin it with https://")
    node.schema["externalDocs"] = {"url": marker.url} | (
        {"description": marker.description} if marker.description else {}
    )


def _python_only(node: Node, group: list[PythonOnly], place: Place, problems: Problems) -> None:
    for marker in group:
        if marker.fatal:
            problems.add(place, f"has {marker.what}", marker.cure)
        else:
            problems.warn(place, f"has {marker.what}, which no server runs", marker.cure)


_MEANINGS: Final[dict[Any, Callable[..., None]]] = {
    **TOPOLOGY,
    **UNIONS,
    MinProperties: _lengths,
    MaxProperties: _lengths,
    Pattern: _pattern,
    Format: _format,
    Rule: _rules,
    Immutable: _immutable,
    Title: _title,
    ExternalDocs: _external_docs,
    PythonOnly: _python_only,
}


@cache
def _meanings_of_theirs() -> Mapping[Any, Callable[..., None]]:
    import annotated_types as at

    return {
        at.Ge: _bounds,
        at.Gt: _bounds,
        at.Le: _bounds,
        at.Lt: _bounds,
        at.MultipleOf: _multiple,
        at.MinLen: _lengths,
        at.MaxLen: _lengths,
    }
