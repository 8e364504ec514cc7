"""Where the operator's time goes, as a flame graph: python -m bench.flame [--seconds 10]

The operator of the benchmark on the stub, at more changes than it can take, looked at from outside by py-spy, which is
installed into an environment of its own. (The operator's own `/debug/profile` looks from a thread, which Python lets
run where the others wait: good for finding what blocks, not for shares.) Writes docs/flame.svg: the width of a box is
the share of a function and of what it calls; what the event loop and TLS of the standard library take has a colour of
its own. A C function is seen as the Python line that called it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from . import backends, peers, programs
from .load import Load
from .process import Measured, other_cores
from .run import crd_of_widgets

OUTPUT = programs.ROOT / "docs" / "flame.svg"
_OBJECTS, _RATE, _LOOKS = 1000, 4000, 500
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
    def whose(self) -> str:
        """Whose code it is: a key of `_COLOURS`."""
        if self.file.startswith("kubewright_operator"):
            return "operator"
        return "standard" if self.file in _STANDARD else "kubewright"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.flame", description="Where the operator's time goes.")
    parser.add_argument("--seconds", type=float, default=10.0)
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
    spy = programs.environment("py-spy", "py-spy") / "py-spy"
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        with (
            backends.stub(folder, crd_of_widgets()) as stub,
            backends.credentials(stub.kubeconfig) as access,
            Load(access) as load,
        ):
            load.run("fill", n=_OBJECTS)
            load.run("touch")
            load.begin("wait", timeout=60)
            command = base.command(stub.kubeconfig, False)
            operator = Measured(command, base.environ(stub.kubeconfig, False), folder / "operator.log")
            try:
                load.end()
                operator.check()
                load.begin("stream", rate=_RATE, seconds=seconds + 4, timeout=seconds + 60)
                time.sleep(1.0)
                output = folder / "stacks"
                look = [str(spy), "record", "--format", "raw", "--rate", str(_LOOKS), "--output", str(output)]
                subprocess.run(
                    [*look, "--duration", f"{seconds:.0f}", "--pid", str(operator.pids[0])],
                    check=True,
                    capture_output=True,
                )
                load.end()
                return output.read_text()
            finally:
                operator.stop()


def tree(folded: str) -> Box:
    """The samples added up; py-spy leaves out threads that wait."""
    root = Box("all", "")
    for line in folded.splitlines():
        stack, _, count = line.rpartition(" ")
        root.count += int(count)
        box = root
        for frame in stack.split(";"):
            name, _, place = frame.rpartition(" (")
            key = name, Path(place.partition(":")[0].rstrip(")")).name
            box = box.below.setdefault(key, Box(*key))
            box.count += int(count)
    return root


def shares(root: Box) -> Mapping[str, float]:
    """Who was at work when it was looked at: the share of samples by the innermost function."""
    found = dict.fromkeys(_COLOURS, 0)
    for box in _all(root):
        own = box.count - sum(each.count for each in box.below.values())
        if box is not root:
            found[box.whose] += own
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
        f'<g><rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{_ROW}" fill="{_COLOURS[box.whose]}"/>'
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
