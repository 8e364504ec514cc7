"""Unions that cannot be, and what tagged classes are on the wire. What servers make of them is in `table/`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest

from kubewright.model import Model, ObjectMeta, Resource, decode, encode, resource
from kubewright.schema import (
    AtMostOneOf,
    Discriminator,
    ExactlyOneOf,
    MinProperties,
    PreserveUnknown,
    SchemaError,
    schema_of,
)


class S3(Model, tag="s3"):
    """A bucket."""

    bucket: str
    shared: int = 1


class Disk(Model, tag="disk"):
    size: int = 5
    shared: int = 1


class Spec(Model):
    storage: S3 | Disk


@resource(group="unions.example.com", version="v1")
class Backup(Resource[Spec]):
    pass


def test_a_tagged_object_is_read_as_its_class_and_written_with_its_tag() -> None:
    made = Backup(metadata=ObjectMeta(name="a"), spec=Spec(storage=Disk(size=3)))
    assert b'"storage":{"type":"disk","size":3,"shared":1}' in encode(made)
    assert decode(Backup, encode(made)).spec.storage == Disk(size=3)


def test_a_default_is_stated_only_where_all_classes_share_it() -> None:
    properties = schema_of(Spec)["properties"]["storage"]["properties"]
    assert properties["shared"]["default"] == 1
    assert "default" not in properties["size"]


def test_the_tag_says_what_each_value_is() -> None:
    tag = schema_of(Spec)["properties"]["storage"]["properties"]["type"]
    assert tag == {"type": "string", "enum": ["s3", "disk"], "description": "s3: A bucket."}


@PreserveUnknown()
class Open(Model, tag="open"):
    pass


def test_a_union_keeps_unknown_fields_when_one_class_does() -> None:
    assert schema_of(S3 | Open)["x-kubernetes-preserve-unknown-fields"] is True


class Other(Model, tag="other"):
    bucket: int


class ByKind(Model, tag_field="kind", tag="k"):
    pass


class Numbered(Model, tag=1):
    pass


@MinProperties(1)
class Counted(Model, tag="counted"):
    a: str | None = None


class Plain(Model):
    pass


@ExactlyOneOf("a", "bb")
class Misspelled(Model):
    a: int | None = None
    b: int | None = None


@AtMostOneOf("a")
class One(Model):
    a: int | None = None


@AtMostOneOf("a", "b")
class Always(Model):
    a: int
    b: int = 1


@Discriminator("kind", A="a")
class NoField(Model):
    a: int | None = None


@Discriminator("type", A="a")
class NoChoice(Model):
    type: str
    a: int | None = None


@Discriminator("type", A="a", C="a")
class Unsaid(Model):
    type: Literal["A", "B"]
    a: int | None = None


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (S3 | Other, "the field 'bucket' has several schemas in the union of s3, other; give it one type everywhere"),
        (S3 | ByKind, "S3 | ByKind are not told apart by one field; give every class of the union a text as tag="),
        (S3 | Plain, "S3 | Plain are not told apart by one field"),
        (Numbered, "Numbered are not told apart by one field; give every class of the union a text as tag="),
        (S3 | Counted, "minProperties of the class tagged 'counted' would hold for all classes of the union; say"),
        (S3 | str, "S3 | str are not told apart by one field"),
        (Misspelled, "ExactlyOneOf('a', 'bb'): 'bb' is not a field; did you mean 'b'?"),
        (One, "AtMostOneOf('a') names fewer than two fields; name the fields that it is about"),
        (Always, "AtMostOneOf('a', 'b'): 'a' is always set; make it optional: a: ... | None = None"),
        (Always, "AtMostOneOf('a', 'b'): 'b' is always set"),
        (Annotated[str, ExactlyOneOf("a", "b")], "ExactlyOneOf('a', 'b') has no meaning for a str; put it"),
        (Annotated[int, Discriminator("a")], "Discriminator('a') has no meaning for an int; put it above a class"),
        (NoField, "Discriminator('kind', A='a'): 'kind' is not a field"),
        (NoChoice, "'type' is not a choice of fixed texts; declare it as a Literal or StrEnum"),
        (Unsaid, "'C' is no value of type"),
        (Unsaid, "does not say which field is set when type is 'B'; say its field, or None: B=None"),
    ],
)  # fmt: skip
def test_a_union_that_cannot_be_is_told_with_its_cure(wanted: Any, said: str) -> None:
    with pytest.raises(SchemaError) as error:
        schema_of(wanted)
    assert any(said in f"{cause.rule}; {cause.cure}" for cause in error.value.causes), str(error.value)
