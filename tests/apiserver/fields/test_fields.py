"""Field sets, differences, merging: what always holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.apiserver.fields.merging import merge, remove
from kubewright.apiserver.fields.paths import decoded, encoded, ordered, shown
from kubewright.apiserver.fields.types import FieldTypes
from kubewright.apiserver.fields.walking import compare, field_set, type_errors

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "list": {"type": "array", "items": {"type": "string"}},
        "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "items": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"name": {"type": "string"}, "value": {"type": "integer"}}},
        },
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "atomic": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "x-kubernetes-map-type": "atomic",
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
TYPES = FieldTypes(lambda name: {"type": "object", "properties": {"name": {"type": "string"}}})
TYPE = TYPES.custom({"type": "object", "properties": {"spec": SCHEMA}})

words = st.sampled_from(["a", "b", "c"])
maps = st.dictionaries(words, words, max_size=3)
items = st.lists(words, unique=True, max_size=3).flatmap(
    lambda names: st.tuples(
        *(st.fixed_dictionaries({"name": st.just(each)}, optional={"value": st.integers(0, 2)}) for each in names)
    ).map(list)
)
free = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=5,
)
specs = st.fixed_dictionaries(
    {},
    optional={
        "text": words,
        "list": st.lists(words, max_size=3),
        "set": st.lists(words, unique=True, max_size=3),
        "items": items,
        "map": maps,
        "atomic": maps,
        "free": st.dictionaries(words, free, max_size=3),
    },
)
objects = st.fixed_dictionaries({"spec": specs})
typed_objects = objects.map(lambda obj: {"spec": {name: each for name, each in obj["spec"].items() if name != "free"}})
elements = st.sampled_from(["f:a", "f:b", 'k:{"name":"a"}', 'v:"x"', "v:1", "i:0"])
paths = st.lists(elements, min_size=1, max_size=4).map(tuple)


@given(st.frozensets(paths, max_size=12))
def test_a_set_reads_back_as_it_was_written(some: frozenset[tuple[str, ...]]) -> None:
    assert decoded(encoded(some)) == some
    assert sorted(ordered(some)) == sorted(some)


@given(typed_objects, typed_objects)
def test_what_is_added_one_way_is_removed_the_other(one: Any, other: Any) -> None:
    there, back = compare(one, other, TYPE), compare(other, one, TYPE)
    assert compare(one, one, TYPE).is_empty
    assert (there.added, there.removed, there.modified) == (back.removed, back.added, back.modified)


@given(objects, objects)
def test_what_is_stated_is_there_afterwards_and_stating_it_again_changes_nothing(live: Any, stated: Any) -> None:
    merged = merge(live, stated, TYPE)
    again = merge(merged, stated, TYPE)
    assert compare(merged, again, TYPE).is_empty
    lost = field_set(stated, TYPE) - field_set(merged, TYPE)
    # An empty map, or null, is owned itself; merged into one that is not empty it is that one.
    assert all(_at(stated, path) in ({}, None, []) or _holds_nothing(_at(stated, path)) for path in lost)


@given(objects, objects)
def test_merging_keeps_what_is_not_stated(live: Any, stated: Any) -> None:
    merged = merge(live, stated, TYPE)
    difference = compare(live, merged, TYPE)
    stated_paths = field_set(stated, TYPE)
    assert all(any(path[: len(each)] == each for each in stated_paths) for path in difference.removed)


@given(objects)
def test_removing_all_that_is_owned_leaves_nothing_of_it(obj: Any) -> None:
    left = remove(obj, field_set(obj, TYPE), TYPE)
    assert not (field_set(left or {}, TYPE) & field_set(obj, TYPE)) or left is None or _only_nulls(left)


@given(objects)
def test_an_object_that_fits_has_no_errors(obj: Any) -> None:
    assert type_errors(obj, TYPE) == []


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"nonsense": 1}, ".spec.nonsense: field not declared in schema"),
        ({"text": 1}, ".spec.text: expected string, got &value.valueUnstructured{Value:1}"),
        ({"items": [{"value": 1}]}, "omits all key fields"),
        ({"items": [{"name": "a"}, {"name": "a"}]}, 'duplicate entries for key [name="a"]'),
        ({"items": [{"name": "a", "value": "x"}]}, '.spec.items[name="a"].value: expected numeric (int or float)'),
        ({"set": ["a", "a"]}, 'duplicate entries for key [="a"]'),
        ({"map": []}, ".spec.map: expected map"),
        ({"list": {}}, ".spec.list: expected list"),
    ],
)
def test_what_does_not_fit_is_said_with_its_path(spec: Any, said: str) -> None:
    found = type_errors({"spec": spec}, TYPE)
    assert len(found) == 1
    assert said in found[0]


def test_a_path_is_shown_as_conflicts_name_it() -> None:
    assert shown(("f:spec", "f:items", 'k:{"name":"a","port":80}', "f:x")) == '.spec.items[name="a",port=80].x'
    assert shown(("f:spec", "f:set", 'v:"a"')) == '.spec.set[="a"]'


def test_items_come_in_the_stated_order_and_others_stay_between_them() -> None:
    def names(*each: str) -> Any:
        return {"spec": {"items": [{"name": name} for name in each]}}

    merged = merge(names("a", "x", "b", "y", "c"), names("c", "a", "n"), TYPE)
    found = [each["name"] for each in merged["spec"]["items"]]
    assert [each for each in found if each in "can"] == ["c", "a", "n"]
    assert [each for each in found if each in "xby"] == ["x", "b", "y"]


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for element in path:
        kind, name = element[0], element[2:]
        if kind == "f":
            value = value[name]
        elif kind == "k":
            return None
        else:
            return None
    return value


def _holds_nothing(value: Any) -> bool:
    return value in ({}, [], None)


def _only_nulls(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_only_nulls, value.values()))
    return value is None
