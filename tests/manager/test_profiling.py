"""What the debug pages say of a running program, and to whom."""

from __future__ import annotations

import asyncio
import re
import threading
import time

import pytest

from fakeapi import FakeApi
from kubewright.client import Client
from kubewright.httpd import Request
from kubewright.manager import Serving
from kubewright.manager.profiling import profiling_pages
from kubewright.manager.servers import Servers
from kubewright.observe import Registry
from webs import Web


def spin(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


async def ask(path: str, query: str = "") -> tuple[int, str]:
    answer = await profiling_pages()[path](Request("GET", path, query, {}))
    return answer.status, answer.body.decode()


def test_a_profile_names_the_thread_and_the_function_that_use_the_processor_and_counts_who_waits() -> None:
    async def main() -> str:
        waits, stop = threading.Event(), threading.Event()
        threads = [
            threading.Thread(target=lambda: [spin(0.005) for _ in iter(stop.is_set, True)], name="spinning"),
            threading.Thread(target=waits.wait, name="waiting one"),
        ]
        for thread in threads:
            thread.start()
        try:
            status, text = await ask("/debug/profile", "seconds=0.6")
        finally:
            stop.set()
            waits.set()
        assert status == 200
        return text

    text = asyncio.run(main())
    lines = text.splitlines()
    assert all(re.fullmatch(r"\S+ \d+", line) for line in lines), text
    assert any(line.startswith("spinning;") and "spin_(test_profiling.py:" in line for line in lines), text
    waiting = [line for line in lines if line.startswith("waiting_one;")]
    assert len(waiting) == 1
    assert waiting[0].startswith("waiting_one;idle ")


@pytest.mark.parametrize("seconds", ["0", "61", "soon", "-1", "nan"])
def test_a_profile_of_no_sensible_time_is_refused(seconds: str) -> None:
    status, text = asyncio.run(ask("/debug/profile", f"seconds={seconds}"))
    assert (status, text) == (400, f"seconds={seconds}: must be a number of more than 0 and at most 60\n")


def test_one_profile_is_made_at_a_time_and_one_whose_caller_has_gone_ends_by_itself() -> None:
    async def main() -> None:
        profile = profiling_pages()["/debug/profile"]
        request = Request("GET", "/debug/profile", "seconds=0.3", {})
        first = asyncio.ensure_future(profile(request))
        await asyncio.sleep(0.05)
        assert (await profile(request)).status == 503
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        async with asyncio.timeout(10):
            while (await profile(request)).status != 200:  # noqa: ASYNC110 - the sampler tells nobody
                await asyncio.sleep(0.05)

    asyncio.run(main())


def test_tasks_threads_and_memory_are_told() -> None:
    async def main() -> None:
        waiting = asyncio.create_task(asyncio.Event().wait(), name="waits for ever")
        await asyncio.sleep(0)
        _, tasks = await ask("/debug/tasks")
        assert re.search(r"waits for ever\n  Event\.wait \(.*locks\.py:\d+\)", tasks)
        _, threads = await ask("/debug/threads")
        assert "MainThread" in threads
        assert "test_profiling.py" in threads
        _, memory = await ask("/debug/memory")
        assert re.search(r"^generation 2 collections \d+", memory, re.MULTILINE)
        assert re.search(r"^ +\d+ builtins\.dict$", memory, re.MULTILINE)
        waiting.cancel()

    asyncio.run(main())


def pages_of(serving: Serving, client: Client) -> set[str]:
    return set(Servers(serving, registry=Registry(), client=client)._pages)


def test_the_pages_are_there_only_when_asked_for() -> None:
    async def main() -> None:
        client = FakeApi(Web).client()
        assert pages_of(Serving(metrics_bind_address=":8443"), client) == {"/metrics"}
        pages = pages_of(Serving(metrics_bind_address=":8443", profiling=True), client)
        assert pages == {"/metrics", "/debug/profile", "/debug/tasks", "/debug/threads", "/debug/memory"}

    asyncio.run(main())


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "[::1]:8080", "localhost:8080"])
def test_in_clear_they_are_for_this_machine_only(address: str) -> None:
    Serving(metrics_bind_address=address, metrics_secure=False, profiling=True)


@pytest.mark.parametrize(
    ("serving", "error"),
    [
        ({"metrics_bind_address": ":8080", "metrics_secure": False}, "would show the lines of a running program"),
        ({"metrics_bind_address": "10.0.0.1:8080", "metrics_secure": False}, "keep --metrics-secure"),
        ({}, "is served beside the metrics; give --metrics-bind-address"),
    ],
)
def test_they_are_never_for_everybody(serving: dict[str, object], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        Serving(profiling=True, **serving)  # type: ignore[arg-type]
