"""Types that cannot be a schema: each error names class, field, rule and cure, and one run reports all of them."""

from __future__ import annotations

import enum
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Annotated, Any, Literal

import msgspec
import pytest
from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen, MultipleOf, Predicate

from kubewright.model import (
    Column,
    Duration,
    IntOrString,
    Model,
    Quantity,
    Resource,
    field,
    resource,
)
from kubewright.model import Unstructured as AnyObject
from kubewright.models.core.v1 import Pod
from kubewright.schema import (
    Default,
    EmbeddedResource,
    Example,
    Format,
    Immutable,
    ListAtomic,
    ListMap,
    ListSet,
    MapAtomic,
    MaxProperties,
    MinProperties,
    Nullable,
    Pattern,
    PreserveUnknown,
    Rule,
    SchemaCause,
    SchemaError,
    UniqueItems,
    crd_of,
    schema_of,
)


def causes(wanted: Any) -> list[str]:
    with pytest.raises(SchemaError) as error:
        schema_of(wanted)
    return [f"{cause.field}: {cause.rule}; {cause.cure}" if cause.field else f"{cause.rule}; {cause.cure}"
            for cause in error.value.causes]  # fmt: skip


class Item(Model):
    name: str
    size: int | None = None
    tags: list[str] = []
    zone: Annotated[str, Nullable()] = "a"


class Color(enum.Flag):
    RED = 1
    GREEN = 2


