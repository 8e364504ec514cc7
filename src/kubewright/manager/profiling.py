"""What a running operator does, for who is on call: pages behind the metrics' access control, off unless asked for.

    /debug/profile?seconds=10    where its threads spend their time: folded stacks, one a line with its number of
                                 samples, as flamegraph.pl, speedscope.app and inferno take them
    /debug/tasks                 every asyncio task, and where it waits
    /debug/threads               every thread, and where it is
    /debug/memory                resident memory, garbage collector, and objects by type

Sampling and not tracing: a thread looks at the others a hundred times a second, which costs under a percent whatever
the program does; cProfile would double the cost of all calls of a process that somebody has found to be too slow. What
a thread does in C is seen as the Python line that called it. A thread that has used no processor since the last look is
counted as `idle`, wherever it waits (Linux: by /proc/<pid>/task/<tid>/schedstat; elsewhere all are taken to compute).
"""

from __future__ import annotations

import asyncio
import gc
import io
import os
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from urllib.parse import parse_qs

from kubewright.httpd import Answer, Handler, Request

__all__ = ["profiling_pages"]

_MOST_SECONDS = 60.0
_EVERY_SECONDS = 0.01
_DEEPEST = 200
_PART = 0.1  # of the time between two looks
_TYPES = 40


def profiling_pages() -> Mapping[str, Handler]:
    """The pages by path. One profile is made at a time."""
    sampling = threading.Lock()

    async def profile(request: Request) -> Answer:
        text = parse_qs(request.query).get("seconds", ["10"])[0]
        try:
            seconds = float(text)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds <= _MOST_SECONDS:
            return Answer.text(400, f"seconds={text}: must be a number of more than 0 and at most {_MOST_SECONDS:g}")
        if not sampling.acquire(blocking=False):
            return Answer.text(503, "another profile is being made; try again later", ("Retry-After", "10"))
        # A thread of its own: whoever called may go away, and the loop's default executor may be full.
        loop = asyncio.get_running_loop()
        done: asyncio.Future[str] = loop.create_future()

        def tell(folded: str) -> None:
            if not done.done():
                done.set_result(folded)

        def sample() -> None:
            try:
                folded = _sampled(seconds)
            finally:
                sampling.release()
            try:
                loop.call_soon_threadsafe(tell, folded)
            except RuntimeError:
                pass  # the event loop has ended meanwhile

        threading.Thread(target=sample, name="profiler", daemon=True).start()
        return Answer(200, (await done).encode())

    async def tasks(_: Request) -> Answer:
        return Answer(200, _tasks().encode())

    async def threads(_: Request) -> Answer:
        return Answer(200, _threads().encode())

    async def memory(_: Request) -> Answer:
        return Answer(200, (await asyncio.to_thread(_memory)).encode())

    return {
        "/debug/profile": profile,
        "/debug/tasks": tasks,
        "/debug/threads": threads,
        "/debug/memory": memory,
    }


def _sampled(seconds: float) -> str:
    stacks: Counter[str] = Counter()
    used: dict[int, int] = {}
    me = threading.get_ident()
    now = time.monotonic()
    until = now + seconds
    while now < until:
        time.sleep(_EVERY_SECONDS)
        before, now = now, time.monotonic()
        threads = {each.ident: each for each in threading.enumerate()}
        for ident, frame in sys._current_frames().items():
            thread = threads.get(ident)
            if ident == me or thread is None:
                continue
            name = thread.name.replace(";", ",").replace(" ", "_")
            stack = _folded(frame) if _computes(thread, used, now - before) else "idle"
            stacks[f"{name};{stack}"] += 1
    return "".join(f"{stack} {count}\n" for stack, count in stacks.most_common())


def _folded(frame: FrameType | None) -> str:
    names: list[str] = []
    while frame is not None and len(names) < _DEEPEST:
        code = frame.f_code
        names.append(f"{code.co_qualname}_({Path(code.co_filename).name}:{frame.f_lineno})".replace(";", ","))
        frame = frame.f_back
    return ";".join(reversed(names))


def _computes(thread: threading.Thread, used: dict[int, int], elapsed_seconds: float) -> bool:
    """Whether it has had a processor for a part of the time; its state says nothing, as all wait while we look."""
    number = thread.native_id or 0
    try:
        nanoseconds = int(Path(f"/proc/self/task/{number}/schedstat").read_text().split()[0])
    except (OSError, IndexError, ValueError):
        return True
    before = used.get(number, nanoseconds)
    used[number] = nanoseconds
    return nanoseconds - before > _PART * elapsed_seconds * 1e9


def _tasks() -> str:
    found = io.StringIO()
    tasks = sorted(asyncio.all_tasks(), key=lambda task: task.get_name())
    found.write(f"{len(tasks)} tasks\n")
    for task in tasks:
        found.write(f"\n{task.get_name()}\n")
        for frame in task.get_stack(limit=20):
            found.write(f"  {frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno})\n")
    return found.getvalue()


def _threads() -> str:
    frames = sys._current_frames()
    parts = []
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        stack = "".join(traceback.format_stack(frame)) if frame is not None else ""
        parts.append(f"{thread.name}{' (daemon)' if thread.daemon else ''}\n{stack}")
    return f"{len(parts)} threads\n\n" + "\n".join(parts)


def _memory() -> str:
    lines = []
    try:
        lines.append(f"resident {int(Path('/proc/self/statm').read_text().split()[1]) * _page_kib()} KiB")
    except OSError:
        pass
    lines.append(f"allocated blocks {sys.getallocatedblocks()}")
    lines.append(f"collector counts {gc.get_count()} thresholds {gc.get_threshold()}")
    for generation, stats in enumerate(gc.get_stats()):
        lines.append(f"generation {generation} " + " ".join(f"{name} {value}" for name, value in stats.items()))
    types = Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())
    lines.append(f"\n{types.total()} objects that the collector knows, the {_TYPES} most frequent types:")
    lines += [f"{count:>10} {name}" for name, count in types.most_common(_TYPES)]
    return "\n".join(lines) + "\n"


def _page_kib() -> int:
    return os.sysconf("SC_PAGE_SIZE") // 1024
