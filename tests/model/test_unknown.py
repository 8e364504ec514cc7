"""Unknown fields of a class that keeps them; what was absent and comes back absent."""

from __future__ import annotations

import copy
import pickle
from typing import Any, Generic, TypeVar

import orjson
import pytest

import kubewright.model
from kubewright.client import MergePatch
from kubewright.controller.status import StatusDraft
from kubewright.model import (
    Model,
    Object,
    Resource,
    UnknownFields,
    clone,
    decode,
    encode,
    from_dict,
    now,
    overlaid,
    resource,
    to_dict,
)

T = TypeVar("T")
Renamed = UnknownFields


class Values(Model):
    replicas: int = 1
    image: str | None = None
    rest: UnknownFields = {}


class Named(Model, tag_field="type", tag="named"):
    a: str = ""
    rest: kubewright.model.UnknownFields = {}


class Closed(Model, tag_field="type", tag="closed"):
    a: str = ""


class Box(Model, Generic[T]):
    held: T


class Tree(Model):
    name: str = ""
    children: list[Tree] = []
    others: Renamed = {}


class AppSpec(Model):
    title: str
    values: Values | None = None
    many: list[Values] = []
    by_name: dict[str, list[Values]] = {}
    either: Named | Closed | None = None
    box: Box[Values] | None = None
    tree: Tree | None = None
    nullable: list[Values | None] = []


class AppStatus(Model):
    ready: int = 0
    parts: list[Values] = []
    rest: UnknownFields = {}


@resource(group="example.com", version="v1")
class App(Resource[AppSpec, AppStatus]):
    """A kind with such classes at every place."""


@resource(group="example.com", version="v1")
class Whole(Object):
    """A kind that keeps unknown fields itself."""

    size: int | None = None
    rest: UnknownFields = {}


class Part(Model):
    size: int = 1


@resource(group="example.com", version="v1")
class Made(Resource[Part, Part]):
    """A kind whose parts can be made."""


OPEN = {"replicas": 2, "mode": "x", "list": [1, None, {}], "big": 2**70, "one": 1.0}
SPEC = {
    "title": "t",
    "values": OPEN,
    "many": [OPEN, {"replicas": 1}, {"replicas": 1, "b": None}],
    "byName": {"a": [OPEN], "b": []},
    "either": {"type": "named", "a": "x", "more": {"rest": 1}},
    "box": {"held": OPEN},
    "tree": {"name": "a", "children": [{"name": "b", "children": [{"name": "c", "z": 1}], "y": 2}], "x": {"x": {}}},
    "nullable": [None, OPEN],
}
APP = {
    "apiVersion": "example.com/v1",
    "kind": "App",
    "metadata": {"name": "a"},
    "spec": SPEC,
    "status": {"ready": 1, "parts": [OPEN], "other": "x"},
}


def again(cls: Any, data: dict[str, Any]) -> dict[str, Any]:
    return to_dict_exact(from_bytes(cls, data))


def from_bytes(cls: Any, data: dict[str, Any]) -> Any:
    return decode(cls, msgspec_json(data))


def msgspec_json(data: Any) -> bytes:
    import msgspec

    return msgspec.json.encode(data)


def to_dict_exact(obj: Any) -> Any:
    import msgspec

    return msgspec.json.decode(encode(obj))


def test_unknown_fields_come_back_at_every_place_as_they_were() -> None:
    assert again(App, APP) == APP


def test_they_are_in_the_field_and_the_named_ones_are_not() -> None:
    values = from_dict(Values, {"replicas": 2, "mode": "x", "rest": {"a": 1}})
    assert (values.replicas, values.rest) == (2, {"mode": "x", "rest": {"a": 1}})
    assert to_dict(values) == {"replicas": 2, "mode": "x", "rest": {"a": 1}}


def test_a_field_that_the_class_names_wins_over_one_in_them() -> None:
    assert to_dict(Values(replicas=3, rest={"replicas": 9, "a": 1})) == {"replicas": 3, "a": 1}


def test_a_kind_may_keep_them_itself() -> None:
    data = {"apiVersion": "example.com/v1", "kind": "Whole", "metadata": {"name": "a"}, "size": 1, "x": [1], "y": {}}
    whole = from_dict(Whole, data)
    assert whole.rest == {"x": [1], "y": {}}
    assert to_dict(whole) == data
    assert to_dict(Whole(rest={"kind": "Other", "metadata": 1, "size": 5})) == {
        "apiVersion": "example.com/v1",
        "kind": "Whole",
    }


def test_copies_pickles_equality_and_repr_have_them() -> None:
    app = from_bytes(App, APP)
    for copied in (copy.copy(app), copy.deepcopy(app), pickle.loads(pickle.dumps(app)), clone(app)):
        assert copied == app
        assert to_dict_exact(copied) == APP
    assert Values(rest={"a": 1}) != Values(rest={"a": 2})
    assert repr(Values(rest={"a": 1})) == "Values(replicas=1, image=None, rest={'a': 1})"


