"""Whether the answer to a status is what was settled: by its bytes where that can be told, else by the object."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import orjson
import pytest

from kubewright import unstructured
from kubewright.cache.frame import entry_of
from kubewright.controller import status
from kubewright.controller.status import StatusDraft
from kubewright.model import Object, decode
from running import NOON
from webs import Web

AnyWeb = unstructured("example.com/v1", "Web", plural="webs")
MANAGED = [{"manager": "x", "operation": "Update", "fieldsV1": {"f:spec": {"f:metadata": {}}}}]
STORED: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Web",
    "metadata": {
        "annotations": {"note": 'managedFields "resourceVersion" \u00e9'},
        "generation": 3,
        "labels": {"a": "1", "b": "2"},
        "managedFields": MANAGED,
        "name": "a",
        "namespace": "default",
        "resourceVersion": "7",
        "uid": "u",
    },
    "spec": {"image": "nginx", "replicas": 3, "unknown": {"x": 1}},
    "status": {"ready": 1, "newer": 1.0},
}


def settled(kind: type[Object], read: dict[str, Any], ready: int = 2) -> StatusDraft:
    """A draft of an object that the cache has, after its reconcile has set `ready`."""
    obj: Any = decode(kind, entry_of(orjson.dumps(read)).data)
    draft = StatusDraft(obj)
    if kind is Web:
        obj.status.ready = ready
    else:
        obj.content.setdefault("status", {})["ready"] = ready
    assert draft.settle(NOON)
    return draft


def answered(read: dict[str, Any], ready: int = 2) -> dict[str, Any]:
    """What a server makes of it if nobody else has a hand in it."""
    made = copy.deepcopy(read)
    made["metadata"] |= {"resourceVersion": "8", "managedFields": [*MANAGED, *MANAGED]}
    made.setdefault("status", {})["ready"] = ready
    return made


def is_in(draft: StatusDraft, answer: dict[str, Any], **options: int) -> bool:
    return draft.is_in(entry_of(orjson.dumps(answer, **options)))


@pytest.mark.parametrize("kind", [Web, AnyWeb])
@pytest.mark.parametrize("before", [{"status": {"ready": 1, "seen": "b"}}, {}])
def test_the_answer_of_a_server_is_not_decoded(
    kind: type[Object], before: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = {name: part for name, part in STORED.items() if name != "status"} | before
    draft = settled(kind, read)

    def refuse(kind: type[Object], data: bytes) -> Object:
        raise AssertionError(data)

    monkeypatch.setattr(status, "decode", refuse)
    assert is_in(draft, answered(read), option=orjson.OPT_APPEND_NEWLINE)


def test_an_answer_that_is_spelt_otherwise_is_known_by_its_object() -> None:
    draft, answer = settled(Web, STORED), answered(STORED)
    assert is_in(draft, answer, option=orjson.OPT_INDENT_2)
    assert is_in(draft, dict(reversed(answer.items())))


def test_what_a_transform_has_left_out_is_known_by_the_object() -> None:
    kept = {name: part for name, part in STORED.items() if name != "spec"} | {"spec": {"image": "nginx", "replicas": 3}}
    assert is_in(settled(Web, kept), answered(STORED))


@pytest.mark.parametrize("kind", [Web, AnyWeb])
@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("metadata", "labels"), {"a": "1", "b": "3"}),
        (("metadata", "labels"), None),
        (("metadata", "finalizers"), ["example.com/a"]),
        (("metadata", "deletionTimestamp"), "2026-01-01T00:00:00Z"),
        (("metadata", "generation"), 4),
        (("metadata", "uid"), "v"),
        (("spec", "replicas"), 4),
        (("status", "ready"), 3),
        (("status", "seen"), "by another"),
        (("status",), {}),
    ],
)
def test_what_anybody_else_has_changed_is_in_no_echo(kind: type[Object], at: tuple[str, ...], value: Any) -> None:
    answer = answered(STORED)
    place = answer
    for name in at[:-1]:
        place = place[name]
    place[at[-1]] = value
    assert not is_in(settled(kind, STORED), answer)


def test_numbers_and_truth_are_told_apart_in_a_status_without_a_class() -> None:
    read = {**STORED, "status": {"ready": 4}}
    for other in (True, 1.0):
        answer = answered(read, 1)
        assert is_in(settled(AnyWeb, read, 1), answer)
        answer["status"]["ready"] = other
        assert not is_in(settled(AnyWeb, read, 1), answer)


PLACES: list[tuple[str, ...]] = [
    ("metadata",),
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("spec",),
    ("spec", "unknown"),
    ("status",),
    (),
]
NAMES = ["a", "labels", "generation", "finalizers", "replicas", "x", "ready", "seen", "newer", "spec", "extra"]
VALUES: dict[str, list[Any]] = {
    "labels": [{}, {"a": "1"}, {"b": "2", "a": "1"}],
    "generation": [3, 4],
    "finalizers": [[], ["a.io/b"]],
    "replicas": [1, 3, 4],
    "ready": [0, 1, 2],
    "seen": ["", "x"],
    "spec": [{}, {"image": "nginx", "replicas": 3}],
    "a": ["1", "2"],
}


def shaken(made: dict[str, Any], random: Random) -> dict[str, Any]:
    """With a few changes anywhere, most of which keep what the class knows."""
    made = copy.deepcopy(made)
    for _ in range(random.choice([0, 1, 1, 2])):
        place: Any = made
        for name in random.choice(PLACES):
            place = place.setdefault(name, {})
        name = random.choice(NAMES)
        if random.random() < 0.3:
            place.pop(name, None)
        elif random.random() < 0.3:
            items = random.sample([*place.items()], len(place))
            place.clear()
            place.update(items)
        else:
            place[name] = copy.deepcopy(random.choice(VALUES.get(name, [1, 1.0, True, "1", None])))
    return made


@pytest.mark.parametrize("kind", [Web, AnyWeb])
@pytest.mark.parametrize("seed", range(20))
def test_bytes_and_objects_give_one_result(kind: type[Object], seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    results = set()
    for _ in range(60):
        read = shaken(STORED, random)
        read["metadata"]["resourceVersion"] = "7"
        try:
            draft = settled(kind, read)
        except (ValueError, AssertionError):
            continue  # none of its class, or nothing to write
        answer = shaken(answered(read), random)
        answer["metadata"]["resourceVersion"] = "8"
        found = _outcome(draft, answer)
        with monkeypatch.context() as patched:
            patched.setattr(status, "_is_with", lambda *_: False)
            assert found == _outcome(draft, answer), (read, answer)
        results.add(found)
    assert results >= {True, False}


def _outcome(draft: StatusDraft, answer: dict[str, Any]) -> bool | None:
    try:
        return is_in(draft, answer)
    except ValueError:
        return None
