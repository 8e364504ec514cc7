"""The outcome table of `outcome.py`, row by row, on a running operator."""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Result, Retry, SyncContext, Terminal, after, controller, unstructured
from kubewright.client import Conflict, Forbidden
from kubewright.models.core.v1 import ConfigMap
from kubewright.queue import ExponentialBackoff
from running import running
from webs import Web, web

AnyWeb = unstructured("example.com/v1", "Web", plural="webs")
AnyConfigMap = unstructured("v1", "ConfigMap", plural="configmaps", status=False)


class Call(NamedTuple):
    after_seconds: float
    attempt: int
    causes: tuple[str, ...]


Outcome = Result | BaseException | None


def play(
    outcomes: Sequence[Outcome], *, seconds: float = 100.0, change_at: float | None = None, **options: Any
) -> list[Call]:
    """The calls of a controller whose reconcile ends in these outcomes, one after the other, then well."""
    calls: list[Call] = []
    left = list(outcomes)

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        loop = asyncio.get_running_loop()
        started_at = loop.time()

        @controller(Web, **{"rate_limiter": partial(ExponentialBackoff, jitter=0), **options})
        async def reconcile(web: Web, ctx: Context) -> Result | None:
            calls.append(Call(round(loop.time() - started_at, 3), ctx.attempt, tuple(map(str, ctx.causes))))
            outcome = left.pop(0) if left else None
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        async with running(api, reconcile):
            started_at = loop.time()
            if change_at is not None:
                await asyncio.sleep(change_at)
                api.change(Web, "a", {"spec": {"replicas": 5}})
            await asyncio.sleep(seconds)

    virtual.run(main())
    return calls


def gaps(calls: Sequence[Call]) -> list[float]:
    times = [call.after_seconds for call in calls]
    return [round(later - earlier, 3) for earlier, later in itertools.pairwise(times)]


def test_none_is_the_end_until_something_changes() -> None:
    calls = play([None], change_at=50.0)
    assert [(call.after_seconds, call.causes) for call in calls] == [(0.0, ("present at start",)), (50.0, ("updated",))]


def test_after_runs_again_at_that_time_without_counting_it_as_a_failure() -> None:
    calls = play([after(30), after(40)])
    assert gaps(calls) == [30, 40]
    assert [call.attempt for call in calls] == [1, 1, 1]
    assert calls[1].causes == ("requeue",)


def test_an_exception_backs_off_by_5_ms_doubled() -> None:
    calls = play([RuntimeError("no")] * 4)
    assert gaps(calls) == [0.005, 0.01, 0.02, 0.04]
    assert [call.attempt for call in calls] == [1, 2, 3, 4, 5]


def test_by_default_chance_makes_a_backoff_up_to_a_quarter_longer_or_shorter() -> None:
    calls = play([RuntimeError("no")] * 6, rate_limiter=None)
    exact = [0.005 * 2**n for n in range(6)]
    assert gaps(calls) != exact
    assert all(0.75 * one - 0.001 <= gap <= 1.25 * one + 0.001 for one, gap in zip(exact, gaps(calls), strict=True))


def test_a_success_resets_the_backoff() -> None:
    calls = play([RuntimeError("no"), RuntimeError("no"), None, RuntimeError("no")], change_at=50.0)
    assert [call.attempt for call in calls] == [1, 2, 3, 1, 2]
    assert gaps(calls)[-1] == 0.005


def test_after_resets_the_backoff() -> None:
    calls = play([RuntimeError("no"), after(30), RuntimeError("no")])
    assert gaps(calls) == [0.005, 30, 0.005]
    assert [call.attempt for call in calls] == [1, 2, 1, 2]


def test_retry_backs_off() -> None:
    calls = play([Retry("not yet"), Retry("not yet")])
    assert gaps(calls) == [0.005, 0.01]


def test_retry_with_a_time_runs_again_at_that_time_and_resets_the_backoff() -> None:
    calls = play([Retry("not yet"), Retry("not yet", after_seconds=7), Retry("not yet")])
    assert gaps(calls) == [0.005, 7, 0.005]
    assert [call.attempt for call in calls] == [1, 2, 1, 2]


def test_terminal_runs_never_again_until_something_changes() -> None:
    assert len(play([Terminal("cannot be")], seconds=10_000)) == 1
    calls = play([Terminal("cannot be")], change_at=50.0)
    assert [call.after_seconds for call in calls] == [0, 50]


def test_terminal_does_not_reset_the_backoff() -> None:
    calls = play([RuntimeError("no"), Terminal("cannot be"), RuntimeError("no")], change_at=50.0)
    assert [call.attempt for call in calls] == [1, 2, 2, 3]


def test_a_subclass_of_terminal_is_terminal() -> None:
    class Hopeless(Terminal):
        pass

    assert len(play([Hopeless("cannot be")], seconds=10_000)) == 1


