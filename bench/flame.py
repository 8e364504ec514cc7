"""Where the operator's time goes, as a flame graph: python -m bench.flame [--seconds 20]

The operator of the benchmark on the stub, at more changes than it can take, looked at by its own profiler
(`/debug/profile`, a hundred times a second). Writes docs/flame.svg: the width of a box is the share of a function and
of what it calls, the file in the box's title; what the event loop and TLS of the standard library take has a colour of
its own. A C function is seen as the Python line that called it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from kubewright.testing.ports import reserve_ports

from . import backends, peers, programs
from .load import Load
from .process import Measured, other_cores
from .run import crd_of_widgets

OUTPUT = programs.ROOT / "docs" / "flame.svg"
_OBJECTS, _RATE = 1000, 4000
_WIDTH, _ROW, _NARROWEST, _CHARACTER = 1200.0, 17, 1.0, 6.3
_STANDARD = frozenset(
    {"base_events.py", "events.py", "runners.py", "selector_events.py", "selectors.py", "ssl.py", "sslproto.py"}
)
_COLOURS = {"standard": "#c9cdd4", "kubewright": "#7fa8ec", "operator": "#e0a75e"}


@dataclass(slots=True)
class Box:
    """A function, below those that called it; `count` samples in it and in what it calls."""

    name: str
    file: str
    count: int = 0
    below: dict[tuple[str, str], Box] = field(default_factory=dict)

    @property
    def colour(self) -> str:
        if self.file.startswith("kubewright_operator"):
            return _COLOURS["operator"]
        return _COLOURS["standard" if self.file in _STANDARD else "kubewright"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.flame", description="Where the operator's time goes.")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    given = parser.parse_args()
    os.sched_setaffinity(0, other_cores())
    root = tree(profile(given.seconds))
    given.output.write_text(drawn(root))
    own = shares(root)
    print(", ".join(f"{name} {share:.0%}" for name, share in own.items()), f"of {root.count} samples: {given.output}")


def profile(seconds: float) -> str:
    """The folded stacks of the operator while it is busy."""
    base = peers.make(peers.OURS)
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        (port,) = reserve_ports(1)
        with (
            backends.stub(folder, crd_of_widgets()) as stub,
            backends.credentials(stub.kubeconfig) as access,
            Load(access) as load,
        ):
            load.run("fill", n=_OBJECTS)
            load.run("touch")
            load.begin("wait", timeout=60)
            flags = [f"--metrics-bind-address=127.0.0.1:{port}", "--no-metrics-secure", "--profiling"]
            command = [*base.command(stub.kubeconfig, False), *flags]
            operator = Measured(command, base.environ(stub.kubeconfig, False), folder / "operator.log")
            try:
                load.end()
                operator.check()
                load.begin("stream", rate=_RATE, seconds=seconds + 2, timeout=seconds + 60)
                time.sleep(1.0)
                url = f"http://127.0.0.1:{port}/debug/profile?seconds={seconds:g}"
                with urllib.request.urlopen(url, timeout=seconds + 30) as answer:
                    folded: str = answer.read().decode()
                load.end()
                return folded
            finally:
                operator.stop()


def tree(folded: str) -> Box:
    """The samples of the main thread that were not idle, added up."""
    root = Box("all", "")
    for line in folded.splitlines():
        stack, _, count = line.rpartition(" ")
        thread, *frames = stack.split(";")
        if thread != "MainThread" or frames == ["idle"]:
            continue
        root.count += int(count)
        box = root
        for frame in frames:
            name, _, place = frame.rpartition("_(")
            key = name, place.partition(":")[0]
            box = box.below.setdefault(key, Box(*key))
            box.count += int(count)
    return root


def shares(root: Box) -> Mapping[str, float]:
    """Who was at work when it was looked at: the share of samples by the innermost function."""
    found = dict.fromkeys(_COLOURS, 0)
    names = {colour: name for name, colour in _COLOURS.items()}
    for box in _all(root):
        own = box.count - sum(each.count for each in box.below.values())
        if box is not root:
            found[names[box.colour]] += own
    return {name: count / root.count for name, count in found.items()} if root.count else {}


def drawn(root: Box) -> str:
    """The picture: who calls is above who is called."""
    parts: list[str] = []
    depth = _draw(root, 0.0, 0, _WIDTH / max(root.count, 1), parts)
    height = (depth + 1) * _ROW
    style = "text{font:11px ui-monospace,monospace;fill:#1c2430;pointer-events:none}rect{stroke:#fff;stroke-width:.5}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH:g}" height="{height}" '
        f'viewBox="0 0 {_WIDTH:g} {height}" role="img" aria-label="Flame graph of the operator">'
        f"<style>{style}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _draw(box: Box, left: float, row: int, scale: float, parts: list[str]) -> int:
    """Add a box and what is below it; the deepest row."""
    width = box.count * scale
    if width < _NARROWEST:
        return row
    y, share = row * _ROW, box.count * scale / _WIDTH
    title = escape(f"{box.name} ({box.file}), {share:.1%}" if box.file else f"all: {box.count} samples")
    parts.append(
        f'<g><rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{_ROW}" fill="{box.colour}"/>'
        f"<title>{title}</title>"
    )
    if (room := int((width - 4) / _CHARACTER)) >= 3:
        shown = box.name if len(box.name) <= room else f"{box.name[: room - 1]}…"
        parts.append(f'<text x="{left + 2:.1f}" y="{y + 12}">{escape(shown)}</text>')
    parts.append("</g>")
    deepest = row
    for each in sorted(box.below.values(), key=lambda below: below.name):
        deepest = max(deepest, _draw(each, left, row + 1, scale, parts))
        left += each.count * scale
    return deepest


def _all(box: Box) -> Iterator[Box]:
    yield box
    for each in box.below.values():
        yield from _all(each)


if __name__ == "__main__":
    main()
