"""The known differences: `known.yaml`, a mapping of reasons to the cases that differ for it."""

from __future__ import annotations

import functools
from pathlib import Path

import yaml

KNOWN = Path(__file__).parent / "known.yaml"


@functools.cache
def reasons() -> dict[str, str]:
    """Return the reason by the key of the case ("file/case")."""
    groups: dict[str, list[str]] = yaml.safe_load(KNOWN.read_text()) or {}
    return {key: reason for reason, keys in groups.items() for key in keys}
