"""`Node`: one position of a schema while it is built, and the words for it.

A node is the JSON schema so far, the kind of value it stands for (which decides what markers have a meaning), and what
a marker may ask about: the item of a list, the names of an object's fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

__all__ = ["CALLED", "Kind", "Node", "Schema", "cel_name", "cel_text", "mentions_old_self", "rules_of"]

Schema = dict[str, Any]

Kind = Literal[
    "integer",
    "number",
    "string",
    "boolean",
    "choice",
    "bytes",
    "time",
    "duration",
    "quantity",
    "int-or-string",
    "list",
    "dict",
    "object",
    "any",
    "broken",
]

CALLED: Final[dict[str, str]] = {
    "integer": "an int",
    "number": "a float",
    "string": "a str",
    "boolean": "a bool",
    "choice": "a choice of fixed values",
    "bytes": "bytes",
    "time": "an instant",
    "duration": "a Duration",
    "quantity": "a Quantity",
    "int-or-string": "an IntOrString",
    "list": "a list",
    "dict": "a dict",
    "object": "a Model",
    "any": "any JSON",
}


class Node(msgspec.Struct):
    """A schema under construction.

    `item` is the node of a list's items or a dictionary's values; `names` has the wire name of each field of an object;
    `uncorrelated` names the list above whose items have no identity, so that no rule below can compare with the past.
    `broken` kinds were reported already and take any marker.
    """

    kind: Kind
    schema: Schema
    item: Node | None = None
    names: dict[str, str] = {}
    uncorrelated: str = ""

    def allow_null(self) -> None:
        """Make null a value, past an enum too.

        Servers (1.37) find null in no enum that stands beside `type`, not even in one that lists it. They do not look
        into `allOf` for a null.
        """
        self.schema["nullable"] = True
        if "enum" in self.schema:
            self.schema["allOf"] = [{"enum": self.schema.pop("enum")}]

    def rule(self, expr: str, **more: Any) -> None:
        """Add a validation rule, with what is given of it."""
        given = {name: value for name, value in more.items() if value is not None}
        self.schema.setdefault("x-kubernetes-validations", []).append({"rule": expr, **given})


_CEL_RESERVED: Final = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"),
        *("let", "loop", "package", "namespace", "return"),
    )
)
_CEL_STRINGS: Final = r"""(?s)[rR]?(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""


def cel_name(name: str) -> str:
    """A wire name as CEL selects it (apiextensions/v1 ValidationRule.rule lists the escapes)."""
    if name in _CEL_RESERVED:
        return f"__{name}__"
    escaped = name.replace("__", "__underscores__")
    for character, word in ((".", "__dot__"), ("-", "__dash__"), ("/", "__slash__")):
        escaped = escaped.replace(character, word)
    return escaped


def cel_text(text: str) -> str:
    """A CEL string literal."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def mentions_old_self(expr: str) -> bool:
    """Whether a rule looks at the past. Text in quotes does not count."""
    return re.search(r"\boldSelf\b", re.sub(_CEL_STRINGS, "''", expr)) is not None


def rules_of(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The rules (`x-kubernetes-validations`) of a schema, and of those below it."""
    if isinstance(schema, Mapping):
        yield from schema.get("x-kubernetes-validations") or ()
        for each in (schema.get("properties") or {}).values():
            yield from rules_of(each)
        yield from rules_of(schema.get("items"))
        yield from rules_of(schema.get("additionalProperties"))
