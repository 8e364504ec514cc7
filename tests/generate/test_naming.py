"""Names of fields, classes and packages."""

from __future__ import annotations

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.generate.naming import class_name, field_names, module_path, needs_rename, snake_case
from kubewright.model.base import Model, ModelMeta

WIRE_NAMES = st.text("abcXYZ019_-$./", max_size=12)


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        ("clusterIP", "cluster_ip"),
        ("externalIPs", "external_ips"),
        ("podCIDRs", "pod_cidrs"),
        ("nodeIPsByZone", "node_ips_by_zone"),
        ("nonResourceURLs", "non_resource_urls"),
        ("hostPID", "host_pid"),
        ("openAPIV3Schema", "open_api_v3_schema"),
        ("fieldsV1", "fields_v1"),
        ("isCA", "is_ca"),
        ("IPv4Address", "ipv4_address"),
        ("enableIPv6", "enable_ipv6"),
        ("clientOAuth2", "client_oauth2"),
        ("mTLS", "mtls"),
        ("gRPCPort", "grpc_port"),
        ("x-kubernetes-list-map-keys", "x_kubernetes_list_map_keys"),
        ("app.kubernetes.io/name", "app_kubernetes_io_name"),
        ("already_snake", "already_snake"),
    ],
)
def test_a_field_is_called_in_snake_case_with_acronyms_as_words(wire: str, name: str) -> None:
    assert snake_case(wire) == name


@pytest.mark.parametrize(
    ("wire", "name"),
    [("from", "from_"), ("continue", "continue_"), ("except", "except_"), ("not", "not_"), ("bool", "bool_")],
)
def test_keywords_and_names_of_types_get_an_underscore(wire: str, name: str) -> None:
    assert snake_case(wire) == name


@pytest.mark.parametrize(
    ("wire", "name"), [("$ref", "ref_"), ("$schema", "schema_"), ("2fa", "field_2fa"), ("", "field_"), ("--", "field_")]
)
def test_names_that_no_identifier_can_hold_get_one(wire: str, name: str) -> None:
    assert snake_case(wire) == name


def test_two_fields_with_one_name_are_told_apart_the_same_way_in_any_order() -> None:
    assert field_names(["foo_bar", "fooBar", "foo-bar"]) == {
        "fooBar": "foo_bar",
        "foo-bar": "foo_bar_2",
        "foo_bar": "foo_bar_3",
    }
    assert field_names(["foo-bar", "fooBar", "foo_bar"]) == field_names(["foo_bar", "foo-bar", "fooBar"])


@given(st.lists(WIRE_NAMES, unique=True))
def test_every_name_is_an_identifier_and_stands_for_one_field(wires: list[str]) -> None:
    names = field_names(wires)
    assert list(names) == wires
    assert len(set(names.values())) == len(wires)
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in names.values())


@given(WIRE_NAMES)
def test_a_rename_is_written_exactly_where_a_model_would_call_a_field_otherwise(wire: str) -> None:
    name = snake_case(wire)
    made = ModelMeta("Probe", (Model,), {"__module__": __name__, "__annotations__": {name: str}})
    assert needs_rename(name, wire) is (made.__struct_encode_fields__ != (wire,))


def test_nested_classes_are_called_by_their_path() -> None:
    assert class_name("Web", "spec", "tls-config", "Item") == "WebSpecTlsConfigItem"
    assert class_name("3scale") == "Class3scale"


def test_a_package_has_the_first_label_of_its_group() -> None:
    assert module_path(["", "apps", "rbac.authorization.k8s.io", "cert-manager.io"]) == {
        "": "core",
        "apps": "apps",
        "rbac.authorization.k8s.io": "rbac",
        "cert-manager.io": "cert_manager",
    }


def test_packages_whose_groups_begin_alike_keep_more_labels() -> None:
    assert module_path(["acme.cert-manager.io", "acme.example.com", "shop.example.com"]) == {
        "acme.cert-manager.io": "acme_cert_manager",
        "acme.example.com": "acme_example",
        "shop.example.com": "shop",
    }


def test_packages_of_different_groups_never_share_a_name() -> None:
    groups = ["", "core", "a-b.c", "a_b.c", "from.example.com", "1st.example.com"]
    names = module_path(groups)
    assert len(set(names.values())) == len(groups)
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in names.values())
