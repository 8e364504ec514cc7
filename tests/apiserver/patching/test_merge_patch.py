"""JSON merge patch: the examples and the laws of RFC 7386."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.apiserver.patching import PatchError, merge_patch

LEAVES = st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2)
NAMES = st.sampled_from("abcd")


def _documents(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    inner = st.recursive(
        leaves,
        lambda below: st.lists(LEAVES, max_size=3) | st.dictionaries(NAMES, below, max_size=3),
        max_leaves=10,
    )
    return st.dictionaries(NAMES, inner, max_size=4)


DOCUMENTS = _documents(LEAVES)
PATCHES = _documents(st.none() | LEAVES)


@pytest.mark.parametrize(
    ("document", "patch", "wanted"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": 1}}),
    ],
)
def test_the_examples_of_the_rfc(document: dict[str, Any], patch: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert merge_patch(document, patch) == wanted


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (None, "Invalid JSON Patch"),
        ([], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (5, "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}"),
        (True, "error decoding patch: json: cannot unmarshal bool into Go value of type map[string]interface {}"),
    ],
)
def test_a_patch_that_is_no_object_is_400(patch: Any, message: str) -> None:
    with pytest.raises(PatchError) as refused:
        merge_patch({"a": 1}, patch)
    assert (refused.value.code, refused.value.message) == (400, message)


@given(DOCUMENTS, PATCHES)
def test_what_goes_in_stays_as_it_was(document: dict[str, Any], patch: dict[str, Any]) -> None:
    before = copy.deepcopy((document, patch))
    merge_patch(document, patch)
    assert (document, patch) == before


@given(DOCUMENTS, PATCHES)
def test_a_patch_twice_is_a_patch_once(document: dict[str, Any], patch: dict[str, Any]) -> None:
    once = merge_patch(document, patch)
    assert merge_patch(once, patch) == once


@given(DOCUMENTS, PATCHES)
def test_no_null_of_a_patch_is_stored(document: dict[str, Any], patch: dict[str, Any]) -> None:
    def has_null(value: Any) -> bool:
        if isinstance(value, dict):
            return any(each is None or has_null(each) for each in value.values())
        return isinstance(value, list) and any(map(has_null, value))

    assert not has_null(merge_patch(document, patch))


@given(DOCUMENTS)
def test_an_empty_patch_changes_nothing(document: dict[str, Any]) -> None:
    assert merge_patch(document, {}) == document
