from __future__ import annotations

import copy
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kubewright.model import (
    JSONPatchError,
    PatchTestFailed,
    json_apply,
    json_diff,
    merge_apply,
    merge_diff,
    pointer,
    same_json,
    split_pointer,
)

from .strategies import objects, objects_without_null, values

# -- equality ---------------------------------------------------------------------------------------------------------


@given(values, values)
def test_values_are_the_same_json_when_they_print_the_same(left, right):
    def printed(value):  # 1.0 is 1
        return json.dumps(json.loads(json.dumps(value), parse_float=lambda text: float(text)), sort_keys=True)

    if printed(left) == printed(right):
        assert same_json(left, right)
    assert same_json(left, right) == same_json(right, left)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ([1], [True], False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([], {}, False),
        (None, False, False),
        ("", None, False),
        ([1, 2], [2, 1], False),
    ],
)
def test_json_equality(left, right, same):
    assert same_json(left, right) is same


# -- merge patch ------------------------------------------------------------------------------------------------------


@given(objects, objects_without_null)
def test_a_merge_patch_leads_from_before_to_after(before, after):
    was = copy.deepcopy((before, after))
    patch = merge_diff(before, after)
    assert same_json(merge_apply(before, {} if patch is None else patch), after)
    assert (before, after) == was


@given(objects)
def test_no_difference_is_no_patch(document):
    assert merge_diff(document, copy.deepcopy(document)) is None
    assert same_json(merge_apply(document, {}), document)


@given(objects_without_null, objects_without_null)
def test_a_merge_patch_names_only_what_differs(before, after):
    for name in merge_diff(before, after) or {}:
        assert name not in before or name not in after or not same_json(before[name], after[name])


@given(values, values)
def test_applying_a_merge_patch_twice_is_applying_it_once(document, patch):
    once = merge_apply(document, patch)
    assert same_json(merge_apply(once, patch), once)


def test_null_in_a_merge_patch_means_absent():
    assert merge_diff({"a": 1, "b": 1}, {"b": 1}) == {"a": None}
    assert merge_apply({"a": 1}, merge_diff({"a": 1}, {"a": None})) == {}
    assert merge_diff({"a": None}, {"a": None}) is None


def test_lists_are_replaced_as_a_whole_with_the_nulls_in_them():
    patch = merge_diff({"a": [1, {"b": 2}]}, {"a": [{"b": None}]})
    assert patch == {"a": [{"b": None}]}
    assert merge_apply({"a": [1]}, patch) == {"a": [{"b": None}]}


# The examples of RFC 7386, appendix A.
@pytest.mark.parametrize(
    ("document", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patches_apply_as_the_rfc_shows(document, patch, result):
    assert merge_apply(document, patch) == result


# -- pointers ---------------------------------------------------------------------------------------------------------


@given(st.lists(st.text("ab/~0 1", max_size=4), max_size=4))
def test_a_pointer_is_split_into_what_it_was_made_of(parts):
    assert split_pointer(pointer(*parts)) == parts


def test_pointers_escape_slash_and_tilde():
    assert pointer("metadata", "annotations", "a/b~c", 0) == "/metadata/annotations/a~1b~0c/0"
    assert split_pointer("/~01") == ["~1"]
    with pytest.raises(ValueError, match="does not start with '/'; write it as '/a'"):
        split_pointer("a")
    with pytest.raises(ValueError, match="has a bare '~'; write '~0'"):
        split_pointer("/a~b")


# -- JSON patch -------------------------------------------------------------------------------------------------------


@given(values, values, st.booleans())
def test_a_json_patch_leads_from_before_to_after(before, after, guarded):
    was = copy.deepcopy((before, after))
    operations = json_diff(before, after, guarded=guarded)
    assert same_json(json_apply(before, operations), after)
    assert (before, after) == was
    assert bool(operations) == (not same_json(before, after))


@given(values, values, st.data())
def test_a_guarded_patch_fails_where_something_that_it_changes_has_changed(before, after, data):
    operations = json_diff(before, after, guarded=True)
    tests = [each for each in operations if each["op"] == "test"]
    assume(tests)
    place = data.draw(st.sampled_from(tests))["path"]
    live = json_apply(before, [{"op": "replace", "path": place, "value": "changed by another"}])
    with pytest.raises(PatchTestFailed):
        json_apply(live, operations)


@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), max_size=8))
def test_equal_ends_of_a_list_are_left_alone(before, after):
    operations = json_diff({"l": before}, {"l": after})
    assert len(operations) <= max(len(before), len(after))
    assert json_apply({"l": before}, operations) == {"l": after}


def test_guards_test_the_whole_of_a_list_and_the_leaf_of_an_object():
    operations = json_diff({"a": {"b": 1}, "l": [1, 2], "x": 1}, {"a": {"b": 2}, "l": [1, 3], "n": 1}, guarded=True)
    assert operations == [
        {"op": "test", "path": "/a/b", "value": 1},
        {"op": "replace", "path": "/a/b", "value": 2},
        {"op": "test", "path": "/l", "value": [1, 2]},
        {"op": "replace", "path": "/l/1", "value": 3},
        {"op": "test", "path": "/x", "value": 1},
        {"op": "remove", "path": "/x"},
        {"op": "add", "path": "/n", "value": 1},
    ]


