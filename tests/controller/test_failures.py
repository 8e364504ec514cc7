"""How failures are told: as loud as they are, once, and what follows from them."""

from __future__ import annotations

import asyncio
import logging

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Key, Retry, Terminal, controller
from kubewright.controller import NotYours
from kubewright.controller.failures import Failures
from kubewright.model import OwnerReference
from kubewright.model.owners import AlreadyOwned
from kubewright.models.core.v1 import ConfigMap
from running import running
from webs import Web, config, web

KEY = Key("default", "a")


def levels(*errors: Exception, caplog: pytest.LogCaptureFixture) -> list[int]:
    caplog.set_level(logging.DEBUG)
    failures = Failures("Web", logging.getLogger("kubewright.test"))
    for attempt, error in enumerate(errors, 1):
        failures.tell(KEY, error, attempt)
    return [record.levelno for record in caplog.records]


@pytest.mark.parametrize(("error", "level"), [(Retry("not yet"), logging.INFO), (Terminal("cannot be"), logging.ERROR)])
def test_what_is_said_again_and_again_is_told_once(
    error: Exception, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert levels(error, error, error, caplog=caplog) == [level, logging.DEBUG, logging.DEBUG]


def test_another_text_is_told(caplog: pytest.LogCaptureFixture) -> None:
    assert levels(Retry("a"), Retry("b"), Retry("a"), caplog=caplog) == [logging.INFO] * 3


def test_after_a_success_it_is_told_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    failures = Failures("Web", logging.getLogger("kubewright.test"))
    failures.tell(KEY, Retry("not yet"), 1)
    failures.forget(KEY)
    failures.tell(KEY, Retry("not yet"), 1)
    assert [record.levelno for record in caplog.records] == [logging.INFO] * 2


def test_a_bug_is_told_each_time_and_its_traceback_once_for_all_objects_until_ten_minutes_have_passed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = [0.0]
    failures = Failures("Web", logging.getLogger("kubewright.test"), now=lambda: clock[0])

    def fail(name: str, attempt: int) -> logging.LogRecord:
        caplog.clear()
        try:
            _ = {}["absent"]  # type: ignore[var-annotated]
        except KeyError as error:
            failures.tell(Key("default", name), error, attempt)
        (record,) = caplog.records
        return record

    first, second, third = fail("a", 1), fail("a", 2), fail("b", 1)
    assert [each.levelno for each in (first, second, third)] == [logging.ERROR] * 3
    assert first.exc_info is not None
    assert second.exc_info is None
    assert third.exc_info is None
    assert third.getMessage().startswith("Web default/b: attempt 1 failed: KeyError: 'absent' (")
    assert "test_failures.py, line " in third.getMessage()
    clock[0] = 600.0
    assert fail("a", 3).exc_info is not None


def reference(name: str, uid: str, *, version: str = "v1") -> OwnerReference:
    return OwnerReference(api_version=f"example.com/{version}", kind="Web", name=name, uid=uid, controller=True)


@pytest.mark.parametrize(
    ("current", "level"),
    [
        (reference("a", "earlier"), logging.INFO),
        (reference("a", "earlier", version="v1beta1"), logging.INFO),
        (reference("b", "other"), logging.WARNING),
    ],
)
def test_a_child_that_an_earlier_object_of_our_name_still_has_is_no_alarm(
    current: OwnerReference, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    error = AlreadyOwned("ConfigMap", Key("default", "c"), current, reference("a", "now"))
    assert levels(error, caplog=caplog) == [level]


def test_such_a_child_is_taken_as_soon_as_the_collector_has_removed_it() -> None:
    @controller(Web, owns=[ConfigMap])
    async def reconcile(web: Web, ctx: Context) -> None:
        await ctx.apply(config("child", a=web.metadata.uid))

    async def main() -> None:
        api = FakeApi(Web, ConfigMap)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(1)
            api.remove(Web, "a")
            api.put(web())
            await asyncio.sleep(1)
            api.remove(ConfigMap, "child")
            await asyncio.sleep(3)
            found, child = api.get(Web, "a"), api.get(ConfigMap, "child")
            assert found is not None
            assert child is not None
            assert child.data["a"] == found.metadata.uid

    virtual.run(main())


def test_a_reconcile_that_changes_what_is_not_its_own_waits_for_a_change(caplog: pytest.LogCaptureFixture) -> None:
    count = 0

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        nonlocal count
        count += 1
        web.spec.replicas += 1

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(1000)
            assert count == 1
            api.change(Web, "a", {"metadata": {"labels": {"a": "b"}}})
            await asyncio.sleep(1000)
            assert count == 2

    virtual.run(main())
    assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 1
    assert issubclass(NotYours, Terminal)
