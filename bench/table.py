"""The summary as text, one table per back end and variant; medians, with the spread where it is more than 5 %."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

COLUMNS: Mapping[str, tuple[str, int]] = {
    "rate": ("CR/s", 0),
    "cpu_ms": ("CPU ms/CR", 3),
    "cpu_user_ms": ("user", 3),
    "cpu_system_ms": ("system", 3),
    "cpu_seconds": ("CPU s", 2),
    "cpu_seconds_per_hour": ("CPU s/hour", 1),
    "ready_seconds": ("ready s", 2),
    "to_last_status_seconds": ("all done s", 2),
    "p50_ms": ("p50 ms", 1),
    "p99_ms": ("p99 ms", 1),
    "p999_ms": ("p99.9 ms", 1),
    "requests_each": ("requests/CR", 2),
    "writes": ("writes", 0),
    "rss_mib": ("RSS MiB", 0),
    "peak_rss_mib": ("peak MiB", 0),
}
"""Metrics in the order of the columns: heading, digits after the point."""


def groups(result: Mapping[str, Any]) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    """The summary's records by back end, variant and size."""
    found: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for record in result["summary"]:
        found.setdefault((record["backend"], record["variant"], record["objects"]), []).append(record)
    return found


def rows(records: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """A heading, then one row per peer."""
    records = list(records)
    names = [name for name in COLUMNS if any(name in record["metrics"] for record in records)]
    head = ["peer", *(COLUMNS[name][0] for name in names)]
    return [
        head,
        *(
            [record["peer"], *(_cell(record["metrics"].get(name), COLUMNS[name][1]) for name in names)]
            for record in records
        ),
    ]


def text(result: Mapping[str, Any]) -> str:
    """All tables, for a terminal."""
    lines: list[str] = []
    for (backend, variant, objects), records in groups(result).items():
        lines += ["", f"{backend}: {variant}, {objects:,} objects"]
        table = rows(records)
        widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
        for row in table:
            cells = [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
            lines.append("  " + "  ".join(cells))
    return "\n".join(lines)


def markdown(records: Iterable[Mapping[str, Any]]) -> str:
    """One table, for a page."""
    head, *body = rows(records)
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in body)])


def _cell(spread: Mapping[str, float] | None, digits: int) -> str:
    if not spread:
        return "-"
    middle, low, high = (spread[name] for name in ("median", "min", "max"))
    shown = f"{middle:,.{digits}f}"
    if high - low > 0.05 * abs(middle) and (f"{low:.{digits}f}" != f"{high:.{digits}f}"):
        shown += f" ({low:,.{digits}f}-{high:,.{digits}f})"
    return shown
