from __future__ import annotations

import copy
from typing import Annotated

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.model import (
    Condition,
    Model,
    ObjectMeta,
    OwnerReference,
    decode,
    encode,
    overlaid,
    overlay,
    same_json,
    to_dict,
    unstructured,
)

from .kinds import Container, Port, Web, WebSpec
from .strategies import scalars

# -- over any JSON ----------------------------------------------------------------------------------------------------

KNOWN, UNKNOWN = ["a", "b", "c"], ["u", "v"]


def json_of(names):
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(names), inner, max_size=4),
        max_leaves=14,
    )


def objects_of(names):
    return st.dictionaries(st.sampled_from(names), json_of(names), max_size=5)


def view(value):
    """What a class that knows a, b and c would read."""
    if isinstance(value, dict):
        return {name: view(item) for name, item in value.items() if name in KNOWN}
    return [view(item) for item in value] if isinstance(value, list) else value


@st.composite
def changes(draw, value):
    """The value with a few things changed, at any depth."""
    choice = draw(st.integers(0, 9))
    if choice == 0:
        return draw(json_of(KNOWN))
    if isinstance(value, dict):
        kept = {name: draw(changes(item)) for name, item in value.items() if draw(st.integers(0, 7))}
        return {**kept, **draw(objects_of(KNOWN))} if choice == 1 else kept
    if isinstance(value, list):
        kept = [draw(changes(item)) for item in value if draw(st.integers(0, 7))]
        if choice == 1:
            kept.insert(draw(st.integers(0, len(kept))), draw(json_of(KNOWN)))
        return draw(st.permutations(kept)) if choice == 2 else kept
    return value


@st.composite
def change_of_object(draw):
    origin = draw(objects_of(KNOWN + UNKNOWN))
    after = {name: draw(changes(item)) for name, item in view(origin).items() if draw(st.integers(0, 7))}
    return origin, after


def without_empty_parts(value):
    return {name: item for name, item in value.items() if item != {}}


def unknown_of(value):
    return {name: item for name, item in value.items() if name not in KNOWN}


def check_unknown(origin, after, result):
    """Every object that was and still is one has its unknown fields."""
    if isinstance(origin, dict) and isinstance(after, dict):
        assert same_json(unknown_of(origin), unknown_of(result))
        for name in origin.keys() & after.keys():
            check_unknown(origin[name], after[name], result[name])


@given(objects_of(KNOWN + UNKNOWN))
def test_no_change_is_the_origin(origin):
    seen = view(origin)
    assert same_json(overlay(orjson.dumps(origin), seen, copy.deepcopy(seen)), origin)


@settings(max_examples=60)
@given(change_of_object())
def test_the_typed_view_of_the_result_is_the_changed_one(change):
    origin, after = change
    result = overlay(origin, view(origin), after)
    assert same_json(without_empty_parts(view(result)), without_empty_parts(after))


@settings(max_examples=60)
@given(change_of_object())
def test_unknown_fields_of_every_object_that_is_still_there_are_unchanged(change):
    origin, after = change
    check_unknown(origin, after, overlay(origin, view(origin), after))


@settings(max_examples=60)
@given(change_of_object())
def test_nothing_that_is_passed_in_is_changed(change):
    origin, after = change
    before = view(origin)
    was = copy.deepcopy((origin, before, after))
    overlay(origin, before, after)
    assert (origin, before, after) == was


@given(st.lists(objects_of(KNOWN + UNKNOWN), max_size=4), st.randoms())
def test_items_that_only_change_places_take_their_unknown_fields_along(items, random):
    items = [{**item, "a": place} for place, item in enumerate(items)]
    order = list(range(len(items)))
    random.shuffle(order)
    moved = [items[place] for place in order]
    assert same_json(overlay({"l": items}, view_list(items), view_list(moved)), {"l": moved})


def view_list(items):
    return {"l": view(items)}


# -- over a class -----------------------------------------------------------------------------------------------------

