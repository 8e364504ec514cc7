"""What wakes a controller from outside the cluster: sources, and timers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kubewright import Key
from kubewright.controller import SourceContext, every

from .seeing import KEY, Seen, run


def test_a_source_that_fails_is_started_again_with_backoff(caplog: pytest.LogCaptureFixture) -> None:
    seen = Seen()
    starts: list[float] = []

    @seen.controller.source
    async def orders(ctx: SourceContext) -> AsyncIterator[Key]:
        starts.append(asyncio.get_running_loop().time())
        if len(starts) < 4:
            raise ConnectionError("away")
        yield KEY

    assert run(seen, lambda api: None) == [("a", "orders")]
    assert [round(later - starts[0]) for later in starts] == [0, 1, 3, 7]
    assert "source orders failed; again in 1 s" in caplog.text


def test_a_source_is_stopped_with_its_controller() -> None:
    seen = Seen()
    ended: list[str] = []

    @seen.controller.source
    async def orders(ctx: SourceContext) -> AsyncIterator[Key]:
        try:
            while True:
                await asyncio.sleep(1)
                yield KEY
        finally:
            ended.append("ended")

    run(seen, lambda api: None)
    assert ended == ["ended"]


def test_a_source_that_yields_no_name_is_told(caplog: pytest.LogCaptureFixture) -> None:
    seen = Seen()

    @seen.controller.source
    async def orders(ctx: SourceContext) -> AsyncIterator[Any]:
        yield "a"

    assert run(seen, lambda api: None) == []
    assert "source orders: said 'a', which is not the name of an object" in caplog.text


def test_a_source_is_an_async_generator() -> None:
    seen = Seen()
    with pytest.raises(TypeError, match="source orders: must yield the names of objects"):

        @seen.controller.source
        async def orders(ctx: SourceContext) -> list[Key]:
            return []


def test_a_timer_reconciles_all_objects_again_and_again() -> None:
    seen = Seen(sources=[every(20, jitter=0)])
    passes = run(seen, lambda api: None)
    assert passes[:6] == [(name, "every 20 s") for name in "abc"] * 2


def test_a_timer_may_say_which_objects() -> None:
    seen = Seen(sources=[every(25, keys=lambda cache: [KEY], jitter=0, name="look at a")])
    assert set(run(seen, lambda api: None)) == {("a", "look at a")}


@pytest.mark.parametrize("options", [{"seconds": 0}, {"seconds": float("inf")}, {"seconds": 1, "jitter": 1}])
def test_a_timer_without_a_sensible_time_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="every"):
        every(**options)
