"""Descriptions: docstrings of classes, and the strings that stand under their fields.

```python
class WebSpec(Model):
    \"\"\"How the web application is to run.\"\"\"

    image: str
    \"\"\"The image to run, with its tag.\"\"\"
```

Python drops the strings under fields, so they are read from the source: a module is parsed once per run and the class
is found by its qualified name. Where there is no source (a frozen program, an interactive session) there are no field
descriptions; that is never an error.

Docstrings are wrapped for an editor, and `kubectl explain` wraps again: lines of one paragraph are joined. What follows
a line `---` is for the developers and left out.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

__all__ = ["ClassSource", "Sources", "description_of"]

_OURS = ("kubewright.model.", "msgspec", "builtins", "typing", "pydantic.")
_KEEPS_ITS_LINE = re.compile(r"\s|[-*+|>#`]|\d+[.)]\s")


class FieldSource(msgspec.Struct, frozen=True):
    """The docstring and the line of a field."""

    line: int
    doc: str | None = None


class ClassSource(msgspec.Struct, frozen=True):
    """Where a class stands: `file` relative to the working directory where it lies below it."""

    file: str
    line: int
    fields: dict[str, FieldSource]


class Sources:
    """Finds classes in their source, each module parsed once."""

    def __init__(self) -> None:
        self._modules: dict[str, dict[str, ast.ClassDef]] = {}
        self._classes: dict[type[Any], ClassSource | None] = {}

    def of(self, cls: type[Any]) -> ClassSource | None:
        """The source of a class, or None where it cannot be had."""
        if cls not in self._classes:
            self._classes[cls] = self._find(cls)
        return self._classes[cls]

    def field(self, cls: type[Any], name: str) -> tuple[str | None, str]:
        """Docstring and `file:line` of a field, from the class nearest in the hierarchy that declares it."""
        line, doc = "", None
        for base in cls.__mro__:
            if base.__module__.startswith(_OURS):
                break  # its fields are described elsewhere, and its modules take time to parse
            source = self.of(base)
            declared = source.fields.get(name) if source else None
            if source is None or declared is None:
                continue
            line = line or f"{source.file}:{declared.line}"
            doc = doc or declared.doc
        return doc, line

    def line(self, cls: type[Any]) -> str:
        source = self.of(cls)
        return f"{source.file}:{source.line}" if source else ""

    def _find(self, cls: type[Any]) -> ClassSource | None:
        module = sys.modules.get(cls.__module__)
        file = getattr(module, "__file__", None)
        if module is None or file is None:
            return None
        if cls.__module__ not in self._modules:
            self._modules[cls.__module__] = _parse(module)
        node = self._modules[cls.__module__].get(cls.__qualname__)
        return None if node is None else ClassSource(_shown(file), node.lineno, dict(_fields(node)))


def _parse(module: Any) -> dict[str, ast.ClassDef]:
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}
    return dict(_classes(tree, ""))


def _classes(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield prefix + child.name, child
            yield from _classes(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _classes(child, f"{prefix}{child.name}.<locals>.")
        elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _classes(child, prefix)


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, FieldSource]]:
    for statement, following in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        doc = None
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            doc = following.value.value if isinstance(following.value.value, str) else None
        yield statement.target.id, FieldSource(statement.lineno, doc)


def _shown(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else path.name


def description_of(text: str | None) -> str | None:
    """A docstring as a description, or None where nothing is left of it."""
    if text is None:
        return None
    paragraphs: list[list[str]] = [[]]
    fenced = False
    for line in inspect.cleandoc(text).splitlines():
        stripped = line.rstrip()
        if stripped == "---" and not fenced:
            break
        if stripped.lstrip().startswith("```"):
            fenced = not fenced
            paragraphs[-1].append(stripped)
        elif not stripped and not fenced:
            paragraphs.append([])
        elif paragraphs[-1] and not fenced and not _KEEPS_ITS_LINE.match(line) and _can_grow(paragraphs[-1][-1]):
            paragraphs[-1][-1] += f" {stripped}"
        else:
            paragraphs[-1].append(stripped)
    joined = "\n\n".join("\n".join(lines) for lines in paragraphs if lines)
    return joined or None


def _can_grow(line: str) -> bool:
    return not line.startswith((" ", "|", "```", "#"))
