"""What people and their editors read of an API: JSON Schema, Markdown, HTML. Made from CRDs; no I/O."""

__all__ = ["Page", "editor_schema", "editor_schemas", "outline", "pages", "to_html", "to_markdown"]

from .editor import editor_schema, editor_schemas
from .html import to_html
from .markdown import to_markdown
from .outline import outline
from .pages import Page, pages
