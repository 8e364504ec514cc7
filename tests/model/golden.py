"""The answers of Kubernetes' own libraries (`hack/golden` asks them again)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def rows(file: str, section: str) -> list[list[Any]]:
    return json.loads((Path(__file__).parent / "golden" / f"{file}.json").read_text(encoding="utf-8"))[section]
