"""Sets that were written under another schema, by hand, or with numbers: what the server makes of them."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.apiserver.fields.entries import Entries
from kubewright.apiserver.fields.paths import encoded, is_readable
from kubewright.apiserver.fields.reconciling import reconciled
from kubewright.apiserver.fields.types import FieldType, FieldTypes
from kubewright.apiserver.fields.walking import compare, field_set
from kubewright.apiserver.yamlbodies import read_yaml

MAP = {"type": "object", "additionalProperties": {"type": "string"}}
LIST = {"type": "array", "items": {"type": "string"}}


def type_of(**properties: Any) -> FieldType:
    types = FieldTypes(lambda name: {"type": "object", "properties": {"name": {"type": "string"}}})
    return types.custom({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}})


GRANULAR = type_of(map=MAP, list={**LIST, "x-kubernetes-list-type": "set"}, text={"type": "string"})
ATOMIC = type_of(map={**MAP, "x-kubernetes-map-type": "atomic"}, list=LIST, text={"type": "string"})
SPEC = {"spec": {"map": {"a": "1", "b": "2"}, "list": ["a", "b"], "text": "x"}}


def test_who_owned_a_part_of_what_became_atomic_owns_the_whole() -> None:
    assert reconciled(field_set(SPEC, GRANULAR), ATOMIC) == field_set(SPEC, ATOMIC)


def test_who_owned_the_whole_of_what_became_granular_owns_no_part_of_it() -> None:
    whole = field_set(SPEC, ATOMIC)
    assert reconciled(whole, GRANULAR) == whole


def test_what_has_no_schema_is_left_alone() -> None:
    free = type_of(map={"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    paths = frozenset({("f:spec", "f:map", "f:a", "f:b"), ("f:spec", "f:gone", "f:x")})
    assert reconciled(paths, free) == paths


def test_a_whole_number_is_no_other_than_its_float_and_no_truth_value() -> None:
    free = type_of(free={"type": "object", "x-kubernetes-preserve-unknown-fields": True})

    def differs(one: Any, other: Any) -> bool:
        return not compare({"spec": {"free": {"a": [one]}}}, {"spec": {"free": {"a": [other]}}}, free).is_empty

    assert not differs(2, 2.0)
    assert differs(1, True)


def test_a_list_that_became_a_map_gives_the_fields_too() -> None:
    free = type_of(free={"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    found = compare({"spec": {"free": {"a": []}}}, {"spec": {"free": {"a": {"b": 1}}}}, free)
    assert found.modified == {("f:spec", "f:free", "f:a")}
    assert found.added == {("f:spec", "f:free", "f:a", "f:b")}


def test_sets_of_numbers_are_in_the_order_of_their_text_in_custom_objects() -> None:
    numbers = type_of(n={"type": "array", "items": {"type": "number"}, "x-kubernetes-list-type": "set"})
    paths = field_set({"spec": {"n": [2, 10, 1e-7]}}, numbers)
    assert list(encoded(paths, is_custom=True)["f:spec"]["f:n"]) == ["v:10", "v:1e-07", "v:2"]
    assert list(encoded(paths)["f:spec"]["f:n"]) == ["v:1e-07", "v:2", "v:10"]


@pytest.mark.parametrize(
    ("fields", "is_good"),
    [
        ({}, True),
        ({"f:a": {".": {}, 'k:{"b":1}': {}, 'v:"x"': {}, "i:0": {}}}, True),
        ({"bad": {}}, False),
        ({"f:a": {"k:[]": {}}}, False),
        ({"f:a": {"v:x": {}}}, False),
        ({"f:a": {"i:x": {}}}, False),
        ({"f:a": 1}, False),
    ],
)
def test_sets_that_were_written_by_hand_are_read_or_refused(fields: Any, is_good: bool) -> None:
    assert is_readable(fields) == is_good
    entry = {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}
    assert (Entries.read([entry]) is not None) == is_good


def test_a_number_with_an_exponent_is_a_number_in_yaml_without_a_point_and_a_sign() -> None:
    assert read_yaml(b"[1e-7, 1E5, -2e+3, .5e1, 1e5x, e5]", False).value == [1e-7, 1e5, -2e3, 5.0, "1e5x", "e5"]
