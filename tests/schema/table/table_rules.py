"""Rules and unions: over one value, over several fields, over a change."""
# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import MaxLen
from table_rows import row

from kubewright.model import Duration, Model, Quantity
from kubewright.schema import (
    AtLeastOneOf,
    AtMostOneOf,
    Discriminator,
    ExactlyOneOf,
    Immutable,
    ListMap,
    MapAtomic,
    Rule,
)


@Rule("self.min <= self.max", message="min must not be above max", reason="FieldValueForbidden", field_path=".max")
class Range(Model):
    min: int
    max: int


@Rule("!has(self.a) || has(self.b)", message="b is needed with a", reason="FieldValueRequired", field_path=".b")
@Rule("!has(self.a) || self.a != 'x'", message_expression="'a must not be ' + self.a", message="not x")
class Two(Model):
    a: Annotated[str | None, MaxLen(9)] = None
    b: str | None = None


@ExactlyOneOf("s3", "local_disk")
class Exactly(Model):
    s3: str | None = None
    local_disk: int | None = None
    other: str = "x"


@AtMostOneOf("a", "b", "c")
class AtMost(Model):
    a: int | None = None
    b: int | None = None
    c: int | None = None


@AtLeastOneOf("a", "namespace")
class AtLeast(Model):
    a: int | None = None
    namespace: str | None = None


@AtMostOneOf("a", "b")
@AtLeastOneOf("c", "d")
class Both(Model):
    a: int | None = None
    b: int | None = None
    c: int | None = None
    d: int | None = None


class Rolling(Model):
    max_surge: int = 1


@Discriminator("type", RollingUpdate="rolling_update", Recreate=None)
class Strategy(Model):
    type: Literal["RollingUpdate", "Recreate"] = "Recreate"
    rolling_update: Rolling | None = None


@Discriminator("type", A="a", B="a", C="c", optional=True)
class Loose(Model):
    type: Literal["A", "B", "C"] | None = None
    a: int | None = None
    c: int | None = None


@Rule("self.bucket != ''", message="bucket must not be empty")
class S3(Model, tag="s3"):
    """A bucket of S3."""

    bucket: Annotated[str, MaxLen(63)]
    region: str = "eu"
    path: str | None = None


class Disk(Model, tag="disk"):
    """A disk of the node."""

    size: Quantity
    path: str | None = None


class Nothing(Model, tag="none"):
    """No storage."""


class By(Model, tag_field="by", tag="days"):
    number: int


class Frozen(Model):
    name: Annotated[str | None, Immutable()] = None
    size: Annotated[int, Immutable()] = 1


@Immutable()
class FrozenWhole(Model):
    a: int


class Part(Model):
    name: Annotated[str, MaxLen(9)]
    count: Annotated[int | None, Rule("self >= oldSelf", message="must not go down")] = None


@MapAtomic()
class Atomic(Model):
    a: int | None = None


S3_GOOD = {"type": "s3", "bucket": "b"}

