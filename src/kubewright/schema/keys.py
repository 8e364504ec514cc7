"""Keys of dictionaries: JSON schemas of Kubernetes say nothing of them, so what their type says becomes a rule.

`dict[Annotated[str, MaxLen(63)], V]` renders as `self.all(key, size(key) <= 63)` beside the values. Controller-gen has
no marker for it.
"""

from __future__ import annotations

from typing import Final

from .errors import Place, Problems
from .node import Node, cel_text

__all__ = ["constrain_keys"]

_TESTS: Final = (
    ("minLength", "size(key) >= {}", "have at least {} characters"),
    ("maxLength", "size(key) <= {}", "have at most {} characters"),
    ("pattern", "key.matches({})", "match {}"),
)


def constrain_keys(node: Node, key: Node, name: str, place: Place, problems: Problems) -> None:
    """Put the constraints of the node of a key into the node of its dictionary. `name` is the key's type."""
    if key.kind == "broken":
        return
    if key.kind not in ("string", "choice") or key.schema["type"] != "string" or key.schema.get("nullable"):
        problems.add(place, f"{name} cannot be a key of JSON", "declare str")
        return
    tests, words = [], []
    if "enum" in key.schema:
        tests.append(f"key in [{', '.join(map(cel_text, key.schema['enum']))}]")
        words.append(f"be one of {', '.join(key.schema['enum'])}")
    for keyword, test, word in _TESTS:
        if (value := key.schema.get(keyword)) is not None:
            tests.append(test.format(cel_text(value) if isinstance(value, str) else value))
            words.append(word.format(value))
    if "format" in key.schema or "x-kubernetes-validations" in key.schema:
        problems.add(place, "a key cannot be checked for a Format or a Rule", "use Pattern, or a Rule on the dict")
    if not tests:
        return
    if node.item is None:
        rule = "keys of values of any type cannot be checked: rules do not see into them"
        problems.add(place, rule, "declare the type of the values, or take the markers off the keys")
        return
    node.rule(f"self.all(key, {' && '.join(tests)})", message=f"every key must {' and '.join(words)}")
