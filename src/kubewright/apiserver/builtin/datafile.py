"""What the built-in kinds are, from the one file that was generated from a server: `builtin.zip`.

Owns where the facts are kept and that each is read once, when somebody asks:

| entry | content |
|---|---|
| `resources.json` | groups, versions and resources in the order of discovery, with verbs, short names, subresources |
| `types/PACKAGE.json` | the Go types of a package: see `gotypes` |
| `schemas/PREFIX.json` | OpenAPI v3 components with descriptions, by the first part of their name |
| `openapi/API_VERSION.json` | which components the document of a group version has |
| `openapi/parameters.json` | the parameters of operations: `verbs` by action, `shared` by name |

A zip, because it is read by name without the rest, and can be looked into with any tool. It is read by the importer of
modules, which every Python has loaded: `zipfile` brings in so much that it takes longer than the reading. What comes
out is shared and must not be changed.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Final
from zipimport import zipimporter

import orjson

__all__ = ["DATA_PATH", "Data"]

DATA_PATH: Final = Path(__file__).with_name("builtin.zip")


class Data:
    """The data file at `path`; opened at the first question."""

    def __init__(self, path: Path = DATA_PATH) -> None:
        self._path = path
        self._read: dict[str, Any] = {}

    @cached_property
    def _zip(self) -> zipimporter:
        return zipimporter(str(self._path))

    def has(self, name: str) -> bool:
        """Whether there is an entry."""
        try:
            self.get(name)
        except KeyError:
            return False
        return True

    def get(self, name: str) -> Any:
        """The decoded content of an entry. Raises KeyError: there is none."""
        found = self._read.get(name)
        if found is None:
            try:
                text = self._zip.get_data(name)
            except OSError:
                raise KeyError(name) from None
            found = self._read[name] = orjson.loads(text)
        return found

    @property
    def resources(self) -> list[dict[str, Any]]:
        """The groups: `name`, `versions`, each with `version` and `resources`."""
        found: list[dict[str, Any]] = self.get("resources.json")
        return found

    def schema(self, component: str) -> dict[str, Any]:
        """One OpenAPI v3 component, such as `io.k8s.api.core.v1.Pod`. Raises KeyError."""
        prefix, _, name = component.rpartition(".")
        found: dict[str, Any] = self.get(f"schemas/{prefix}.json")[name]
        return found

    def components(self, api_version: str) -> tuple[str, ...]:
        """The names of the components in the document of a group version (`v1`, `apps/v1`). Raises KeyError."""
        return tuple(self.get(f"openapi/{api_version.replace('/', '_')}.json"))
