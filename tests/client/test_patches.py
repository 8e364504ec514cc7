"""Patches and their locks; retry_on_conflict."""

from __future__ import annotations

import asyncio
import json

import pytest
from web_model import WebSpec, web

import virtual
from kubewright.client.errors import AlreadyExists, Conflict
from kubewright.client.patches import JsonPatch, MergePatch, StrategicPatch
from kubewright.client.retry import retry_on_conflict


def test_a_patch_is_encoded_once_with_models_anywhere_in_it() -> None:
    assert MergePatch({"spec": WebSpec(image="x")}).body == b'{"spec":{"image":"x","replicas":1}}'
    assert MergePatch(WebSpec(image="x")).body == b'{"image":"x","replicas":1}'
    assert JsonPatch([{"op": "add", "path": "/spec", "value": WebSpec(image="x")}]).body == (
        b'[{"op":"add","path":"/spec","value":{"image":"x","replicas":1}}]'
    )


def test_bytes_are_sent_as_they_are() -> None:
    assert StrategicPatch(b"{ }").body == b"{ }"
    assert JsonPatch(b"[ ]").body == b"[ ]"


def test_a_lock_is_put_into_the_metadata_and_without_one_there_is_none() -> None:
    changes = {"metadata": {"labels": {"a": "b"}}}
    assert json.loads(MergePatch(changes, resource_version="7").body) == {
        "metadata": {"labels": {"a": "b"}, "resourceVersion": "7"}
    }
    assert json.loads(MergePatch(changes).body) == changes
    assert json.loads(MergePatch(b"{}", resource_version="7").body) == {"metadata": {"resourceVersion": "7"}}
    assert json.loads(StrategicPatch({"metadata": None}, resource_version="7").body)["metadata"] == {
        "resourceVersion": "7"
    }


def test_a_patch_between_two_documents_has_what_differs() -> None:
    patch = MergePatch.between({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 2, "d": 4}})
    assert json.loads(patch.body) == {"a": None, "b": {"d": 4}}
    assert MergePatch.between({"a": 1}, {"a": 1}).body == b"{}"
    assert json.loads(MergePatch.between({}, {}, resource_version="7").body) == {"metadata": {"resourceVersion": "7"}}


def test_patches_are_values() -> None:
    assert MergePatch({"a": 1}) == MergePatch(b'{"a":1}')
    assert MergePatch({}) != StrategicPatch({})
    assert JsonPatch([]) == JsonPatch(b"[]")
    assert len({MergePatch({}), MergePatch({}), StrategicPatch({}), JsonPatch([]), JsonPatch([])}) == 3
    assert repr(MergePatch({"a": 1})) == 'MergePatch({"a":1})'
    assert repr(JsonPatch([])) == "JsonPatch([])"


class Flaky:
    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return web().metadata.name


def test_a_conflict_is_tried_again_with_a_fresh_read_each_time() -> None:
    fn = Flaky(Conflict(), Conflict(), Conflict(), Conflict())

    async def main() -> float:
        assert await retry_on_conflict(fn) == "a"
        return asyncio.get_running_loop().time() - virtual.START_AT

    assert 0.04 <= virtual.run(main()) <= 0.0441
    assert fn.calls == 5


def test_the_last_conflict_is_told() -> None:
    fn = Flaky(*[Conflict(message=str(number)) for number in range(9)])
    with pytest.raises(Conflict, match="2"):
        virtual.run(retry_on_conflict(fn, attempts=3))
    assert fn.calls == 3


def test_nothing_but_a_conflict_is_tried_again() -> None:
    fn = Flaky(AlreadyExists())
    with pytest.raises(AlreadyExists):
        virtual.run(retry_on_conflict(fn))
    assert fn.calls == 1


def test_no_attempt_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="attempts"):
        virtual.run(retry_on_conflict(Flaky(), attempts=0))