@pytest.mark.parametrize(
    ("outcome", "level", "has_traceback"),
    [
        (Retry("not yet"), logging.INFO, False),
        (Conflict(message="changed"), logging.INFO, False),
        (Forbidden(message="no"), logging.WARNING, False),
        (Terminal("cannot be"), logging.ERROR, False),
        (RuntimeError("a bug"), logging.ERROR, True),
        (TimeoutError("my own"), logging.ERROR, True),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_is_expected_is_logged_in_one_line_and_a_bug_with_its_traceback(
    outcome: Exception, level: int, has_traceback: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="kubewright.test")
    play([outcome])
    told = [record for record in caplog.records if record.name == "kubewright.test.web"]
    assert [(record.levelno, bool(record.exc_info)) for record in told] == [(level, has_traceback)]
    assert "Web default/a" in told[0].getMessage()


def test_a_conflict_backs_off() -> None:
    calls = play([Conflict(message="changed")])
    assert gaps(calls) == [0.005]
    assert calls[1].attempt == 2


def test_a_timeout_of_the_users_own_is_not_taken_for_the_deadline(caplog: pytest.LogCaptureFixture) -> None:
    calls = play([TimeoutError("my own")], deadline_seconds=10)
    assert gaps(calls) == [0.005]
    assert "deadline" not in caplog.text
    assert "my own" in caplog.text


def test_a_cancellation_from_inside_is_a_failure_and_stops_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    calls = play([asyncio.CancelledError()], change_at=50.0)
    assert [call.after_seconds for call in calls] == [0, 0.005, 50]
    assert "was cancelled" in caplog.text


def test_a_reconcile_that_asks_the_program_to_end_fails_and_stops_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls = play([SystemExit(3), None])
    assert len(calls) == 2
    assert "the reconcile asked the program to end (sys.exit(3))" in caplog.text


def test_what_is_no_outcome_is_told_once_by_its_type_and_the_place_of_the_function(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert len(play([["secret"] * 1000], seconds=10_000)) == 1  # type: ignore[list-item]
    told = [record for record in caplog.records if record.name == "kubewright.test.web"]
    assert [record.exc_info for record in told] == [None]
    line = told[0].getMessage()
    assert re.search(r"reconcile \(.*test_runner.py:\d+\): returned a value of type list; return None or after", line)
    assert "given up until it changes" in line
    assert "secret" not in line


def test_after_what_is_no_outcome_a_change_is_reconciled() -> None:
    assert [call.after_seconds for call in play([5], change_at=50.0)] == [0, 50]  # type: ignore[list-item]


def test_a_coroutine_that_is_returned_was_forgotten_to_be_awaited(caplog: pytest.LogCaptureFixture) -> None:
    async def helper() -> None: ...

    assert len(play([helper()])) == 1  # type: ignore[list-item]
    assert "returned a coroutine that nobody waits for; did you forget await?" in caplog.text


def test_an_object_that_cannot_be_read_is_left_alone_until_it_changes(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        calls.append(web.spec.replicas)

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        api.change(AnyWeb, "a", {"spec": {"replicas": "many"}})
        async with running(api, reconcile):
            await asyncio.sleep(10_000)
            assert calls == []
            api.change(AnyWeb, "a", {"spec": {"replicas": 7}})
            await asyncio.sleep(1)

    virtual.run(main())
    assert calls == [7]
    told = [record.getMessage() for record in caplog.records if record.name == "kubewright.test.web"]
    assert len(told) == 1
    assert "cannot be read and is left alone until it changes" in told[0]
    assert "spec.replicas" in told[0]


def test_another_object_that_cannot_be_read_backs_off_as_its_repair_is_no_event_of_ours() -> None:
    calls: list[float] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        calls.append(asyncio.get_running_loop().time())
        await ctx.get(ConfigMap, "settings")
        calls.append(0)

    async def main() -> None:
        api = FakeApi(Web, ConfigMap)
        api.put(web())
        settings = AnyConfigMap(content={"data": {"a": ["no", "text"]}})
        settings.metadata.name = "settings"
        api.put(settings)
        async with running(api, reconcile):
            await asyncio.sleep(60)
            assert len(calls) > 5
            api.change(AnyConfigMap, "settings", {"data": {"a": "text"}})
            await asyncio.sleep(600)
            assert calls[-1] == 0

    virtual.run(main())


def test_a_reconcile_that_takes_too_long_is_cancelled_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    times: list[tuple[str, float]] = []

    @controller(Web, deadline_seconds=10)
    async def reconcile(web: Web, ctx: Context) -> None:
        loop = asyncio.get_running_loop()
        times.append(("start", loop.time()))
        assert ctx.deadline_at is not None
        assert round(ctx.deadline_at - loop.time(), 3) == 10
        web.status.seen = "begun"
        if len(times) == 1:
            try:
                await asyncio.sleep(3600)
            finally:
                times.append(("cancelled", loop.time()))

    async def main() -> FakeApi:
        api = FakeApi(Web)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(10.001)
            found = api.get(Web, "a")
            assert found is not None
            assert found.status.seen == "begun"
            await asyncio.sleep(100)
        return api

    virtual.run(main())
    assert [what for what, _ in times] == ["start", "cancelled", "start"]
    assert times[1][1] - times[0][1] == pytest.approx(10, abs=0.001)
    told = [record for record in caplog.records if record.name == "kubewright.test.web"]
    assert [record.exc_info for record in told] == [None]
    assert "did not end within deadline_seconds=10" in told[0].getMessage()


def test_a_def_function_that_returns_a_coroutine_is_an_error_with_the_cure(caplog: pytest.LogCaptureFixture) -> None:
    async def hidden(web: Web, ctx: SyncContext) -> None:
        raise AssertionError

    @controller(Web)
    def reconcile(web: Web, ctx: SyncContext) -> Any:
        return hidden(web, ctx)

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(0.001)

    virtual.run(main())
    assert "declare it `async def`" in caplog.text


def test_an_object_with_an_async_call_is_async() -> None:
    seen: list[str] = []

    class Reconcile:
        async def __call__(self, web: Web, ctx: Context) -> None:
            seen.append((await ctx.get(Web, "a")).metadata.name)

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        async with running(api, controller(Web)(Reconcile())):
            await asyncio.sleep(1)

    virtual.run(main())
    assert seen == ["a"]
