"""Which version is news and which is an echo, and which pass is left out for it; without an operator."""

from __future__ import annotations

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Key, controller
from kubewright.controller import reconciler
from kubewright.controller.cause import INITIAL, REQUEUE, RETRY, Cause
from kubewright.controller.echoes import Echoes, Version
from kubewright.controller.reconciler import Aside, Pass
from running import Passes
from webs import Web, web


def test_a_version_that_was_accounted_for_is_no_news_and_every_later_one_is() -> None:
    echoes = Echoes()
    echoes.begin("a")
    echoes.account("a", "u", "10", "a")
    echoes.end("a")
    assert echoes.covers("a", "u", "9")
    assert echoes.covers("a", "u", "10")
    assert not echoes.covers("a", "u", "10"), "its echo has come"
    assert not echoes.covers("a", "u", "11")
    assert len(echoes) == 0


def test_a_later_version_is_news_and_ends_the_wait_for_the_echo() -> None:
    echoes = Echoes()
    echoes.begin("a")
    echoes.account("a", "u", "10", "a")
    assert not echoes.covers("a", "u", "11")
    assert len(echoes) == 0


def test_another_object_of_the_same_name_is_news() -> None:
    echoes = Echoes()
    echoes.begin("a")
    echoes.account("a", "old", "10", "a")
    assert not echoes.covers("a", "new", "9")
    assert len(echoes) == 0


def test_a_version_that_is_no_number_is_news() -> None:
    echoes = Echoes()
    echoes.begin("a")
    echoes.account("a", "u", "abc", "a")
    assert not echoes.covers("a", "u", "abc")
    echoes.account("a", "u", "10", "a")
    assert not echoes.covers("a", "u", "x9")


def test_an_echo_that_came_before_the_answer_is_told_apart() -> None:
    echoes = Echoes()
    echoes.begin("child")
    assert not echoes.covers("child", "u", "10")
    echoes.account("child", "u", "10", "a")
    echoes.end("child")
    [known] = echoes.early["a"].values()
    assert known.covers("u", "10")
    assert known.covers("u", "9")
    assert not known.covers("u", "11")
    assert not known.covers("other", "10")
    assert not known.covers("u", "x")


@pytest.mark.parametrize(
    ("causes", "is_known"),
    [
        ([Cause("updated")], True),
        ([Cause("updated"), REQUEUE], False),
        ([RETRY], False),
        ([INITIAL], False),
        ([Cause("updated", "ConfigMap", "default", "c")], False),
        ([Cause("updated"), Cause("updated", "ConfigMap", "default", "c")], False),
        ([], False),
    ],
)
def test_pass_g5_it_is_left_out_if_nothing_but_early_echoes_has_asked_for_it(
    causes: list[Cause], is_known: bool
) -> None:
    count = 0

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        nonlocal count
        count += 1

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        async with Passes(api, reconcile) as passes:
            key = Key("default", "a")
            found = api.get(Web, "a")
            assert found is not None
            echoes = passes.reconciler.echoes
            assert echoes is not None
            version = found.metadata.resource_version
            echoes.early[key] = {key: Version(found.metadata.uid, int(version))}
            await passes.reconciler.run(key, Pass(1, causes))
            assert count == (not is_known)
            assert not echoes.early

    virtual.run(main())


def test_a_pass_that_is_left_out_does_not_decode_its_object(monkeypatch: pytest.MonkeyPatch) -> None:
    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        raise AssertionError("nothing is new")

    def refuse(*_: object) -> object:
        raise AssertionError("decoded")

    async def main() -> None:
        api = FakeApi(Web)
        made = api.put(web())
        async with Passes(api, reconcile) as passes:
            key, echoes = Key("default", "a"), passes.reconciler.echoes
            assert echoes is not None
            echoes.early[key] = {key: Version(made.metadata.uid, int(made.metadata.resource_version))}
            monkeypatch.setattr(reconciler, "decode", refuse)
            assert isinstance(await passes.reconciler.run(key, Pass(1, [Cause("updated")])), Aside)

    virtual.run(main())
