"""`def` reconciles: in threads, with the same context, blocking."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, MergePatch, NotFound, Result, Retry, SyncContext, after, controller
from kubewright.controller.blocking import ThreadContext, run_in_thread
from kubewright.models.core.v1 import ConfigMap
from running import Passes, running, threads_reach
from webs import Web, config, web


def server(*names: str) -> FakeApi:
    api = FakeApi(Web, ConfigMap)
    for name in names or ("a",):
        api.put(web(name))
    return api


def test_a_def_function_has_all_that_an_async_one_has() -> None:
    @controller(Web, owns=[ConfigMap])
    def reconcile(web: Web, ctx: SyncContext) -> Result:
        assert threading.current_thread() is not threading.main_thread()
        assert (ctx.namespace, ctx.attempt, ctx.deadline_at) == ("default", 1, None)
        made = ctx.apply(config("x", a="1"))
        assert ctx.find(ConfigMap, "absent") is None
        with pytest.raises(NotFound):
            ctx.get(ConfigMap, "absent")
        assert ctx.patch(made, MergePatch({"data": {"b": "2"}})).data == {"a": "1", "b": "2"}
        assert ctx.get(ConfigMap, "x").data == {"a": "1", "b": "2"}
        other = ctx.create(config("y"), owned=False)
        assert len(ctx.list(ConfigMap, all_namespaces=True)) == 2
        assert [each.metadata.name for each in ctx.owned(ConfigMap)] == ["x"]
        assert ctx.delete(other)
        web.status.ready = len(ctx.list(ConfigMap))
        web.status.seen = ctx.now().isoformat()
        return after(30)

    async def main() -> None:
        api = server()
        async with Passes(api, reconcile) as passes:
            assert await passes.run() == after(30)
            found = api.get(Web, "a")
            assert found is not None
            assert (found.status.ready, found.status.seen) == (1, passes.now.isoformat())

    virtual.run(main())


def test_a_class_may_have_one_method_of_each() -> None:
    @controller(Web)
    class Mixed:
        def reconcile(self, web: Web, ctx: SyncContext) -> None:
            web.status.seen = "thread"

        async def finalize(self, web: Web, ctx: Context) -> None:
            await asyncio.sleep(1)

    async def main() -> None:
        api = server()
        async with running(api, Mixed()):
            await asyncio.sleep(1)
            api.remove(Web, "a")
            await asyncio.sleep(5)
        assert api.get(Web, "a") is None

    virtual.run(main())


def test_a_thread_does_not_hold_up_the_event_loop_or_another_thread() -> None:
    there: list[str] = []
    loop_ran = threading.Event()

    @controller(Web, workers=2)
    def reconcile(web: Web, ctx: SyncContext) -> None:
        there.append(web.metadata.name)
        assert loop_ran.wait(30)

    async def main() -> None:
        api = server("a", "b")
        async with Passes(api, reconcile) as passes:
            passes.reconciler._executor = pool
            both = [passes.begin(name) for name in "ab"]
            await threads_reach(lambda: len(there) == 2)
            loop_ran.set()
            await asyncio.gather(*both)

    with ThreadPoolExecutor(2) as pool:
        virtual.run(main())


def test_an_exception_in_a_thread_is_that_of_the_pass() -> None:
    @controller(Web)
    def reconcile(web: Web, ctx: SyncContext) -> None:
        raise Retry("not yet")

    async def main() -> None:
        async with Passes(server(), reconcile) as passes:
            with pytest.raises(Retry):
                await passes.run()

    virtual.run(main())


def run_blocked(cancel: Callable[[asyncio.Task[Any]], object]) -> tuple[list[str], bool]:
    """A pass whose thread is busy when it is cancelled: what the thread saw, and whether the pass ended before it."""
    seen: list[str] = []
    began, go_on = threading.Event(), threading.Event()

    def function(web: Web, ctx: SyncContext) -> None:
        began.set()
        assert go_on.wait(30)
        try:
            ctx.find(ConfigMap, "x")
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main() -> bool:
        api = server()
        ended_early = False
        async with Passes(api, controller(Web)(function)) as passes:
            task = passes.begin()
            await threads_reach(began.is_set)
            cancel(task)
            await virtual.settle()
            cancel(task)
            await virtual.settle()
            ended_early = task.done()
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await task
        return ended_early

    return seen, virtual.run(main())


def test_a_cancelled_pass_waits_for_its_thread_whose_next_call_is_cancelled() -> None:
    seen, ended_early = run_blocked(lambda task: task.cancel())
    assert seen == ["cancelled"]
    assert not ended_early


def test_a_call_that_is_under_way_is_cancelled() -> None:
    cancelled: list[str] = []

    async def main() -> None:
        api = server()

        @controller(Web)
        async def reconcile(web: Web, ctx: Context) -> None:
            loop = asyncio.get_running_loop()
            blocking = ThreadContext(ctx, loop)
            api.fault("apply", "/configmaps/", then=blocking.cancel)
            try:
                await loop.run_in_executor(None, blocking.run, lambda web, ctx: ctx.apply(config("x")), web)
            except asyncio.CancelledError:
                cancelled.append("apply")

        async with Passes(api, reconcile) as passes:
            await passes.run()

    virtual.run(main())
    assert cancelled == ["apply"]


def test_a_function_that_waits_for_a_free_thread_is_not_begun_after_its_time() -> None:
    began: list[str] = []
    busy, free = threading.Event(), threading.Event()

    def function(web: Web, ctx: SyncContext) -> None:
        began.append(web.metadata.name)
        busy.set()
        assert free.wait(30)

    async def main() -> None:
        api = server("a", "b")
        async with Passes(api, controller(Web)(function)) as passes:
            passes.reconciler._executor = pool
            first = passes.begin("a")
            await threads_reach(busy.is_set)
            second = passes.begin("b")
            await virtual.settle()
            second.cancel()
            await virtual.settle()
            free.set()
            await first
            with pytest.raises(asyncio.CancelledError):
                await second

    with ThreadPoolExecutor(1) as pool:
        virtual.run(main())
    assert began == ["a"]


def test_a_blocking_call_on_the_event_loop_is_an_error_and_not_a_deadlock() -> None:
    async def main() -> None:
        api = server()
        outcome: list[Exception] = []

        @controller(Web)
        async def reconcile(web: Web, ctx: Context) -> None:
            blocking = ThreadContext(ctx, asyncio.get_running_loop())
            try:
                blocking.find(Web, "a")
            except RuntimeError as error:
                outcome.append(error)

        async with Passes(api, reconcile) as passes:
            await passes.run()
        assert "async def" in str(outcome[0])

    virtual.run(main())


def test_the_live_client_is_refused_with_the_cure() -> None:
    said: list[str] = []

    @controller(Web)
    def reconcile(web: Web, ctx: Any) -> None:
        with pytest.raises(AttributeError) as caught:
            ctx.client.get(Web, "a")
        said.append(str(caught.value))

    async def main() -> None:
        async with Passes(server(), reconcile) as passes:
            await passes.run()

    virtual.run(main())
    assert "declare the function `async def` for the live client" in said[0]


def test_the_end_of_a_thread_is_the_end_of_run_in_thread() -> None:
    async def main() -> None:
        api = server()
        answers: list[str] = []

        @controller(Web)
        async def reconcile(web: Web, ctx: Context) -> None:
            answers.append(await run_in_thread(lambda web, ctx: ctx.get(Web, "a").metadata.name, web, ctx, None))

        async with Passes(api, reconcile) as passes:
            await passes.run()
        assert answers == ["a"]

    virtual.run(main())


def test_a_stopped_operator_waits_for_its_threads() -> None:
    began, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    @controller(Web)
    def reconcile(web: Web, ctx: SyncContext) -> None:
        began.set()
        assert go_on.wait(30)
        ended.set()

    async def main() -> None:
        api = server()
        async with running(api, reconcile):
            await threads_reach(began.is_set)
            go_on.set()
        assert ended.is_set()

    virtual.run(main())
