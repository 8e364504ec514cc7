"""What the two inputs of the generator, OpenAPI documents and CRDs, have in common.

A `Definition` is a schema that becomes a class of its own, with the module it lives in. Everything below a definition
that has no name of its own gets one from its path (see `classes.py`). Schemas stay the decoded JSON that they were
read from: both inputs are dialects of one OpenAPI 3 subset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kubewright.model import ResourceInfo

__all__ = ["Definition", "Definitions", "GenerateError", "Home", "Schema"]

Schema: TypeAlias = dict[str, Any]
Home: TypeAlias = tuple[str, str]
"""Group and version: the module that a class lives in. `("", "v1")` is the core group."""


class GenerateError(ValueError):
    """The input is not something that models can be made of. The message names the input, the rule and the cure."""


@dataclass(frozen=True)
class Definition:
    """A named schema.

    `resource` is set on kinds. `structural` says that the schema is a CRD's and not one of a Go type: a zero default
    then means what it says, and what is required has to be there.
    """

    name: str
    class_name: str
    home: Home
    schema: Schema
    resource: ResourceInfo | None = None
    structural: bool = False


@dataclass
class Definitions:
    """All definitions by their name in the input, which is what `$ref` uses."""

    by_name: dict[str, Definition] = field(default_factory=dict)

    def add(self, definition: Definition) -> None:
        """Of two with one name the first stays: documents of one server repeat what they share."""
        self.by_name.setdefault(definition.name, definition)

    def kinds(self) -> Iterator[Definition]:
        """The kinds, by group, version and name."""
        found = [definition for definition in self.by_name.values() if definition.resource is not None]
        yield from sorted(found, key=lambda definition: (definition.home, definition.class_name))

    def target(self, reference: str) -> Definition:
        """What a `$ref` points to. Raises GenerateError: nothing there."""
        name = reference.rpartition("/")[2]
        if name not in self.by_name:
            raise GenerateError(f"{reference}: no such schema in the documents; give all documents of the server")
        return self.by_name[name]