@pytest.mark.parametrize(
    ("document", "operations", "result"),
    [
        ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"foo": "bar", "baz": "qux"}),
        ({"foo": ["a", "b"]}, [{"op": "add", "path": "/foo/1", "value": "x"}], {"foo": ["a", "x", "b"]}),
        ({"foo": ["a"]}, [{"op": "add", "path": "/foo/-", "value": ["x"]}], {"foo": ["a", ["x"]]}),
        ({"foo": ["a"]}, [{"op": "add", "path": "/foo/1", "value": "x"}], {"foo": ["a", "x"]}),
        ({"foo": ["a", "b"]}, [{"op": "remove", "path": "/foo/0"}], {"foo": ["b"]}),
        ({"a": 1}, [{"op": "replace", "path": "/a", "value": None}], {"a": None}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": 2}], 2),
        ({"a": 1}, [{"op": "add", "path": "", "value": [1]}], [1]),
        ({"a": {"x": 1}, "b": {}}, [{"op": "move", "from": "/a/x", "path": "/b/y"}], {"a": {}, "b": {"y": 1}}),
        ({"l": [1, 2, 3]}, [{"op": "move", "from": "/l/0", "path": "/l/2"}], {"l": [2, 3, 1]}),
        ({"a": 1}, [{"op": "move", "from": "/a", "path": "/a"}], {"a": 1}),
        ({"a": {"x": 1}}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": {"x": 1}, "b": {"x": 1}}),
        ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
        ({"": {"0": 1}}, [{"op": "replace", "path": "//0", "value": 2}], {"": {"0": 2}}),
        ({"a": 1}, [{"op": "test", "path": "/a", "value": 1.0, "extra": "ignored"}], {"a": 1}),
    ],
)
def test_json_patches_apply_as_the_rfc_says(document, operations, result):
    assert json_apply(document, operations) == result


@pytest.mark.parametrize(
    ("document", "operation", "rule"),
    [
        ({}, {"op": "remove", "path": "/a"}, "(remove '/a'): there is no /a"),
        ({}, {"op": "replace", "path": "/a", "value": 1}, "there is no /a"),
        ({}, {"op": "add", "path": "/a/b", "value": 1}, "there is no /a"),
        ({"l": []}, {"op": "remove", "path": "/l/0"}, "there is no /l/0; the list has 0 items"),
        ({"l": []}, {"op": "add", "path": "/l/1", "value": 1}, "no place 1 to insert at; the list has 0 items"),
        ({"l": [1]}, {"op": "remove", "path": "/l/-"}, "/l/- does not name a place in a list"),
        ({"l": [1]}, {"op": "remove", "path": "/l/00"}, "/l/00 does not name a place in a list"),
        ({"l": [1]}, {"op": "add", "path": "/l/-1", "value": 1}, "/l/-1 does not name a place in a list"),
        ({"a": 1}, {"op": "add", "path": "/a/b", "value": 1}, "/a is neither object nor list"),
        ({"a": 1}, {"op": "remove", "path": "/a/b"}, "there is no /a/b; /a is neither object nor list"),
        ({"a": 1}, {"op": "remove", "path": ""}, "the whole document cannot be removed; replace it"),
        ({"a": 1}, {"op": "test", "path": "/b", "value": None}, "there is no /b"),
        ({"a": {}}, {"op": "move", "from": "/a", "path": "/a/b"}, "a value cannot move into itself; copy it"),
        ({"a": 1}, {"op": "move", "path": "/b"}, "has no 'from'; give it as a JSON pointer"),
        ({"a": 1}, {"op": "add", "path": "/b"}, "has no 'value'; give one, null included"),
        ({"a": 1}, {"op": "add", "value": 1}, "has no 'path'"),
        ({"a": 1}, {"op": "add", "path": "b", "value": 1}, "JSON pointer 'b': does not start with '/'"),
        ({"a": 1}, {"op": "merge", "path": "/a"}, "is no operation; use add, remove, replace, move, copy or test"),
        ({"a": 1}, {"path": "/a"}, "is no operation"),
    ],
)
def test_what_cannot_be_applied_is_an_error_that_names_the_operation(document, operation, rule):
    before = copy.deepcopy(document)
    with pytest.raises(JSONPatchError) as caught:
        json_apply(document, [{"op": "add", "path": "/z", "value": 1}, operation])
    assert str(caught.value).startswith("JSON patch operation 1 (")
    assert rule in str(caught.value)
    assert not isinstance(caught.value, PatchTestFailed)
    assert caught.value.index == 1
    assert document == before


def test_a_failed_test_is_an_error_of_its_own_kind():
    with pytest.raises(PatchTestFailed, match="the value is 1 and not True; read the object again"):
        json_apply({"a": 1}, [{"op": "test", "path": "/a", "value": True}])


def test_the_patch_shares_nothing_with_the_result():
    value = {"x": []}
    result = json_apply({}, [{"op": "add", "path": "/a", "value": value}, {"op": "copy", "from": "/a", "path": "/b"}])
    result["a"]["x"].append(1)
    assert result == {"a": {"x": [1]}, "b": {"x": []}}
    assert value == {"x": []}
