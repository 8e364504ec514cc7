"""The rules that are tried here and on a real server, by family: `cel_rules` and the files in `rules/`.

A family is a schema (properties of one object), rules over it with an object that keeps and one that breaks each, and
rules that a server refuses.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from cel_rules import PROPERTIES, TABLE, WRONG, as_rule

__all__ = ["FAMILIES", "Family", "Row"]


@dataclass(frozen=True)
class Row:
    rule: dict[str, Any]
    good: dict[str, Any]
    bad: dict[str, Any]


@dataclass(frozen=True)
class Family:
    name: str
    properties: dict[str, Any]
    rows: tuple[Row, ...]
    wrong: tuple[dict[str, Any], ...]

    def schema(self, *rules: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "properties": self.properties, "x-kubernetes-validations": list(rules)}


def _read(path: Path) -> Family:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    rows = [
        Row({key: value for key, value in row.items() if key not in ("good", "bad")}, row["good"], row["bad"])
        for row in data["rules"]
    ]
    return Family(path.stem, data["properties"], tuple(rows), tuple(map(as_rule, data["wrong"])))


FAMILIES = (
    Family(
        "types",
        PROPERTIES,
        tuple(Row(as_rule(rule), good, bad) for rule, good, bad in TABLE),
        tuple(map(as_rule, WRONG)),
    ),
    *(_read(path) for path in sorted((Path(__file__).parent / "rules").glob("*.yaml"))),
)
