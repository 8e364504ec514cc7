"""The core kinds."""

from __future__ import annotations

from typing import Final

from ..rules import Rules

__all__ = ["RULES"]

RULES: Final[dict[tuple[str, str], Rules]] = {}
