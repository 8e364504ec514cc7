"""What came of a validation: a finding per object, as text with file and line, and as JSON.

```text
web.yaml:7: Web web: spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10
web.yaml:9: Web web: warning: unknown field "spec.colour"
```

Exit code 1 is for an error; warnings are for what a server would do silently, or what was not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

__all__ = ["Finding", "Note", "Report"]

Severity = Literal["error", "warning", "note"]


class Note(msgspec.Struct, frozen=True):
    """One thing that was found. `field` is a path, empty for the whole object; `reason` the machine-readable cause."""

    severity: Severity
    text: str
    file: str
    line: int
    field: str = ""
    reason: str = ""


class Finding(msgspec.Struct, frozen=True):
    """One object: what it is, where it stands, whether a server would take it.

    `verdict` is `valid`, `invalid`, `unknown` for a kind without a CRD, or `built-in` for one of Kubernetes' own, which
    has none and is not checked. `object` is what would be stored, pruned and defaulted, if that is known.
    """

    file: str
    line: int
    api_version: str
    kind: str
    name: str
    verdict: Literal["valid", "invalid", "unknown", "built-in"]
    message: str = ""
    notes: tuple[Note, ...] = ()
    object: dict[str, Any] | None = None

    @property
    def title(self) -> str:
        """Such as `Web web`."""
        return f"{self.kind} {self.name}".rstrip()


class Report(msgspec.Struct, frozen=True):
    """All objects, in the order of the files, and what could not be read."""

    findings: tuple[Finding, ...]
    unreadable: tuple[Note, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether everything was read and nothing is invalid. What was not checked does not count; see `missing`."""
        return not self.unreadable and all(finding.verdict != "invalid" for finding in self.findings)

    @property
    def missing(self) -> tuple[str, ...]:
        """The kinds that objects are of and no CRD describes, as `example.com/v1 Web`, sorted."""
        return self._of_verdict("unknown")

    def _of_verdict(self, verdict: str) -> tuple[str, ...]:
        found = {f"{each.api_version} {each.kind}" for each in self.findings if each.verdict == verdict}
        return tuple(sorted(found))

    def lines(self) -> Iterator[str]:
        """The report as text: a line per note, and one of counts."""
        for note in self.unreadable:
            yield f"{note.file}:{note.line}: {note.text}"
        for finding in self.findings:
            for note in finding.notes:
                what = "" if note.severity == "error" else f"{note.severity}: "
                yield f"{note.file}:{note.line}: {finding.title}: {what}{note.text}"
        yield self.summary

    @property
    def summary(self) -> str:
        """Such as `3 valid, 1 invalid, 1 not checked (built-in: v1 ConfigMap)`."""
        verdicts = [finding.verdict for finding in self.findings]
        counts = {"valid": verdicts.count("valid"), "invalid": verdicts.count("invalid")}
        parts = [f"{count} {name}" for name, count in counts.items()]
        if count := verdicts.count("unknown"):
            parts.append(f"{count} not checked (without a CRD: {', '.join(self.missing)})")
        if count := verdicts.count("built-in"):
            parts.append(f"{count} not checked (built-in: {', '.join(self._of_verdict('built-in'))})")
        if self.unreadable:
            parts.append(f"{len(self.unreadable)} unreadable")
        return ", ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """The report for programs."""
        return {
            "valid": self.is_valid,
            "missing": list(self.missing),
            "objects": [_finding(each) for each in self.findings],
            "unreadable": [_note(each) for each in self.unreadable],
        }


def _finding(finding: Finding) -> dict[str, Any]:
    made: dict[str, Any] = {
        "file": finding.file,
        "line": finding.line,
        "apiVersion": finding.api_version,
        "kind": finding.kind,
        "name": finding.name,
        "verdict": finding.verdict,
    }
    if finding.message:
        made["message"] = finding.message
    for severity, name in (("error", "errors"), ("warning", "warnings"), ("note", "notes")):
        notes = [each for each in finding.notes if each.severity == severity]
        if notes:
            made[name] = [_note(each) for each in notes]
    return made


def _note(note: Note) -> dict[str, Any]:
    made: dict[str, Any] = {"text": note.text, "file": note.file, "line": note.line}
    if note.field:
        made["field"] = note.field
    if note.reason:
        made["reason"] = note.reason
    return made


def sort_notes(notes: Sequence[Note]) -> tuple[Note, ...]:
    """Errors first, then by line."""
    order = ("error", "warning", "note")
    return tuple(sorted(notes, key=lambda note: (order.index(note.severity), note.line)))
