"""What is wrong with a value, in the server's words and order.

The walk follows `kube-openapi/pkg/validation/validate`: type, allOf/anyOf/oneOf/not, length and pattern, format,
bounds, items, enum, properties. A text is given once, however often it is found. Fields of an object come in the order
of the schema; a server takes them as they come out of its maps, in no order.

The walk counts the checks that pass, as the original does: of several `anyOf` or `oneOf` schemas that all fail, the
errors of the one with the most passed checks are shown.

Ratcheting: with a `Correlated`, errors of an unchanged value are dropped where they are found. It follows fields, map
values and items; inside allOf, anyOf, oneOf and not nothing is correlated.
"""

from __future__ import annotations

from typing import Any, Final

from .checks import has_duplicates, in_enum, type_problem
from .correlation import Correlated
from .fielderrors import (
    FieldError,
    child,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
    type_invalid,
)
from .gotext import as_json, plain, quoted
from .node import Node

__all__ = ["explain"]

Found = dict[str, FieldError]
"""Errors by the text that says whether two are the same."""

_TYPE_META: Final = ("apiVersion", "kind")


def explain(
    node: Node, value: Any, *, past: Correlated | None = None, below: str = "", thorough: bool = False
) -> list[FieldError]:
    """All errors of a value; empty when it is valid.

    Args:
        past: the value with the one it replaces, on an update.
        below: the path of the value, for the fields of errors; their texts do not have it.
        thorough: look also where the predicate of a node says that nothing is wrong.
    """
    walk = _Walk(below, counting=thorough)
    found: Found = {}
    walk.check(node, value, "", found, past)
    if past is not None and past.is_unchanged:
        return []
    return list(found.values())


