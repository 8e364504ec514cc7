"""What of other kinds wakes a controller: what a mapper says, and children of any owner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Key, controller
from kubewright.cache.index import index
from kubewright.controller import Lookup, SourceContext, owned, source, watches
from kubewright.controller.predicates import has_label
from kubewright.model import OwnerReference
from kubewright.models.core.v1 import ConfigMap, Secret
from running import running
from webs import Web, config, web

from .seeing import KEY, Seen, pointed_to, run, secret


def test_a_mapper_says_who_is_woken_by_a_change_of_another_kind() -> None:
    seen = Seen()
    seen.controller.watches(Secret)(pointed_to)
    assert run(seen, lambda api: api.put(secret(web="b"))) == [("b", "added Secret s")]


def test_mapping_g1_a_mapper_is_asked_about_the_states_before_and_after() -> None:
    seen = Seen()
    seen.controller.watches(Secret)(pointed_to)

    async def act(api: FakeApi) -> None:
        api.put(secret(web="b"))
        await asyncio.sleep(1)
        api.change(Secret, "s", {"metadata": {"annotations": {"web": "c"}}})
        await asyncio.sleep(1)
        api.remove(Secret, "s")

    assert run(seen, act)[1:] == [("c", "updated Secret s"), ("b", "updated Secret s"), ("c", "deleted Secret s")]


def test_a_predicate_of_a_watch_chooses_what_is_mapped() -> None:
    seen = Seen()
    seen.controller.watches(Secret, predicate=has_label("x"))(pointed_to)

    def act(api: FakeApi) -> None:
        api.put(secret("one", web="b"))
        api.put(secret("two", web="c", labels={"x": ""}))

    assert run(seen, act) == [("c", "added Secret two")]


def test_a_mapper_looks_into_the_cache_by_index_and_by_label() -> None:
    @index(Web)
    def by_image(web: Web) -> Iterable[str]:
        return [web.spec.image]

    seen = Seen()
    found: list[object] = []

    @seen.controller.watches(Secret, reads=[ConfigMap])
    def users(secret: Secret, cache: Lookup) -> Iterable[Key]:
        found.append([each.metadata.name for each in cache.list(ConfigMap, namespace="default")])
        found.append(cache.find(Web, "a", namespace="default") is not None)
        found.append(sorted(cache.keys(Web)) == [Key("default", name) for name in "abc"])
        return cache.keys(Web, by_image, secret.metadata.name)

    async def act(api: FakeApi) -> None:
        api.put(config("c", namespace="default"))
        api.change(Web, "b", {"spec": {"image": "special"}})
        await asyncio.sleep(1)
        seen.passes.clear()
        api.put(secret("special"))

    assert run(seen, act) == [("b", "added Secret special")]
    assert found == [["c"], True, True]


def test_a_mapper_that_looks_for_a_kind_that_is_not_watched_is_told_how(caplog: pytest.LogCaptureFixture) -> None:
    seen = Seen()

    @seen.controller.watches(Secret)
    def users(secret: Secret, cache: Lookup) -> Iterable[Key]:
        return cache.keys(ConfigMap)

    assert run(seen, lambda api: api.put(secret())) == []
    assert "ConfigMap is not watched by this controller; say so with owns=, watches= or reads=" in caplog.text


def test_mapping_g1_an_async_mapper_may_wait_and_no_change_is_lost() -> None:
    seen = Seen()

    @seen.controller.watches(Secret)
    async def users(secret: Secret, cache: Lookup) -> Iterable[Key]:
        await asyncio.sleep(5)
        return pointed_to(secret, cache)

    async def act(api: FakeApi) -> None:
        api.put(secret(web="a"))
        await asyncio.sleep(1)
        for name in "abc":
            api.change(Secret, "s", {"metadata": {"annotations": {"web": name, "n": name}}})
            await asyncio.sleep(0.1)

    names = [name for name, _ in run(seen, act)]
    assert names[0] == "a"
    assert names[-2:] in (["c", "a"], ["a", "c"])


@pytest.mark.parametrize("is_async", [False, True])
def test_mapping_g1_a_mapper_that_fails_is_tried_again_until_it_does_not(
    is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    seen = Seen()
    calls = 0

    def users(secret: Secret, cache: Lookup) -> Iterable[Key]:
        nonlocal calls
        calls += 1
        if calls < 4:
            raise RuntimeError("a bug")
        return [KEY]

    async def later(secret: Secret, cache: Lookup) -> Iterable[Key]:
        return users(secret, cache)

    seen.controller.watches(Secret)(later if is_async else users)
    assert run(seen, lambda api: api.put(secret())) == [("a", "added Secret s")]
    assert calls == 4
    assert "failed on Secret default/s; again in" in caplog.text


@pytest.mark.parametrize("is_async", [False, True])
def test_mapping_g2_a_mapper_that_raises_for_one_object_delays_no_other(is_async: bool) -> None:
    seen = Seen()

    def users(secret: Secret, cache: Lookup) -> Iterable[Key]:
        if secret.metadata.name == "bad":
            raise RuntimeError("a bug")
        return pointed_to(secret, cache)

    async def later(secret: Secret, cache: Lookup) -> Iterable[Key]:
        return users(secret, cache)

    seen.controller.watches(Secret)(later if is_async else users)

    async def act(api: FakeApi) -> None:
        api.put(secret("bad"))
        await asyncio.sleep(30)  # by now the next attempt is many seconds away
        api.put(secret("good", web="b"))
        await asyncio.sleep(0.1)
        assert seen.passes == [("b", "added Secret good")]

    assert run(seen, act) == [("b", "added Secret good")]


def test_mapping_g2_a_mapper_that_waits_delays_nothing_but_what_it_is_asked_about() -> None:
    seen = Seen()

    @seen.controller.watches(Secret)
    async def slow(secret: Secret, cache: Lookup) -> Iterable[Key]:
        await asyncio.sleep(50)
        return [KEY]

    @seen.controller.watches(ConfigMap)
    async def fast(config: ConfigMap, cache: Lookup) -> Iterable[Key]:
        return [Key("default", "b")]

    async def act(api: FakeApi) -> None:
        api.put(secret())
        await asyncio.sleep(1)
        api.put(config("c", namespace="default"))
        api.change(Web, "c", {"spec": {"replicas": 2}})
        await asyncio.sleep(1)
        assert sorted(seen.passes) == [("b", "added ConfigMap c"), ("c", "updated")]

    assert run(seen, act)[-1] == ("a", "added Secret s")


@pytest.mark.parametrize(
    ("woken", "text"),
    [
        (KEY, "return a list of Keys"),
        ("default/a", "return a list of Keys"),
        ([Key("", "a")], "needs namespace and name"),
        ([3], "is not the name of an object"),
    ],
)
def test_a_mapper_that_says_no_names_is_told_what_to_say(
    woken: Any, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    seen = Seen()
    seen.controller.watches(Secret)(lambda secret, cache: woken)
    assert run(seen, lambda api: api.put(secret())) == []
    assert text in caplog.text


def test_what_is_there_at_the_start_is_mapped_with_a_low_priority() -> None:
    order: list[str] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        order.append(f"{web.metadata.name} {' '.join(map(str, ctx.causes))}")
        await asyncio.sleep(1)

    reconcile.watches(Secret)(pointed_to)

    async def main() -> None:
        api = FakeApi(Web, Secret)
        for name in "abcdef":
            api.put(web(name))
        api.put(secret(web="b"))
        async with running(api, reconcile):
            await asyncio.sleep(0.5)
            api.change(Web, "e", {"spec": {"replicas": 3}})
            await asyncio.sleep(20)

    virtual.run(main())
    assert order[0].startswith("a present at start")
    assert order[1] == "e present at start updated"


def test_methods_of_a_class_watch_and_are_sources() -> None:
    calls: list[str] = []

    @controller(Web, owns=[owned(ConfigMap)])
    class Webs:
        def __init__(self, prefix: str) -> None:
            self.prefix = prefix

        async def reconcile(self, web: Web, ctx: Context) -> None:
            calls.append(f"{self.prefix} {web.metadata.name} {' '.join(map(str, ctx.causes))}")

        @watches(Secret)
        def users(self, secret: Secret, cache: Lookup) -> Iterable[Key]:
            return [Key("default", self.prefix)]

        @source
        async def orders(self, ctx: SourceContext) -> AsyncIterator[Key]:
            await asyncio.sleep(5)
            yield Key("default", self.prefix)

    async def main() -> None:
        api = FakeApi(Web, Secret, ConfigMap)
        api.put(web("a"))
        api.put(web("b"))
        async with running(api, Webs("b")):
            await asyncio.sleep(1)
            calls.clear()
            api.put(secret())
            await asyncio.sleep(20)

    virtual.run(main())
    assert calls == ["b b added Secret s", "b b orders"]


def test_a_mapper_stays_a_function_and_may_serve_two_controllers() -> None:
    one, two = Seen(name="one"), Seen(name="two")
    for each in (one, two):
        assert each.controller.watches(Secret)(pointed_to) is pointed_to

    async def main() -> None:
        api = FakeApi(Web, Secret)
        api.put(web("a"))
        async with running(api, one.controller, two.controller):
            await asyncio.sleep(1)
            api.put(secret(web="a"))
            await asyncio.sleep(1)

    virtual.run(main())
    assert one.passes[-1] == two.passes[-1] == ("a", "added Secret s")


def test_with_any_owner_a_child_wakes_owners_that_are_not_its_controller() -> None:
    def act(api: FakeApi) -> None:
        found = api.get(Web, "b")
        assert found is not None
        child = config("child", namespace="default")
        owner = OwnerReference(api_version="example.com/v1", kind="Web", name="b", uid=found.metadata.uid)
        child.metadata.owner_references = [owner]
        api.put(child)

    assert run(Seen(owns=[owned(ConfigMap, any_owner=True)]), act) == [("b", "added ConfigMap child")]
    assert run(Seen(owns=[ConfigMap]), act) == []


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: controller(Web, by="name"), "must be 'object' or 'key'"),  # type: ignore[call-overload]
        (lambda: controller(Web, by="key", finalizer="example.com/x"), "leave finalize= and such out"),  # type: ignore[call-overload]
        (lambda: controller(Web, sources=[lambda ctx: None]), "is no source"),  # type: ignore[list-item]
        (lambda: owned("Web"), "is not the class of a kind"),  # type: ignore[arg-type]
        (lambda: watches(Web, reads=["x"]), "is not the class of a kind"),  # type: ignore[list-item]
        (lambda: controller(Web, former_finalizers="example.com/x"), "must be a list of names"),
        (lambda: controller(Web, former_finalizers=["x"]), "has no domain"),
    ],
)
def test_what_is_said_wrongly_is_refused_at_once(make: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        make()
