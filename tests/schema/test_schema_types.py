"""Single types, and what the golden table does not show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, NewType, TypeVar

import annotated_types
import msgspec
import pytest
from annotated_types import Ge, Interval, Le, Len, MaxLen
from typing_extensions import TypeAliasType

from kubewright.model import UNSET, IntOrString, Model, Object, Quantity, Resource, UnsetType, field, resource
from kubewright.model.condition import Condition
from kubewright.models.core.v1 import Container, PersistentVolumeClaim
from kubewright.schema import (
    Default,
    Example,
    Format,
    ListAtomic,
    ListMap,
    Nullable,
    Pattern,
    Rule,
    SchemaError,
    Schemaless,
    Title,
    crd_of,
    schema_of,
)

if TYPE_CHECKING:
    from somewhere import Unknown  # type: ignore[import-not-found]

T = TypeVar("T")
INT = {"format": "int64", "type": "integer"}
Alias = TypeAliasType("Alias", Annotated[int, Le(9)])
Name = NewType("Name", str)


@pytest.mark.parametrize(
    ("wanted", "schema"),
    [
        (int, INT),
        (Annotated[int, Format("int32")], {"format": "int32", "type": "integer"}),
        (Annotated[int, Interval(ge=1, lt=5)], INT | {"minimum": 1, "maximum": 5, "exclusiveMaximum": True}),
        (Annotated[float, Format("float")], {"format": "float", "type": "number"}),
        (Alias, INT | {"maximum": 9}),
        (Annotated[Alias, Ge(1)], INT | {"minimum": 1, "maximum": 9}),
        (Name, {"type": "string"}),
        (Annotated[str, Len(0, 3)], {"type": "string", "maxLength": 3}),
        (Annotated[str, msgspec.Meta(pattern="^a", min_length=1)], {"type": "string", "pattern": "^a", "minLength": 1}),
        (Annotated[str, annotated_types.Unit("m"), "a note for somebody else"], {"type": "string"}),
        (Annotated[str, Pattern(r"^\p{L}+\z")], {"type": "string", "pattern": r"^\p{L}+\z"}),
        (Annotated[str, Pattern(r"^[(?=]\\1\+\+$")], {"type": "string", "pattern": r"^[(?=]\\1\+\+$"}),
        (Annotated[IntOrString, MaxLen(3)], {"maxLength": 3, "x-kubernetes-int-or-string": True,
                                             "anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (int | None, INT | {"nullable": True}),
        (Literal["a", None], {"allOf": [{"enum": ["a"]}], "nullable": True, "type": "string"}),
        (list, {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}}),
        (dict, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        (Annotated[list[int], Schemaless()], {"type": "array",
                                              "items": {"x-kubernetes-preserve-unknown-fields": True}}),
        (Annotated[int, Schemaless()], {"x-kubernetes-preserve-unknown-fields": True}),
        (Annotated[int, Title("T"), Example(3)], INT | {"title": "T", "example": 3}),
        (Annotated[Quantity, Example(Quantity("1Gi"))], schema_of(Quantity) | {"example": "1Gi"}),
        (Annotated[int, Rule(" self > 0 ", message="m", reason="FieldValueRequired")],
         INT | {"x-kubernetes-validations": [{"rule": "self > 0", "message": "m", "reason": "FieldValueRequired"}]}),
    ],
)  # fmt: skip
def test_a_type_has_its_schema(wanted: Any, schema: dict[str, Any]) -> None:
    assert schema_of(wanted) == schema


class Listed(Model):
    conditions: list[Condition] = []
    plain: Annotated[list[Condition], ListAtomic()] = []


def test_conditions_are_a_map_by_type_unless_said_otherwise() -> None:
    properties = schema_of(Listed)["properties"]
    assert properties["conditions"]["x-kubernetes-list-type"] == "map"
    assert properties["conditions"]["x-kubernetes-list-map-keys"] == ["type"]
    assert properties["plain"]["x-kubernetes-list-type"] == "atomic"


class Endpoint(Model):
    host_name: str
    port_number: int = 80
    rule: str = field(default="", name="x-rule")


class Endpoints(Model):
    by_python_name: Annotated[list[Endpoint], ListMap("host_name", "port_number")] = []
    by_wire_name: Annotated[list[Endpoint], ListMap("hostName", "x-rule")] = []


def test_list_keys_may_be_said_in_python_or_as_on_the_wire() -> None:
    properties = schema_of(Endpoints)["properties"]
    assert properties["byPythonName"]["x-kubernetes-list-map-keys"] == ["hostName", "portNumber"]
    assert properties["byWireName"]["x-kubernetes-list-map-keys"] == ["hostName", "x-rule"]


class Nothing(Model):
    optional: int | None = None
    unset: int | UnsetType = UNSET
    null_or_absent: int | None | UnsetType = UNSET  # noqa: RUF036
    marked: Annotated[int | None, Nullable()] = None
    empty: list[int] = []
    blank: dict[str, int] = {}


def test_absent_is_not_null_unless_a_type_tells_them_apart() -> None:
    schema = schema_of(Nothing)
    assert "required" not in schema
    assert {name for name, part in schema["properties"].items() if part.get("nullable")} == {"nullOrAbsent", "marked"}
    assert not any("default" in part for part in schema["properties"].values())


class GoStyle(Model, omit_zero=True):
    name: str = ""
    count: int = 0
    flag: bool = False
    port: int = 80


def test_a_zero_that_is_left_out_on_the_wire_is_no_default() -> None:
    properties = schema_of(GoStyle)["properties"]
    assert {name: part["default"] for name, part in properties.items() if "default" in part} == {"port": 80}


class PlainStruct(msgspec.Struct, rename="kebab"):
    a_name: str
    a_size: int = 3


def test_a_struct_that_is_no_model_has_its_own_names_and_defaults() -> None:
    schema = schema_of(PlainStruct)
    assert schema["required"] == ["a-name"]
    assert schema["properties"]["a-size"] == INT | {"default": 3}


class Inner(Model):
    size: int = 1
    name: str | None = None


class Stated(Model):
    inner: Annotated[Inner | None, Default(Inner(size=2))] = None
    required_here: Annotated[int, Default(5)]


def test_a_stated_default_may_be_a_model_and_makes_a_field_optional_on_the_wire() -> None:
    schema = schema_of(Stated)
    assert "required" not in schema
    assert schema["properties"]["inner"]["default"] == {"size": 2}
    assert schema["properties"]["requiredHere"]["default"] == 5


class Holder(Model, Generic[T]):
    content: T


class Recursing(Model):
    name: str
    parts: Annotated[list[Recursing], Schemaless()] = []
    left: Annotated[Recursing | None, Schemaless()] = None


def test_schemaless_cuts_a_recursion() -> None:
    properties = schema_of(Recursing)["properties"]
    assert properties["parts"] == {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}}
    assert properties["left"] == {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def test_a_generic_model_is_what_it_is_made_of() -> None:
    assert schema_of(Holder[Holder[int]])["properties"]["content"]["properties"] == {"content": INT}
    with pytest.raises(SchemaError, match="say what T is"):
        schema_of(Holder)


class Unreadable(Model):
    a: Unknown


def test_annotations_that_exist_for_type_checkers_only_are_an_error_with_its_cure() -> None:
    with pytest.raises(SchemaError, match=r"annotations cannot be read .*'Unknown'.* import them there"):
        schema_of(Unreadable)


@Rule("self.a > 0")
class Base(Model):
    a: int = 1


@Title("derived")
@Rule("self.b > 0")
@Rule("self.b < 9")
class Derived(Base):
    b: int = 1


def test_markers_above_a_class_are_inherited_and_keep_the_order_they_are_read_in() -> None:
    schema = schema_of(Derived)
    assert [each["rule"] for each in schema["x-kubernetes-validations"]] == ["self.a > 0", "self.b > 0", "self.b < 9"]
    assert schema["title"] == "derived"
    assert "title" not in schema_of(Base)


def test_a_field_adds_to_the_rules_of_its_class() -> None:
    schema = schema_of(Annotated[Base, Rule("self.a < 9")])
    assert [each["rule"] for each in schema["x-kubernetes-validations"]] == ["self.a > 0", "self.a < 9"]


def test_generated_models_keep_their_merge_facts() -> None:
    ports = schema_of(Container)["properties"]["ports"]
    assert ports["x-kubernetes-list-map-keys"] == ["containerPort", "protocol"]
    assert ports["items"]["properties"]["protocol"]["default"] == "TCP"
    claim = schema_of(PersistentVolumeClaim)["properties"]
    assert set(claim["metadata"]["properties"]) >= {"labels", "annotations", "name"}
    assert claim["kind"] == {"type": "string"}


class Required(Model):
    size: int


class Optional(Model):
    size: int | None = None


@resource(group="example.com", version="v1")
class WithRequired(Resource[Required, Optional]):
    pass


@resource(group="example.com", version="v1")
class WithOptional(Resource[Optional]):
    pass


@resource(group="example.com", version="v1")
class WithDefaults(Resource[Inner, Inner]):
    pass


def test_the_spec_is_required_or_defaulted_by_what_is_in_it_and_the_status_never() -> None:
    def root(cls: Any) -> Any:
        return crd_of(cls)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]

    assert root(WithRequired)["required"] == ["spec"]
    assert "required" not in root(WithOptional)
    assert "default" not in root(WithOptional)["properties"]["spec"]
    assert root(WithDefaults)["properties"]["spec"]["default"] == {}
    assert "default" not in root(WithDefaults)["properties"]["status"]
    assert "status" not in root(WithOptional)["properties"]


def test_a_schema_shares_nothing_with_the_next_one() -> None:
    schema_of(Quantity)["anyOf"].clear()
    assert schema_of(Quantity)["anyOf"] == [{"type": "integer"}, {"type": "string"}]


class Settings(Object):
    """A kind without a spec, as ConfigMap is one."""

    data: dict[str, str] = {}
    status: Optional = Optional()


resource(group="example.com", version="v1", plural="settings")(Settings)


def test_a_kind_may_have_other_parts_than_spec_and_status() -> None:
    version = crd_of(Settings)["spec"]["versions"][0]
    assert set(version["schema"]["openAPIV3Schema"]["properties"]) == {
        "apiVersion",
        "kind",
        "metadata",
        "data",
        "status",
    }
    assert version["subresources"] == {"status": {}}