RAW = {
    "apiVersion": "example.com/v1",
    "kind": "Web",
    "new": {"top": 1},
    "metadata": {
        "name": "a",
        "newMeta": True,
        "labels": {"x": "y"},
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u1", "newRef": 1},
            {"apiVersion": "v1", "kind": "Node", "name": "m", "uid": "u2", "newRef": 2},
        ],
    },
    "spec": {
        "image": "x",
        "newSpec": [1, 2],
        "containers": [
            {"name": "one", "image": "i", "newContainer": 1, "resources": {"limits": {}, "newResources": 1}},
            {"name": "two", "ports": [{"number": 1, "newPort": 1}], "newContainer": 2},
        ],
        "settings": {"p": {"number": 5, "newPort": 5}},
        "ports": None,
    },
    "status": {"ready": 1, "newStatus": "z", "conditions": []},
}


def read(raw=None):
    return decode(Web, orjson.dumps(RAW if raw is None else raw))


def test_an_unchanged_object_is_sent_as_it_was_read():
    assert overlaid(read()) == RAW


def test_items_are_matched_by_the_keys_that_the_class_names():
    web = read()
    one, two = web.spec.containers
    one.image, one.name, two.ports[0].number = "j", "renamed", 2
    web.spec.containers = [Container(name="zero"), two, one]
    assert overlaid(web)["spec"]["containers"] == [
        {"name": "zero"},
        {"name": "two", "ports": [{"number": 2, "newPort": 1}], "newContainer": 2},
        {"name": "renamed", "image": "j", "resources": {}},
    ]


def test_owner_references_are_matched_by_uid_and_conditions_by_type():
    conditions = [
        {"type": kind, "status": "True", "reason": "R", "message": "", "extra": kind} for kind in ("Ready", "Scaled")
    ]
    web = read({**RAW, "status": {"conditions": conditions}})
    web.metadata.owner_references.reverse()
    web.metadata.owner_references[0].name = "changed"
    web.metadata.owner_references.insert(0, OwnerReference(api_version="v1", kind="Node", name="o", uid="u0"))
    web.status.conditions[1].status = "False"
    del web.status.conditions[0]
    web.status.conditions.append(Condition(type="New", status="True", reason="R"))
    sent = overlaid(web)
    assert [(each["uid"], each["name"], each.get("newRef")) for each in sent["metadata"]["ownerReferences"]] == [
        ("u0", "o", None),
        ("u2", "changed", 2),
        ("u1", "n", 1),
    ]
    assert [(each["type"], each["status"], each.get("extra")) for each in sent["status"]["conditions"]] == [
        ("Scaled", "False", "Scaled"),
        ("New", "True", None),
    ]


class ListMap:
    keys = ("number",)


class Marked(Model):
    ports: Annotated[list[Port], ListMap()] | None = None


def test_keys_come_from_a_marker_in_the_annotation_as_well():
    origin = {"ports": [{"number": 1, "u": 1}, {"number": 2, "u": 2}]}
    spec = decode(Marked, orjson.dumps(origin))
    before = to_dict(spec)
    spec.ports[1].name = "two"
    del spec.ports[0]
    assert overlay(origin, before, to_dict(spec), Marked)["ports"] == [{"number": 2, "u": 2, "name": "two"}]


def test_without_keys_the_item_with_most_in_common_is_the_one_that_was():
    origin = {"l": [{"a": 1, "b": 1, "u": "first"}, {"a": 2, "b": 2, "u": "second"}]}
    before = {"l": [{"a": 1, "b": 1}, {"a": 2, "b": 2}]}
    # The first is gone, the second changed, and a new one is between that shares nothing.
    assert overlay(origin, before, {"l": [{"a": 7, "b": 7}, {"a": 2, "b": 3}]})["l"] == [
        {"a": 7, "b": 7, "u": "first"},
        {"a": 2, "b": 3, "u": "second"},
    ]
    assert overlay(origin, before, {"l": [{"a": 2, "b": 3}]})["l"] == [{"a": 2, "b": 3, "u": "second"}]


