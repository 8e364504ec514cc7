"""JSON patch as a server applies it: RFC 6902 with the liberties of the library that it uses, and with limits."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.apiserver.patching import PatchError, json_patch

DOCUMENT: dict[str, Any] = {"a": 1, "list": [1, 2, 3], "below": {"b/c": "x", "d~e": "y"}, "null": None}
NAMES = st.sampled_from(["a", "b", "c", "0", "1", "-", ""])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab/~", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(NAMES, VALUES, max_size=4)
PATHS = st.lists(NAMES, max_size=3).map(lambda parts: "".join(f"/{each}" for each in parts))
OPERATIONS = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "other"]), "path": PATHS},
    optional={"from": PATHS, "value": VALUES},
)


@pytest.mark.parametrize(
    ("operation", "path", "wanted"),
    [
        ({"op": "add", "path": "/new", "value": 1}, "new", 1),
        ({"op": "add", "path": "/a", "value": 2}, "a", 2),
        ({"op": "add", "path": "/list/1", "value": 9}, "list", [1, 9, 2, 3]),
        ({"op": "add", "path": "/list/-", "value": 9}, "list", [1, 2, 3, 9]),
        ({"op": "add", "path": "/list/3", "value": 9}, "list", [1, 2, 3, 9]),
        ({"op": "add", "path": "/list/-1", "value": 9}, "list", [1, 2, 3, 9]),
        ({"op": "remove", "path": "/list/0"}, "list", [2, 3]),
        ({"op": "remove", "path": "/list/-1"}, "list", [1, 2]),
        ({"op": "replace", "path": "/list/1", "value": 9}, "list", [1, 9, 3]),
        ({"op": "replace", "path": "/none", "value": 9}, "none", 9),
        ({"op": "move", "from": "/list/0", "path": "/list/2"}, "list", [2, 3, 1]),
        ({"op": "copy", "from": "/a", "path": "/list/0"}, "list", [1, 1, 2, 3]),
        ({"op": "replace", "path": "/below/b~1c", "value": "z"}, "below", {"b/c": "z", "d~e": "y"}),
        ({"op": "remove", "path": "/below/d~0e"}, "below", {"b/c": "x"}),
        ({"op": "test", "path": "/list", "value": [1, 2, 3]}, "a", 1),
        ({"op": "test", "path": "/nothing", "value": None}, "a", 1),
    ],
)
def test_an_operation_changes_what_it_names(operation: dict[str, Any], path: str, wanted: Any) -> None:
    assert json_patch(DOCUMENT, [operation])[path] == wanted


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (
            {"op": "remove", "path": "/nothing"},
            "error in remove for path: '/nothing': Unable to remove nonexistent key: nothing: missing value",
        ),
        (
            {"op": "add", "path": "/x/y", "value": 1},
            'add operation does not apply: doc is missing path: "/x/y": missing value',
        ),
        (
            {"op": "remove", "path": "/list/3"},
            "error in remove for path: '/list/3': Unable to access invalid index: 3: invalid index referenced",
        ),
        (
            {"op": "add", "path": "/list/x", "value": 1},
            "error in add for path: '/list/x': value was not a proper array index: 'x'",
        ),
        ({"op": "test", "path": "/a", "value": 2}, "testing value /a failed: test failed"),
        ({"op": "test", "path": "/a", "value": "1"}, "testing value /a failed: test failed"),
        ({"op": "nonsense", "path": "/a"}, "Unexpected kind: nonsense"),
        ({"path": "/a"}, "Unexpected kind: unknown"),
        ({"op": "add", "value": 1}, "operation missing path field: missing value"),
        ({"op": "move", "path": "/a"}, "operation missing from field: missing value"),
        ({"op": "replace", "path": "", "value": 5}, "replace operation value must be object or array"),
    ],
)
def test_an_operation_that_does_not_fit_is_422_without_its_reason(operation: dict[str, Any], why: str) -> None:
    with pytest.raises(PatchError) as refused:
        json_patch(DOCUMENT, [operation])
    assert (refused.value.code, refused.value.reason) == (422, "Invalid")
    assert refused.value.message == "the server rejected our request due to an error in our request"
    assert refused.value.why == why


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ({"op": "add"}, "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        (["x"], "json: cannot unmarshal string into Go value of type handlers.jsonPatchOp"),
        ([{"op": 1}], "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"),
    ],
)
def test_what_is_no_list_of_operations_is_400(operations: Any, message: str) -> None:
    with pytest.raises(PatchError) as refused:
        json_patch(DOCUMENT, operations)
    assert (refused.value.code, refused.value.message) == (400, f"error decoding patch: {message}")


def test_ten_thousand_operations_are_the_most() -> None:
    test = {"op": "test", "path": "/a", "value": 1}
    assert json_patch(DOCUMENT, [test] * 10_000) == DOCUMENT
    with pytest.raises(PatchError) as refused:
        json_patch(DOCUMENT, [test] * 10_001)
    assert refused.value.code == 413
    assert refused.value.message.endswith("The allowed maximum operations in a JSON patch is 10000, got 10001")


def test_copies_cannot_grow_without_end() -> None:
    doubling = [{"op": "copy", "from": "/list", "path": "/list/-"}] * 40
    with pytest.raises(PatchError) as refused:
        json_patch(DOCUMENT, doubling)
    assert "accumulated size increase of copy is too large" in refused.value.why


def test_strict_decoding_hears_of_unknown_members() -> None:
    unknown: list[str] = []
    json_patch(DOCUMENT, [{"op": "test", "path": "/a", "value": 1, "note": "x"}], unknown)
    assert unknown == ['json patch unknown field "[0].note"']


@given(DOCUMENTS, st.lists(OPERATIONS, max_size=4))
def test_what_goes_in_stays_as_it_was(document: dict[str, Any], operations: list[dict[str, Any]]) -> None:
    before = copy.deepcopy((document, operations))
    try:
        json_patch(document, operations)
    except PatchError:
        pass
    assert (document, operations) == before


@given(DOCUMENTS, PATHS, VALUES)
def test_what_was_added_can_be_tested_and_taken_away(document: dict[str, Any], path: str, value: Any) -> None:
    try:
        json_patch(document, [{"op": "add", "path": path, "value": value}])
    except PatchError:
        return
    if path.endswith("/-"):
        return
    added = [{"op": "add", "path": path, "value": value}, {"op": "test", "path": path, "value": value}]
    json_patch(document, [*added, {"op": "remove", "path": path}])


@given(DOCUMENTS)
def test_nothing_is_changed_by_no_operation(document: dict[str, Any]) -> None:
    assert json_patch(document, []) == document


def test_copies_of_copies_get_no_deeper_than_a_body_may() -> None:
    deep: Any = {}
    for _ in range(60):
        deep = {"a": deep}
    grows = [{"op": "copy", "from": "/a", "path": "/a" * count} for count in (60, 119, 178)]
    with pytest.raises(PatchError) as caught:
        json_patch(deep, [*grows, *grows])
    assert caught.value.why == "exceeded max depth"


@pytest.mark.parametrize(
    ("operations", "written"),
    [
        ([], {"a": 1, "list": [{"f": 1, "e": 2}], "obj": {"d": 1, "c": {"h": 1, "g": 2}}}),
        (
            [{"op": "add", "path": "/list/0/x", "value": {"n": 1, "m": 2}}],
            {"a": 1, "list": [{"e": 2, "f": 1, "x": {"n": 1, "m": 2}}], "obj": {"d": 1, "c": {"h": 1, "g": 2}}},
        ),
        (
            [{"op": "test", "path": "/obj", "value": {"c": {"g": 2, "h": 1}, "d": 1}}],
            {"a": 1, "list": [{"f": 1, "e": 2}], "obj": {"c": {"g": 2, "h": 1}, "d": 1}},
        ),
        (
            [{"op": "move", "from": "/obj/d", "path": "/b"}, {"op": "copy", "from": "/obj/c", "path": "/a"}],
            {"a": {"h": 1, "g": 2}, "b": 1, "list": [{"f": 1, "e": 2}], "obj": {"c": {"h": 1, "g": 2}}},
        ),
        (
            [{"op": "remove", "path": "/obj/c/g"}, {"op": "copy", "from": "/obj", "path": "/list/0"}],
            {"a": 1, "list": [{"c": {"h": 1}, "d": 1}, {"f": 1, "e": 2}], "obj": {"c": {"h": 1}, "d": 1}},
        ),
        ([{"op": "replace", "path": "", "value": {"z": {"n": 1, "m": 2}, "y": 1}}], {"y": 1, "z": {"n": 1, "m": 2}}),
    ],
)
def test_what_the_real_server_takes_apart_is_written_in_the_order_of_names_and_all_else_as_it_came(
    operations: list[dict[str, Any]], written: dict[str, Any]
) -> None:
    document = {"obj": {"d": 1, "c": {"h": 1, "g": 2}}, "list": [{"f": 1, "e": 2}], "a": 1}
    assert json.dumps(json_patch(document, operations)) == json.dumps(written)


def test_the_names_of_an_object_are_put_in_order_once_however_many_operations_there_are() -> None:
    compared = 0

    class Name(str):
        def __lt__(self, other: str) -> bool:
            nonlocal compared
            compared += 1
            return str(self) < other

    names = [Name(each) for each in range(200)]
    operations = [{"op": "replace", "path": f"/data/{each}", "value": 1} for each in names]
    made = json_patch({"data": dict.fromkeys(reversed(names), 0)}, operations)
    assert list(made["data"].values()) == [1] * len(names)
    assert compared < len(names) * 16
