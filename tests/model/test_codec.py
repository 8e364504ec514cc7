from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.model import (
    UNSET,
    DecodeError,
    Duration,
    MicroTime,
    Model,
    Object,
    ObjectMeta,
    Quantity,
    Resource,
    UnsetType,
    clone,
    decode,
    encode,
    from_dict,
    origin_of,
    resource,
    to_dict,
)

from .kinds import Container, Fleet, Port, Web, WebSpec, WebStatus


class Deep(Model):
    name: str
    count: int
    ratio: float
    on: bool
    at: datetime
    micro: MicroTime
    wait: Duration
    size: Quantity
    items: list[str]
    labels: dict[str, str]
    tags: Annotated[list[str], "marked"] = []
    maybe: Annotated[int | None, "marked"] = 5


class Spec(Model):
    deep: Annotated[Deep, "marked"]
    optional: Deep | None = None
    many: Annotated[list[Deep], "marked"] = []
    named: dict[str, Deep] = {}
    either: int | str = 7
    anything: Any = None
    mode: Literal["a", "b"] = "a"


@resource(group="example.com", version="v1")
class Thing(Resource[Spec]):
    pass


FULL = {
    "name": "n", "count": 1, "ratio": 0.5, "on": True, "at": "2026-01-01T00:00:00Z",
    "micro": "2026-01-01T00:00:00.000000Z", "wait": "1s", "size": "1Gi", "items": [], "labels": {},
}  # fmt: skip
ZERO = {
    "name": "", "count": 0, "ratio": 0.0, "on": False, "at": "1970-01-01T00:00:00Z",
    "micro": "1970-01-01T00:00:00.000000Z", "wait": "0s", "size": "0", "items": [], "labels": {}, "maybe": 5,
}  # fmt: skip


def deep(spec):
    return to_dict(from_dict(Thing, {"spec": spec}).spec)


class Nothing(Model):
    a: int | None = None


# -- encoding ---------------------------------------------------------------------------------------------------------


def test_an_object_is_sent_with_its_kind_first():
    web = Web(metadata=ObjectMeta(name="a"), spec=WebSpec(image="x"))
    assert encode(web) == (
        b'{"apiVersion":"example.com/v1","kind":"Web","metadata":{"name":"a"},'
        b'"spec":{"image":"x","replicas":1},"status":{"ready":0}}'
    )


def test_status_can_be_left_out():
    web = Web(metadata=ObjectMeta(name="a"), spec=WebSpec(image="x"))
    assert b"status" not in encode(web, status=False)
    assert web.status == WebStatus()


def test_empty_metadata_and_status_are_left_out_and_an_empty_spec_is_not():
    @resource(group="e.io", version="v1")
    class Empty(Resource[Nothing, Nothing]):
        pass

    assert encode(Empty()) == b'{"apiVersion":"e.io/v1","kind":"Empty","spec":{}}'
    assert encode(Fleet()) == b'{"apiVersion":"example.com/v1","kind":"Fleet"}'


def test_fields_of_an_object_have_the_habits_of_a_model():
    @resource(group="e.io", version="v1")
    class Habits(Object, omit_zero=True):
        absent: int | UnsetType | None = UNSET
        number: int = 5
        required: list[int]
        nullable: int | None
        part: Port | None = None
        settings: WebStatus | None = None
        zero: int = 0
        labels: dict[str, str] = {}

    assert encode(Habits(required=[], nullable=None)) == (
        b'{"apiVersion":"e.io/v1","kind":"Habits","number":5,"required":[],"nullable":null}'
    )
    everything = Habits(
        absent=None, number=0, required=[1], nullable=1, settings=WebStatus(), zero=1, labels={"a": "b"}
    )
    assert encode(everything) == (
        b'{"apiVersion":"e.io/v1","kind":"Habits","absent":null,"number":0,"required":[1],"nullable":1,'
        b'"settings":{"ready":0},"zero":1,"labels":{"a":"b"}}'
    )


def test_an_empty_part_other_than_metadata_and_status_is_sent():
    @resource(group="e.io", version="v1")
    class Parts(Object):
        part: Nothing | None = None

    assert encode(Parts(part=Nothing())) == b'{"apiVersion":"e.io/v1","kind":"Parts","part":{}}'
    assert encode(Parts()) == b'{"apiVersion":"e.io/v1","kind":"Parts"}'


def test_a_dump_shares_nothing_with_the_object():
    web = Web(metadata=ObjectMeta(name="a", labels={"x": "y"}), spec=WebSpec(image="x"))
    to_dict(web)["metadata"]["labels"]["x"] = "z"
    assert web.metadata.labels == {"x": "y"}


# -- decoding ---------------------------------------------------------------------------------------------------------

webs = st.builds(
    Web,
    metadata=st.builds(ObjectMeta, name=st.text(max_size=3), labels=st.dictionaries(st.text(), st.text(), max_size=2)),
    spec=st.builds(
        WebSpec,
        image=st.text(),
        replicas=st.integers(-(2**63), 2**63 - 1),
        containers=st.lists(
            st.builds(
                Container,
                name=st.text(),
                image=st.none() | st.text(),
                ports=st.lists(st.builds(Port, number=st.integers(0, 9)), max_size=2),
            ),
            max_size=2,
        ),
    ),
    status=st.builds(WebStatus, ready=st.integers(0, 5), phase=st.none() | st.text()),
)


@given(webs)
def test_what_is_encoded_is_decoded_as_the_same(web):
    assert decode(Web, encode(web)) == web
    assert from_dict(Web, to_dict(web)) == web


