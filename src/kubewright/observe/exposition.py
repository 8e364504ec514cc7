"""Families as text: Prometheus' format 0.0.4 and OpenMetrics 1.0.

Owns the two formats and the choice between them. Pure, from values to bytes. The formats are defined in
https://prometheus.io/docs/instrumenting/exposition_formats/ and
https://prometheus.io/docs/specs/om/open_metrics_spec/; they differ in this:

    .              text 0.0.4                   OpenMetrics 1.0
    a counter      # TYPE x_total counter       # TYPE x counter, samples x_total
    help           escapes \\ and line ends      " too
    whole numbers  5                            5.0; what a histogram counts stays 5
    the end        nothing                      # EOF

Numbers are written as Go writes them (FormatFloat, 'g', the fewest digits): `le="1e-08"` and `le="1.048576e+06"` are
label values, which queries made for controller-runtime compare as text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from .metrics import Distribution, Labels, Metric

__all__ = ["OPENMETRICS", "TEXT", "Format", "negotiate", "number"]


class Format(NamedTuple):
    """A content type, and how to write it."""

    content_type: str
    render: Callable[[Iterable[Metric]], bytes]


def number(value: float) -> str:
    """A number as Go's `strconv.FormatFloat(value, 'g', -1, 64)` has it; NaN, +Inf, -Inf."""
    value = float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    text = repr(value)
    if value == 0 or (1e-4 <= abs(value) < 1e6):
        return text.removesuffix(".0")
    # From 1e6 on Go has an exponent where Python still writes digits; the digits are the same.
    sign, text = ("-", text[1:]) if value < 0 else ("", text)
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    size = int(exponent or 0) + len(whole) - 1
    digits = (whole + fraction).rstrip("0")
    point = "." if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{point}{digits[1:]}e{'-' if size < 0 else '+'}{abs(size):02d}"


def _open_number(value: float) -> str:
    """As `number`, and never to be taken for an integer."""
    text = number(value)
    return text if not text.lstrip("-").isdigit() else f"{text}.0"


def _render(metrics: Iterable[Metric], write: Callable[[float], str], *, is_open: bool) -> list[str]:
    lines: list[str] = []
    bounds_as_text: dict[tuple[float, ...], Sequence[str]] = {}
    for name, kind, help_text, points in metrics:
        family = name.removesuffix("_total") if is_open and kind == "counter" else name
        lines.append(f"# HELP {family} {_escaped(help_text, quotes=is_open)}")
        lines.append(f"# TYPE {family} {kind}")
        for point in points:
            if not isinstance(point, Distribution):
                lines.append(f"{name}{_braced(point.labels)} {write(point.value)}")
                continue
            les = bounds_as_text.get(point.bounds)
            if les is None:
                les = bounds_as_text[point.bounds] = [*map(write, point.bounds), "+Inf"]
            inner = _inner(point.labels)
            start = f'{name}_bucket{{{inner}{"," if inner else ""}le="'
            total = 0
            for le, total in zip(les, accumulate(point.counts), strict=True):
                lines.append(f'{start}{le}"}} {total}')
            labels = f"{{{inner}}}" if inner else ""
            lines.append(f"{name}_sum{labels} {write(point.sum)}")
            lines.append(f"{name}_count{labels} {total}")
    return lines


def _braced(labels: Labels) -> str:
    return f"{{{_inner(labels)}}}" if labels else ""


def _inner(labels: Labels) -> str:
    return ",".join([f'{name}="{_escaped(value, quotes=True)}"' for name, value in labels])


def _escaped(text: str, *, quotes: bool) -> str:
    text = text.replace("\\", r"\\").replace("\n", r"\n")
    return text.replace('"', r"\"") if quotes else text


def _text(metrics: Iterable[Metric]) -> bytes:
    lines = _render(metrics, number, is_open=False)
    return "\n".join([*lines, ""]).encode(errors="replace")


def _openmetrics(metrics: Iterable[Metric]) -> bytes:
    lines = _render(metrics, _open_number, is_open=True)
    return "\n".join([*lines, "# EOF", ""]).encode(errors="replace")


TEXT = Format("text/plain; version=0.0.4; charset=utf-8", _text)
OPENMETRICS = Format("application/openmetrics-text; version=1.0.0; charset=utf-8", _openmetrics)


def negotiate(accept: str) -> Format:
    """The format that an Accept header likes best; `TEXT` where it names none of them, as Prometheus itself does."""
    best, best_quality = TEXT, 0.0
    for clause in accept.split(","):
        media, *parameters = (part.strip().lower() for part in clause.split(";"))
        given = dict(parameter.partition("=")[::2] for parameter in parameters)
        if media == "application/openmetrics-text" and given.get("version", "1.0.0") == "1.0.0":
            candidate = OPENMETRICS
        elif media in ("text/plain", "text/*", "*/*") and given.get("version", "0.0.4") == "0.0.4":
            candidate = TEXT
        else:
            continue
        quality = _quality(given.get("q", "1"))
        if quality > best_quality:
            best, best_quality = candidate, quality
    return best


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