ROWS = {
    "value": row(Annotated[str, MaxLen(9), Rule("self.startsWith('a')", message="must begin with a")], ["ab"], ["b"]),
    "no_message": row(Annotated[int, Rule("self != 5")], [4], [5]),
    "message_expression": row(
        Annotated[int, Rule("self < 5", message_expression="'must be below ' + '5'")], [4], [5]
    ),
    "reason_invalid": row(Annotated[int, Rule("self < 5", message="m", reason="FieldValueInvalid")], [4], [5]),
    "reason_forbidden": row(Annotated[int, Rule("self < 5", message="m", reason="FieldValueForbidden")], [4], [5]),
    "reason_required": row(Annotated[int, Rule("self < 5", message="m", reason="FieldValueRequired")], [4], [5]),
    "reason_duplicate": row(Annotated[int, Rule("self < 5", message="m", reason="FieldValueDuplicate")], [4], [5]),
    "several_on_one": row(Annotated[int, Rule("self > 1", message="m1"), Rule("self % 2 == 0", message="m2")], [4], [1, 3]),
    "of_durations": row(Annotated[Duration, Rule("self < duration('1h')", message="shorter")], ["59m"], ["2h"]),
    "two_fields": row(Range, [{"min": 1, "max": 2}], [{"min": 3, "max": 2}, {"min": 1}]),
    "two_rules": row(Two, [{}, {"a": "y", "b": "z"}], [{"a": "y"}, {"a": "x", "b": "z"}, {"a": "x"}]),
    "exactly_one_of": row(
        Exactly, [{"s3": "x", "other": "x"}, {"localDisk": 1, "other": "x"}], [{}, {"s3": "x", "localDisk": 1}]
    ),
    "at_most_one_of": row(AtMost, [{}, {"a": 1}], [{"a": 1, "c": 1}, {"a": 1, "b": 1, "c": 1}]),
    "at_least_one_of": row(AtLeast, [{"namespace": "x"}, {"a": 1, "namespace": "x"}], [{}]),
    "two_families": row(Both, [{"c": 1}, {"a": 1, "c": 1, "d": 1}], [{"a": 1}, {"a": 1, "b": 1, "c": 1}]),
    "discriminator": row(
        Strategy,
        [{"type": "Recreate"}, {}, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}],
        [{"type": "RollingUpdate"}, {"type": "Recreate", "rollingUpdate": {}}, {"rollingUpdate": {}}, {"type": "X"}],
    ),
    "discriminator_loose": row(
        Loose, [{}, {"type": "A"}, {"type": "B", "a": 1}, {"type": "C", "c": 1}], [{"a": 1}, {"type": "C", "a": 1}]
    ),
    "tagged_union": row(
        S3 | Disk | Nothing,
        [S3_GOOD, {"type": "disk", "size": "1Gi", "path": "/x"}, {"type": "none"}],
        [
            {},
            {"type": "s3"},
            {"type": "tape"},
            {**S3_GOOD, "size": "1Gi"},
            {"type": "disk", "size": "1Gi", "region": "eu"},
            {"type": "none", "path": "/x"},
            {"type": "s3", "bucket": ""},
        ],
    ),
    "list_of_tagged": row(
        Annotated[list[S3 | Nothing], MaxLen(3)], [[S3_GOOD, {"type": "none"}]], [[S3_GOOD, {"type": "s3"}]]
    ),
    "tagged_alone": row(By, [{"by": "days", "number": 3}], [{"number": 3}, {"by": "weeks", "number": 3}]),
    "immutable": row(Annotated[str, Immutable()], ["a"], [1], [("a", "b"), ("a", None)]),
    "immutable_fields": row(
        Frozen, [{"name": "a", "size": 1}], [{"name": 1}], [({"name": "a"}, {}), ({"size": 2}, {}), ({"name": "a"}, {"name": "b"})]
    ),
    "immutable_class": row(FrozenWhole, [{"a": 1}], [{}], [({"a": 1}, {"a": 2})]),
    "transition": row(
        Annotated[int, Rule("self >= oldSelf", message="must not go down", reason="FieldValueForbidden")],
        [1], ["1"], [(2, 1)],
    ),
    "transition_on_creation": row(
        Annotated[int, Rule("oldSelf.hasValue() ? self >= oldSelf.value() : self > 0", message="up", optional_old_self=True)],
        [1], [0], [(2, 1)],
    ),
    "transition_by_key": row(
        Annotated[list[Part], ListMap("name"), MaxLen(5)],
        [[{"name": "a", "count": 1}]],
        [[{"count": 1}]],
        [([{"name": "a", "count": 2}, {"name": "b"}], [{"name": "b"}, {"name": "a", "count": 1}])],
    ),
    "transition_of_atomic": row(
        Annotated[Atomic, Rule("!has(oldSelf.a) || has(self.a)", message="a stays")], [{"a": 1}], [{"a": "1"}], [({"a": 1}, {})]
    ),
}  # fmt: skip
