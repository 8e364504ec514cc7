"""Bodies in YAML, read as kube-apiserver reads them: to what JSON has, aliases bounded, no name twice.

A module of its own, as few requests need it and the library takes longer to load than the server.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from kubewright.schema.structural.values import copied, is_too_deep

from .bodies import BadJson, Body

__all__ = ["read_yaml"]

_FEW_NODES: Final = 1_000
_FEW_ALIASED, _MANY_ALIASED = 400_000, 4_000_000
"""Between so many nodes the part that may come from aliases falls from 99 % to 10 % (go-yaml, `decode.go`)."""


class _Loader(yaml.SafeLoader):
    """YAML as JSON has it: texts that look like dates stay texts, names are texts, no names twice (when asked)."""

    twice: list[str]
    bool_values = {**yaml.SafeLoader.bool_values, "y": True, "n": False}


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[str, Any]:
    loader.flatten_mapping(node)
    made: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        name = key if isinstance(key, str) else _name(key)
        if name in made:
            place = value_node.start_mark
            loader.twice.append(f'line {place.line + 1}: key "{name}" already set in map')
        made[name] = loader.construct_object(value_node, deep=True)
    return made


def _name(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
# As in YAML 1.1, and go-yaml: PyYAML leaves these out.
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"[yYnN]\Z"), list("yYnN"))
# As in JSON, and as go-yaml has it; YAML 1.1 wants a point and a sign.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+\Z"),
    list("-+.0123456789"),
)


def read_yaml(body: bytes, strict: bool) -> Body:
    """Decode YAML. Raises BadJson."""
    try:
        loader = _Loader(body.decode())
        loader.twice = []
        # Of several documents the first.
        node = loader.get_node() if loader.check_node() else None
        if node is None:
            value = None
        else:
            _check_aliases(node)
            # What an alias repeats is an object of its own from here on.
            value = copied(loader.construct_document(node))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise BadJson(f"error converting YAML to JSON: yaml: {_first_line(error)}") from None
    if is_too_deep(value):
        raise BadJson("exceeded max depth")
    return Body(value, tuple(loader.twice) if strict else (), in_yaml=True)


def _check_aliases(root: yaml.Node) -> None:
    """Raises ValueError: a small document that aliases make large. Each node is looked at once."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        if isinstance(node, yaml.ScalarNode):
            return 1
        if id(node) in sizes:
            if not sizes[id(node)]:
                raise ValueError("anchor value contains itself")
            return sizes[id(node)]
        sizes[id(node)] = 0
        parts = node.value if isinstance(node, yaml.SequenceNode) else [each for pair in node.value for each in pair]
        sizes[id(node)] = total = 1 + sum(map(size, parts))
        written.append(1 + sum(1 for each in parts if isinstance(each, yaml.ScalarNode)))
        return total

    written: list[int] = []
    total = size(root)
    place = (min(max(total, _FEW_ALIASED), _MANY_ALIASED) - _FEW_ALIASED) / (_MANY_ALIASED - _FEW_ALIASED)
    if total > _FEW_NODES and (total - sum(written)) / total > 0.99 - 0.89 * place:
        raise ValueError("document contains excessive aliasing")


def _first_line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None)
    if mark is not None and problem:
        return f"line {mark.line + 1}: {problem}"
    return str(error).partition("\n")[0]