CLOCK = count()


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        # a marker beside the wrong type
        (Annotated[int, MaxLen(5)], "MaxLen(5) has no meaning for an int; bound a number with Ge, Gt, Le and Lt"),
        (Annotated[int, Pattern("a")], "Pattern('a') has no meaning for an int; take it away"),
        (Annotated[str, Ge(1)], "Ge(1) has no meaning for a str; bound the length of a str with MinLen and MaxLen"),
        (Annotated[str, MultipleOf(2)], "MultipleOf(2) has no meaning for a str; bound the length of a str"),
        (Annotated[list[int], Ge(1)], "Ge(1) has no meaning for a list; bound the length of a list"),
        (Annotated[bool, Ge(1)], "Ge(1) has no meaning for a bool; take it away"),
        (Annotated[Quantity, Ge(1)], "Ge(1) has no meaning for a Quantity; compare with Rule"),
        (Annotated[Duration, Le(1)], "Le(1) has no meaning for a Duration; compare with Rule"),
        (Annotated[datetime, Lt(1)], "Lt(1) has no meaning for an instant; compare with Rule"),
        (Annotated[bytes, MaxLen(3)], "MaxLen(3) has no meaning for bytes; a server would count base64 characters"),
        (Annotated[Item, MinLen(1)], "MinLen(1) has no meaning for a Model; count fields with MinProperties"),
        (Annotated[str, MinProperties(1)], "MinProperties(1) has no meaning for a str; bound the length of a str"),
        (Annotated[list[str], Pattern("a")], "put it on the items: list[Annotated[str, Pattern('a')]]"),
        (Annotated[dict[str, str], Pattern("a")], "put it on the items: dict[str, Annotated[str, Pattern('a')]]"),
        (Annotated[Literal["a"], Pattern("a")], "Pattern('a') has no meaning for a choice of fixed values; list the"),
        (Annotated[Quantity, Pattern("a")], "Pattern('a') has no meaning for a Quantity; take it away, the type has"),
        (Annotated[datetime, Format("date")], "Format('date') has no meaning for an instant; take it away, the type"),
        (Annotated[dict[str, str], ListSet()], "ListSet() has no meaning for a dict; use MapAtomic"),
        (Annotated[str, ListMap("a")], "ListMap('a') has no meaning for a str; take it away"),
        (Annotated[list[str], MapAtomic()], "MapAtomic() has no meaning for a list; use ListAtomic"),
        (Annotated[str, PreserveUnknown()], "PreserveUnknown() has no meaning for a str; take it away, or declare Any"),
        (Annotated[str, EmbeddedResource()], "EmbeddedResource() has no meaning for a str; declare dict[str, Any]"),
        (Annotated[dict[str, int], EmbeddedResource()], "EmbeddedResource() has no meaning for a dict; declare dict"),
        (Annotated[Item, EmbeddedResource()], "EmbeddedResource() on a Model that cannot carry apiVersion and kind"),
        (Annotated[Pod, EmbeddedResource()], "EmbeddedResource() on a Model that cannot carry apiVersion and kind"),
        (Annotated[Any, Immutable()], "Immutable() has no meaning for any JSON; declare a type"),
        (Annotated[Any, Rule("self == 1")], "Rule('self == 1') cannot see into any JSON; declare a type"),
        (Annotated[list[str], UniqueItems()], "UniqueItems() is forbidden in structural schemas; use ListSet()"),
        (Annotated[str, Predicate(str.islower)], "cannot be checked by a server; say it as a Rule"),
        # values of markers
        (Annotated[int, Ge(0.5)], "Ge(0.5) cannot bound an int; give a whole number"),
        (Annotated[int, Ge(2**63)], "cannot bound an int; stay within 64 bits"),
        (Annotated[float, Le(float("inf"))], "Le(inf) cannot bound a float; give a finite number"),
        (Annotated[int, Ge("a")], "Ge('a') cannot bound an int; give a finite number"),
        (Annotated[int, MultipleOf(0)], "MultipleOf(0) is not above zero; give a number above zero"),
        (Annotated[int, MultipleOf(0.5)], "MultipleOf(0.5) cannot divide an int; give a whole number"),
        (Annotated[int, Ge(3), Le(2)], "Ge(3) and Le(2) leave no value; widen one of them"),
        (Annotated[int, Gt(2), Lt(3)], "Gt(2) and Lt(3) leave no value"),
        (Annotated[float, Gt(2), Le(2)], "Gt(2) and Le(2) leave no value"),
        (Annotated[str, MinLen(3), MaxLen(2)], "MinLen(3) and MaxLen(2) leave no value"),
        (Annotated[str, MinLen(-1)], "MinLen(-1) is not a length; give a whole number from 0 on"),
        (Annotated[dict[str, str], MaxProperties(True)], "MaxProperties(True) is not a length"),
        (Annotated[str, Pattern("a"), Pattern("b")], "Pattern('a') and Pattern('b') stand side by side; keep one"),
        (Annotated[list[str], ListSet(), ListAtomic()], "ListSet() and ListAtomic() exclude each other; keep one"),
        (Annotated[str, Format("ip4")], "Format('ip4') is not a format that servers check of a str; did you mean"),
        (Annotated[str, Format("quantity")], "declare a Quantity"),
        (Annotated[int, Format("uint8")], "Format('uint8') is not a format that servers check of an int"),
        (Annotated[str, Example(object())], "which is not JSON"),
        # regular expressions that RE2 has not
        (Annotated[str, Pattern("(?=a)")], "looks ahead or behind, which RE2 cannot; say it as a Rule"),
        (Annotated[str, Pattern("(?<!a)b")], "looks ahead or behind, which RE2 cannot"),
        (Annotated[str, Pattern(r"(a)\1")], "refers back to a group, which RE2 cannot"),
        (Annotated[str, Pattern("a++")], "has a possessive quantifier, which RE2 cannot"),
        (Annotated[str, Pattern("(?>a)")], "has an atomic group, which RE2 cannot"),
        (Annotated[str, Pattern(r"a\Z")], r"ends with \Z, which RE2 cannot; write $"),
        (Annotated[str, Pattern("(a")], "is not a regular expression"),
        # rules
        (Annotated[int, Rule(" ")], "is empty; write a CEL expression over self"),
        (Annotated[int, Rule("self > 1 &&\nself < 3")], "has several lines and no message; add message="),
        (Annotated[int, Rule("self > 1", message="a\nb")], "has a message that is not one line"),
        (Annotated[int, Rule("self > 1", message_expression=" ")], "has an empty message_expression"),
        (Annotated[int, Rule("self > 1", reason="Bad")], "has the reason 'Bad'; use one of FieldValueInvalid"),  # type: ignore[arg-type]
        (Annotated[int, Rule("self > 1", optional_old_self=True)], "sets optional_old_self and does not"),
        (Annotated[int, Rule("self != 'oldSelf'", optional_old_self=True)], "does not look at oldSelf; take it away"),
        (Annotated[Item, Rule("true", field_path=".nam")], "has a field_path that names 'nam'"),
        (Annotated[Item, Rule("true", field_path=".nam")], "write '.name'"),
        (list[Annotated[str, Rule("self == oldSelf")]], "compares with oldSelf below list[str], whose items"),
        (Annotated[list[Annotated[str, Immutable()]], ListSet()], "whose items have no identity; mark"),
        # lists
        (Annotated[list[str], ListMap("name")], "ListMap('name') needs items that are Models and has a str; use"),
        (Annotated[list[dict[str, Any]], ListMap("name")], "declare a Model for the items"),
        (Annotated[list[Item], ListMap("nam")], "'nam' is not a field of the items; did you mean 'name'?"),
        (Annotated[list[Item], ListMap("size")], "'size' may be absent; give the field no default"),
        (Annotated[list[Item], ListMap("zone")], "'zone' may be null; take Nullable"),
        (Annotated[list[Item], ListMap("tags")], "'tags' is not a scalar; use fields that hold one plain value"),
        (Annotated[list[Item], ListMap("name", "name")], "'name' is named twice; name it once"),
        (Annotated[list[Item], ListMap()], "ListMap() names no key"),
        (Annotated[list[Item], ListSet()], "ListSet() of a Model: server-side apply compares scalars only; use"),
        (Annotated[list[list[str]], ListSet()], "ListSet() of a list: server-side apply compares scalars only"),
        (Annotated[list[str | None], ListSet()], "ListSet() does not go with items that may be None"),
        (Annotated[list[Item | None], ListMap("name")], "ListMap('name') does not go with items that may be None"),
        # types
        (set[str], "set[str] has no schema; declare list[T] and mark it ListSet()"),
        (tuple[int, str], "tuple[int, str] has no schema; declare list[T], or a Model with a field for each part"),
        (timedelta, "timedelta has no schema; declare a Duration"),
        (Decimal, "Decimal has no schema; declare a Quantity"),
        (object, "object has no schema; declare Any"),
        (AnyObject, "Unstructured has no schema; declare Annotated[dict[str, Any], EmbeddedResource()]"),
        (None, "has no schema"),
        (int | float | str, "int | float | str has no structural schema: a field has one type"),
        (Item | str | None, "Item | str has no structural schema"),
        (Literal["a", 1], "is not of one type; use only str values, or only int values"),
        (Color, "Color is a Flag; declare list[Literal[...]] marked ListSet()"),
        # keys of dictionaries
        (dict[int, str], "int cannot be a key of JSON; declare str"),
        (dict[str | None, int], "cannot be a key of JSON"),
        (dict[Annotated[str, Format("ipv4")], str], "a key cannot be checked for a Format or a Rule; use Pattern"),
        (dict[Annotated[str, MaxLen(3)], Any], "keys of values of any type cannot be checked"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_cure(wanted: Any, said: str) -> None:
    assert any(said in cause for cause in causes(wanted)), causes(wanted)


class Recursive(Model):
    children: list[Recursive] = []


class Even(Model):
    odd: Odd | None = None


class Odd(Model):
    even: Even | None = None


class Tagged(Model, tag="t"):
    a: int = 0


class Untagged(Model):
    a: int = 0


class Row(msgspec.Struct, array_like=True):
    a: int


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Recursive, "children[]: the type contains itself (Recursive -> Recursive), which a structural schema cannot "
         "say; cut it with Annotated[..., Schemaless()], refer to others by name, or flatten it into a list"),
        (Even, "even: the type contains itself (Even -> Odd -> Even)"),
        (Tagged | Untagged, "Tagged | Untagged are not told apart by one field; give every class of the union a text"),
        (Row, "Row is array_like, which has no structural schema; declare a plain Model"),
    ],
)  # fmt: skip
def test_a_model_without_a_structural_schema_is_refused(wanted: Any, said: str) -> None:
    assert any(said in cause for cause in causes(wanted)), causes(wanted)


