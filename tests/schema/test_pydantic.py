"""Pydantic models as spec and status: the same CRD where the meaning is the same, and the same bytes on the wire."""
# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

import enum
from datetime import UTC, datetime
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pydantic
import pytest
from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from pydantic.alias_generators import to_camel

from kubewright.controller.status import NotYours, StatusDraft
from kubewright.model import (
    Condition,
    DecodeError,
    Duration,
    MicroTime,
    Model,
    ObjectMeta,
    Quantity,
    Resource,
    clone,
    decode,
    encode,
    field,
    resource,
    to_dict,
)
from kubewright.model.overlay import overlaid
from kubewright.schema import (
    Doc,
    Example,
    ListMap,
    Pattern,
    Rule,
    Title,
    crd_of,
    schema_of,
)

CAMEL = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Color(enum.StrEnum):
    RED = "red"
    GREEN = "green"


class OurPort(Model):
    """A port."""

    name: Annotated[str, MaxLen(15)]
    number: Annotated[int, Ge(1), Le(65535)] = 80


class TheirPort(BaseModel):
    """A port."""

    name: Annotated[str, Field(max_length=15)]
    number: int = Field(80, ge=1, le=65535)


class OurSpec(Model):
    """What to run."""

    image: Annotated[str, Pattern("^[a-z]"), MinLen(1)]
    replicas: Annotated[int, Ge(0)] = 1
    color: Color = Color.GREEN
    mode: Literal["a", "b"] = "a"
    maybe: str | None = None
    either: int | str = 5
    long_name: str = "x"
    ports: Annotated[list[OurPort], ListMap("name"), MaxLen(8)] = []
    labels: dict[str, str] = {}
    main: OurPort = field(default_factory=lambda: OurPort(name="main"))
    size: Quantity = Quantity("1Gi")
    every: Duration = Duration("1m")
    at: datetime | None = None
    uid: UUID | None = None
    limit: Annotated[int | None, Rule("self < 10", message="is below ten")] = None
    said: Annotated[str, Title("A title"), Doc("In words."), Example("hello")] = ""
    free: dict[str, Any] = {}
    ratio: float = 0.5


class TheirSpec(BaseModel):
    """What to run."""

    model_config = CAMEL
    image: str = Field(pattern="^[a-z]", min_length=1)
    replicas: Annotated[int, Ge(0)] = 1
    color: Color = Color.GREEN
    mode: Literal["a", "b"] = "a"
    maybe: str | None = None
    either: int | str = 5
    long_name: str = "x"
    ports: Annotated[list[TheirPort], ListMap("name"), Field(max_length=8)] = []
    labels: dict[str, str] = {}
    main: TheirPort = Field(default_factory=lambda: TheirPort(name="main"))
    size: Quantity = Quantity("1Gi")
    every: Duration = Duration("1m")
    at: datetime | None = None
    uid: UUID | None = None
    limit: Annotated[int | None, Rule("self < 10", message="is below ten")] = None
    said: str = Field("", title="A title", description="In words.", examples=["hello"])
    free: dict[str, Any] = {}
    ratio: float = 0.5


class OurStatus(Model):
    ready: int = 0
    conditions: list[Condition] = []


class TheirStatus(BaseModel):
    ready: int = 0
    conditions: list[Condition] = []


@resource(group="pydantic.example.com", version="v1")
class Web(Resource[OurSpec, OurStatus]):
    """A web application."""


OurWeb = Web


@resource(group="pydantic.example.com", version="v1", kind="Web")
class TheirWeb(Resource[TheirSpec, TheirStatus]):
    """A web application."""


def test_the_same_meaning_gives_the_same_crd() -> None:
    assert crd_of(TheirWeb) == crd_of(OurWeb)


# -- on the wire ------------------------------------------------------------------------------------------------------


def test_the_same_values_give_the_same_json() -> None:
    meta = ObjectMeta(name="a", namespace="b")
    ours = OurWeb(metadata=meta, spec=OurSpec(image="a", ports=[OurPort(name="x")], long_name="y"))
    theirs = TheirWeb(metadata=meta, spec=TheirSpec(image="a", ports=[TheirPort(name="x")], long_name="y"))
    assert to_dict(theirs) == to_dict(ours)


