"""The files of a reference: names and texts, to be written or printed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from .editor import editor_schemas
from .html import to_html
from .markdown import to_markdown
from .outline import outline

__all__ = ["Form", "Page", "pages"]

Form: TypeAlias = Literal["json", "markdown", "html"]


class Page(msgspec.Struct, frozen=True):
    """A file to be: its name, which may have folders, and its text."""

    name: str
    text: str


def pages(crds: Iterable[Mapping[str, Any]], form: Form, *, title: str = "API reference") -> list[Page]:
    """What there is to write of some CRDs: `api.md`, `api.html`, or a JSON Schema for each kind and version."""
    if form == "json":
        return [Page(name, _as_json(schema)) for name, schema in editor_schemas(crds).items()]
    kinds = outline(crds)
    if form == "html":
        return [Page("api.html", to_html(kinds, title=title))]
    return [Page("api.md", to_markdown(kinds, title=title))]


def _as_json(schema: Any) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