def test_the_same_class_twice_side_by_side_is_no_recursion() -> None:
    class Pair(Model):
        a: Item
        b: Item

    assert set(schema_of(Pair)["properties"]) == {"a", "b"}


class BadDefaults(Model):
    low: Annotated[int, Ge(3)] = 1
    high: Annotated[float, Lt(1)] = 1.0
    odd: Annotated[int, MultipleOf(2)] = 3
    short: Annotated[str, MinLen(2)] = "a"
    long: Annotated[str, MaxLen(2)] = "abc"
    wrong: Annotated[str, Pattern("^a")] = "b"
    choice: Literal["a", "b"] = "c"  # type: ignore[assignment]
    kind: int = "x"  # type: ignore[assignment]
    twice: Annotated[list[str], ListSet()] = field(default_factory=lambda: ["a", "a"])
    inside: dict[str, Annotated[int, Le(1)]] = field(default_factory=lambda: {"a": 2})
    moving: int = field(default_factory=lambda: next(CLOCK))
    infinite: float = float("inf")
    empty: bytes = b""
    naive: datetime = datetime(2026, 1, 2)
    server: Annotated[int | None, Default("x")] = None
    none: Annotated[int, Default(None)] = 3


@pytest.mark.parametrize(
    "said",
    [
        "low: default: 1 is below the minimum 3",
        "high: default: 1.0 is above the maximum 1",
        "odd: default: 3 is not a multiple of 2",
        "short: default: 'a' has less than 2 characters",
        "long: default: 'abc' has more than 2 characters",
        "wrong: default: 'b' does not match ^a",
        "choice: default: 'c' is none of 'a', 'b'",
        "kind: default: 'x' is not of type integer",
        "twice: default: ['a', 'a'] has an item twice",
        "inside: default: 2 is above the maximum 1",
        "moving: has a default that changes with every call",
        "infinite: has the default inf, which JSON cannot say",
        "empty: default: empty bytes, which servers do not take for base64",
        "naive: default: '2026-01-02T00:00:00' has no time zone",
        "server: default: 'x' is not of type integer",
        "none: default: null is not allowed",
    ],
)
def test_a_default_that_a_server_would_refuse_is_an_error(said: str) -> None:
    assert any(said in cause for cause in causes(BadDefaults)), causes(BadDefaults)