def test_an_object_survives_the_way_out_and_back() -> None:
    made = TheirWeb(
        metadata=ObjectMeta(name="a"),
        spec=TheirSpec(
            image="nginx",
            maybe="x",
            either="80%",
            size=Quantity("1.5Gi"),
            every=Duration("90s"),
            at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            uid=UUID(int=7),
            ports=[TheirPort(name="http", number=8080)],
            free={"a": [1, None]},
        ),
    )
    made.status.ready = 3
    back = decode(TheirWeb, encode(made))
    assert back.spec == made.spec
    assert back.status.ready == 3
    assert encode(back) == encode(made)
    assert isinstance(back.spec.size, Quantity)


def test_what_is_none_or_empty_is_absent_as_in_our_models() -> None:
    spec = to_dict(TheirWeb(metadata=ObjectMeta(name="a"), spec=TheirSpec(image="a")))["spec"]
    assert "maybe" not in spec
    assert "ports" not in spec
    assert spec["replicas"] == 1  # a default of another kind is always sent


def test_null_is_kept_where_it_is_a_value() -> None:
    class Spec(BaseModel):
        must: int | None
        may: int | None = None
        filled: int | None = 5

    assert schema_of(Spec) == {
        "type": "object",
        "required": ["must"],
        "properties": {
            "must": {"type": "integer", "format": "int64", "nullable": True},
            "may": {"type": "integer", "format": "int64"},
            "filled": {"type": "integer", "format": "int64", "nullable": True, "default": 5},
        },
    }


def test_a_status_starts_empty_and_is_written() -> None:
    web = decode(TheirWeb, b'{"metadata":{"name":"a"},"spec":{"image":"a"}}')
    assert web.status == TheirStatus()
    web.status.conditions = [Condition(type="Ready", status="True", reason="Fine", message="")]
    assert to_dict(web)["status"]["conditions"][0]["type"] == "Ready"
    assert isinstance(clone(web).status.conditions[0], Condition)


def test_unknown_fields_survive_a_read_modify_write() -> None:
    web = decode(TheirWeb, b'{"metadata":{"name":"a"},"spec":{"image":"a","newer":{"x":1}}}')
    web.spec.replicas = 4
    assert overlaid(web)["spec"] == {"image": "a", "newer": {"x": 1}, "replicas": 4}


def test_unknown_fields_of_items_follow_their_keys() -> None:
    ports = b'[{"name":"a","number":1,"x":1},{"name":"b","number":2,"x":2}]'
    web = decode(TheirWeb, b'{"metadata":{"name":"a"},"spec":{"image":"a","ports":%b}}' % ports)
    web.spec.ports = [TheirPort(name="b", number=1)]
    assert overlaid(web)["spec"]["ports"] == [{"name": "b", "number": 1, "x": 2}]


def test_what_a_reconcile_changes_of_a_status_is_written() -> None:
    web = decode(TheirWeb, b'{"metadata":{"name":"a","resourceVersion":"7"},"spec":{"image":"a"}}')
    draft = StatusDraft(web)
    assert not draft.settle(datetime(2026, 1, 2, tzinfo=UTC))
    web.status.ready = 3
    draft.check_untouched()
    assert draft.settle(datetime(2026, 1, 2, tzinfo=UTC))
    assert draft.patch(web)["status"] == {"ready": 3}
    web.spec.replicas = 9
    with pytest.raises(NotYours, match="changed spec of its object"):
        draft.check_untouched()


def test_what_does_not_fit_names_object_field_and_rule() -> None:
    with pytest.raises(DecodeError) as error:
        decode(TheirWeb, b'{"metadata":{"name":"a"},"spec":{"image":"a","replicas":-1,"ports":[{"name":5}]}}')
    assert str(error.value).startswith("TheirWeb.spec: ")
    assert "replicas: Input should be greater than or equal to 0" in str(error.value)
    assert "ports[0].name: Input should be a valid string" in str(error.value)


