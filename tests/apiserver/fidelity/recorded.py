"""Recordings on disk: one JSON file a subject, in a form whose differences can be read.

Owns the text form: sorted keys, what fits on a line is on one. Equal recordings are equal bytes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"
_WIDTH = 110

Recording = dict[str, list[Any]]
"""The answers of a subject, by case."""


def path_of(subject: str) -> Path:
    return RECORDED / f"{subject}.json"


def read(subject: str) -> Recording:
    """Return the recording of a subject, empty if there is none."""
    path = path_of(subject)
    if not path.exists():
        return {}
    recording: Recording = json.loads(path.read_text())
    return recording


def text_of(node: Any) -> str:
    """Return JSON with at most about 110 characters a line."""
    return "".join(_lines(node, "", 0)) + "\n"


def _lines(node: Any, indent: str, used: int) -> list[str]:
    flat = json.dumps(node, sort_keys=True, ensure_ascii=False)
    if not isinstance(node, (dict, list)) or not node or len(flat) + len(indent) + used <= _WIDTH:
        return [flat]
    inner = indent + " "
    entries: list[str] = []
    if isinstance(node, dict):
        for key in sorted(node):
            head = json.dumps(key, ensure_ascii=False) + ": "
            entries.append(head + "".join(_lines(node[key], inner, len(head))))
    else:
        entries = ["".join(_lines(each, inner, 0)) for each in node]
    opening, closing = "{}" if isinstance(node, dict) else "[]"
    return [opening + "\n" + ",\n".join(inner + entry for entry in entries) + "\n" + indent + closing]
