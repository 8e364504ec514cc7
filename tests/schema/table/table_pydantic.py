"""Types of pydantic: fields, constrained types, nested models, unions."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from annotated_types import Ge
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from table_rows import row

from kubewright.model import Condition, Duration, Quantity
from kubewright.schema import ExactlyOneOf, ListMap, Pattern, Rule


def made(wanted: Any, default: Any = ...) -> Any:
    """A model with one field, `x`."""
    return pydantic.create_model("Made", x=(wanted, default))


class Port(BaseModel):
    name: Annotated[str, Field(max_length=5)]
    number: int = Field(80, ge=1, le=65535)


class Spec(BaseModel):
    """A whole model."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
    long_name: str
    ports: Annotated[list[Port], ListMap("name"), Field(max_length=3)] = []
    main: Port = Port(name="main")
    size: Quantity | None = None
    every: Duration = Duration("1m")
    conditions: list[Condition] = []


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 1


@ExactlyOneOf("a", "b")
class OneOf(BaseModel):
    a: int | None = None
    b: int | None = None


@Rule("self.low <= self.high", message="low above high")
class Range(BaseModel):
    low: int
    high: int


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = Field(ge=1)


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str | None = None


class Names(pydantic.RootModel[Annotated[list[str], Field(max_length=2)]]):
    pass


ROWS = {
    "positive": row(made(pydantic.PositiveInt), [{"x": 1}], [{"x": 0}]),
    "not_negative": row(made(pydantic.NonNegativeFloat), [{"x": 0}], [{"x": -0.5}]),
    "bounded_by_field": row(made(int, Field(ge=1, lt=4, multiple_of=3)), [{"x": 3}], [{"x": 6}, {"x": 2}, {}]),
    "bounded_by_annotated": row(made(Annotated[int, Ge(2)]), [{"x": 2}], [{"x": 1}]),
    "constr": row(made(pydantic.constr(min_length=1, pattern="^a")), [{"x": "ab"}], [{"x": ""}, {"x": "b"}]),
    "our_pattern": row(made(Annotated[str, Pattern("^a$")]), [{"x": "a"}], [{"x": "b"}]),
    "conlist": row(made(pydantic.conlist(int, min_length=1)), [{"x": [1]}], [{"x": []}]),
    "literal": row(made(Literal["a", "b"], "a"), [{"x": "b"}, {}], [{"x": "c"}]),
    "nullable": row(made(int | None), [{"x": None}, {"x": 1}], [{}, {"x": "1"}]),
    "optional": row(made(int | None, None), [{}, {"x": 1}], [{"x": "1"}]),
    "nullable_with_default": row(made(int | None, 5), [{}, {"x": None}], [{"x": "1"}]),
    "int_or_string": row(made(int | str), [{"x": 1}, {"x": "a"}], [{"x": 1.5}]),
    "url": row(made(pydantic.HttpUrl), [{"x": "https://example.com"}], [{"x": "x"}]),
    "uuid4": row(made(pydantic.UUID4), [{"x": "0e7f7a5e-9c2b-4d0e-8f43-0e5f0d7c2a11"}], [{"x": "0e7f"}]),
    "base64": row(made(pydantic.Base64Bytes), [{"x": "AP8="}], [{"x": "!"}]),
    "instant": row(made(pydantic.AwareDatetime), [{"x": "2026-01-02T03:04:05Z"}], [{"x": "2026-01-02"}]),
    "ipv4": row(made(IPv4Address), [{"x": "10.0.0.1"}], [{"x": "10.0"}]),
    "network": row(made(IPv6Network), [{"x": "fe80::/64"}], [{"x": "fe80"}]),
    "path": row(made(Path), [{"x": "/a"}], [{"x": 1}]),
    "root_model": row(made(Names), [{"x": ["a"]}], [{"x": ["a", "b", "c"]}]),
    "whole": row(
        Spec,
        [{"longName": "a", "ports": [{"name": "a"}, {"name": "b", "number": 1}], "size": "1Gi"}],
        [
            {},
            {"longName": "a", "ports": [{"name": "abcdef"}]},
            {"longName": "a", "ports": [{"name": "a"}, {"name": "a"}]},
            {"longName": "a", "main": {"number": 1}},
            {"longName": "a", "every": "soon"},
        ],
    ),
    "open": row(Open, [{"a": 1, "b": {"c": 2}}], [{"a": "x"}]),
    "one_of": row(OneOf, [{"a": 1}], [{}, {"a": 1, "b": 2}]),
    "rule": row(Range, [{"low": 1, "high": 2}], [{"low": 3, "high": 2}]),
    "tagged_union": row(
        made(Annotated[Cat | Dog, Field(discriminator="kind")]),
        [{"x": {"kind": "cat", "lives": 9}}, {"x": {"kind": "dog", "name": "Rex"}}],
        [{"x": {"kind": "cat"}}, {"x": {"kind": "dog", "lives": 1}}, {"x": {"lives": 1}}],
    ),
}  # fmt: skip