@given(webs)
def test_a_clone_is_equal_and_shares_nothing(web):
    copied = clone(web)
    assert copied == web
    copied.spec.containers.append(Container(name="new"))
    copied.metadata.labels["new"] = "x"
    assert decode(Web, encode(web)) == web


def test_an_object_remembers_what_it_was_decoded_from_and_so_does_its_clone():
    data = b'{"spec":{"image":"x","new":1}}'
    web = decode(Web, data)
    assert origin_of(web) is data
    web.spec.image = "y"
    assert origin_of(clone(web)) is data
    assert origin_of(clone(Web(spec=WebSpec(image="x")))) is None
    assert clone(WebSpec(image="x")) == WebSpec(image="x")


# -- where servers are not exact --------------------------------------------------------------------------------------


def test_null_for_a_field_without_room_for_it_is_the_default():
    spec = {"deep": {**FULL, "tags": None, "items": None}, "many": None, "named": None, "either": None, "mode": None}
    assert deep(spec) == {"deep": {**FULL, "maybe": 5}, "either": 7, "mode": "a"}
    assert from_dict(Thing, {"metadata": None, "spec": {"deep": FULL}}).metadata == ObjectMeta()
    assert from_dict(Thing, {"metadata": {"creationTimestamp": None}, "spec": {"deep": FULL}}).metadata == ObjectMeta()


def test_null_for_a_field_with_room_for_it_is_null():
    spec = from_dict(Thing, {"spec": {"deep": {**FULL, "maybe": None, "tags": None}, "anything": None}}).spec
    assert (spec.deep.maybe, spec.deep.tags, spec.anything) == (None, [], None)


def test_null_in_a_list_or_a_map_is_the_zero_value():
    spec = {"deep": {**FULL, "items": ["a", None], "labels": {"x": None}}, "many": [None], "named": {"a": None}}
    assert deep(spec) == {
        "deep": {**FULL, "items": ["a", ""], "labels": {"x": ""}, "maybe": 5},
        "many": [ZERO],
        "named": {"a": ZERO},
        "either": 7,
        "mode": "a",
    }


def test_a_required_field_that_is_absent_is_the_zero_value():
    assert deep({"deep": {}})["deep"] == ZERO
    assert deep({"deep": None})["deep"] == ZERO
    assert deep({})["deep"] == ZERO
    assert deep({"deep": FULL, "optional": {}, "many": [{}], "named": {"a": {}}}) == {
        "deep": {**FULL, "maybe": 5},
        "optional": ZERO,
        "many": [ZERO],
        "named": {"a": ZERO},
        "either": 7,
        "mode": "a",
    }


@pytest.mark.parametrize("data", [{}, {"spec": None}])
def test_a_spec_that_is_absent_is_one_of_zero_values(data):
    assert from_dict(Web, data).spec == WebSpec(image="")
    assert from_dict(Thing, data).spec.deep.name == ""


def test_what_was_repaired_is_still_sent_back_as_it_was():
    data = b'{"metadata":null,"spec":{"image":"x","containers":null}}'
    assert origin_of(decode(Web, data)) is data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"spec":{"image":5}}', "Web.spec.image: Expected `str`, got `int`"),
        (b'{"spec":{"image":"x","replicas":"3"}}', "Web.spec.replicas: Expected `int`, got `str`"),
        (b'{"spec":{"image":"x","replicas":1.5}}', "Web.spec.replicas: Expected `int`, got `float`"),
        (b'{"spec":{"image":null,"replicas":"3"}}', "Web.spec.replicas: Expected `int`, got `str`"),
        (b'{"spec":{"image":"x","containers":[{"name":1}]}}', "Web.spec.containers[0].name: Expected `str`, got `int`"),
        (b'{"spec":{"image":"x","settings":{"a":[]}}}', "Web.spec.settings[...]: Expected `object`, got `array`"),
        (b'{"spec":[]}', "Web.spec: Expected `object`, got `array`"),
        (b"[]", "Web: Expected `object`, got `array`"),
        (b"null", "Web: Expected `object`, got `null`"),
        (b"{bad", "Web: JSON is malformed: object keys must be strings (byte 1)"),
        (b"", "Web: Input data was truncated"),
        (b'{"spec":{"image":5}', "Web"),
    ],
)
def test_what_is_not_of_the_model_is_an_error_with_its_path(data, message):
    with pytest.raises(DecodeError) as caught:
        decode(Web, data)
    assert str(caught.value).startswith(message)
    assert caught.value.__cause__ is None


def test_a_decode_error_has_its_facts_as_attributes():
    with pytest.raises(DecodeError) as caught:
        decode(Web, b'{"spec":{"image":5}}')
    assert (caught.value.wanted, caught.value.path, caught.value.rule) == (
        "Web",
        "$.spec.image",
        "Expected `str`, got `int`",
    )


def test_an_enumeration_has_no_zero_value():
    class Needs(Model):
        mode: Literal["a", "b"]

    with pytest.raises(DecodeError, match="missing required field `mode`"):
        decode(Needs, b"{}")


def test_times_of_any_zone_are_read():
    web = decode(Web, b'{"metadata":{"creationTimestamp":"2026-01-01T02:00:00.5+02:00"},"spec":{"image":"x"}}')
    assert web.metadata.creation_timestamp == datetime(2026, 1, 1, 0, 0, 0, 500_000, UTC)


def test_a_clone_of_json_is_json():
    assert orjson.loads(encode(clone(Port(number=1)))) == {"name": "", "number": 1}
