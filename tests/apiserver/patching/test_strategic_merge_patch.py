"""Strategic merge patch: lists that are sets and maps, directives, and the laws that hold for all patches.

How a real server applies them to built-in kinds is compared in `tests/apiserver/builtin/test_builtin_patches_real.py`.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kubewright.apiserver.builtin import BuiltIn
from kubewright.apiserver.patching import PatchError, merge_patch, strategic_merge_patch

POD = BuiltIn().types.of_kind("v1", "Pod")
Object = dict[str, Any]


def _pod(*containers: Object, **spec: Any) -> Object:
    return {"metadata": {"name": "p", "finalizers": ["a/1", "a/2"]}, "spec": {"containers": list(containers), **spec}}


def _names(obj: Object) -> list[str]:
    return [each["name"] for each in obj["spec"]["containers"]]


def patched(obj: Object, patch: Object) -> Object:
    return strategic_merge_patch(obj, patch, POD)


A, B, C = ({"name": name, "image": name} for name in "abc")


def test_an_item_is_merged_by_its_key() -> None:
    made = patched(_pod(A, B), {"spec": {"containers": [{"name": "b", "image": "new"}]}})
    assert made["spec"]["containers"] == [A, {"name": "b", "image": "new"}]


def test_a_new_item_goes_before_those_that_the_patch_does_not_name() -> None:
    assert _names(patched(_pod(A, B), {"spec": {"containers": [C]}})) == ["c", "a", "b"]


def test_an_item_is_deleted_by_its_key() -> None:
    assert _names(patched(_pod(A, B), {"spec": {"containers": [{"name": "a", "$patch": "delete"}]}})) == ["b"]


def test_a_list_is_replaced_by_a_directive() -> None:
    assert _names(patched(_pod(A, B), {"spec": {"containers": [C, {"$patch": "replace"}]}})) == ["c"]


def test_an_object_is_replaced_by_a_directive() -> None:
    obj = _pod(A, nodeSelector={"a": "b"})
    made = patched(obj, {"spec": {"nodeSelector": {"$patch": "replace", "c": "d"}}})
    assert made["spec"]["nodeSelector"] == {"c": "d"}


def test_the_order_is_that_of_the_patch_for_what_it_names() -> None:
    patch = {"spec": {"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}]}}
    assert _names(patched(_pod(A, B, C), patch)) == ["b", "c", "a"]


def test_a_list_of_texts_is_a_set() -> None:
    made = patched(_pod(A), {"metadata": {"finalizers": ["a/2", "a/3"]}})
    assert sorted(made["metadata"]["finalizers"]) == ["a/1", "a/2", "a/3"]


def test_a_text_is_deleted_from_its_set() -> None:
    made = patched(_pod(A), {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/1"]}})
    assert made["metadata"]["finalizers"] == ["a/2"]


def test_only_the_retained_keys_are_left() -> None:
    obj = _pod(A, volumes=[{"name": "v", "emptyDir": {}}])
    patch = {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/x"}, "$retainKeys": ["name", "hostPath"]}]}}
    assert patched(obj, patch)["spec"]["volumes"] == [{"name": "v", "hostPath": {"path": "/x"}}]


def test_a_list_without_a_merge_key_is_one_value() -> None:
    obj = _pod(A, tolerations=[{"key": "a"}])
    assert patched(obj, {"spec": {"tolerations": [{"key": "b"}]}})["spec"]["tolerations"] == [{"key": "b"}]


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        ({"spec": {"$retainKeys": "x"}}, 400, "invalid patch format of retainKeys"),
        ({"spec": {"$retainKeys": ["a"], "b": 1}}, 400, "invalid patch format of retainKeys"),
        ({"metadata": {"$setElementOrder": []}}, 400, "invalid patch format of setElementOrder list"),
        ({"metadata": {"$deleteFromPrimitiveList": []}}, 400, "invalid patch format of primitive list"),
        ({"spec": {"$patch": "x"}}, 500, "unknown patch type: x in map: map[$patch:x]"),
        (
            {"spec": {"containers": [{"image": "x"}]}},
            500,
            "map: map[image:x] does not contain declared merge key: name",
        ),
        ({"spec": {"containers": [["x"]]}}, 500, None),
    ],
)
def test_a_bad_patch_is_refused_in_the_words_of_the_server(patch: Object, code: int, message: str | None) -> None:
    with pytest.raises(PatchError) as refused:
        patched(_pod(A), patch)
    assert refused.value.code == code
    assert message is None or refused.value.message == message


NAMES = st.sampled_from(["a", "b", "c", "d"])
CONTAINERS = st.lists(
    st.fixed_dictionaries({"name": NAMES}, optional={"image": NAMES, "args": st.lists(NAMES, max_size=2)}),
    max_size=4,
    unique_by=lambda each: each["name"],
)
PODS = st.builds(lambda containers: _pod(*containers), CONTAINERS)
LABELS = st.dictionaries(NAMES, st.none() | NAMES, max_size=3)
PATCHES = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.fixed_dictionaries(
            {},
            optional={
                "labels": LABELS,
                "finalizers": st.lists(st.sampled_from(["a/1", "a/3"]), max_size=2, unique=True),
                "$deleteFromPrimitiveList/finalizers": st.just(["a/2"]),
            },
        ),
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "containers": CONTAINERS
                | st.lists(st.fixed_dictionaries({"name": NAMES, "$patch": st.just("delete")})),
                "$setElementOrder/containers": st.permutations([{"name": each} for each in "abcd"]),
                "nodeName": st.none() | NAMES,
            },
        ),
    },
)


@given(PODS, PATCHES)
def test_what_goes_in_stays_as_it_was(obj: Object, patch: Object) -> None:
    before = copy.deepcopy((obj, patch))
    try:
        patched(obj, patch)
    except PatchError:
        pass
    assert (obj, patch) == before


@given(PODS, PATCHES)
def test_a_patch_twice_is_a_patch_once_but_for_the_order(obj: Object, patch: Object) -> None:
    try:
        once = patched(obj, patch)
        twice = patched(once, patch)
    except PatchError:
        return
    for made in (once, twice):
        made["spec"]["containers"] = sorted(made["spec"].get("containers") or [], key=lambda each: each["name"])
        made["metadata"]["finalizers"] = sorted(made["metadata"].get("finalizers") or [])
    assert once == twice


@given(PODS, CONTAINERS)
def test_every_item_of_a_patch_is_there_afterwards_and_none_is_lost(obj: Object, containers: list[Object]) -> None:
    made = patched(obj, {"spec": {"containers": containers}})
    wanted = {each["name"] for each in [*obj["spec"]["containers"], *containers]}
    assert {each["name"] for each in made["spec"]["containers"]} == wanted
    assert len(made["spec"]["containers"]) == len(wanted)


@given(PODS, LABELS)
def test_without_lists_it_is_a_merge_patch(obj: Object, labels: Object) -> None:
    patch = {"metadata": {"labels": labels}}
    assert patched(obj, patch) == merge_patch(obj, patch)


@given(PODS, st.permutations([{"name": each} for each in "abcd"]))
def test_the_order_is_the_one_that_was_asked_for(obj: Object, order: list[Object]) -> None:
    # Without any item a server cannot tell what the order is of, and says so; it never stores an empty list.
    assume(obj["spec"]["containers"])
    made = patched(obj, {"spec": {"$setElementOrder/containers": order}})
    names = _names(made)
    assert names == [each["name"] for each in order if each["name"] in names]