def test_without_keys_and_anything_in_common_the_place_decides():
    assert overlay({"l": [{"a": 1, "u": 1}]}, {"l": [{"a": 1}]}, {"l": [{"a": 2}]}) == {"l": [{"a": 2, "u": 1}]}
    assert overlay({"l": [{"a": 1, "u": 1}]}, {"l": [{"a": 1}]}, {"l": [2, {"a": 2}]}) == {"l": [2, {"a": 2}]}


def test_very_long_lists_without_keys_go_by_place():
    items = [{"a": place, "u": place} for place in range(300)]
    after = [{"a": -1 - place} for place in range(300)]
    assert overlay({"l": items}, view_list(items), {"l": after})["l"] == [
        {"a": -1 - place, "u": place} for place in range(300)
    ]


def test_an_emptied_status_keeps_what_others_have_in_it():
    web = read({**RAW, "status": {"phase": "Up", "newStatus": "z"}})
    web.status.phase = None
    assert overlaid(web)["status"] == {"newStatus": "z"}


def test_removing_an_optional_part_removes_all_of_it():
    web = read()
    web.spec.containers[0].resources = None
    assert "resources" not in overlaid(web)["spec"]["containers"][0]


def test_map_values_are_matched_by_name():
    web = read()
    web.spec.settings["p"].name = "x"
    web.spec.settings["q"] = Port(number=6)
    assert overlaid(web)["spec"]["settings"] == {
        "p": {"number": 5, "newPort": 5, "name": "x"},
        "q": {"name": "", "number": 6},
    }
    del web.spec.settings["p"]
    assert overlaid(web)["spec"]["settings"] == {"q": {"name": "", "number": 6}}


def test_a_null_that_was_read_stays_until_the_field_is_set():
    web = read()
    assert overlaid(web)["spec"]["ports"] is None
    web.spec.ports.append(Port(number=1))
    assert overlaid(web)["spec"]["ports"] == [{"name": "", "number": 1}]


def test_a_default_that_was_absent_is_sent_only_when_it_is_changed():
    web = read()
    assert "replicas" not in overlaid(web)["spec"]
    web.spec.replicas = 2
    assert overlaid(web)["spec"]["replicas"] == 2


def test_labels_can_be_cleared():
    web = read()
    web.metadata.labels = {}
    sent = overlaid(web)
    assert "labels" not in sent["metadata"]
    assert sent["metadata"]["newMeta"] is True


def test_an_object_that_was_made_here_is_its_own_dump():
    web = Web(spec=WebSpec(image="x"), metadata=ObjectMeta(name="a"))
    assert overlaid(web) == to_dict(web)


def test_an_item_of_a_list_gets_its_kind():
    raw = {name: value for name, value in RAW.items() if name not in ("apiVersion", "kind")}
    assert overlaid(read(raw)) == RAW


def test_copies_remember_the_origin():
    web = copy.deepcopy(read())
    web.spec.image = "y"
    assert overlaid(web) == {**RAW, "spec": {**RAW["spec"], "image": "y"}}


def test_objects_without_a_class_keep_unknown_metadata():
    cls = unstructured("example.com/v1", "Web")
    obj = decode(cls, orjson.dumps(RAW))
    obj["spec"]["image"] = "y"
    obj.metadata.labels["x"] = "z"
    sent = overlaid(obj)
    assert sent["metadata"] == {**RAW["metadata"], "labels": {"x": "z"}}
    assert sent["spec"] == {**RAW["spec"], "image": "y"}


def test_what_is_sent_is_read_as_the_object_that_was_changed():
    web = read()
    web.spec.containers[1].ports.append(Port(number=9))
    web.spec.settings.clear()
    web.status.ready = 5
    assert encode(decode(Web, orjson.dumps(overlaid(web)))) == encode(web)
