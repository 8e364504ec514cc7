"""What generated classes do: the modules made of the test data are imported and used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from kubewright.generate import GenerateError, generate, generate_models, load_documents
from kubewright.generate.sources import Documents
from kubewright.model import (
    Condition,
    DecodeError,
    LabelSelector,
    ObjectMeta,
    Quantity,
    ScaleInfo,
    decode,
    encode,
    from_dict,
    info_of,
    to_dict,
)
from kubewright.models.core.v1 import LocalObjectReference

DATA = Path(__file__).with_name("testdata")


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("generated")
    for source in DATA.iterdir():
        generate_models(source, folder / "made_of_testdata")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == "made_of_testdata"]:
        del sys.modules[name]


@pytest.fixture
def shop(modules: Path) -> Any:
    return importlib.import_module("made_of_testdata.shop.v1")


@pytest.fixture
def learning(modules: Path) -> Any:
    return importlib.import_module("made_of_testdata.learning.v1")


def order(shop: Any, **spec: Any) -> Any:
    required = {"lines": [shop.Line(article="a")], "priority": 0, "selector": LabelSelector()}
    return shop.Order(metadata=ObjectMeta(name="o"), spec=shop.OrderSpec(**required, **spec))


def test_a_kind_knows_plural_scope_and_subresources_from_the_paths(shop: Any) -> None:
    info = info_of(shop.Order)
    assert (info.api_version, info.plural, info.namespaced, info.status) == (
        "shop.example.com/v1",
        "orders",
        True,
        True,
    )
    assert info.scale == ScaleInfo()
    assert (info_of(shop.Region).namespaced, info_of(shop.Region).status) == (False, False)


def test_a_kind_of_a_crd_knows_all_that_the_crd_says(learning: Any) -> None:
    info = info_of(learning.Model)
    assert (info.kind, info.singular, info.short_names, info.categories) == (
        "Model",
        "mdl",
        ("mo",),
        ("all", "learning"),
    )
    assert info.scale == ScaleInfo(".spec.workers", ".status.workers", ".status.selector")
    assert [column.name for column in info.columns] == ["Workers", "Ready"]
    older = info_of(importlib.import_module("made_of_testdata.learning.v1alpha1").Model)
    assert (older.storage, older.deprecated, older.deprecation_warning, older.status) == (False, True, "use v1", False)


def test_odd_names_go_over_the_wire_as_they_are(shop: Any) -> None:
    made = order(shop, from_=["x"], ref_="r", cluster_ips=["1"], host_pid=True, foo_bar="a", foo_bar_2="b")
    spec = to_dict(made)["spec"]
    assert {name: spec[name] for name in ("from", "$ref", "clusterIPs", "hostPID", "fooBar", "foo_bar")} == {
        "from": ["x"],
        "$ref": "r",
        "clusterIPs": ["1"],
        "hostPID": True,
        "fooBar": "a",
        "foo_bar": "b",
    }
    assert from_dict(shop.Order, to_dict(made)) == made


def test_what_is_absent_is_not_sent_and_what_is_required_is(shop: Any) -> None:
    assert to_dict(order(shop))["spec"] == {"lines": [{"article": "a"}], "priority": 0, "selector": {}}


def test_bytes_are_base64_and_free_forms_are_any_json(shop: Any) -> None:
    spec = to_dict(order(shop, attachment=b"\x00\xff", extra={"a": [1, None]}, gift={}))["spec"]
    assert (spec["attachment"], spec["extra"], spec["gift"]) == ("AP8=", {"a": [1, None]}, {})


def test_a_type_may_hold_itself(shop: Any) -> None:
    data = {"article": "a", "bundle": [{"article": "b", "bundle": [{"article": "c", "weight": "1Ki"}]}]}
    line = from_dict(shop.Line, data)
    assert line.bundle[0].bundle[0].weight == Quantity("1024")
    assert to_dict(line) == data


def test_built_in_types_are_those_of_kubewright_models(shop: Any) -> None:
    assert isinstance(from_dict(shop.OrderSpec, {"secretRef": {"name": "s"}}).secret_ref, LocalObjectReference)


def test_a_status_can_always_be_read(shop: Any) -> None:
    status = shop.Order(spec=order(shop).spec).status
    assert (status.paid, status.parcels, status.phase, status.conditions, status.seen_at) == (False, 0, "", [], None)


def test_zeros_of_a_status_of_a_go_type_are_left_out(shop: Any) -> None:
    made = order(shop)
    assert "status" not in to_dict(made)
    made.status.parcels = 2
    assert to_dict(made)["status"] == {"parcels": 2}


def test_zeros_that_the_schema_of_a_custom_resource_requires_are_sent(learning: Any) -> None:
    made = learning.Model(spec=learning.ModelSpec(source="s3://1", epochs=1))
    made.status.phase = "Done"
    assert to_dict(made)["status"] == {"workers": 0, "phase": "Done"}


def test_nulls_and_absent_fields_of_a_server_are_read_as_gos_zeros(shop: Any) -> None:
    made = from_dict(shop.Order, {"spec": {"lines": None, "from": None, "shares": None}, "status": None})
    assert (made.spec.lines, made.spec.from_, made.spec.shares, made.spec.priority) == ([], [], None, 0)
    assert made.status.parcels == 0


def test_well_known_shapes_of_a_crd_become_the_classes_of_model(learning: Any) -> None:
    made = from_dict(
        learning.Model,
        {
            "spec": {
                "source": "s3://1",
                "epochs": 1,
                "memory": "1Gi",
                "deadline": "2026-01-02T03:04:05Z",
                "selector": {"matchLabels": {"a": "b"}},
                "template": {"metadata": {"labels": {"a": "b"}}},
            },
            "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Up"}]},
        },
    )
    assert made.spec.memory == Quantity("1Gi")
    assert made.spec.deadline == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert made.spec.selector == LabelSelector(match_labels={"a": "b"})
    assert made.spec.template.metadata.labels == {"a": "b"}
    assert made.status.conditions == [Condition(type="Ready", status="True", reason="Up")]


def test_an_enumeration_of_a_crd_is_checked(learning: Any) -> None:
    with pytest.raises(DecodeError, match=r"^Model\.spec\.mode: Invalid enum value 'Slow'"):
        decode(learning.Model, b'{"spec":{"source":"s3://1","epochs":1,"mode":"Slow"}}')


def test_limits_of_a_crd_are_kept_as_metadata_of_the_type(learning: Any) -> None:
    from annotated_types import Ge, Gt, Le, MaxLen, MinLen

    from kubewright.schema import Pattern

    types = {f.name: f.type for f in msgspec.structs.fields(learning.ModelSpec)}
    assert types["source"].__metadata__ == (MinLen(1), Pattern(r"^[a-z]+://.*\d$"))
    assert types["epochs"].__metadata__ == (Ge(1), Le(1000))
    assert types["rate"].__args__[0].__metadata__ == (Gt(0), Le(0.5))
    assert types["tags"].__args__[0].__metadata__ == (MaxLen(5),)


def test_merge_facts_are_class_data_only_where_there_are_any(shop: Any) -> None:
    assert shop.OrderSpec.__list_map_keys__ == {"lines": ("article", "int")}
    assert shop.OrderSpec.__list_sets__ == ("clusterIPs",)
    assert shop.OrderSpec.__atomic_maps__ == ("selector",)
    assert shop.OrderSpec.__patch_strategies__ == {"lines": "merge"}
    assert shop.OrderSpec.__patch_merge_keys__ == {"lines": "article"}
    assert shop.OrderSpec.__defaults__ == {"delivery": "Post"}
    assert shop.Address.__atomic__ is True
    assert not hasattr(shop.Line, "__list_map_keys__")


def test_class_data_is_no_field(shop: Any) -> None:
    assert not any(name.startswith("__") for name in shop.OrderSpec.__struct_fields__)


def test_open_enumerations_take_a_value_of_a_newer_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = generate(load_documents(DATA / "shop.openapi.json"), enums="open")
    (tmp_path / "open_shop.py").write_text(files["shop/v1.py"].replace("from ..label.v1beta1 import Tag", "Tag = str"))
    monkeypatch.syspath_prepend(tmp_path)
    spec = importlib.import_module("open_shop").OrderSpec
    assert from_dict(spec, {"delivery": "Drone"}).delivery == "Drone"


def test_a_crd_beside_the_document_of_its_server_is_made_once(modules: Path) -> None:
    document = orjson.loads((DATA / "shop.openapi.json").read_bytes())
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "regions.shop.example.com"},
        "spec": {
            "group": "shop.example.com",
            "scope": "Cluster",
            "names": {"kind": "Region", "plural": "regions", "shortNames": ["rg", "region", "regions"]},
            "versions": [{"name": "v1", "served": True, "storage": True}],
        },
    }
    text = generate(Documents(openapi=[document], crds=[crd]))["shop/v1.py"]
    assert text.count("class Region") == 1
    assert 'short_names=("rg",)' in text


def test_modules_that_would_import_each_other_are_refused() -> None:
    def kind(group: str, name: str, other: str) -> dict[str, Any]:
        meta = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
        return {
            "type": "object",
            "properties": {
                "metadata": {"$ref": meta},
                "other": {"$ref": f"#/components/schemas/{other}"},
            },
            "x-kubernetes-group-version-kind": [{"group": group, "version": "v1", "kind": name}],
        }

    document = {
        "openapi": "3.0.0",
        "paths": {"/apis/a.io/v1/as": {}, "/apis/b.io/v1/bs": {}},
        "components": {
            "schemas": {"x.a.v1.A": kind("a.io", "A", "x.b.v1.B"), "x.b.v1.B": kind("b.io", "B", "x.a.v1.A")}
        },
    }
    with pytest.raises(GenerateError, match=r"import each other: a\.io/v1 -> b\.io/v1 -> a\.io/v1"):
        generate(Documents(openapi=[document]))


def test_encoding_a_kind_says_what_it_is(shop: Any) -> None:
    assert encode(shop.Region(code="eu")) == b'{"apiVersion":"shop.example.com/v1","kind":"Region","code":"eu"}'


LABELS = {"type": "object", "additionalProperties": {"type": "string"}}


@pytest.mark.parametrize(
    ("metadata", "beside", "expected"),
    [
        ({"properties": {"labels": LABELS, "name": {"type": "string"}}}, {}, "ObjectMeta | None"),
        ({}, {"spec": {"type": "object"}}, "ObjectMeta | None"),
        ({}, {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}, "ObjectMeta | None"),
        ({}, {}, "dict[str, Any] | None"),
        ({"additionalProperties": {"type": "string"}}, {}, "dict[str, str]"),
        (
            {"additionalProperties": {"type": "array", "items": {"type": "string"}}},
            {"spec": {"type": "object"}},
            "dict[str, list[str]]",
        ),
        ({"x-kubernetes-preserve-unknown-fields": True}, {"spec": {"type": "object"}}, "dict[str, Any] | None"),
        ({"properties": {"owner": {"type": "string"}}}, {"spec": {"type": "object"}}, "RegionSpecThingMetadata | None"),
        ({"properties": {"name": {"type": "integer"}}}, {}, "RegionSpecThingMetadata | None"),
        (
            {"properties": {"labels": {"type": "object", "additionalProperties": {"type": "integer"}}}},
            {},
            "RegionSpecThingMetadata | None",
        ),
    ],
)
def test_a_field_called_metadata_is_an_objects_only_where_it_has_its_shape_or_place(
    metadata: dict[str, Any], beside: dict[str, Any], expected: str
) -> None:
    thing = {"type": "object", "properties": {"metadata": {"type": "object", **metadata}, **beside}}
    spec = {"type": "object", "properties": {"thing": thing}}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "regions.shop.example.com"},
        "spec": {
            "group": "shop.example.com",
            "scope": "Cluster",
            "names": {"kind": "Region", "plural": "regions"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                }
            ],
        },
    }
    text = generate(Documents(openapi=[], crds=[crd]))["shop/v1.py"]
    assert f"    metadata: {expected} = " in text
