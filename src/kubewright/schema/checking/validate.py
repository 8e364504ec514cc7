"""`validate`: custom resources and CRDs in files, checked as a server would on creation.

CRDs are checked by the server's rules for CRDs; every other object by the CRD of its kind, which is among the files or
in those given with `crds`. An object of a kind without one is `unknown`, one of Kubernetes' own kinds `built-in`: they
are told and not judged. Two objects of one kind, namespace and name are reported, since the second would replace the
first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from ...model import GroupVersionKind
from ...models import built_in_kinds
from ..structural.crdcheck import CrdOutcome, RuleCheck, check_crd
from ..structural.fielderrors import FieldError
from ..structural.node import SchemaShapeError
from ..structural.resource import Kind, Outcome, Version
from ..structural.schema import RuleCompiler
from .report import Finding, Note, Report, Severity, sort_notes
from .sources import Problem, Source, read_sources

__all__ = ["validate"]

_GROUP: Final = "apiextensions.k8s.io"
_BUILT_IN: Final = frozenset(built_in_kinds())


class _Known(msgspec.Struct, frozen=True):
    """A kind that can be judged, or why it cannot."""

    kind: Kind | None
    problem: str = ""


def validate(
    files: Iterable[str | Path],
    *,
    crds: Iterable[str | Path] = (),
    strict: bool = False,
    rules: RuleCompiler | None = None,
    rule_check: RuleCheck | None = None,
) -> Report:
    """Check all objects in files and folders.

    Args:
        files: what to check; `-` is standard input.
        crds: more files with CRDs of the kinds in `files`. They are used and not judged.
        strict: an unknown field is an error, as with `fieldValidation=Strict`, which kubectl asks for. Otherwise it is
            a warning, and the field is dropped.
        rules: evaluates the rules (CEL) of custom resources. Without it they are noted as not evaluated.
        rule_check: compiles the rules of CRDs. Without it their expressions are not looked at.

    Raises:
        OSError: a path is not there or cannot be read.
    """
    sources, known_sources = read_sources(files), read_sources(crds)
    known = _kinds([*known_sources.objects, *sources.objects], rules)
    findings = []
    seen: dict[tuple[str, ...], Source] = {}
    for source in sources.objects:
        finding = _crd(source, rule_check, strict) if _is_crd(source) else _object(source, known, strict)
        findings.append(_with_twin(finding, source, seen))
    problems = [*known_sources.problems, *sources.problems]
    return Report(tuple(findings), tuple(_unreadable(problem) for problem in problems))


def _unreadable(problem: Problem) -> Note:
    return Note("error", problem.rule, problem.file, problem.line)


def _is_crd(source: Source) -> bool:
    return source.is_crd and str(source.value["apiVersion"]).partition("/")[0] == _GROUP


def _kinds(sources: Sequence[Source], rules: RuleCompiler | None) -> dict[tuple[str, str], _Known]:
    """The kinds of the CRDs that can be read; the first of each counts."""
    known: dict[tuple[str, str], _Known] = {}
    for source in sources:
        if not _is_crd(source):
            continue
        spec = source.value.get("spec")
        names = spec.get("names") if isinstance(spec, dict) else None
        if not isinstance(spec, dict) or not isinstance(names, dict):
            continue
        key = (str(spec.get("group")), str(names.get("kind")))
        try:
            known.setdefault(key, _Known(Kind(source.value, rules=rules)))
        except (SchemaShapeError, KeyError, TypeError, AttributeError) as error:
            text = str(error) if isinstance(error, SchemaShapeError) else "is not a CustomResourceDefinition"
            known.setdefault(key, _Known(None, f"its CRD ({source.file}) cannot be used: {text}"))
    return known


def _name(source: Source) -> str:
    metadata = source.value.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    name = metadata.get("name") or metadata.get("generateName") or ""
    return str(name)


def _with_twin(finding: Finding, source: Source, seen: dict[tuple[str, ...], Source]) -> Finding:
    metadata = source.value.get("metadata")
    namespace = str(metadata.get("namespace", "")) if isinstance(metadata, dict) else ""
    group = finding.api_version.rpartition("/")[0]
    key = (group, finding.kind, namespace, finding.name)
    first = seen.setdefault(key, source)
    named = isinstance(metadata, dict) and metadata.get("name")
    if first is source or not named:
        return finding
    text = f"is there a second time; the first is {first.file}:{first.line_of('metadata.name')}"
    note = Note("warning", text, source.file, source.line_of("metadata.name"), "metadata.name")
    return msgspec.structs.replace(finding, notes=sort_notes([*finding.notes, note]))


# -- one object -------------------------------------------------------------------------------------------------------


def _finding(source: Source, verdict: Any, message: str, notes: Sequence[Note], stored: Any = None) -> Finding:
    return Finding(
        file=source.file,
        line=source.line_of(""),
        api_version=source.value["apiVersion"],
        kind=source.value["kind"],
        name=_name(source),
        verdict=verdict,
        message=message,
        notes=sort_notes(notes),
        object=stored,
    )


def _note(source: Source, severity: Severity, text: str, field: str = "", reason: str = "") -> Note:
    shown = "" if field == "<nil>" else field
    return Note(severity, text, source.file, source.line_of(field), shown, reason)


def _errors(source: Source, errors: Iterable[FieldError]) -> list[Note]:
    return [_note(source, "error", str(error), error.field, error.reason) for error in errors]


def _unknown(source: Source, fields: Iterable[str], strict: bool) -> list[Note]:
    severity: Severity = "error" if strict else "warning"
    return [_note(source, severity, f'unknown field "{field}"', field) for field in fields]


def _crd(source: Source, rule_check: RuleCheck | None, strict: bool) -> Finding:
    if source.value["apiVersion"] != f"{_GROUP}/v1":
        text = f"{source.value['apiVersion']} is served by no cluster since 1.22; run: kubewright convert crd FILE"
        return _finding(source, "invalid", text, [_note(source, "error", text, "apiVersion")])
    outcome: CrdOutcome = check_crd(source.value, rules=rule_check)
    notes = _errors(source, outcome.errors)
    notes += [_note(source, "error", each, each.partition(":")[0]) for each in outcome.broken]
    notes += _unknown(source, outcome.unknown, strict)
    for field in outcome.unseen:
        text = f'unknown field "{field}", which a server drops without a word'
        notes.append(_note(source, "warning", text, field))
    is_valid = outcome.is_valid and not (strict and outcome.unknown)
    return _finding(source, "valid" if is_valid else "invalid", outcome.message, notes)


def _object(source: Source, known: dict[tuple[str, str], _Known], strict: bool) -> Finding:
    group, _, name = source.value["apiVersion"].rpartition("/")
    kind = source.value["kind"]
    found = known.get((group, kind))
    if found is None:
        if GroupVersionKind(group, name, kind) in _BUILT_IN:
            return _finding(source, "built-in", "", [])
        text = f"is not checked: there is no CRD of {kind} in {group or 'the core group'}"
        return _finding(source, "unknown", text, [_note(source, "warning", text, "apiVersion")])
    if found.kind is None:
        return _finding(source, "invalid", found.problem, [_note(source, "error", found.problem, "apiVersion")])
    version = found.kind.versions.get(name)
    if version is None or not version.is_served:
        text = _no_version(found.kind, kind, name)
        return _finding(source, "invalid", text, [_note(source, "error", text, "apiVersion")])
    return _judged(source, version, strict)


def _no_version(kind: Kind, name: str, version: str) -> str:
    served = [each for each, found in kind.versions.items() if found.is_served]
    known = f"serves {', '.join(served)}" if served else "serves none"
    return f'no matches for kind "{name}" in version "{kind.group}/{version}"; its CRD {known}'


def _judged(source: Source, version: Version, strict: bool) -> Finding:
    outcome: Outcome = version.create(source.value)
    notes = _errors(source, outcome.errors)
    if outcome.undecodable:
        notes.append(_note(source, "error", outcome.undecodable))
    notes += _unknown(source, outcome.unknown, strict)
    message = outcome.message
    is_valid = outcome.is_valid and not (strict and outcome.unknown)
    if outcome.unknown and strict and not message:
        message = outcome.strict_message
    if outcome.unevaluated and outcome.is_valid:
        count = len(outcome.unevaluated)
        what = "1 rule was" if count == 1 else f"{count} rules were"
        notes.append(_note(source, "note", f"{what} not evaluated: {'; '.join(outcome.unevaluated)}"))
    return _finding(source, "valid" if is_valid else "invalid", message, notes, outcome.object)
