"""Commands on what an API is to its readers: JSON Schema for editors, reference documentation.

kubewright schema json TARGET [-o DIR]     a JSON Schema of each kind and version
kubewright docs api TARGET [-o DIR]        api.md and api.html

TARGET is a module with classes (web.py, package.web), or a file or folder with CRDs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kubewright.schema.reference import Page

__all__ = ["add_to", "crds_of_target", "warnings_as_lines"]

Target = Annotated[str, typer.Argument(help="A module (web.py, package.web), or a file or folder with CRDs.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="A folder to write to; printed unless given.")]
Check = Annotated[bool, typer.Option("--check", help="Only compare with the files; exit 1 if they differ.")]
_SUFFIXES = (".yaml", ".yml", ".json")


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    schema = typer.Typer(help="Schemas of an API, for other programs.", no_args_is_help=True)
    schema.command("json")(schema_json)
    app.add_typer(schema, name="schema")
    docs = typer.Typer(help="Documentation of an API, for people.", no_args_is_help=True)
    docs.command("api")(docs_api)
    app.add_typer(docs, name="docs")


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """What types say that a server does not check, each as a line on standard error."""
    from kubewright.schema import SchemaWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SchemaWarning)
        yield
    for each in caught:
        if issubclass(each.category, SchemaWarning):
            print(f"warning: {each.message}", file=sys.stderr)
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def crds_of_target(target: str) -> list[dict[str, Any]]:
    """The CRDs of a module, or of files. Raises what `load_module`, `crds_of_module` and `read_crds` raise."""
    from kubewright.schema import crds_of_module
    from kubewright.schema.compat import read_crds

    from .load import load_module

    path = Path(target)
    if path.suffix in _SUFFIXES or (path.is_dir() and not (path / "__init__.py").is_file()):
        return [_sound(dict(crd)) for crd in read_crds(path)]
    with warnings_as_lines():
        return crds_of_module(load_module(target))


def _sound(crd: dict[str, Any]) -> dict[str, Any]:
    """A CRD that a server takes, of which anything may be asked. Raises LoadError: what a server says of another."""
    from kubewright.schema.structural import check_crd

    from .load import LoadError

    outcome = check_crd(crd)
    if not outcome.is_valid:
        raise LoadError(outcome.message)
    return crd


def schema_json(target: Target, output: Output = None, check: Check = False) -> None:
    """JSON Schemas (draft 2020-12) for editors and other validators.

    Without a folder, the schema of the only kind and version is printed. With one: a file for each, and all.json that
    takes any of them: put `# yaml-language-server: $schema=schemas/all.json` first in a manifest.
    """
    from kubewright.schema.reference import pages

    made = pages(crds_of_target(target), "json")
    if output is None and not check:
        alone = [page for page in made if page.name != "all.json"]
        if len(alone) > 1:
            names = ", ".join(page.name for page in alone)
            raise typer.BadParameter(f"there are several ({names}); give a folder", param_hint="--output")
        print(alone[0].text, end="")
        return
    _write(made, output or Path("schemas"), check)


def docs_api(
    target: Target,
    output: Output = None,
    form: Annotated[str, typer.Option("--format", help="markdown or html; both with --output unless given.")] = "",
    title: Annotated[str, typer.Option(help="The heading.")] = "API reference",
    check: Check = False,
) -> None:
    """Reference documentation of an API: Markdown, and one HTML file that needs no other."""
    from kubewright.schema.reference import pages

    if form not in ("", "markdown", "html"):
        raise typer.BadParameter(f"{form!r} is not one of markdown, html", param_hint="--format")
    crds = crds_of_target(target)
    if output is None and not check:
        (page,) = pages(crds, "html" if form == "html" else "markdown", title=title)
        print(page.text, end="")
        return
    made: list[Page] = []
    if form != "html":
        made += pages(crds, "markdown", title=title)
    if form != "markdown":
        made += pages(crds, "html", title=title)
    _write(made, output or Path("docs/api"), check)


def _write(pages: list[Page], folder: Path, check: bool) -> None:
    changed = []
    for page in pages:
        path = folder / page.name
        if path.is_file() and path.read_bytes() == page.text.encode():
            continue
        changed.append(path)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page.text, encoding="utf-8", newline="\n")
    for path in changed:
        print(f"{path}: is not what would be generated" if check else path, file=sys.stderr if check else sys.stdout)
    raise typer.Exit(1 if check and changed else 0)
