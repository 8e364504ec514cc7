"""`ctx.create_or_patch`: created, changed in part, or left alone."""

from __future__ import annotations

from typing import Any

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, SyncContext, controller
from kubewright.client import Conflict
from kubewright.controller.mutating import Outcome
from kubewright.model.owners import AlreadyOwned, controller_of, set_controller
from kubewright.models.core.v1 import ConfigMap
from kubewright.testing import FakeContext
from running import Passes
from webs import Web, config, web


def play(mutate: Any, *, begin: Any = None, owned: bool = True, kind: type[Any] = ConfigMap) -> tuple[Any, ...]:
    """One pass that does it; what it returned or raised, the server, and the writes."""
    result: list[Any] = []

    @controller(Web, owns=[ConfigMap])
    async def reconcile(web: Web, ctx: Context) -> None:
        template = config("c") if kind is ConfigMap else Web(metadata=config("c").metadata, spec=web.spec)
        try:
            result.append(await ctx.create_or_patch(template, mutate, owned=owned))
        except Exception as error:
            result.append(error)

    async def main() -> FakeApi:
        api = FakeApi(Web, ConfigMap)
        api.put(web())
        if begin is not None:
            begin(api)
        async with Passes(api, reconcile) as passes:
            api.requests.clear()
            await passes.run()
        return api

    api = virtual.run(main())
    return result[0], api, [verb.partition(" ")[0] for verb in api.writes]


def set_color(obj: ConfigMap) -> None:
    obj.data["color"] = "blue"


def test_what_is_not_there_is_created_with_its_owner() -> None:
    (made, outcome), api, writes = play(set_color)
    assert (outcome, writes, made.data) == ("created", ["create"], {"color": "blue"})
    found = api.get(ConfigMap, "c")
    owner = controller_of(found)
    assert owner is not None
    assert owner.kind == "Web"


def test_what_differs_is_patched_and_what_others_have_set_stays() -> None:
    def begin(api: FakeApi) -> None:
        api.put(config("c", namespace="default", size="big", color="red"))

    (made, outcome), api, writes = play(set_color, begin=begin)
    assert (outcome, writes) == ("patched", ["patch"])
    assert made.data == {"size": "big", "color": "blue"}
    assert controller_of(made) is not None
    [asked] = [asked for asked in api.requests if asked.verb == "patch"]
    assert set(asked.body) == {"data", "metadata"}


def test_what_does_not_differ_costs_no_request() -> None:
    def begin(api: FakeApi) -> None:
        api.put(config("c", namespace="default", color="blue"))

    (_, outcome), _, writes = play(set_color, begin=begin, owned=False)
    assert (outcome, writes) == ("unchanged", [])


def test_a_change_by_another_meanwhile_is_a_conflict_and_not_undone() -> None:
    def begin(api: FakeApi) -> None:
        api.put(config("c", namespace="default", color="red"))
        api.fault("patch", "/configmaps/", then=lambda: api.change(ConfigMap, "c", {"data": {"size": "big"}}))

    error, api, _ = play(set_color, begin=begin)
    assert isinstance(error, Conflict)
    found = api.get(ConfigMap, "c")
    assert found is not None
    assert found.data == {"color": "red", "size": "big"}


def test_the_child_of_another_is_left_alone() -> None:
    def begin(api: FakeApi) -> None:
        other = api.put(web("other"))
        child = config("c", namespace="default")
        set_controller(other, child)
        api.put(child)

    error, _, writes = play(set_color, begin=begin)
    assert isinstance(error, AlreadyOwned)
    assert writes == []


@pytest.mark.parametrize(
    ("mutate", "text"),
    [
        (lambda obj: setattr(obj.metadata, "name", "other"), "mutate renamed default/c to default/other"),
        (lambda obj: config("c"), "change the object in place"),
    ],
)
def test_a_mutation_that_makes_another_object_is_refused(mutate: Any, text: str) -> None:
    error, _, writes = play(mutate)
    assert isinstance(error, ValueError)
    assert text in str(error)
    assert writes == []


def test_the_status_is_written_beside_the_object() -> None:
    def mutate(obj: Web) -> None:
        obj.spec.image, obj.status.seen = "other", "x"

    (made, outcome), _, writes = play(mutate, kind=Web)
    assert (outcome, writes) == ("created", ["create", "patch"])
    assert (made.spec.image, made.status.seen) == ("other", "x")

    def begin(api: FakeApi) -> None:
        api.put(web("c"))

    (made, outcome), _, writes = play(mutate, kind=Web, begin=begin)
    assert (outcome, writes) == ("patched", ["patch", "patch"])
    assert (made.spec.image, made.status.seen) == ("other", "x")


def test_it_is_there_in_a_thread_and_in_a_fake() -> None:
    outcomes: list[Outcome] = []

    @controller(Web)
    def reconcile(web: Web, ctx: SyncContext) -> None:
        outcomes.append(ctx.create_or_patch(config("c"), set_color)[1])

    one = web()
    one.metadata.uid = "u"
    ctx = FakeContext(one)
    for _ in range(2):
        reconcile(one, ctx.sync())
    assert outcomes == ["created", "unchanged"]
