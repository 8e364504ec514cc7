"""A reconcile that blocks the event loop is told by name; others never are. In real time: it is about threads."""

from __future__ import annotations

import asyncio
import logging
import threading
import time

import pytest

from fakeapi import FakeApi
from kubewright import Context, SyncContext, controller
from kubewright.controller.blocked import Blockage, LoopWatch, Seen
from kubewright.controller.reconciler import Reconciler
from running import running
from webs import Web, web


def wait_for_it(seconds: float) -> None:
    time.sleep(seconds)


def told_by(controller: object, *, passes: int = 1, seconds: float = 0.4) -> list[Blockage]:
    """What a watch that is in a hurry tells of an operator that runs for some moments."""
    told: list[Blockage] = []

    async def main() -> None:
        api = FakeApi(Web)
        for number in range(passes):
            api.put(web(f"w{number}"))
        watch = LoopWatch(Reconciler._invoke.__code__, told.append, after_seconds=0.05, every_seconds=0.01)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("kubewright.manager.manager.loop_watch_of", lambda logger: watch)
            async with running(api, controller):
                await asyncio.sleep(seconds)

    asyncio.run(main())
    return told


def test_a_call_that_blocks_in_an_async_reconcile_is_told_by_name_object_line_and_duration() -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        wait_for_it(0.2)

    [told] = told_by(reconcile)
    assert told.seen.controller == "web"
    assert "reconcile" in told.seen.function
    assert told.seen.subject == "Web default/w0"
    assert "in wait_for_it" in told.seen.line
    assert 0.1 <= told.seconds < 2


def test_the_same_place_is_told_once_a_minute() -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        wait_for_it(0.1)

    assert len(told_by(reconcile, passes=4, seconds=0.6)) == 1


def test_a_reconcile_in_a_thread_may_block() -> None:
    @controller(Web)
    def reconcile(web: Web, ctx: SyncContext) -> None:
        wait_for_it(0.2)

    assert told_by(reconcile) == []


def test_a_reconcile_that_awaits_does_not_block() -> None:
    @controller(Web, workers=4)
    async def reconcile(web: Web, ctx: Context) -> None:
        for _ in range(20):
            await asyncio.sleep(0.01)

    assert told_by(reconcile, passes=8) == []


def test_what_is_said_names_the_cure() -> None:
    seen = Seen("web", "reconcile (app.py:7)", "Web default/a", "app.py:9 in fetch", lambda seconds: None)
    assert str(Blockage(seen, 2.34, lasts=False)) == (
        "web: reconcile (app.py:7), of Web default/a, blocked the event loop for 2.3 s, at app.py:9 in fetch; nothing "
        "else ran meanwhile. Make it `def` instead of `async def`: it runs in a thread then; or await it"
    )
    assert "has blocked the event loop for 10.0 s and still does" in str(Blockage(seen, 10.0, lasts=True))


def test_an_idle_operator_has_no_thread_that_wakes_up(caplog: pytest.LogCaptureFixture) -> None:
    looks = 0

    class Counting(LoopWatch):
        def _look(self) -> Seen | None:
            nonlocal looks
            looks += 1
            return super()._look()

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        await asyncio.sleep(0)

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        watch = Counting(Reconciler._invoke.__code__, lambda told: None, every_seconds=0.001)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("kubewright.manager.manager.loop_watch_of", lambda logger: watch)
            async with running(api, reconcile):
                await asyncio.sleep(0.1)
                before = looks
                assert watch._asleep
                await asyncio.sleep(0.1)
                assert looks == before
        assert watch._thread is not None
        assert not watch._thread.is_alive()

    caplog.set_level(logging.DEBUG)
    asyncio.run(main())
    assert "kubewright loop watch" not in {thread.name for thread in threading.enumerate()}