class Undecided(Model):
    a: int | None


class Decided(Model):
    a: Annotated[int | None, Nullable()]


def test_a_required_field_that_may_be_none_has_to_say_what_none_is() -> None:
    assert causes(Undecided) == [
        "a: is required and may be None, which is neither absent nor null; "
        "add `= None` (it may be absent), or mark it Nullable() (it may be null)"
    ]
    assert schema_of(Decided)["required"] == ["a"]
    assert schema_of(Decided)["properties"]["a"]["nullable"] is True


class TwoMistakes(Model):
    a: Annotated[int, MaxLen(1)]
    b: list[Annotated[str, Ge(1)]]


@resource(group="example.com", version="v1", columns=[Column("A", ".spec.c")])
class Broken(Resource[TwoMistakes]):
    pass


def test_one_run_reports_all_mistakes_with_file_and_line() -> None:
    with pytest.raises(SchemaError) as error:
        crd_of(Broken)
    first, second, third = error.value.causes
    assert (first.owner, first.field) == ("TwoMistakes", "a")
    assert (second.owner, second.field) == ("TwoMistakes", "b[]")
    assert (third.owner, third.field) == ("Broken", "")
    assert first.source.partition(":")[0].endswith("test_schema_errors.py")
    lines = str(error.value).splitlines()
    assert lines[0] == "3 problems"
    assert lines[1] == f"  TwoMistakes.a ({first.source}): MaxLen(1) has no meaning for an int; {first.cure}"


def test_a_single_mistake_is_one_line() -> None:
    cause = SchemaCause("Web", "size", "is wrong", "make it right", "web.py:3")
    assert str(SchemaError([cause])) == "Web.size (web.py:3): is wrong; make it right"


@resource(group="example.com", version="v1")
class Shared(Resource[Undecided, Model]):
    pass


def test_a_mistake_in_a_class_that_is_used_twice_is_told_once() -> None:
    class Twice(Model):
        a: Undecided
        b: list[Undecided]

    assert len(causes(Twice)) == 1


def test_the_markers_of_an_alias_and_its_use_hold_together() -> None:
    small = Annotated[int, Ge(0), Le(10)]
    assert schema_of(Annotated[small, Le(5)]) == {"format": "int64", "type": "integer", "minimum": 0, "maximum": 5}
    assert schema_of(Annotated[small, Gt(0)])["exclusiveMinimum"] is True
    assert schema_of(Annotated[Annotated[IntOrString, Ge(1)], Lt(9)])["exclusiveMaximum"] is True