class _Walk:
    def __init__(self, below: str, counting: bool) -> None:
        self._below = below
        self._counting = int(counting)
        """Above 0, checks that pass are counted, so what is valid cannot be skipped."""

    def _field(self, path: str) -> str:
        path = path.removeprefix(".")
        return child(self._below, path) if path else self._below

    def _invalid(self, found: Found, path: str, value: Any, detail: str) -> None:
        text = f"{path} in body {detail}"
        found.setdefault(text, invalid(self._field(path), value, text))

    def _bare(self, found: Found, text: str) -> None:
        """An error that has no field."""
        found.setdefault(text, invalid(self._below, "", text))

    # -- one node -----------------------------------------------------------------------------------------------------

    def check(self, node: Node, value: Any, path: str, found: Found, past: Correlated | None = None) -> int:
        """Add the errors of a value; the number of checks passed."""
        passed = self._type(node, value, path, found)
        if value is None:
            self._enum(node, value, path, found)
            return passed
        passed += 2 + bool(node.types or node.format)  # all that apply count one each, and so does the end
        passed += 1 + self._junctors(node, value, path, found)
        if isinstance(value, str):
            passed += 1 + (node.format_check is not None)
            self._string(node, value, path, found)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            passed += 2
            self._number(node, value, path, found)
        elif isinstance(value, list):
            passed += 2 + self._list(node, value, path, found, past)
        self._enum(node, value, path, found)
        if isinstance(value, dict):
            passed += 1 + self._object(node, value, path, found, past)
        return passed

    def _type(self, node: Node, value: Any, path: str, found: Found) -> int:
        problem = type_problem(node, value)
        if problem is None:
            return 1 if node.types or node.format or value is None else 0
        wanted, had = problem
        text = f"{path} in body must be of type {wanted}: {quoted(had)}"
        found.setdefault(text, type_invalid(self._field(path), had, text))
        return 0

    def _enum(self, node: Node, value: Any, path: str, found: Found) -> None:
        if not node.enum or in_enum(value, node.enum):
            return
        allowed = [each if isinstance(each, str) else as_json(each) for each in node.enum]
        text = f"{path} in body should be one of {plain(node.enum)}"
        found.setdefault(text, not_supported(self._field(path), value, allowed))

    def _string(self, node: Node, value: str, path: str, found: Found) -> None:
        if node.max_length is not None and len(value) > node.max_length:
            text = f"{path} in body should be at most {node.max_length} chars long"
            found.setdefault(text, too_long(self._field(path), node.max_length))
        elif node.min_length is not None and len(value) < node.min_length:
            self._invalid(found, path, value, f"should be at least {node.min_length} chars long")
        elif node.pattern_matches is not None and not node.pattern_matches(value):
            self._invalid(found, path, value, f"should match '{node.pattern}'")
        if node.format_check is not None and not node.format_check(value):
            text = f"{path} in body must be of type {node.format}: {quoted(value)}"
            found.setdefault(text, type_invalid(self._field(path), value, text))

    def _number(self, node: Node, value: int | float, path: str, found: Found) -> None:
        for kind, text, compared in node.bounds.problems(value):
            if kind == "range":
                self._bare(found, text + path)
            elif kind == "factor":
                said = f"factor MultipleOf declared for {path} must be positive: {text}"
                found.setdefault(said, invalid(self._field(path), compared, said))
            else:
                self._invalid(found, path, compared, text)

    # -- children -----------------------------------------------------------------------------------------------------

    def _below_past(self, node: Node, value: Any, path: str, found: Found, past: Correlated | None) -> int:
        """A field, map value or item: its errors count unless it is as it was."""
        if not self._counting and node.valid is not None and node.valid(value):
            return 0
        if past is None:
            return self.check(node, value, path, found)
        own: Found = {}
        passed = self.check(node, value, path, own, past)
        if own and not past.is_unchanged:
            for text, error in own.items():
                found.setdefault(text, error)
        return passed

    def _list(self, node: Node, value: list[Any], path: str, found: Found, past: Correlated | None) -> int:
        passed = 0
        if node.items is not None:
            for place, item in enumerate(value):
                before = None if past is None else past.item(place)
                passed += self._below_past(node.items, item, f"{path}[{place}]", found, before)
        size = len(value)
        if node.min_items is not None and size < node.min_items:
            self._invalid(found, path, size, f"should have at least {node.min_items} items")
        if node.max_items is not None and size > node.max_items:
            text = f"{path} in body should have at most {node.max_items} items"
            found.setdefault(text, too_many(self._field(path), size, node.max_items))
        if node.unique and has_duplicates(value):
            self._invalid(found, path, "", "shouldn't contain duplicates")
        return passed

    def _object(self, node: Node, value: dict[str, Any], path: str, found: Found, past: Correlated | None) -> int:
        size, passed = len(value), 0
        if node.min_properties is not None and size < node.min_properties:
            self._invalid(found, path, size, f"should have at least {node.min_properties} properties")
        if node.max_properties is not None and size > node.max_properties:
            text = f"{path} in body should have at most {node.max_properties} properties"
            found.setdefault(text, too_many(self._field(path), size, node.max_properties))
        for name in value if node.closed or node.additional is not None else ():
            if name in node.properties:
                continue
            if node.closed:
                text = f"{path}.{name} in body is a forbidden property"
                found.setdefault(text, invalid(self._field(path), name, text))
            elif node.additional is not None:
                before = self._past_of(past, name, path)
                passed += self._below_past(node.additional, value[name], f"{path}.{name}", found, before)
        for name, schema in node.properties.items():
            if name in value:
                before = self._past_of(past, name, path)
                passed += self._below_past(schema, value[name], child(path, name), found, before)
        for name in node.required:
            if name not in value:
                found.setdefault(f"{path}.{name} in body is required", required(self._field(f"{path}.{name}")))
        return passed

    def _past_of(self, past: Correlated | None, name: str, path: str) -> Correlated | None:
        # Old and new have one apiVersion by the time they are compared: a change of it would not be seen.
        if past is None or (not path and name in _TYPE_META):
            return None
        return past.field(name)

    # -- junctors -----------------------------------------------------------------------------------------------------

    def _junctors(self, node: Node, value: Any, path: str, found: Found) -> int:
        passed = 1
        self._counting += 1
        if node.any_of:
            passed += self._any_of(node.any_of, value, path, found)
        if node.one_of:
            passed += self._one_of(node.one_of, value, path, found)
        self._counting -= 1
        if node.all_of:
            passed += self._all_of(node.all_of, value, path, found)
        if node.none_of is not None:
            own: Found = {}
            self.check(node.none_of, value, path, own)
            if not own:
                self._bare(found, f"{quoted(path)} must not validate the schema (not)")
        return passed

    def _any_of(self, schemas: tuple[Node, ...], value: Any, path: str, found: Found) -> int:
        best: tuple[int, Found] | None = None
        for schema in schemas:
            own: Found = {}
            passed = self.check(schema, value, path, own)
            if not own:
                return passed
            if best is None or passed > best[0]:
                best = passed, own
        self._bare(found, f"{quoted(path)} must validate at least one schema (anyOf)")
        return _merge(found, best)

    def _one_of(self, schemas: tuple[Node, ...], value: Any, path: str, found: Found) -> int:
        best: tuple[int, Found] | None = None
        first, valid = 0, 0
        for schema in schemas:
            own: Found = {}
            passed = self.check(schema, value, path, own)
            if not own:
                first = first if valid else passed
                valid += 1
                best = None
            elif not valid and (best is None or passed > best[0]):
                best = passed, own
        if valid == 1:
            return first
        said = f"Found {valid} valid alternatives" if valid else "Found none valid"
        self._bare(found, f"{quoted(path)} must validate one and only one schema (oneOf). {said}")
        return _merge(found, best)

    def _all_of(self, schemas: tuple[Node, ...], value: Any, path: str, found: Found) -> int:
        passed, valid = 0, 0
        for schema in schemas:
            own: Found = {}
            passed += self.check(schema, value, path, own)
            valid += not own
            _merge(found, (0, own))
        if valid != len(schemas):
            said = "" if valid else ". None validated"
            self._bare(found, f"{quoted(path)} must validate all the schemas (allOf){said}")
        return passed


def _merge(found: Found, best: tuple[int, Found] | None) -> int:
    if best is None:
        return 0
    for text, error in best[1].items():
        found.setdefault(text, error)
    return best[0]
