"""Which changes matter: controller-runtime's predicates and ours, one by one, combined, and on an operator."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, controller
from kubewright.cache import Added, Deleted, Delta, Updated
from kubewright.cache.frame import entry_of
from kubewright.controller import Change, Predicate, owned
from kubewright.controller.predicates import (
    annotation_changed,
    changed,
    changed_outside_status,
    condition_changed,
    generation_changed,
    has_label,
    label_changed,
    matches_labels,
    on,
    resource_version_changed,
    where,
)
from kubewright.model.owners import set_controller
from kubewright.models.core.v1 import ConfigMap
from running import running
from webs import Web, config, web

BASE: dict[str, Any] = {
    "metadata": {"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "1", "generation": 1},
    "spec": {"replicas": 1},
}


def state(**changes: Any) -> Any:
    meta = {**BASE["metadata"], **changes.pop("metadata", {})}
    return entry_of(orjson.dumps({**BASE, **changes, "metadata": meta}))


def update(*, old: dict[str, Any] | None = None, **changes: Any) -> Delta:
    changes["metadata"] = {"resourceVersion": "2", **changes.get("metadata", {})}
    return Updated(state(**(old or {})), state(**changes))


def passes(predicate: Predicate, delta: Delta) -> bool:
    return predicate(Change(Web, delta))


LABELS = update(metadata={"labels": {"a": "b"}})
ANNOTATIONS = update(metadata={"annotations": {"a": "b"}})
SPEC = update(metadata={"generation": 2}, spec={"replicas": 2})
STATUS = update(status={"ready": 1})
FINALIZERS = update(metadata={"finalizers": ["example.com/x"]})
DELETION = update(metadata={"generation": 2, "deletionTimestamp": "2026-01-01T00:00:00Z"})
UPDATES = {"labels": LABELS, "annotations": ANNOTATIONS, "spec": SPEC, "status": STATUS, "finalizers": FINALIZERS}
UPDATES["deletion"] = DELETION


@pytest.mark.parametrize(
    ("predicate", "wanted"),
    [
        (generation_changed, {"spec", "deletion"}),
        (label_changed, {"labels"}),
        (annotation_changed, {"annotations"}),
        (resource_version_changed, set(UPDATES)),
        (changed_outside_status, set(UPDATES) - {"status"}),
        (changed(lambda web: web.spec.replicas), {"spec"}),
        (changed(lambda web: web.status.ready), {"status"}),
        (generation_changed | annotation_changed, {"spec", "deletion", "annotations"}),
        (generation_changed & changed(lambda web: web.spec.replicas), {"spec"}),
        (~changed_outside_status, {"status"}),
        (generation_changed | label_changed & annotation_changed, {"spec", "deletion"}),
        (has_label("a"), {"labels"}),
        (has_label("a", "c"), set()),
        (matches_labels("!a"), set(UPDATES) - {"labels"}),
        (where(lambda web: web.spec.replicas == 2), {"spec"}),
        (on(updated=lambda old, new: new.status.ready > old.status.ready), {"status"}),
    ],
    ids=lambda value: repr(value) if isinstance(value, Predicate) else "",
)
def test_which_updates_pass(predicate: Predicate, wanted: set[str]) -> None:
    assert {name for name, delta in UPDATES.items() if passes(predicate, delta)} == wanted


@pytest.mark.parametrize("delta", [Added(state()), Added(state(), initial=True), Deleted(state())])
def test_what_compares_two_states_lets_what_appears_and_goes_pass(delta: Delta) -> None:
    for each in (generation_changed, label_changed, annotation_changed, resource_version_changed, condition_changed()):
        assert passes(each, delta)
        assert not passes(~each, delta)


def test_the_same_version_once_more_does_not_pass_resource_version_changed() -> None:
    assert not passes(resource_version_changed, Updated(state(), state()))


def test_functions_are_asked_for_their_own_event_and_others_pass() -> None:
    asked: list[str] = []
    predicate = on(added=lambda web: bool(asked.append(web.metadata.name)), deleted=lambda web: False)
    assert not passes(predicate, Added(state()))
    assert asked == ["a"]
    assert not passes(predicate, Deleted(state()))
    assert passes(predicate, STATUS)


def test_a_condition_has_changed_when_its_status_or_reason_has() -> None:
    def condition(status: str, **more: str) -> dict[str, Any]:
        return {"conditions": [{"type": "Ready", "status": status, "reason": "R", **more}]}

    flip = update(old={"status": condition("False")}, status=condition("True"))
    told = update(old={"status": condition("True")}, status=condition("True", message="another"))
    assert passes(condition_changed("Ready"), flip)
    assert passes(condition_changed(), flip)
    assert not passes(condition_changed("Other"), flip)
    assert not passes(condition_changed("Ready"), told)


def test_a_predicate_is_combined_with_operators_and_not_with_words() -> None:
    with pytest.raises(TypeError, match=r"combine predicates with \|, & and ~"):
        _ = generation_changed or label_changed
    with pytest.raises(TypeError):
        _ = generation_changed | True  # type: ignore[operator]
    assert repr(generation_changed & ~(label_changed | has_label("a"))) == (
        "(generation_changed & ~(label_changed | has_label('a')))"
    )


def test_a_predicate_is_a_predicate_and_no_function() -> None:
    made: Any = controller
    with pytest.raises(TypeError, match=r"predicate=<lambda>\): must be a Predicate; make one with where"):
        made(Web, predicate=lambda change: True)
    with pytest.raises(TypeError, match="owned"):
        owned(ConfigMap, predicate=lambda change: True)  # type: ignore[arg-type]


# On an operator


def count(predicate: Predicate | None, act: Any, **options: Any) -> list[str]:
    seen: list[str] = []

    @controller(Web, owns=options.pop("owns", []), predicate=predicate, **options)
    async def reconcile(web: Web, ctx: Context) -> None:
        seen.append(" ".join(map(str, ctx.causes)))

    async def main() -> None:
        api = FakeApi(Web, ConfigMap)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(1)
            seen.clear()
            act(api)
            await asyncio.sleep(1)

    virtual.run(main())
    return seen


def relabel(api: FakeApi) -> None:
    api.change(Web, "a", {"metadata": {"labels": {"a": "b"}}})


def test_a_change_that_a_predicate_hides_is_not_reconciled() -> None:
    assert count(None, relabel) == ["updated"]
    assert count(generation_changed, relabel) == []
    assert count(generation_changed | label_changed, relabel) == ["updated"]


def test_a_predicate_of_the_kind_says_nothing_about_its_children() -> None:
    def act(api: FakeApi) -> None:
        child = config("child", namespace="default", a="1")
        found = api.get(Web, "a")
        assert found is not None
        set_controller(found, child)
        api.put(child)

    assert count(where(lambda web: False), act, owns=[ConfigMap]) == ["added ConfigMap child"]
    assert count(None, act, owns=[owned(ConfigMap, predicate=has_label("x"))]) == []


def test_a_predicate_that_fails_lets_the_change_pass_and_is_told(caplog: pytest.LogCaptureFixture) -> None:
    def bad(web: Web) -> bool:
        raise RuntimeError("a bug")

    assert count(where(bad), relabel) == ["updated"]
    assert "predicate where(bad) failed on default/a, which passes" in caplog.text


def test_no_predicate_hides_a_deletion_from_who_finalizes() -> None:
    finalized: list[str] = []

    async def clean(web: Web, ctx: Context) -> None:
        finalized.append(web.metadata.name)

    @controller(Web, predicate=label_changed, finalize=clean)
    async def reconcile(web: Web, ctx: Context) -> None: ...

    async def main() -> None:
        api = FakeApi(Web)
        async with running(api, reconcile):
            api.put(web())
            await asyncio.sleep(1)
            api.remove(Web, "a")
            await asyncio.sleep(1)
            assert api.get(Web, "a") is None

    virtual.run(main())
    assert finalized == ["a"]


def test_what_a_cause_says_has_changed() -> None:
    found: list[frozenset[str]] = []

    @controller(Web)
    async def reconcile(web: Web, ctx: Context) -> None:
        found.extend(cause.changed for cause in ctx.causes)
        await asyncio.sleep(1)

    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        async with running(api, reconcile):
            await asyncio.sleep(0.5)
            api.change(Web, "a", {"spec": {"replicas": 2}})
            api.change(Web, "a", {"metadata": {"labels": {"a": "b"}}})
            await asyncio.sleep(5)
            api.change(Web, "a", {"status": {"seen": "x"}}, at="status")
            await asyncio.sleep(5)

    virtual.run(main())
    assert found == [frozenset(), frozenset({"spec", "labels"}), frozenset({"status"})]
