from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import pytest
from typing_extensions import TypeAliasType

from kubewright.model import UNSET, Duration, Model, Quantity, UnsetType, decode, encode, field
from kubewright.model.base import Always, WireType, model_fields, plain_type, takes_null


class Inner(Model):
    size: int = 1


class Habits(Model):
    kinds: ClassVar[int] = 7

    host_name: str
    cluster_ip: str = field(default="", name="clusterIP")
    replicas: int = 1
    ratio: float = 0.5
    paused: bool = False
    mode: Literal["a", "b"] = "a"
    note: str | None = None
    absent: int | UnsetType | None = UNSET
    items: list[int] = []
    labels: dict[str, str] = {}
    inner: Inner = Inner(size=3)
    made: Inner = field(default_factory=Inner)
    size: Quantity = Quantity("1Gi")


def test_names_are_snake_case_here_and_camel_case_on_the_wire():
    assert decode(Habits, b'{"hostName":"a","clusterIP":"b"}').cluster_ip == "b"
    assert b'"hostName":"a","clusterIP":"b"' in encode(Habits(host_name="a", cluster_ip="b"))


def test_fields_are_keyword_only_and_in_any_order():
    assert Habits(replicas=2, host_name="a").replicas == 2
    with pytest.raises(TypeError):
        Habits("a")
    with pytest.raises(TypeError, match="host_name"):
        Habits()
    with pytest.raises(TypeError, match="hostname"):
        Habits(host_name="a", hostname="b")


def test_none_and_empty_defaults_are_left_out_and_all_others_are_sent():
    assert msgspec.json.decode(encode(Habits(host_name="a"))) == {
        "hostName": "a",
        "clusterIP": "",
        "replicas": 1,
        "ratio": 0.5,
        "paused": False,
        "mode": "a",
        "inner": {"size": 3},
        "made": {"size": 1},
        "size": "1Gi",
    }


def test_absent_and_null_are_told_apart_where_the_model_says_so():
    assert decode(Habits, b'{"hostName":"a"}').absent is UNSET
    assert decode(Habits, b'{"hostName":"a","absent":null}').absent is None
    assert b'"absent":null' in encode(Habits(host_name="a", absent=None))
    assert b"absent" not in encode(Habits(host_name="a"))


def test_mutable_defaults_are_not_shared():
    one, two = Habits(host_name="a"), Habits(host_name="b")
    one.items.append(1)
    one.labels["x"] = "y"
    one.inner.size = 9
    assert (two.items, two.labels, two.inner.size) == ([], {}, 3)


def test_class_variables_are_no_fields():
    assert Habits.kinds == 7
    assert "kinds" not in Habits.__struct_fields__


def test_omit_zero_leaves_out_what_go_leaves_out():
    class Zero(Model, omit_zero=True):
        name: str = ""
        count: int = 0
        on: bool = False
        kept: int = 5

    assert encode(Zero()) == b'{"kept":5}'
    assert encode(Zero(name="a", count=1, on=True, kept=0)) == b'{"name":"a","count":1,"on":true,"kept":0}'


def test_habits_are_inherited_and_a_subclass_adds_fields():
    class More(Habits):
        extra: int = 4

    more = More(host_name="a")
    assert more.replicas == 1
    assert encode(more).endswith(b'"size":"1Gi","extra":4}')


def test_a_mistyped_field_is_an_error():
    value = Habits(host_name="a")
    with pytest.raises(AttributeError):
        value.replica = 2


def test_unknown_fields_are_ignored_when_decoding():
    assert decode(Inner, b'{"size":2,"new":[{"a":1}]}') == Inner(size=2)


def test_models_are_compared_by_value():
    assert Habits(host_name="a") == Habits(host_name="a")
    assert Habits(host_name="a") != Habits(host_name="a", replicas=2)


def test_a_type_that_a_model_cannot_hold_is_named():
    class Wrong(Model):
        value: complex | None = None

    with pytest.raises(NotImplementedError, match="complex"):
        encode(Wrong(value=1j))
    with pytest.raises(NotImplementedError, match="complex"):
        decode(Wrong, b'{"value":1}')


def test_wire_types_are_known_by_their_methods():
    assert isinstance(Quantity(1), WireType)
    assert isinstance(Duration("1s"), WireType)
    assert not isinstance(1, WireType)


def test_always_copies_models_only():
    inner = Inner()
    assert Always(inner)() == inner
    assert Always(inner)() is not inner
    assert Always(5)() == 5


def test_an_annotation_that_cannot_be_evaluated_is_one_clear_line():
    class Local(Model):
        pass

    class Outer(Model):
        inner: Local | None = None

    for use in (lambda: decode(Outer, b"{}"), lambda: model_fields(Outer)):
        with pytest.raises(
            TypeError, match=r"Outer: an annotation of it, .* names 'Local', which is not known at run time"
        ):
            use()


Alias = TypeAliasType("Alias", Annotated[int, "inside"])


@pytest.mark.parametrize(
    ("wanted", "plain", "markers"),
    [
        (int, int, ()),
        (int | None, int, ()),
        (int | UnsetType | None, int, ()),
        (Annotated[int | None, "a", "b"], int, ("a", "b")),
        (Annotated[Annotated[int, "in"] | None, "out"], int, ("out", "in")),
        (int | str, Any, ()),
        (list[int] | None, list[int], ()),
        (Alias, int, ("inside",)),
    ],
)
def test_plain_type_takes_off_what_surrounds_a_type(wanted, plain, markers):
    assert plain_type(wanted) == (plain, markers)


@pytest.mark.parametrize(
    ("wanted", "takes"),
    [
        (int, False),
        (int | None, True),
        (Annotated[int | None, 1], True),
        (Annotated[int, 1] | None, True),
        (int | UnsetType, False),
        (Any, True),
        (object, True),
        (type(None), True),
        (list[int | None], False),
        (int | Annotated[str | None, 1], True),
    ],
)
def test_takes_null_looks_through_what_surrounds_a_type(wanted, takes):
    assert takes_null(wanted) is takes


def test_times_are_sent_with_a_zone():
    class At(Model):
        at: datetime | None = None

    assert encode(At(at=datetime(2026, 1, 1, tzinfo=UTC))) == b'{"at":"2026-01-01T00:00:00Z"}'
