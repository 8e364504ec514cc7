"""The whole way from documents to files: which kinds, which modules, what they are called, and whether they changed.

One module per group version, one package per group: `apps/v1.py`, `core/v1.py`. Modules import each other relatively,
so that the folder may lie anywhere in a package. Built-in types that others refer to are imported from
`kubewright.models`.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kubewright.models import module_of

from .classes import Class, ClassBuilder
from .crd import add_crd
from .definitions import Definition, Definitions, GenerateError, Home
from .naming import module_path, version_module
from .openapi import add_openapi
from .render import MARK, render_module
from .sources import Documents, Fetch, load_documents
from .types import Enums, Ref

__all__ = ["Change", "generate", "generate_models", "write"]


@dataclass(frozen=True)
class Change:
    """A file that is not as it would be generated: its text, None where it is not there, and the text to be."""

    path: Path
    before: str | None
    after: str

    @property
    def diff(self) -> str:
        """A unified diff; empty for a file that is not there."""
        if self.before is None:
            return ""
        old, new = self.before.splitlines(keepends=True), self.after.splitlines(keepends=True)
        return "".join(difflib.unified_diff(old, new, str(self.path), "generated"))

    def __str__(self) -> str:
        return f"{self.path}: {'is missing' if self.before is None else 'is not what would be generated'}"


_PACKAGE: Final = '"""{what}\n\n' + MARK + '\n"""\n'


def generate_models(
    source: str | Path,
    out_dir: str | Path,
    *,
    groups: Collection[str] | None = None,
    field_docs: bool = False,
    keep_empty: bool = False,
    check: bool = False,
    fetch: Fetch | None = None,
) -> list[Change]:
    """Make modules of models from a server, files or CRDs: `kubewright generate models`.

    Args:
        source: an address (`https://...`), a file, a folder, or `-` for standard input.
        out_dir: the folder that gets one package per API group; made when it is absent.
        groups: the API groups to take, `core` among them; all but those of `kubewright.models` unless given.
        field_docs: write the first sentence of each field's description below it.
        keep_empty: of custom resources, tell an empty list or map from an absent one (`None`), and a null from an
            absent value (`UNSET`). Without it they are absent when written, as Go's `omitempty` has it.
        check: write nothing.
        fetch: how to read a path of a server that asks for credentials.

    Returns:
        What was written; with `check`, what would have been. Empty when all is up to date.

    Raises:
        GenerateError: the input cannot be read, or models cannot be made of it.
    """
    chosen = None if groups is None else {"" if group == "core" else group for group in groups}
    files = generate(load_documents(source, fetch=fetch), groups=chosen, field_docs=field_docs, keep_empty=keep_empty)
    return write(files, Path(out_dir), check=check)


def generate(
    documents: Documents,
    *,
    groups: Collection[str] | None = None,
    built_in: Callable[[str, str], str | None] = module_of,
    enums: Enums = "strict",
    notice: str = "",
    field_docs: bool = False,
    keep_empty: bool = False,
) -> dict[str, str]:
    """The files, by path below the output folder.

    Args:
        groups: the API groups to take; all that are not built in unless given.
        built_in: group and version to the module that has their types already, or None.
        enums: see `ClassBuilder`.
        notice: lines for each module's docstring.
        field_docs: write the first sentence of each field's description below it.
        keep_empty: see `generate_models`.

    Raises:
        GenerateError: no kind is left, or models cannot be made of one.
    """

    def chosen(kind: Definition) -> bool:
        return built_in(*kind.home) is None if groups is None else kind.home[0] in groups

    def elsewhere(home: Home, name: str) -> str | None:
        module = None if groups is not None and home[0] in groups else built_in(*home)
        return module if module is not None and name in importlib.import_module(module).__all__ else None

    modules = build_modules(documents, chosen, elsewhere, enums, keep_empty=keep_empty)
    return render(modules, notice=notice, field_docs=field_docs)


def render(modules: dict[Home, dict[str, Class]], *, notice: str = "", field_docs: bool = False) -> dict[str, str]:
    """The text of `modules`, by path. Raises GenerateError: they import each other."""
    packages = module_path(group for group, _ in modules)
    _refuse_cycles(modules)
    files: dict[str, str] = {}
    for home, classes in sorted(modules.items()):
        group, version = home

        def locate(other: Home, group: str = group) -> str:
            prefix = "." if other[0] == group else f"..{packages[other[0]]}."
            return prefix + version_module(other[1])

        files[f"{packages[group]}/__init__.py"] = _PACKAGE.format(what=f"API group {group or 'core'}, by version.")
        files[f"{packages[group]}/{version_module(version)}.py"] = render_module(
            home, classes, locate, notice=notice, field_docs=field_docs
        )
    return files


def build_modules(
    documents: Documents,
    chosen: Callable[[Definition], bool],
    elsewhere: Callable[[Home, str], str | None],
    enums: Enums,
    *,
    keep_empty: bool = False,
) -> dict[Home, dict[str, Class]]:
    """The classes of the chosen kinds and of what they refer to, by module and name. Raises GenerateError: no kinds.

    Args:
        elsewhere: the dotted module of a class that need not be made, or None.
    """
    definitions = Definitions()
    try:
        add_openapi(definitions, documents.openapi)
    except (AttributeError, KeyError, TypeError):
        rule = "is not as a Kubernetes API server writes it"
        raise GenerateError(
            f"an OpenAPI document {rule}; take what `kubectl get --raw /openapi/v3/...` prints"
        ) from None
    for crd in documents.crds:
        add_crd(definitions, crd)
    kinds = list(definitions.kinds())
    builder = ClassBuilder(definitions, enums, elsewhere, keep_empty=keep_empty)
    # A CRD that is given beside the document of the server that has it comes last, and knows more of its kind.
    wanted = {(kind.home, kind.class_name): kind for kind in kinds if chosen(kind)}
    try:
        builder.build(wanted.values())
    except RecursionError:
        raise GenerateError("a schema is nested too deeply; no server takes it either") from None
    if not builder.modules:
        found = ", ".join(sorted({kind.home[0] or "core" for kind in kinds})) or "none"
        raise GenerateError(
            f"nothing to make models of; API groups with kinds in the documents: {found}. Name the ones to take; "
            "what kubewright.models has already is not made again unless it is named"
        )
    return builder.modules


def write(files: Mapping[str, str], out_dir: Path, *, check: bool = False) -> list[Change]:
    """Write what is not there yet or differs; with `check`, only say what that is.

    `out_dir` becomes a package when it is none. Files that are not in `files` stay.
    """
    wanted = dict(files)
    if not (out_dir / "__init__.py").exists():
        wanted["__init__.py"] = _PACKAGE.format(what="Models of Kubernetes kinds, by API group.")
    changed = []
    for name, text in sorted(wanted.items()):
        path = out_dir / name
        before = path.read_text(encoding="utf-8") if path.is_file() else None
        if before == text:
            continue
        changed.append(Change(path, before, text))
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return changed


def _refuse_cycles(modules: dict[Home, dict[str, Class]]) -> None:
    """A module that is imported by one that it imports cannot be loaded. Go has the same rule for packages."""
    edges = {home: _imports(classes.values()) - {home} for home, classes in modules.items()}

    def visit(home: Home, above: tuple[Home, ...]) -> None:
        if home in above:
            names = " -> ".join("/".join(each) for each in (*above, home))
            raise GenerateError(f"the modules import each other: {names}; generate their groups separately")
        for other in sorted(edges.get(home, ())):
            visit(other, (*above, home))

    for home in modules:
        visit(home, ())


def _imports(classes: Iterable[Class]) -> set[Home]:
    parts = (part for cls in classes for field in cls.fields for part in field.type.parts)
    return {part.module for part in parts if isinstance(part, Ref) and isinstance(part.module, tuple)}
