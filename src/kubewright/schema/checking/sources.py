"""Files and folders to documents: YAML or JSON, several in a file, each with its name and lines.

A folder means its `*.yaml`, `*.yml` and `*.json` files, at any depth, sorted. `-` is standard input. A `List` is taken
apart, as kubectl does. What cannot be read is a `Problem`, so that one broken file does not hide what is wrong with the
others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from ...model.documents import Document, DocumentError, read_documents

__all__ = ["Problem", "Source", "Sources", "read_sources"]

_SUFFIXES: Final = (".yaml", ".yml", ".json")


class Source(msgspec.Struct, frozen=True):
    """One object and where it stands. `prefix` is its path in the document, for items of a List."""

    file: str
    document: Document
    value: dict[str, Any]
    prefix: str = ""

    @property
    def is_crd(self) -> bool:
        """Whether its kind says so, of whatever version."""
        return bool(self.value["kind"] == "CustomResourceDefinition")

    def line_of(self, field: str) -> int:
        """The line of the deepest part of a field's path that is there."""
        path = f"{self.prefix}.{field}" if field and field != "<nil>" else self.prefix
        return self.document.line_of(f"${path}")


class Problem(msgspec.Struct, frozen=True):
    """A file, or a document in it, that is no object."""

    file: str
    line: int
    rule: str


class Sources(msgspec.Struct, frozen=True):
    """What was read."""

    objects: list[Source]
    problems: list[Problem]


def read_sources(paths: Iterable[str | Path]) -> Sources:
    """The objects of files and folders.

    Raises:
        OSError: a path is not there or cannot be read.
    """
    sources = Sources([], [])
    for path in paths:
        if str(path) == "-":
            _read("-", sys.stdin.buffer.read(), sources)
            continue
        for file in _files(Path(path)):
            _read(str(file), file.read_bytes(), sources)
    return sources


def _files(path: Path) -> Sequence[Path]:
    if not path.is_dir():
        return [path]
    return sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES and each.is_file())


def _read(file: str, text: bytes, sources: Sources) -> None:
    try:
        for document in read_documents(text):
            _add(file, document, document.value, "", sources)
    except DocumentError as error:
        sources.problems.append(Problem(file, error.line, error.rule))
    except RecursionError:
        sources.problems.append(Problem(file, 1, "is nested too deeply"))


def _add(file: str, document: Document, value: Any, prefix: str, sources: Sources) -> None:
    if not isinstance(value, dict):
        sources.problems.append(Problem(file, document.line, "is not an object; a manifest has apiVersion and kind"))
        return
    missing = [name for name in ("apiVersion", "kind") if not isinstance(value.get(name), str) or not value[name]]
    if missing:
        line = document.line_of(f"${prefix}") if prefix else document.line
        sources.problems.append(Problem(file, line, f"has no {' and no '.join(missing)}; add what it is"))
        return
    items = value.get("items")
    if value["kind"].endswith("List") and isinstance(items, list):
        for place, item in enumerate(items):
            _add(file, document, item, f"{prefix}.items[{place}]", sources)
        return
    sources.objects.append(Source(file, document, value, prefix))
