"""The summary as one SVG: a panel per question, a bar per peer, the spread as a line. No library is worth four bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from .table import groups

PANELS: Sequence[tuple[str, str, str, str, int]] = (
    ("real", "create", "cpu_ms", "Operator's CPU per created resource, ms (real API server)", 2),
    ("real", "update", "cpu_ms", "Operator's CPU per updated resource, ms (real API server)", 2),
    ("real", "children", "cpu_ms", "CPU per resource with an applied ConfigMap, ms (real API server)", 2),
    ("real", "stream 50/s", "p99_ms", "Latency at 50 changes/s, p99, ms (real API server)", 1),
    ("stub", "backlog", "rate", "Resources per second on one core (stub API server)", 0),
    ("real", "cold start", "rss_mib", "Memory with all resources cached, MiB (real API server)", 0),
    ("real", "cold start", "ready_seconds", "Start to ready beside them, s (real API server)", 2),
)
"""Back end, variant, metric, title, digits."""

_COLOURS = {"kubewright": "#2f6fde", "kubewright-uvloop": "#6fa0f0", "controller-runtime": "#2b9c83", "kopf": "#b06a2c"}
_WIDTH, _LABEL, _BAR, _HEAD, _NUMBER = 760, 150, 20, 34, 130


def write(result: Mapping[str, Any], path: Path) -> None:
    """Write the figure."""
    y, parts = 10, []
    for panel in PANELS:
        drawn, height = _panel(result, panel, y)
        parts.append(drawn)
        y += height
    style = "text{font:13px system-ui,sans-serif;fill:#555}.t{font-weight:600}"
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y}" viewBox="0 0 {_WIDTH} {y}" '
        f'role="img" aria-label="Benchmark results"><style>{style}</style>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _panel(result: Mapping[str, Any], panel: tuple[str, str, str, str, int], top: int) -> tuple[str, int]:
    backend, variant, metric, title, digits = panel
    found = [
        (objects, records)
        for (where, what, objects), records in groups(result).items()
        if (where, what) == (backend, variant)
    ]
    if not found:
        return "", 0
    records = [record for record in found[0][1] if metric in record["metrics"]]
    longest = max((record["metrics"][metric]["max"] for record in records), default=0.0) or 1.0
    scale = (_WIDTH - _LABEL - _NUMBER) / longest
    lines = [f'<text class="t" x="0" y="{top + 18}">{escape(title)}</text>']
    for number, record in enumerate(records):
        y = top + _HEAD + number * (_BAR + 4) - 6
        spread = record["metrics"][metric]
        width, low, high = (_LABEL + spread[name] * scale for name in ("median", "min", "max"))
        lines += [
            f'<text x="{_LABEL - 8}" y="{y + 14}" text-anchor="end">{escape(record["peer"])}</text>',
            f'<rect x="{_LABEL}" y="{y}" width="{max(width - _LABEL, 1):.1f}" height="{_BAR}" rx="2" '
            f'fill="{_COLOURS.get(record["peer"], "#888")}"/>',
            f'<path d="M{low:.1f} {y + _BAR / 2}H{high:.1f}" stroke="#222" stroke-width="1.5"/>',
            f'<text x="{max(width, high) + 6:.1f}" y="{y + 14}">{spread["median"]:,.{digits}f}</text>',
        ]
    return "\n".join(lines), _HEAD + len(records) * (_BAR + 4) + 12
