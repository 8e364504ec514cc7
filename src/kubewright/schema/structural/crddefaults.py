"""Whether the defaults of a schema are values of it.

A default has to be pruned already and valid, with the metadata of embedded resources in it. It is checked by the node
it stands at, so its own defaults are not filled in first. Defaults below `additionalProperties` are not looked at, by
the server neither.
"""

from __future__ import annotations

from typing import Any

from .explain import explain
from .fielderrors import FieldError, child, invalid, key
from .metarules import embedded_errors, resource_errors
from .node import Node
from .objectmeta import coerce_embedded
from .pruning import prune
from .values import copied, same

__all__ = ["default_errors"]


def default_errors(node: Node, path: str, *, is_root: bool = True) -> list[FieldError]:
    """The errors of all defaults in a schema.

    Args:
        is_root: the schema is of a whole object: a default of it is a whole object as well.
    """
    errors: list[FieldError] = []
    if node.has_default:
        errors += _errors(node, node.default, child(path, "default"), is_root)
    if node.items is not None:
        errors += default_errors(node.items, child(path, "items"), is_root=False)
    for name, each in node.properties.items():
        errors += default_errors(each, key(child(path, "properties"), name), is_root=False)
    return errors


def _errors(node: Node, value: Any, path: str, is_root: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    pruned = copied(value)
    prune(pruned, node, is_root=is_root)
    if not same(pruned, value):
        errors.append(invalid(path, value, "must not have unknown fields"))
    problem, _ = coerce_embedded(node, copied(value), path=path)
    if problem is not None:
        return [*errors, problem]
    embedded = embedded_errors(node, value, path)
    if is_root and isinstance(value, dict):
        embedded = [*resource_errors(value, path), *embedded]
    return errors + (embedded or explain(node, value, below=path))
