"""What pydantic does and no server can: a warning where Python checks more, an error where the form is another."""
# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any

import pydantic
import pytest
from pydantic import AfterValidator, BaseModel, Field

from kubewright.schema import Default, SchemaError, SchemaWarning, schema_of


def lower(value: str) -> str:
    return value.lower()


class Checked(BaseModel):
    image: Annotated[str, AfterValidator(lower)]
    tag: str = ""

    @pydantic.field_validator("tag")
    @classmethod
    def known(cls, value: str) -> str:
        return value

    @pydantic.model_validator(mode="after")
    def together(self) -> Checked:
        return self


def test_a_validator_is_told_of_with_its_field_and_the_cure() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        schema_of(Checked)
    said = [str(each.message) for each in caught if issubclass(each.category, SchemaWarning)]
    assert [text.partition(" (")[0] + text.partition(")")[2] for text in said] == [
        "Checked.image: has the validator lower, which no server runs; say what it demands as a Rule or a marker too, so "
        "that a server refuses it first",
        "Checked.tag: has the validator known, which no server runs; say what it demands as a Rule or a marker too, so "
        "that a server refuses it first",
        "Checked: has the validator together, which no server runs; say what it demands as a Rule or a marker too, so that "
        "a server refuses it first",
    ]
    assert "test_pydantic_refused.py:" in said[0]


def refused(make: Callable[[], type[BaseModel]]) -> str:
    wanted = make()
    with pytest.raises(SchemaError) as error:
        schema_of(wanted)
    return str(error.value)


def _serialized() -> type[BaseModel]:
    class Spec(BaseModel):
        a: int

        @pydantic.field_serializer("a")
        def text(self, value: int) -> str:
            return str(value)

    return Spec


def _computed() -> type[BaseModel]:
    class Spec(BaseModel):
        @pydantic.computed_field  # type: ignore[prop-decorator]
        @property
        def b(self) -> int:
            return 1

    return Spec


def _of(wanted: Any, default: Any = ...) -> Callable[[], type[BaseModel]]:
    return lambda: pydantic.create_model("Spec", a=(wanted, default))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_serialized, "Spec.a: has the serializer text, which changes its form; declare the type that it has on the wire"),
        (_computed, "has the computed field b, which a server knows nothing of; make it a plain property"),
        (_of(bytes), "Spec.a: bytes are text in pydantic's JSON, not base64; declare pydantic.Base64Bytes, or str"),
        (_of(timedelta), "Spec.a: timedelta has no schema; declare a Duration"),
        (_of(set[str]), "Spec.a: set[str] has no schema; declare list[T] and mark it ListSet()"),
        (_of(pydantic.SecretStr), "Spec.a: SecretStr has no schema; refer to a Secret by its name"),
        (_of(Checked | int), "Checked | int has no structural schema: a field has one type; give each class a tag (kind: L"),
        (_of(int, Field(serialization_alias="b")), "the name 'b' to be written and 'a' to be read by; give one alias"),
        (_of(int, Field(validation_alias=pydantic.AliasChoices("b", "c"))), "several names to be read by"),
        (_of(int, Field(1, exclude=True)), "has exclude=True, so that it is never sent; make it a private attribute"),
        (_of(int, Field(1, ge=5)), "default: 1 is below the minimum 5"),
        (_of(Annotated[int, pydantic.PlainValidator(int)]), "has the validator int in the place of its type's"),
        (_of(int | bool), "int | bool has no structural schema"),
        (_of(Annotated[int, Default("x")], 1), "'x' is not of type integer"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_for_a_server_is_refused_with_a_cure(make: Callable[[], Any], said: str) -> None:
    assert said.replace("Spec.a: ", "") in refused(make)
