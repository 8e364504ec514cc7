"""What is counted of each outcome of a reconcile: controller-runtime's table."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Result, Retry, Terminal, after, controller
from kubewright.client import Conflict, ServiceUnavailable
from kubewright.manager import Manager
from kubewright.model import DecodeError
from running import running
from webs import Web, web

RESULTS = ("success", "error", "requeue", "requeue_after")
BESIDE = ("reconcile_errors", "terminal_reconcile_errors", "reconcile_panics", "reconcile_timeouts")
NOTHING = dict.fromkeys((*RESULTS, *BESIDE), 0.0)


class BackupMissing(KeyError):
    """An error that a program raises on purpose."""


def counts(manager: Manager) -> dict[str, float | None]:
    value = manager.telemetry.registry.value
    found = {result: value("controller_runtime_reconcile_total", "web", result) for result in RESULTS}
    return found | {name: value(f"controller_runtime_{name}_total", "web") for name in BESIDE}


def play(outcome: Callable[[], Any], *, seconds: float = 0.5, **options: Any) -> dict[str, float | None]:
    """The counts of a controller whose first reconcile ends in this outcome, and no other one ends."""
    found: dict[str, float | None] = {}

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        calls = iter([outcome])

        @controller(Web, **options)
        async def reconcile(web: Web, ctx: Context) -> Result | None:
            call = next(calls, None)
            if call is None:
                await asyncio.Event().wait()
                return None
            ended = call()
            return await ended if asyncio.iscoroutine(ended) else ended

        async with running(api, reconcile, grace_seconds=0.1) as manager:
            await asyncio.sleep(seconds)
            found.update(counts(manager))

    virtual.run(main())
    return found


def throw(error: BaseException) -> Callable[[], Any]:
    def call() -> Any:
        raise error

    return call


@pytest.mark.parametrize(
    ("outcome", "counted"),
    [
        (lambda: None, {"success"}),
        (lambda: after(30), {"requeue_after"}),
        (throw(Retry("not yet")), {"requeue"}),
        (throw(Retry("not yet", after_seconds=30)), {"requeue_after"}),
        (throw(Terminal("never")), {"error", "reconcile_errors", "terminal_reconcile_errors"}),
        (throw(Conflict(message="old")), {"error", "reconcile_errors"}),
        (throw(ServiceUnavailable(message="away")), {"error", "reconcile_errors"}),
        (throw(DecodeError("Web", "$.spec", "no")), {"error", "reconcile_errors"}),
        (throw(ValueError("no")), {"error", "reconcile_errors"}),
        (throw(RuntimeError("no")), {"error", "reconcile_errors"}),
        (throw(TimeoutError("the user's own")), {"error", "reconcile_errors"}),
        (throw(BackupMissing("no")), {"error", "reconcile_errors"}),
        (throw(TypeError("no")), {"error", "reconcile_errors", "reconcile_panics"}),
        (throw(KeyError("no")), {"error", "reconcile_errors", "reconcile_panics"}),
        (throw(AttributeError("no")), {"error", "reconcile_errors", "reconcile_panics"}),
        (throw(ZeroDivisionError("no")), {"error", "reconcile_errors", "reconcile_panics"}),
        (throw(AssertionError("no")), {"error", "reconcile_errors", "reconcile_panics"}),
        (lambda: 7, {"error", "reconcile_errors", "terminal_reconcile_errors", "reconcile_panics"}),
    ],
)
def test_each_outcome_is_counted_as_controller_runtime_counts_it(outcome: Callable[[], Any], counted: set[str]) -> None:
    assert play(outcome) == NOTHING | dict.fromkeys(counted, 1.0)


def test_all_counts_are_there_at_zero_before_the_first_reconcile() -> None:
    async def main() -> None:
        async with running(FakeApi(Web), controller(Web)(_nothing)) as manager:
            assert counts(manager) == NOTHING

    virtual.run(main())


async def _nothing(web: Web, ctx: Context) -> None:
    pass


def test_the_controllers_own_deadline_is_a_timeout() -> None:
    found = play(lambda: asyncio.sleep(100), deadline_seconds=0.4)
    assert found == NOTHING | dict.fromkeys(("error", "reconcile_errors", "reconcile_timeouts"), 1.0)


def test_a_reconcile_that_is_cancelled_at_the_end_is_no_outcome() -> None:
    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())

        @controller(Web)
        async def reconcile(web: Web, ctx: Context) -> None:
            await asyncio.Event().wait()

        async with running(api, reconcile, grace_seconds=0.1) as manager:
            await asyncio.sleep(1)
            assert manager.telemetry.registry.value("controller_runtime_active_workers", "web") == 1
        assert counts(manager) == NOTHING
        assert manager.telemetry.registry.value("controller_runtime_active_workers", "web") == 0
        assert manager.telemetry.registry.value("controller_runtime_reconcile_time_seconds", "web") == 0

    virtual.run(main())


def test_times_and_workers_are_measured() -> None:
    async def main() -> None:
        api = FakeApi(Web)
        for name in "abc":
            api.put(web(name))

        @controller(Web, workers=2)
        async def reconcile(web: Web, ctx: Context) -> None:
            await asyncio.sleep(3)

        async with running(api, reconcile) as manager:
            value = manager.telemetry.registry.value
            await asyncio.sleep(1)
            assert value("controller_runtime_max_concurrent_reconciles", "web") == 2
            assert value("controller_runtime_active_workers", "web") == 2
            assert value("workqueue_depth", "web", "web", "-100") == 1
            assert value("workqueue_unfinished_work_seconds", "web", "web") == pytest.approx(2)
            assert value("workqueue_longest_running_processor_seconds", "web", "web") == pytest.approx(1)
            await asyncio.sleep(6)
            assert value("controller_runtime_active_workers", "web") == 0
            assert value("workqueue_depth", "web", "web", "-100") == 0
            assert value("workqueue_adds_total", "web", "web") == 3
            assert value("workqueue_unfinished_work_seconds", "web", "web") == 0
            (times,) = (
                metric.points
                for metric in manager.telemetry.registry.collect()
                if metric.name == "controller_runtime_reconcile_time_seconds"
            )
            assert times[0].sum == pytest.approx(9)  # type: ignore[union-attr]

    virtual.run(main())


def test_two_operators_in_one_process_count_apart() -> None:
    async def main() -> None:
        one, other = FakeApi(Web), FakeApi(Web)
        one.put(web())
        reconcile = controller(Web)(_nothing)
        async with running(one, reconcile) as first, running(other, reconcile) as second:
            await asyncio.sleep(1)
            assert counts(first)["success"] == 1
            assert counts(second)["success"] == 0

    virtual.run(main())
