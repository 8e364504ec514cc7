"""Unions: which fields of an object may be set together. All of them become rules (CEL) on the object.

| Python | on the wire | rules |
|---|---|---|
| `@ExactlyOneOf("a", "b")`, `AtMostOneOf`, `AtLeastOneOf` | optional fields beside each other | one that counts |
| `@Discriminator("type", A="a", B=None)` | a field that says which other one is set | one for each member |
| `A \\| B` of classes with a tag | the fields of all, and the tag | one for each field that not all have |

A structural schema could say the first two with `oneOf`, and its failures read "must validate one and only one schema".
A rule says what is meant, and costs next to nothing: `has()` is free.

The third is flat: `{"type": "s3", "bucket": ...}`. Fields of one name have to be of one schema, because a structural
schema has one for each field. Defaults that not all classes share are left to Python: a server would fill them in for
the others too, and then refuse the object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from .errors import Place, Problems
from .formats import nearest
from .markers import AtLeastOneOf, AtMostOneOf, Discriminator, ExactlyOneOf, OneOfFamily, spell
from .node import CALLED, Node, Schema, cel_name, cel_text

__all__ = ["UNIONS", "merge_arms"]

_COUNTS: Final = {
    ExactlyOneOf: ("exactly", "exists_one(set, set)"),
    AtMostOneOf: ("at most", "filter(set, set).size() <= 1"),
    AtLeastOneOf: ("at least", "exists(set, set)"),
}


def _family(node: Node, group: list[OneOfFamily], place: Place, problems: Problems) -> None:
    for marker in group:
        if not _is_model(node, marker, place, problems):
            continue
        names = [_member(node, marker, name, place, problems) for name in marker.fields]
        if len(set(names)) < 2:
            problems.add(place, f"{spell(marker)} names fewer than two fields", "name the fields that it is about")
        elif all(names):
            _add_family(node, marker, [str(name) for name in names], place, problems)


def _add_family(node: Node, marker: OneOfFamily, names: list[str], place: Place, problems: Problems) -> None:
    word, test = _COUNTS[type(marker)]
    tests = ", ".join(f"has(self.{cel_name(name)})" for name in names)
    node.rule(f"[{tests}].{test}", message=f"{word} one of the fields {', '.join(names)} must be set")
    problems.locate(node.schema["x-kubernetes-validations"][-1], place)


def _discriminator(node: Node, group: list[Discriminator], place: Place, problems: Problems) -> None:
    for marker in group:
        if not _is_model(node, marker, place, problems):
            continue
        field = node.names.get(marker.field, marker.field)
        schema = node.schema.get("properties", {}).get(field)
        if schema is None:
            cure = nearest(marker.field, node.names, "field")
            problems.add(place, f"{spell(marker)}: {marker.field!r} is not a field", cure)
            continue
        if "enum" not in schema or schema.get("type") != "string":
            cure = "declare it as a Literal or StrEnum"
            problems.add(place, f"{spell(marker)}: {marker.field!r} is not a choice of fixed texts", cure)
            continue
        _discriminate(node, marker, field, schema["enum"], place, problems)


def _discriminate(
    node: Node, marker: Discriminator, field: str, values: Sequence[str], place: Place, problems: Problems
) -> None:
    known = dict(marker.members)
    for value in known.keys() - set(values):
        problems.add(place, f"{spell(marker)}: {value!r} is no value of {field}", nearest(value, values, "value"))
    for value in values:
        if value not in known:
            cure = f"say its field, or None: {value}=None"
            problems.add(place, f"{spell(marker)} does not say which field is set when {field} is {value!r}", cure)
    members: dict[str, list[str]] = {}
    for value, name in marker.members:
        wire = None if name is None else _member(node, marker, name, place, problems)
        if wire is not None:
            members.setdefault(wire, []).append(value)
    required = field in node.schema.get("required", ()) or "default" in node.schema["properties"][field]
    for wire, said in members.items():
        _tie(node, field, said, wire, required=required, optional=marker.optional)
        problems.locate(node.schema["x-kubernetes-validations"][-1], place)


def _tie(node: Node, field: str, values: list[str], wire: str, *, required: bool, optional: bool) -> None:
    """A rule that ties a field to the values of a discriminator."""
    tag, member = f"self.{cel_name(field)}", f"has(self.{cel_name(wire)})"
    is_said = _one_of(tag, values)
    if not required:
        is_said = f"(has({tag}) && {is_said})"
    shown = " or ".join(values)
    if optional:
        node.rule(f"{is_said} || !{member}", message=f"{wire} must not be set unless {field} is {shown}")
    else:
        said = f"{wire} must be set when {field} is {shown}, and only then"
        node.rule(f"{is_said} == {member}" if is_said.startswith("(") else f"({is_said}) == {member}", message=said)


def _is_model(node: Node, marker: Any, place: Place, problems: Problems) -> bool:
    if node.kind != "object" or not node.names:
        problems.add(place, f"{spell(marker)} has no meaning for {CALLED[node.kind]}", "put it above a class")
        return False
    return True


def _member(node: Node, marker: Any, name: str, place: Place, problems: Problems) -> str | None:
    """The wire name of a field that may be absent."""
    wire = node.names.get(name, name)
    schema = node.schema.get("properties", {}).get(wire)
    if schema is None:
        problems.add(place, f"{spell(marker)}: {name!r} is not a field", nearest(name, node.names, "field"))
        return None
    if wire in node.schema.get("required", ()) or "default" in schema:
        rule = f"{spell(marker)}: {name!r} is always set"
        problems.add(place, rule, f"make it optional: {name}: ... | None = None")
        return None
    return wire


UNIONS: Final[dict[Any, Any]] = {
    ExactlyOneOf: _family,
    AtMostOneOf: _family,
    AtLeastOneOf: _family,
    Discriminator: _discriminator,
}
"""The function of each marker."""


# -- tagged classes ---------------------------------------------------------------------------------------------------


def merge_arms(field: str, arms: Sequence[tuple[str, Node]], place: Place, problems: Problems) -> Node:
    """The node of a union of classes, each with the value that `field` has for it.

    Args:
        field: the wire name of the tag.
        arms: values and nodes; the nodes are objects without the tag.
    """
    made = Node("object", {"type": "object"}, names={})
    tag: Schema = {"enum": [value for value, _ in arms], "type": "string"}
    properties: dict[str, Schema] = {field: tag}
    made.names = {field: field}
    said = [f"{value}: {node.schema['description']}" for value, node in arms if "description" in node.schema]
    if said:
        tag["description"] = "\n".join(said)
    for value, node in arms:
        _check_keywords(made, node, value, place, problems)
        for name, schema in node.schema.get("properties", {}).items():
            shared = {key: part for key, part in schema.items() if key not in ("default", "description")}
            before = properties.get(name)
            if before is None:
                properties[name] = dict(schema)
            elif shared != {key: part for key, part in before.items() if key not in ("default", "description")}:
                rule = f"the field {name!r} has several schemas in the union of {', '.join(value for value, _ in arms)}"
                problems.add(place, rule, "give it one type everywhere, or rename one of them")
        made.names.update(node.names)
        for rule_ in node.schema.get("x-kubernetes-validations", ()):
            _carry(made, rule_, field, value, len(arms) > 1)
    holders = {name: [node for _, node in arms if name in node.schema.get("properties", {})] for name in properties}
    for name in [name for name in properties if name != field]:
        defaults = [node.schema["properties"][name].get("default") for node in holders[name]]
        if len(holders[name]) != len(arms) or any(each != defaults[0] for each in defaults):
            properties[name].pop("default", None)
    made.schema["properties"] = properties
    everywhere = [name for name in properties if all(name in node.schema.get("required", ()) for _, node in arms)]
    made.schema["required"] = sorted({field, *everywhere})
    for name, rules in _arm_rules(field, arms, properties, set(everywhere)):
        for expr, message, reason in rules:
            path = f".{name}" if name.isidentifier() else f"['{name}']"
            made.rule(expr, message=f"{name} {message}", reason=reason, fieldPath=path)
    return made


_MERGED: Final = frozenset({"type", "properties", "required", "description", "title", "x-kubernetes-validations"})


def _check_keywords(made: Node, node: Node, value: str, place: Place, problems: Problems) -> None:
    for keyword in node.schema.keys() - _MERGED:
        if keyword == "x-kubernetes-preserve-unknown-fields":
            made.schema[keyword] = True
        else:
            rule = f"{keyword} of the class tagged {value!r} would hold for all classes of the union"
            problems.add(place, rule, "say it as a Rule above that class")


def _arm_rules(
    field: str, arms: Sequence[tuple[str, Node]], properties: dict[str, Schema], everywhere: set[str]
) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    tag = f"self.{cel_name(field)}"
    for name in properties:
        if name == field or name in everywhere:
            continue
        having = [value for value, node in arms if name in node.schema.get("properties", {})]
        needing = [value for value, node in arms if name in node.schema.get("required", ())]
        has, rules = f"has(self.{cel_name(name)})", []
        if needing:
            said = f"is required when {field} is {' or '.join(needing)}"
            rules.append((f"{_none_of(tag, needing)} || {has}", said, "FieldValueRequired"))
        if len(having) < len(arms):
            said = f"is only for {field} {' or '.join(having)}"
            rules.append((f"{_one_of(tag, having)} || !{has}", said, "FieldValueForbidden"))
        yield name, rules


def _one_of(tag: str, values: Sequence[str]) -> str:
    return f"{tag} == {cel_text(values[0])}" if len(values) == 1 else f"{tag} in [{', '.join(map(cel_text, values))}]"


def _none_of(tag: str, values: Sequence[str]) -> str:
    return f"{tag} != {cel_text(values[0])}" if len(values) == 1 else f"!({_one_of(tag, values)})"


def _carry(made: Node, rule: Schema, field: str, value: str, several: bool) -> None:
    """A rule of one class, where its tag stands."""
    expr = rule["rule"]
    if several:
        expr = f"self.{cel_name(field)} != {cel_text(value)} || ({expr})"
    made.schema.setdefault("x-kubernetes-validations", []).append({**rule, "rule": expr})
