"""Hot loops are found, slowed and told, with the field; and what only looks like one is left alone."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Result, after, controller
from kubewright.controller.fieldpaths import Path, differences, managers_of, text
from kubewright.controller.hotloop import HotLoop, HotLoops, Suspect, Target
from kubewright.models.core.v1 import ConfigMap
from running import running
from webs import Web, config, web

FIELD: Path = ("spec", "replicas")
CHILD = Target("Deployment", "a")

# The decision, without any I/O


def suspect(loops: HotLoops, now: float = 0.0) -> Suspect:
    for _ in range(loops.suspect_passes):
        loops.wrote("a", 1, now)
    found = loops.suspect("a", 1, now)
    assert found is not None
    return found


def write(found: Suspect, value: object, now: float, *managers: str, before: object = None) -> HotLoop | None:
    found.wrote(CHILD, FIELD, before, value, managers, now)
    return found.judge(now + 0.001)  # a pass goes on after its write


def test_an_object_is_suspect_after_some_passes_that_wrote_within_a_window() -> None:
    loops = HotLoops(window_seconds=60, suspect_passes=5)
    for turn in range(4):
        loops.wrote("a", 1, float(turn))
        assert loops.suspect("a", 1, float(turn)) is None
    loops.wrote("a", 1, 5.0)
    assert loops.suspect("a", 1, 5.0) is not None
    assert loops.suspect("b", 1, 5.0) is None


def test_passes_that_write_now_and_then_are_not_suspect() -> None:
    loops = HotLoops(window_seconds=60, suspect_passes=5)
    for turn in range(1000):
        loops.wrote("a", 1, turn * 31.0)
        assert not loops.suspects


def test_nothing_is_kept_of_objects_that_were_written_long_ago() -> None:
    loops = HotLoops(window_seconds=60)
    for number in range(1000):
        loops.wrote(number, 1, number * 1.0)
    assert len(loops._counts) + len(loops._counts_before) <= 125


def test_a_field_that_is_put_back_ten_times_is_a_hot_loop() -> None:
    found = suspect(HotLoops())
    said = [write(found, 3, turn * 0.1, "hpa") for turn in range(11)]
    assert said[:10] == [None] * 10
    loop = said[10]
    assert loop is not None
    assert (loop.target, loop.path, loop.returns, loop.managers) == (CHILD, FIELD, 10, ("hpa",))
    assert str(loop) == (
        'Deployment a: spec.replicas was written back 10 times in 1 s, against field manager "hpa"; let one of the two '
        "leave the field out. It is reconciled every 1 s at most until that ends"
    )


def test_a_field_that_flips_between_two_values_is_a_hot_loop_without_another_manager() -> None:
    found = suspect(HotLoops())
    said = [write(found, turn % 2, turn * 0.1, before=(turn - 1) % 2) for turn in range(12)]
    loop = said[-1]
    assert said[:-1] == [None] * 11
    assert loop is not None
    assert "written back and forth 10 times" in str(loop)


def test_a_field_that_is_never_the_same_is_one_after_fifty_writes() -> None:
    found = suspect(HotLoops())
    said = [write(found, f"time {turn}", turn * 0.1) for turn in range(50)]
    loop = said[-1]
    assert said[:-1] == [None] * 49
    assert loop is not None
    assert "made anew 50 times in 5 s" in str(loop)


def test_a_hot_object_is_slowed_more_and_more_up_to_a_minute_while_it_lasts() -> None:
    found = suspect(HotLoops())
    now = 0.0
    delays = []
    for _ in range(20):
        loop = write(found, 3, now)
        delays.append(0.0 if loop is None else loop.delay_seconds)
        now = max(now + 0.1, found.slowed_until)
    assert found.judge(now) is None, "a pass that wrote nothing is none of it"
    assert delays[10:] == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]


def test_a_new_generation_ends_the_suspicion() -> None:
    loops = HotLoops()
    found = suspect(loops)
    for turn in range(11):
        write(found, 3, turn * 0.1)
    assert len(loops) == 1
    assert loops.suspect("a", 2, 1.1) is None
    assert len(loops) == 0


def test_a_loop_that_has_ended_is_forgotten() -> None:
    loops = HotLoops()
    found = suspect(loops)
    for turn in range(11):
        write(found, 3, turn * 0.1)
    assert loops.suspect("a", 1, 60.0) is not None
    assert loops.suspect("a", 1, 62.0) is None
    assert not loops.suspects


@pytest.mark.parametrize(
    ("values", "seconds"),
    [
        (list(range(40)), 1.0),  # a canary, a step a second
        ([3] * 100, 7.0),  # put back every seven seconds
        ([1, 2] * 100, 15.0),  # an autoscaler that cannot decide
    ],
)
def test_what_goes_on_or_is_slow_is_no_hot_loop(values: list[int], seconds: float) -> None:
    found = suspect(HotLoops())
    assert not any(write(found, value, turn * seconds) for turn, value in enumerate(values))


# Fields


def test_differences_name_the_fields_and_the_elements_of_lists_by_their_key() -> None:
    before = {"metadata": {"resourceVersion": "1"}, "spec": {"c": [{"name": "x", "image": "1"}, {"name": "y"}]}}
    later = {"metadata": {"resourceVersion": "2"}, "spec": {"c": [{"name": "x", "image": "2"}], "n": 3}}
    found = {text(path): (one, two) for path, one, two in differences(before, later)}
    assert found == {
        'spec.c[name="x"].image': ("1", "2"),
        'spec.c[name="y"]': ({"name": "y"}, None),
        "spec.n": (None, 3),
    }


def test_differences_are_looked_for_where_the_shape_says_something() -> None:
    before: dict[str, Any] = {"spec": {"a": 1, "b": 1}, "status": {"c": 1}}
    later: dict[str, Any] = {"spec": {"a": 2, "b": 2}, "status": {"c": 2}}
    assert list(differences(before, later, {"spec": {"a": 0}})) == [(("spec", "a"), 1, 2)]


MANAGED = [
    {"manager": "us", "time": "2026-01-01T00:00:03Z", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
    {"manager": "hpa", "time": "2026-01-01T00:00:02Z", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
    {"manager": "old", "time": "2026-01-01T00:00:01Z", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:x": {}}}},
    {
        "manager": "injector",
        "fieldsV1": {"f:spec": {"f:containers": {'k:{"name":"web"}': {".": {}, "f:image": {}}}, "f:args": {}}},
    },
]


def test_the_managers_of_a_field_are_told_the_last_one_first() -> None:
    assert managers_of(("spec", "replicas"), MANAGED) == ["us", "hpa", "old"]
    assert managers_of(("spec", "containers", ("name", "web"), "image"), MANAGED) == ["injector"]
    assert managers_of(("spec", "containers", ("name", "other"), "image"), MANAGED) == []
    assert managers_of(("spec", "args", ("name", "below a whole list")), MANAGED) == ["injector"]
    assert managers_of(("spec", "nobody"), MANAGED) == []
    assert managers_of(("spec", "replicas"), None) == []


# On an operator


def run_against_another(seconds: float, caplog: pytest.LogCaptureFixture) -> tuple[list[float], float, FakeApi]:
    """A controller applies a ConfigMap, and another writer changes it back 10 ms later, each time."""
    passes: list[float] = []
    caplog.set_level(logging.WARNING, logger="kubewright.test")

    @controller(Web, owns=[ConfigMap])
    async def reconcile(web: Web, ctx: Context) -> None:
        passes.append(asyncio.get_running_loop().time() - virtual.START_AT)
        await ctx.apply(config("child", color="blue"))

    async def main() -> tuple[float, FakeApi]:
        api = FakeApi(Web, ConfigMap)
        api.put(web())
        async with running(api, reconcile) as manager:
            ends_at = asyncio.get_running_loop().time() + seconds
            while asyncio.get_running_loop().time() < ends_at:
                await asyncio.sleep(0.01)
                found = api.get(ConfigMap, "child")
                if found is not None and found.data["color"] == "blue":
                    api.change(ConfigMap, "child", {"data": {"color": "red"}})
            return manager.telemetry.registry.value("kubewright_controller_slowed_objects", "web"), api

    slowed, api = virtual.run(main())
    return passes, slowed, api


def test_a_fight_over_a_field_is_slowed_and_told_with_the_field(caplog: pytest.LogCaptureFixture) -> None:
    passes, slowed, api = run_against_another(300, caplog)
    assert slowed == 1
    assert len([at for at in passes if at < 1]) <= 40
    assert len(passes) < 80
    told = [record.getMessage() for record in caplog.records if "hot loop" in record.getMessage()]
    assert told[0].startswith("Web default/a: hot loop: ConfigMap child: data.color was written back 10 times")
    assert "against another writer" in told[0]
    assert len(told) < 20
    events = [asked.body["note"] for asked in api.requests if asked.path.endswith("/events") and asked.verb == "create"]
    assert "data.color" in events[0]


def test_a_hot_object_is_reconciled_at_once_when_its_spec_is_changed(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[tuple[float, int]] = []

    @controller(Web, owns=[ConfigMap])
    async def reconcile(web: Web, ctx: Context) -> None:
        loop = asyncio.get_running_loop()
        seen.append((loop.time() - virtual.START_AT, web.spec.replicas))
        await ctx.owned(ConfigMap)  # so that the child that it makes is news
        await ctx.apply(config("child", time=str(loop.time()), n=str(len(seen))))

    async def main() -> None:
        api = FakeApi(Web, ConfigMap, latency_seconds=0.01)
        api.put(web())
        async with running(api, reconcile) as manager:
            value = manager.telemetry.registry.value
            await asyncio.sleep(60)
            assert value("kubewright_controller_slowed_objects", "web") == 1
            assert value("kubewright_controller_hot_loops_total", "web") >= 1
            assert len(seen) < 100
            before = len(seen)
            api.change(Web, "a", {"spec": {"replicas": 7}})
            await asyncio.sleep(0.1)
            assert seen[before][1] == 7

    virtual.run(main())


def test_causes_of_a_slowed_reconcile_are_kept() -> None:
    causes: list[set[str]] = []

    @controller(Web, owns=[ConfigMap])
    async def reconcile(web: Web, ctx: Context) -> None:
        causes.append({str(cause) for cause in ctx.causes})
        await ctx.owned(ConfigMap)
        await ctx.apply(config("child", n=str(len(causes))))

    async def main() -> None:
        api = FakeApi(Web, ConfigMap, latency_seconds=0.001)
        api.put(web())
        async with running(api, reconcile) as manager:
            while not manager.telemetry.registry.value("kubewright_controller_slowed_objects", "web"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            causes.clear()
            api.change(Web, "a", {"metadata": {"labels": {"a": "b"}}})
            await asyncio.sleep(5)

    virtual.run(main())
    assert causes[0] == {"updated ConfigMap child", "updated"}


@pytest.mark.parametrize("workers", [1, 4])
def test_a_rollout_a_poll_and_a_busy_user_are_no_hot_loops(workers: int, caplog: pytest.LogCaptureFixture) -> None:
    """A status that advances a hundred times a minute, a spec that somebody changes, children that follow, a poll."""

    @controller(Web, owns=[ConfigMap], workers=workers)
    async def reconcile(web: Web, ctx: Context) -> Result:
        await ctx.apply(config(web.metadata.name, replicas=str(web.spec.replicas)))
        found = await ctx.get(ConfigMap, web.metadata.name)
        web.status.seen = found.metadata.labels.get("progress", "")
        web.status.ready = int(web.status.seen or 0) % 3
        return after(2)

    async def main() -> None:
        api = FakeApi(Web, ConfigMap, latency_seconds=0.005)
        for name in "ab":
            api.put(web(name))
        async with running(api, reconcile) as manager:
            await asyncio.sleep(1)
            for turn in range(600):
                api.change(ConfigMap, "a", {"metadata": {"labels": {"progress": str(turn)}}})
                if turn % 3 == 0:
                    api.change(Web, "b", {"spec": {"replicas": turn % 9}})
                await asyncio.sleep(0.3)
            assert manager.telemetry.registry.value("kubewright_controller_hot_loops_total", "web") == 0

    virtual.run(main())
    assert "hot loop" not in caplog.text