def test_a_spec_that_has_to_be_given_is_asked_for() -> None:
    with pytest.raises(TypeError, match=r"TheirWeb\.spec: missing, .*image: Field required"):
        TheirWeb(metadata=ObjectMeta(name="a"))


def test_our_types_are_fields_of_pydantic_models() -> None:
    class Spec(BaseModel):
        size: Quantity
        every: Duration
        at: MicroTime
        port: OurPort

    text = '{"size":"1Gi","every":"1m","at":"2026-01-02T03:04:05.000000Z","port":{"name":"a","number":1}}'
    made = Spec.model_validate_json(text)
    assert made.size == Quantity("1024Mi")
    assert made.model_dump_json() == text
    with pytest.raises(pydantic.ValidationError, match="quantity"):
        Spec.model_validate({**made.model_dump(), "size": "one"})


# -- schemas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "schema"),
    [
        (PositiveInt, {"type": "integer", "format": "int64", "minimum": 0, "exclusiveMinimum": True}),
        (pydantic.constr(max_length=3), {"type": "string", "maxLength": 3}),
        (pydantic.conlist(int, min_length=1), {"type": "array", "minItems": 1, "items": {"type": "integer", "format": "int64"}}),
        (pydantic.HttpUrl, {"type": "string", "format": "uri"}),
        (pydantic.UUID4, {"type": "string", "format": "uuid4"}),
        (pydantic.Base64Bytes, {"type": "string", "format": "byte"}),
        (pydantic.AwareDatetime, {"type": "string", "format": "date-time"}),
        (IPv4Address, {"type": "string", "format": "ipv4"}),
        (Path, {"type": "string"}),
        (list[Annotated[str, Field(pattern="^a")]], {"type": "array", "items": {"type": "string", "pattern": "^a"}}),
        (dict[str, PositiveInt], {"type": "object", "additionalProperties": {"type": "integer", "format": "int64", "minimum": 0, "exclusiveMinimum": True}}),
        (Annotated[int, pydantic.Strict()], {"type": "integer", "format": "int64"}),
        (Annotated[str, pydantic.StringConstraints(min_length=1, pattern="a")], {"type": "string", "minLength": 1, "pattern": "a"}),
    ],
)  # fmt: skip
def test_a_type_of_pydantic_has_the_schema_of_its_meaning(wanted: Any, schema: Any) -> None:
    made = pydantic.create_model("Made", x=(wanted, ...))
    assert schema_of(made)["properties"]["x"] == schema


def test_a_model_may_keep_unknown_fields() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow", title="Open")
        a: int = 1

    assert schema_of(Open)["x-kubernetes-preserve-unknown-fields"] is True
    assert schema_of(Open)["title"] == "Open"


def test_a_root_model_is_what_it_holds() -> None:
    class Names(pydantic.RootModel[Annotated[list[str], Field(max_length=3)]]):
        pass

    class Spec(BaseModel):
        names: Names

    assert schema_of(Spec)["properties"]["names"] == {"type": "array", "items": {"type": "string"}, "maxItems": 3}


class S3(BaseModel):
    kind: Literal["s3"] = "s3"
    bucket: str


class Gcs(BaseModel):
    kind: Literal["gcs"] = "gcs"
    project: str | None = None


class Backup(BaseModel):
    to: Annotated[S3 | Gcs, Field(discriminator="kind")]


@resource(group="pydantic.example.com", version="v1")
class Backed(Resource[Backup]):  # type: ignore[type-var, unused-ignore]
    pass


def test_a_discriminated_union_is_one_object_with_rules() -> None:
    to = schema_of(Backup)["properties"]["to"]
    assert to["properties"]["kind"] == {"type": "string", "enum": ["s3", "gcs"]}
    assert to["required"] == ["kind"]
    assert [rule["message"] for rule in to["x-kubernetes-validations"]] == [
        "bucket is required when kind is s3",
        "bucket is only for kind s3",
        "project is only for kind gcs",
    ]
    assert isinstance(decode(Backed, b'{"spec":{"to":{"kind":"gcs"}}}').spec.to, Gcs)