def test_models_may_stand_in_them() -> None:
    assert to_dict(Values(rest={"inner": Values(rest={"x": 1})})) == {
        "replicas": 1,
        "inner": {"replicas": 1, "x": 1},
    }


def test_they_are_lifted_wherever_a_model_is_written() -> None:
    values = Values(rest={"a": 1})
    assert orjson.loads(MergePatch({"spec": {"values": values}}).body) == {"spec": {"values": {"replicas": 1, "a": 1}}}


def test_an_update_sends_what_was_changed_in_them_and_keeps_the_others() -> None:
    app = from_bytes(App, {**APP, "unknown": 1})
    assert app.spec.values is not None
    app.spec.values.rest["mode"] = "y"
    del app.spec.values.rest["one"]
    expected = {**OPEN, "mode": "y"}
    del expected["one"]
    sent = overlaid(app)
    assert (sent["spec"]["values"]["mode"], "one" in sent["spec"]["values"], sent["unknown"]) == ("y", False, 1)
    assert sent["spec"]["many"][0]["mode"] == "x"


def test_a_status_difference_names_only_what_changed_in_them() -> None:
    app = from_bytes(App, APP)
    draft = StatusDraft(app)
    app.status.ready = 2
    assert draft.settle(now())
    assert draft.patch(app)["status"] == {"ready": 2}
    app.status.rest = {"new": True}
    draft.settle(now())
    assert draft.patch(app)["status"] == {"ready": 2, "new": True, "other": None}


def test_a_repaired_object_has_them_too() -> None:
    data = {**APP, "spec": {"values": {**OPEN, "replicas": None}, "many": [{"replicas": 4.0, "x": 1}]}}
    app = from_bytes(App, data)
    assert app.spec.values is not None
    assert (app.spec.title, app.spec.values.rest["mode"]) == ("", "x")
    assert (app.spec.many[0].replicas, app.spec.many[0].rest) == (4, {"x": 1})


def test_a_field_for_them_has_an_empty_default() -> None:
    with pytest.raises(TypeError, match=r"Wrong\.rest: UnknownFields needs an empty default; write rest: Unknown"):

        class Wrong(Model):
            rest: UnknownFields

    with pytest.raises(TypeError, match="rest"):

        class Other(Model):
            rest: UnknownFields = {"a": 1}


def test_classes_that_keep_none_have_the_plain_decoder() -> None:
    decode(Part, b"{}")
    assert "keep" not in repr(Part.__dict__["__decoder__"])


# -- absent and empty -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"spec": {}},
        {"spec": {"values": {}}},
        {"spec": {"title": "", "box": {}}},
        {"spec": {"title": "a", "box": {"held": {}}}},
        {"spec": {"title": "a"}, "status": {}},
    ],
)
def test_what_was_absent_comes_back_absent(data: dict[str, Any]) -> None:
    whole = {"apiVersion": "example.com/v1", "kind": "App", "metadata": {"name": "a"}, **data}
    app = from_dict(App, whole)
    assert isinstance(app.spec.title, str)
    back = to_dict(app)
    made = {"replicas", "ready"}  # defaults of the class, which are always sent
    assert without(back, made) == without(whole, made)
    assert overlaid(app) == whole


def without(value: Any, names: set[str]) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: without(item, names) for name, item in value.items() if name not in names}


@pytest.mark.parametrize("data", [{}, {"spec": {"size": 1}}, {"status": {"size": 1}}, {"spec": {"size": 2}}])
def test_a_part_that_was_absent_comes_back_absent_and_one_that_was_there_comes_back(data: dict[str, Any]) -> None:
    whole = {"apiVersion": "example.com/v1", "kind": "Made", **data}
    assert to_dict(from_dict(Made, whole)) == whole


def test_a_part_that_was_absent_and_is_changed_is_sent() -> None:
    app = from_dict(App, {"metadata": {"name": "a"}})
    app.spec.title = "new"
    assert to_dict(app)["spec"] == {"title": "new"}
    made = from_dict(Made, {"metadata": {"name": "a"}})
    made.spec.size = 5
    assert to_dict(made)["spec"] == {"size": 5}
    assert overlaid(made)["spec"] == {"size": 5}


def test_a_part_of_an_object_that_was_made_here_is_sent() -> None:
    assert to_dict(Made()) == {
        "apiVersion": "example.com/v1",
        "kind": "Made",
        "spec": {"size": 1},
        "status": {"size": 1},
    }


def test_an_integer_may_be_written_as_a_number_with_a_point() -> None:
    assert [from_dict(Part, {"size": size}).size for size in (2.0, 1e3)] == [2, 1000]
