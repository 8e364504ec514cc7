"""An outline as one HTML file: no other file, no address to load from, readable without JavaScript, in light and dark.

A little script filters the list of sections. Descriptions are text with the little Markdown that docstrings have:
paragraphs, lists, code. Everything of a CRD is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from .look import SCRIPT, STYLE
from .outline import Entry, KindOutline, Section, VersionOutline

__all__ = ["to_html"]


def to_html(kinds: Sequence[KindOutline], *, title: str = "API reference") -> str:
    """The file. The same CRDs give the same bytes."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style></head><body>",
        f"<nav><h1>{escape(title)}</h1>",
        '<input type="search" id="filter" placeholder="Filter fields" aria-label="Filter fields">',
    ]
    parts += [line for kind in kinds for line in _in_nav(kind)]
    parts.append("</nav><main>")
    parts += [line for kind in kinds for line in _kind(kind)]
    parts += ["</main>", f"<script>{SCRIPT}</script>", "</body></html>"]
    return "\n".join(parts) + "\n"


def _in_nav(kind: KindOutline) -> Iterator[str]:
    yield f'<p class="kind"><a href="#{kind.anchor}">{escape(kind.kind)}</a> <small>{escape(kind.group)}</small></p>'
    for version in kind.versions:
        yield f'<details open><summary><a href="#{version.anchor}">{escape(version.name)}</a></summary><ul>'
        for section in version.sections:
            name = section.path or "Top level"
            yield f'<li><a href="#{section.anchor}">{escape(name)}</a></li>'
        yield "</ul></details>"


def _kind(kind: KindOutline) -> Iterator[str]:
    yield f'<section class="kind" id="{kind.anchor}"><h2>{escape(kind.kind)}</h2><dl>'
    for name, value in kind.facts:
        yield f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
    yield "</dl>"
    for version in kind.versions:
        yield from _version(version, kind.kind)
    yield "</section>"


def _version(version: VersionOutline, kind: str) -> Iterator[str]:
    yield f'<article id="{version.anchor}"><h3>{escape(kind)} <code>{escape(version.api_version)}</code></h3>'
    if version.notes:
        yield f'<p class="notes">{"".join(_note(note) for note in version.notes)}</p>'
    yield rich_text(version.description)
    if version.sample:
        yield f'<pre class="sample"><code>{escape(version.sample)}</code></pre>'
    for section in version.sections:
        yield from _section(section)
    if version.columns:
        yield "<h4>Columns of kubectl get</h4><table><tbody>"
        for name, path, about in version.columns:
            cells = f"<td><code>{escape(path)}</code></td><td>{escape(about)}</td>"
            yield f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'
        yield "</tbody></table>"
    if version.selectable:
        shown = ", ".join(f"<code>{escape(path)}</code>" for path in version.selectable)
        yield f"<p>Field selectors: {shown}</p>"
    yield "</article>"


def _note(note: str) -> str:
    kind = "warn" if note.startswith("deprecated") else "note"
    return f'<span class="{kind}">{escape(note)}</span>'


def _section(section: Section) -> Iterator[str]:
    name = f"<code>{escape(section.path)}</code>" if section.path else "Top level"
    yield f'<section class="object" id="{section.anchor}">'
    yield f'<h4>{name} <a class="here" href="#{section.anchor}">#</a></h4>'
    yield rich_text(section.description)
    if section.rules or section.bounds:
        items = "".join(f"<li>{_inline(rule)}</li>" for rule in (*section.bounds, *section.rules))
        yield f'<ul class="rules">{items}</ul>'
    if section.entries:
        yield "<table><tbody>"
        yield from map(_row, section.entries)
        yield "</tbody></table>"
    else:
        yield '<p class="empty">Fields are not described.</p>'
    yield "</section>"


def _row(entry: Entry) -> str:
    target = f"#{entry.section}" if entry.section else entry.link
    kind = escape(entry.type)
    shown = f'<a href="{escape(target)}">{kind}</a>' if target else kind
    required = '<span class="required">required</span>' if entry.required else ""
    facts = [f"default <code>{escape(entry.default)}</code>"] if entry.default is not None else []
    facts += [_inline(each) for each in (*entry.bounds, *entry.rules)]
    if entry.example is not None:
        facts.append(f"for example <code>{escape(entry.example)}</code>")
    more = f'<ul class="facts">{"".join(f"<li>{fact}</li>" for fact in facts)}</ul>' if facts else ""
    return (
        f'<tr><th scope="row"><code>{escape(entry.name)}</code>{required}</th><td class="type">{shown}</td>'
        f"<td>{rich_text(entry.description)}{more}</td></tr>"
    )


_CODE: Final = re.compile(r"`([^`\n]+)`")
_URL: Final = re.compile(r"https?://[^\s<>()\"']+[^\s<>()\"'.,;:]")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")


def rich_text(text: str) -> str:
    """Paragraphs, lists and fenced code of a description as HTML."""
    made: list[str] = []
    for block, is_code in _blocks(text):
        if is_code:
            made.append(f"<pre><code>{escape(block)}</code></pre>")
            continue
        lines = block.splitlines()
        start = next((at for at, line in enumerate(lines) if _ITEM.match(line)), len(lines))
        if start:
            made.append(f"<p>{_inline(' '.join(lines[:start]))}</p>")
        items: list[str] = []
        for line in lines[start:]:
            if _ITEM.match(line):
                items.append(_ITEM.sub("", line, count=1))
            else:
                items[-1] += f" {line.strip()}"
        if items:
            made.append("<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>")
    return "".join(made)


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs and fenced code, in order."""
    for place, part in enumerate(re.split(r"^```[^\n]*\n?", text, flags=re.MULTILINE)):
        if place % 2:
            yield part.rstrip("\n"), True
        else:
            yield from ((block, False) for block in re.split(r"\n\s*\n", part.strip("\n")) if block.strip())


def _inline(text: str) -> str:
    """Code and addresses within a line."""
    made, at = [], 0
    for match in _CODE.finditer(text):
        made += [_linked(text[at : match.start()]), f"<code>{escape(match[1])}</code>"]
        at = match.end()
    return "".join([*made, _linked(text[at:])])


def _linked(text: str) -> str:
    made, at = [], 0
    for match in _URL.finditer(text):
        url = escape(match[0])
        made += [escape(text[at : match.start()]), f'<a href="{url}">{url}</a>']
        at = match.end()
    return "".join([*made, escape(text[at:])])
