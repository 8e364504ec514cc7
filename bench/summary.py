"""From the records of all rounds to medians with their spread, and to ratios between peers.

A ratio is taken within a round, where both peers met the same machine in the same quarter of an hour, and its median
over the rounds is shown with the smallest and the largest.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

from .peers import GO, KOPF, OURS, SPEEDUPS

Record = dict[str, Any]
Spread = dict[str, float]

RATIOS = (
    "cpu_ms",
    "cpu_seconds",
    "cpu_seconds_per_hour",
    "rate",
    "rss_mib",
    "peak_rss_mib",
    "ready_seconds",
    "p50_ms",
    "p99_ms",
)


def summarize(records: Iterable[Record]) -> list[Record]:
    """One record per peer, back end, variant and size, in the order in which they first came; `metrics` as spreads."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(_key(record), []).append(record)
    found = []
    for group in groups.values():
        first = group[0]
        names = [name for name, value in first["metrics"].items() if not isinstance(value, dict)]
        metrics = {name: _spread([record["metrics"].get(name) for record in group]) for name in names}
        found.append({
            **{name: first[name] for name in ("backend", "variant", "objects", "peer")},
            "rounds": len(group),
            "pending": max(record.get("pending", 0) for record in group),
            "metrics": {name: value for name, value in metrics.items() if value},
            "requests": first["metrics"].get("requests", {}),
        })  # fmt: skip
    return found


def ratios(records: Iterable[Record]) -> list[Record]:
    """Kubewright, in both installations, over each of the others."""
    by_place: dict[tuple[Any, ...], dict[str, Record]] = {}
    for record in records:
        place = (record["round"], record["backend"], record["variant"], record["objects"])
        by_place.setdefault(place, {})[record["peer"]] = record
    values: dict[tuple[Any, ...], list[float]] = {}
    for (_, *place), peers in by_place.items():
        for ours in (OURS, SPEEDUPS):
            for theirs in (GO, KOPF):
                if ours not in peers or theirs not in peers:
                    continue
                for name in RATIOS:
                    ours_value, theirs_value = (peers[peer]["metrics"].get(name) for peer in (ours, theirs))
                    if ours_value is not None and theirs_value:
                        values.setdefault((*place, ours, theirs, name), []).append(ours_value / theirs_value)
    return [
        {
            "backend": backend, "variant": variant, "objects": objects,
            "peer": ours, "over": theirs, "metric": name, **_spread(found),
        }
        for (backend, variant, objects, ours, theirs, name), found in values.items()
    ]  # fmt: skip


def _key(record: Record) -> tuple[Any, ...]:
    return tuple(record[name] for name in ("backend", "variant", "objects", "peer"))


def _spread(values: Iterable[float | None]) -> Spread:
    known = [value for value in values if value is not None]
    if not known:
        return {}
    return {"median": statistics.median(known), "min": min(known), "max": max(known)}
