"""What the health pages say: controller-runtime's texts, byte for byte."""

from __future__ import annotations

import asyncio
import logging

import pytest

import virtual
from kubewright.httpd import Answer, Request
from kubewright.manager.health import Check, Health, ping


def fail() -> None:
    raise RuntimeError("the database password is hunter2")


async def fail_later() -> None:
    await asyncio.sleep(0.1)
    fail()


async def hang() -> None:
    await asyncio.Event().wait()


def ask(path: str, query: str = "", **checks: Check) -> Answer:
    health = Health("/readyz")
    for name, check in checks.items():
        health.add(name, check)
    return virtual.run(health.answer(Request("GET", path, query, {})))


def test_all_well_is_ok() -> None:
    assert ask("/readyz", ping=ping) == Answer(200, b"ok", "text/plain; charset=utf-8")


def test_verbose_names_each_check_in_order() -> None:
    answer = ask("/readyz", "verbose", ping=ping, caches=ping)
    assert (answer.status, answer.body) == (200, b"[+]caches ok\n[+]ping ok\nhealthz check passed\n")


@pytest.mark.parametrize("query", ["verbose", "verbose=", "verbose=1", "a=b&verbose"])
def test_verbose_may_have_any_value(query: str) -> None:
    assert b"passed" in ask("/readyz", query, ping=ping).body


@pytest.mark.parametrize("check", [fail, fail_later, hang])
def test_a_check_that_fails_is_named_and_its_reason_withheld(check: Check) -> None:
    answer = ask("/readyz", ping=ping, caches=check)
    assert answer.status == 500
    assert answer.body == b"[-]caches failed: reason withheld\n[+]ping ok\nhealthz check failed\n"


def test_an_excluded_check_does_not_count() -> None:
    assert ask("/readyz", "exclude=caches", ping=ping, caches=fail).body == b"ok"
    answer = ask("/readyz", "exclude=caches&verbose", ping=ping, caches=fail)
    assert answer.body == b"[+]caches excluded: ok\n[+]ping ok\nhealthz check passed\n"


def test_an_excluded_check_that_does_not_exist_is_warned_of() -> None:
    answer = ask("/readyz", "exclude=b&exclude=a&verbose", ping=ping)
    assert answer.body == (
        b'[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\nhealthz check passed\n'
    )


def test_a_check_has_a_page_of_its_own() -> None:
    assert ask("/readyz/ping", ping=ping, caches=fail).body == b"ok"
    answer = ask("/readyz/caches", ping=ping, caches=fail)
    assert (answer.status, answer.body) == (500, b"internal server error: reason withheld\n")
    assert ask("/readyz/nothing", ping=ping).status == 404


def test_a_page_without_checks_has_ping() -> None:
    assert ask("/readyz", "verbose").body == b"[+]ping ok\nhealthz check passed\n"
    assert ask("/readyz/ping").body == b"ok"


def test_the_reason_is_in_the_log_once_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    problems = [True]

    def check() -> None:
        if problems:
            fail()

    async def main() -> None:
        health = Health("/readyz", caches=check)
        request = Request("GET", "/readyz", "", {})
        await health.answer(request)
        await health.answer(request)
        problems.clear()
        await health.answer(request)
        await health.answer(request)

    with caplog.at_level(logging.INFO):
        virtual.run(main())
    assert [record.getMessage() for record in caplog.records] == [
        "/readyz: check caches fails: the database password is hunter2",
        "/readyz: check caches passes again",
    ]


@pytest.mark.parametrize("name", ["", "a/b", "a b", "ä"])
def test_a_check_whose_name_cannot_be_part_of_a_path_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="part of a path"):
        Health("/readyz").add(name, ping)


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="'ping': the name is taken on /healthz"):
        Health("/healthz", ping=ping).add("ping", ping)
