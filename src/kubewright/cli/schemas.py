"""Commands on schemas and manifests: validate, diff, convert. No cluster is asked.

kubewright validate [--crd FILE|DIR]... FILE|DIR...     exit 1: something is invalid, or there is nothing; 3: no CRD
kubewright diff OLD NEW                                 exit 1: something breaks
kubewright convert crd FILE...                          exit 1: something could not be converted
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

__all__ = ["add_to"]

_UNCHECKED: Final = 3
Output = Annotated[str, typer.Option("--output", "-o", help="text or json.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("validate")(validate)
    app.command("diff")(diff)
    convert = typer.Typer(help="Manifests of old APIs to those of today.", no_args_is_help=True)
    convert.command("crd")(convert_crd)
    app.add_typer(convert, name="convert")


def _is_json(output: str) -> bool:
    if output not in ("text", "json"):
        raise typer.BadParameter(f"{output!r} is not one of text, json", param_hint="--output")
    return output == "json"


def validate(
    files: Annotated[list[Path], typer.Argument(help="Manifests, folders of them, or - for standard input.")],
    crd: Annotated[
        list[Path] | None, typer.Option("--crd", help="A file or folder with CRDs of the kinds; may be repeated.")
    ] = None,
    output: Output = "text",
    show: Annotated[bool, typer.Option("--show", help="Print the objects as they would be stored.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict/--no-strict", help="Whether unknown fields are errors, as kubectl has it.")
    ] = True,
    ignore_missing: Annotated[
        bool,
        typer.Option("--ignore-missing-crds", help="Exit 0 also if a custom resource has no CRD to be checked by."),
    ] = False,
) -> None:
    """Check custom resources and CRDs as an API server would.

    Exit code 1 if one is invalid or there is none, 3 if some were not checked, because no CRD of their kind was given.
    Built-in kinds are not checked.
    """
    from kubewright.schema import to_yaml
    from kubewright.schema.cel.rule_checks import check_schema_rules
    from kubewright.schema.cel.rules import Rules
    from kubewright.schema.checking import validate as check

    as_json = _is_json(output)
    report = check(files, crds=crd or (), strict=strict, rules=Rules, rule_check=check_schema_rules)
    objects = [finding.object for finding in report.findings if finding.object is not None]
    if as_json:
        print(json.dumps(report.as_json() | ({"stored": objects} if show else {}), indent=2, ensure_ascii=False))
    elif show:
        print(to_yaml(*objects), end="")
        for line in report.lines():
            print(line, file=sys.stderr)
    else:
        for line in report.lines():
            print(line)
    if not report.findings and not report.unreadable:
        print("error: no objects in what was given: did what makes them fail?", file=sys.stderr)
        raise typer.Exit(1)
    if report.missing and not ignore_missing and not as_json:
        print("give the CRDs with --crd, or let such objects pass with --ignore-missing-crds", file=sys.stderr)
    raise typer.Exit(1 if not report.is_valid else _UNCHECKED if report.missing and not ignore_missing else 0)


def diff(
    old: Annotated[Path, typer.Argument(help="A file or folder with the CRDs as they are.")],
    new: Annotated[Path, typer.Argument(help="A file or folder with the CRDs as they are to be.")],
    output: Output = "text",
) -> None:
    """Tell what a change of CRDs breaks, for whom and how. Exit code 1 if anything does, 0 otherwise."""
    from kubewright.schema.compat import diff_files

    as_json = _is_json(output)
    report = diff_files(old, new)
    if as_json:
        print(json.dumps(report.as_json(), indent=2, ensure_ascii=False))
    else:
        for line in report.lines():
            print(line)
    raise typer.Exit(1 if report.is_breaking else 0)


def convert_crd(
    files: Annotated[list[Path], typer.Argument(help="Manifests with apiextensions.k8s.io/v1beta1 CRDs, or -.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.")] = None,
) -> None:
    """Convert CRDs of apiextensions.k8s.io/v1beta1 to v1. What had to be assumed is told on standard error."""
    from kubewright.schema.compat import convert_files

    text, notes, is_complete = convert_files(files)
    for note in notes:
        print(note, file=sys.stderr)
    if output is None:
        print(text, end="")
    else:
        output.write_text(text, encoding="utf-8", newline="\n")
    raise typer.Exit(0 if is_complete else 1)
