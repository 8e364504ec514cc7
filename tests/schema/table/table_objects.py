"""Objects: required and optional fields, defaults, null, openness, embedded objects, other people's types."""
# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

from typing import Annotated, Any, Generic, TypeVar

from annotated_types import Le, MaxLen
from table_rows import row

from kubewright.model import UNSET, LabelSelector, Model, ObjectMeta, UnsetType, field
from kubewright.models.core.v1 import Container, LocalObjectReference, PodTemplateSpec, ResourceRequirements
from kubewright.schema import (
    Default,
    EmbeddedResource,
    ExternalDocs,
    MapAtomic,
    MaxProperties,
    MinProperties,
    Nullable,
    PreserveUnknown,
    Schemaless,
    Title,
)

T = TypeVar("T")


class Required(Model):
    a: int
    b: str
    c: str | None = None


class Optional(Model):
    a: int | None = None


class Defaults(Model):
    """Every field has a default."""

    text: str = "x"
    number: Annotated[int, Le(9)] = 0
    flag: bool = True
    words: list[str] = field(default_factory=lambda: ["a"])
    server_side: Annotated[int | None, Default(3)] = None


class Deep(Model):
    inner: Defaults = Defaults()
    other: Defaults = Defaults(text="y")


class Nulls(Model):
    required: Annotated[int | None, Nullable()]
    marked: Annotated[str | None, Nullable(), MaxLen(3)] = None
    absent_or_null: int | UnsetType | None = UNSET
    plain: str | None = None


class Box(Model, Generic[T]):
    content: T


class Named(Model):
    cluster_ip: str = field(name="clusterIP", default="")
    odd: str = field(name="odd-name.x/y", default="")
    class_: str = field(name="class", default="")


@PreserveUnknown()
class Open(Model):
    known: int | None = None


@MinProperties(1)
@MaxProperties(2)
class SomeOf(Model):
    a: str | None = None
    b: str | None = None
    c: str | None = None


@MapAtomic()
@Title("A pair")
@ExternalDocs("https://example.com/pairs", description="More of pairs.")
class Pair(Model):
    a: int
    b: int


class Base(Model):
    inherited: Annotated[int, Le(5)] = 1


class Derived(Base):
    own: str


class Holder(Model):
    template: PodTemplateSpec


POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "labels": {"a": "b"}}, "spec": {"free": 1}}
FULL = {"text": "x", "number": 0, "flag": True, "words": ["a"], "serverSide": 3}
TEMPLATE = {
    "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
    "spec": {"containers": [{"name": "a", "image": "b"}]},
}

ROWS = {
    "required": row(Required, [{"a": 1, "b": "x"}], [{"a": 1}, {}, {"a": 1, "b": None}]),
    "optional": row(Optional, [{}, {"a": 1}], [{"a": "1"}, "x"]),
    "defaults": row(Defaults, [{}, {"text": "y"}, FULL], [{"number": 10}, {"words": "a"}]),
    "defaults_below": row(Deep, [{}, {"inner": {"number": 5}}], [{"other": {"flag": "x"}}]),
    "nulls": row(
        Nulls,
        [{"required": None}, {"required": 1, "marked": None, "absentOrNull": None, "plain": None}],
        [{}, {"required": 1, "marked": "abcd"}],
    ),
    "generic_of_integer": row(Box[int], [{"content": 1}], [{"content": "1"}]),
    "generic_of_box": row(Box[Box[str]], [{"content": {"content": "a"}}], [{"content": {"content": 1}}]),
    "odd_names": row(
        Named, [{"clusterIP": "x", "odd-name.x/y": "y", "class": "z"}], [{"clusterIP": 1}, {"odd-name.x/y": 1}]
    ),
    "derived": row(Derived, [{"own": "a"}], [{"own": "a", "inherited": 6}, {"inherited": 1}]),
    "open": row(Open, [{"known": 1, "more": {"x": 2}}], [{"known": "1"}]),
    "open_at_a_field": row(Annotated[Optional, PreserveUnknown()], [{"a": 1, "b": 2}], [{"a": "x"}]),
    "some_of": row(SomeOf, [{"a": "x"}, {"a": "x", "b": "y"}], [{}, {"a": "x", "b": "y", "c": "z"}]),
    "pair": row(Pair, [{"a": 1, "b": 2}], [{"a": 1}]),
    "anything": row(Any, [1, "a", [None, {}], {"a": {"b": 1}}], []),
    "schemaless_object": row(Annotated[Required, Schemaless()], [{"a": "x", "z": 1}], ["x"]),
    "schemaless_list": row(Annotated[list[Required], Schemaless()], [[1, {"z": 2}]], ["x"]),
    "embedded": row(
        Annotated[dict[str, Any], EmbeddedResource()],
        [POD],
        [{"kind": "Pod"}, {**POD, "metadata": {"labels": {"-": "b"}}}, {**POD, "metadata": {"name": "a/b"}}],
    ),
    "metadata": row(
        ObjectMeta, [{"name": "a", "labels": {"a": "b"}, "finalizers": ["x/y"]}], [{"name": 1}, {"labels": {"a": 1}}]
    ),
    "selector": row(
        LabelSelector,
        [{"matchLabels": {"a": "b"}}, {"matchExpressions": [{"key": "a", "operator": "Exists"}]}],
        [{"matchLabels": {"a": 1}}, {"matchExpressions": [{"key": "a"}]}],
    ),
    "reference": row(LocalObjectReference, [{"name": "a"}], [{"name": 1}]),
    "resources": row(ResourceRequirements, [{"limits": {"cpu": "1", "memory": "1Gi"}}], [{"limits": {"cpu": "one"}}]),
    "container": row(
        Container,
        [{"name": "a", "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "b"}]}],
        [{}, {"name": "a", "ports": [{"containerPort": "80"}]}, {"name": "a", "env": [{"name": "A"}, {"name": "A"}]}],
    ),
    "template": row(Holder, [{"template": TEMPLATE}], [{"template": {"spec": {}}}, {"template": {"spec": {"containers": 1}}}]),
}  # fmt: skip
