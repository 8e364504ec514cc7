"""Events of a running operator: what reaches the API server, and that nothing of it reaches a reconcile."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from fakeapi.objects import Refused
from kubewright import Context, SyncContext, controller
from kubewright.manager import EventRecorder, Manager
from kubewright.models.core.v1 import ConfigMap
from kubewright.models.events.v1 import Event
from kubewright.observe import Registry
from kubewright.observe.instruments import EventMetrics
from running import NOON, running, until
from webs import Web, config, web

EVENTS = "/events"


def play(scene: Callable[[FakeApi], Awaitable[None]], **options: Any) -> FakeApi:
    made: list[FakeApi] = []

    async def main() -> None:
        api = FakeApi(Web, ConfigMap, Event, **options)
        made.append(api)
        await scene(api)

    virtual.run(main())
    return made[0]


def events(api: FakeApi) -> list[Event]:
    return list(api.all(Event).values())


def told(api: FakeApi) -> list[str]:
    return [verb for verb, _, path in (write.partition(" ") for write in api.writes) if EVENTS in path]


def dropped(manager: Manager, why: str) -> float | None:
    return manager.telemetry.registry.value("kubewright_events_dropped_total", why)


def test_an_event_of_a_reconcile_is_sent_with_all_that_kubectl_describe_shows() -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        ctx.event("Warning", "BackupFailed", "No room.", action="Backup", related=config("target", "default"))

    async def scene(api: FakeApi) -> None:
        made = api.put(web())
        async with running(api, reconcile):
            await until(lambda: events(api))
        (event,) = events(api)
        assert (event.type, event.reason, event.action, event.note) == ("Warning", "BackupFailed", "Backup", "No room.")
        assert event.reporting_controller == "test"
        assert (event.reporting_instance or "").startswith("test-")
        assert event.metadata.namespace == "default"
        assert event.event_time is not None
        about = event.regarding
        assert about is not None
        assert (about.api_version, about.kind, about.namespace, about.name) == ("example.com/v1", "Web", "default", "a")
        assert (about.uid, about.resource_version) == (made.metadata.uid, made.metadata.resource_version)
        assert event.related is not None
        assert event.related.kind == "ConfigMap"

    play(scene)


def test_a_def_reconcile_records_events_from_its_thread() -> None:
    @controller(Web)
    def reconcile(web: Web, ctx: SyncContext) -> None:
        ctx.event("Normal", "Seen", "Hello.")

    async def scene(api: FakeApi) -> None:
        api.put(web())
        async with running(api, reconcile):
            await until(lambda: events(api))
        assert [event.note for event in events(api)] == ["Hello."]

    play(scene)


def test_ten_thousand_identical_events_of_eight_objects_are_a_bounded_number_of_requests() -> None:
    @controller(Web, workers=8)
    async def reconcile(web: Web, ctx: Context) -> None:
        for _ in range(1250):
            ctx.event("Normal", "Again", "And again.")
            await asyncio.sleep(0.001)

    async def scene(api: FakeApi) -> None:
        for number in range(8):
            api.put(web(f"w{number}"))
        async with running(api, reconcile) as manager:
            registry = manager.telemetry.registry
            await until(lambda: registry.value("controller_runtime_reconcile_total", "web", "success") == 8)
            await asyncio.sleep(400)
            assert registry.value("kubewright_events_recorded_total") == 10_000
        assert [event.series and event.series.count for event in events(api)] == [1250] * 8
        assert len(told(api)) <= 8 * 12

    play(scene, latency_seconds=0.005)


def test_an_api_server_that_does_not_answer_delays_no_reconcile_and_no_other_event() -> None:
    took: list[float] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        started_at = asyncio.get_running_loop().time()
        ctx.event("Normal", "Seen", web.metadata.name)
        took.append(asyncio.get_running_loop().time() - started_at)

    async def scene(api: FakeApi) -> None:
        api.fault("create", EVENTS, lost="request")
        for name in "abc":
            api.put(web(name))
        async with running(api, reconcile):
            await asyncio.sleep(5)
            assert {event.note for event in events(api)} == {"b", "c"}
            await asyncio.sleep(10)
            assert {event.note for event in events(api)} == {"a", "b", "c"}

    play(scene)
    assert took == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 429}, {"status": 503, "reason": "ServiceUnavailable"}])
def test_an_event_that_is_refused_for_now_is_sent_later(fault: dict[str, Any]) -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        ctx.event("Normal", "Seen", "Hello.")

    async def scene(api: FakeApi) -> None:
        api.fault("create", EVENTS, times=3, **fault)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(45)
        assert len(events(api)) == 1

    play(scene)


def test_an_event_whose_answer_was_lost_is_not_written_twice() -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        ctx.event("Normal", "Seen", "Hello.")

    async def scene(api: FakeApi) -> None:
        api.fault("create", EVENTS, lost="answer")
        api.put(web())
        async with running(api, reconcile) as manager:
            await asyncio.sleep(30)
            assert told(api) == ["create", "create"]
            assert dropped(manager, "refused") == 0
        assert len(events(api)) == 1

    play(scene)


def refuse_all(api: FakeApi, code: int, reason: str, causes: Iterable[str] = ()) -> None:
    def admit(obj: dict[str, Any]) -> None:
        if obj.get("kind") == "Event":
            raise Refused(
                code, reason, "no", causes=[{"reason": cause, "field": "", "message": ""} for cause in causes]
            )

    api.objects.admit = admit


def test_events_of_a_namespace_that_is_being_deleted_are_dropped_without_a_word(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        ctx.event("Normal", "Seen", "Hello.")

    async def scene(api: FakeApi) -> None:
        refuse_all(api, 403, "Forbidden", ["NamespaceTerminating"])
        api.put(web())
        async with running(api, reconcile) as manager:
            await asyncio.sleep(60)
            assert dropped(manager, "refused") == 1
        assert told(api) == ["create"]

    with caplog.at_level(logging.WARNING):
        play(scene)
    assert caplog.records == []


def test_a_missing_right_is_a_warning_once_and_no_retry(caplog: pytest.LogCaptureFixture) -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        for number in range(5):
            ctx.event("Normal", "Seen", f"Hello {number}.")

    async def scene(api: FakeApi) -> None:
        refuse_all(api, 403, "Forbidden")
        api.put(web())
        async with running(api, reconcile) as manager:
            await asyncio.sleep(60)
            assert dropped(manager, "refused") == 5
        assert told(api) == ["create"] * 5

    with caplog.at_level(logging.WARNING):
        play(scene)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "events cannot be written" in caplog.text


def test_what_is_no_event_is_a_warning_and_the_reconcile_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        ctx.event("Error", "Seen", "Hello.")  # type: ignore[arg-type]
        web.status.ready = 7

    async def scene(api: FakeApi) -> None:
        api.put(web())
        async with running(api, reconcile) as manager:
            await until(lambda: (found := api.get(Web, "a")) is not None and found.status.ready == 7)
            assert dropped(manager, "invalid") == 1
        assert told(api) == []

    with caplog.at_level(logging.WARNING):
        play(scene)
    assert "type='Error'" in caplog.text


def test_an_event_that_the_server_has_forgotten_is_created_anew() -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        ctx.event("Normal", "Seen", "Hello.")

    async def scene(api: FakeApi) -> None:
        api.put(web())
        async with running(api, reconcile):
            await until(lambda: events(api))
            first = events(api)[0].metadata.name
            api.remove(Event, first)
            api.change(Web, "a", {"spec": {"replicas": 2}})
            await until(lambda: events(api))
            (event,) = events(api)
            assert event.metadata.name != first
            assert event.series is not None
            assert event.series.count == 2

    play(scene)


def test_stopping_sends_what_is_left() -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        for _ in range(3):
            ctx.event("Normal", "Seen", "Hello.")
            await asyncio.sleep(0.01)

    async def scene(api: FakeApi) -> None:
        api.put(web())
        async with running(api, reconcile) as manager:
            registry = manager.telemetry.registry
            await until(lambda: registry.value("controller_runtime_reconcile_total", "web", "success") == 1)
        assert [event.series and event.series.count for event in events(api)] == [3]

    play(scene, latency_seconds=0.02)


def test_stopping_does_not_wait_for_a_server_that_does_not_answer() -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        ctx.event("Normal", "Seen", "Hello.")

    async def scene(api: FakeApi) -> None:
        api.put(web())
        api.fault("create", EVENTS, delay_seconds=1000.0)
        loop = asyncio.get_running_loop()
        async with running(api, reconcile):
            await asyncio.sleep(1)
            stopped_at = loop.time()
        assert loop.time() - stopped_at == pytest.approx(2, abs=0.1)
        assert len(asyncio.all_tasks()) == 1

    play(scene)


def test_a_recorder_by_itself_needs_a_client_and_a_name() -> None:
    registry = Registry()

    async def scene(api: FakeApi) -> None:
        recorder = EventRecorder(api.client(), name="My operator!", metrics=EventMetrics(registry), clock=lambda: NOON)
        recorder.event(api.put(web()), "Normal", "Seen", "Hello.")
        task = asyncio.create_task(recorder.run())
        await until(lambda: events(api))
        await recorder.stop()
        await task
        (event,) = events(api)
        assert event.reporting_controller == "My-operator"
        assert event.metadata.name == f"a.{int(NOON.timestamp() * 1e9):x}"

    play(scene)
    assert registry.value("kubewright_events_sent_total") == 1


def test_changes_of_an_election_are_events_about_the_lease() -> None:
    async def scene(api: FakeApi) -> None:
        async with running(api) as manager:
            manager.telemetry.of_election("web-operator", "prod").event("host_1 became leader")
            await until(lambda: events(api))
        (event,) = events(api)
        assert (event.type, event.reason, event.note) == ("Normal", "LeaderElection", "host_1 became leader")
        assert event.metadata.namespace == "prod"
        assert event.regarding is not None
        assert (event.regarding.kind, event.regarding.name) == ("Lease", "web-operator")

    play(scene)
