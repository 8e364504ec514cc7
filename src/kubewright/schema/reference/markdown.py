"""An outline as Markdown (GitHub's), for a repository's docs folder: tables, and no HTML but anchors and breaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .outline import Entry, KindOutline, Section, VersionOutline

__all__ = ["to_markdown"]


def to_markdown(kinds: Sequence[KindOutline], *, title: str = "API reference") -> str:
    """The document. The same CRDs give the same bytes."""
    lines = [f"# {title}", ""]
    for kind in kinds:
        versions = ", ".join(f"[{version.name}](#{version.anchor})" for version in kind.versions)
        lines.append(f"- [{kind.kind}](#{kind.anchor}) ({kind.group}): {versions}")
    for kind in kinds:
        lines += ["", *_kind(kind)]
    return "\n".join(lines) + "\n"


def _kind(kind: KindOutline) -> Iterator[str]:
    yield f'<a id="{kind.anchor}"></a>'
    yield ""
    yield f"## {kind.kind}"
    yield ""
    yield " · ".join(f"{name}: `{value}`" for name, value in kind.facts)
    for version in kind.versions:
        yield ""
        yield from _version(version, kind.kind)


def _version(version: VersionOutline, kind: str) -> Iterator[str]:
    yield f'<a id="{version.anchor}"></a>'
    yield ""
    yield f"### {kind} {version.name}"
    if version.notes:
        yield ""
        yield f"*{'; '.join(version.notes)}*"
    if version.description:
        yield ""
        yield version.description
    if version.sample:
        yield from ("", "```yaml", version.sample.rstrip("\n"), "```")
    for section in version.sections:
        yield ""
        yield from _section(section)
    if version.columns:
        yield from ("", "Columns of `kubectl get`:", "", "| column | path | |", "|---|---|---|")
        for row in version.columns:
            yield f"| {_cell(row[0])} | `{_cell(row[1])}` | {_cell(row[2])} |"
    if version.selectable:
        yield from ("", f"Field selectors: {', '.join(f'`{path}`' for path in version.selectable)}")


def _section(section: Section) -> Iterator[str]:
    yield f'<a id="{section.anchor}"></a>'
    yield ""
    yield f"#### {_path(section.path)}"
    if section.description:
        yield from ("", section.description)
    if section.bounds or section.rules:
        yield ""
        yield from (f"- {rule}" for rule in (*section.bounds, *section.rules))
    if section.entries:
        yield from ("", "| field | type | |", "|---|---|---|")
        for entry in section.entries:
            yield f"| `{_cell(entry.name)}` | {_type(entry)} | {_about(entry)} |"
    else:
        yield from ("", "Fields are not described.")


def _path(path: str) -> str:
    return f"`{path}`" if path else "Top level"


def _type(entry: Entry) -> str:
    target = f"#{entry.section}" if entry.section else entry.link
    shown = f"[{_cell(entry.type)}]({target})" if target else _cell(entry.type)
    return f"{shown}<br>**required**" if entry.required else shown


def _about(entry: Entry) -> str:
    words = _cell(entry.description)
    more = [*entry.bounds, *entry.rules]
    if entry.default is not None:
        more.insert(0, f"default `{entry.default}`")
    if entry.example is not None:
        more.append(f"for example `{entry.example}`")
    said = _cell("; ".join(more))
    return f"{words}<br>*{said}*" if words and said else words or (f"*{said}*" if said else "")


def _cell(text: str) -> str:
    """Text in a table: one line, no bar."""
    return text.replace("|", "\\|").replace("\n\n", "<br><br>").replace("\n", "<br>")
