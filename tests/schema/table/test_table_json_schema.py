"""The JSON Schema of the table of types, judged by an implementation of JSON Schema: it is of its draft, and takes and
refuses what a server does, but for the rows whose reason is below.
"""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from table import FAMILIES
from table_rows import kind_of

from kubewright.model.base import model_fields
from kubewright.schema import crd_of
from kubewright.schema.reference.editor import editor_schema

# Those that need no further package; formats are annotations in the draft, and editors know about as many.
FORMATS = FormatChecker(formats=("date", "email", "ipv4", "ipv6", "uuid"))
ROWS = [(family, name) for family, rows in FAMILIES.items() for name in rows]

#: Rows with values that are refused by a server only: why, and which.
LOOSER: dict[str, str] = {
    "integers have no size and numbers none of 32 bits": "numbers.integer_too_large numbers.float32",
    "a pattern that only Go reads is a comment": "strings.pattern_with_flag strings.pattern_of_unicode",
    "a format that the validator of this test does not know, or no validator does": (
        "strings.cidr strings.mac strings.uri strings.hostname strings.short_name strings.long_name strings.isbn"
        " strings.isbn10 strings.isbn13 strings.creditcard strings.ssn strings.hexcolor strings.rgbcolor"
        " strings.bsonobjectid strings.data strings.instant strings.micro_time pydantic.url pydantic.base64"
        " pydantic.instant pydantic.network"
    ),
    "keys of a list map": ("lists.list_map lists.list_map_by_number lists.conditions objects.container pydantic.whole"),
    "the metadata of an embedded object is any object": "objects.embedded",
    "a rule (CEL) is a comment": (
        "strings.duration_bounded strings.quantity_bounded lists.items_with_rule lists.list_rule lists.keys_of_pattern"
        " lists.keys_of_length lists.keys_of_choice lists.map_rule rules.value rules.no_message"
        " rules.message_expression rules.reason_invalid rules.reason_forbidden rules.reason_required"
        " rules.reason_duplicate rules.several_on_one rules.of_durations rules.two_fields rules.two_rules"
        " rules.exactly_one_of rules.at_most_one_of rules.at_least_one_of rules.two_families rules.discriminator"
        " rules.discriminator_loose rules.tagged_union rules.list_of_tagged rules.transition_on_creation"
        " pydantic.one_of pydantic.rule pydantic.tagged_union"
    ),
}
#: Rows with values that are refused here only.
STRICTER: dict[str, str] = {"a server drops null where it is not allowed and the field is optional": "objects.nulls"}


def rows_of(known: dict[str, str]) -> set[str]:
    return {row for rows in known.values() for row in rows.split()}


class Judge:
    """The spec of a family as JSON Schema."""

    def __init__(self, family: str) -> None:
        kind = kind_of(family, FAMILIES[family])
        spec: Any = next(each.type for each in model_fields(kind) if each.name == "spec")
        self.wire = {each.name: each.encode_name for each in model_fields(spec)}
        self.schema = editor_schema(crd_of(kind), "v1")
        self.validator = Draft202012Validator(self.schema["properties"]["spec"], format_checker=FORMATS)

    def takes(self, name: str, value: Any) -> bool:
        return bool(self.validator.is_valid({self.wire[name]: value}))


@pytest.fixture(scope="module")
def judges() -> dict[str, Judge]:
    return {family: Judge(family) for family in FAMILIES}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_schema_of_a_family_is_of_its_draft(judges: dict[str, Judge], family: str) -> None:
    Draft202012Validator.check_schema(judges[family].schema)


@pytest.mark.parametrize(("family", "name"), ROWS)
def test_json_schema_takes_what_a_server_takes(judges: dict[str, Judge], family: str, name: str) -> None:
    taken = [judges[family].takes(name, value) for value in FAMILIES[family][name].good]
    assert all(taken) is (f"{family}.{name}" not in rows_of(STRICTER))


@pytest.mark.parametrize(("family", "name"), ROWS)
def test_json_schema_refuses_what_a_server_refuses(judges: dict[str, Judge], family: str, name: str) -> None:
    taken = [judges[family].takes(name, value) for value in FAMILIES[family][name].bad]
    assert any(taken) is (f"{family}.{name}" in rows_of(LOOSER))


def test_every_known_difference_is_of_a_row() -> None:
    assert rows_of(LOOSER) | rows_of(STRICTER) <= {f"{family}.{name}" for family, name in ROWS}
