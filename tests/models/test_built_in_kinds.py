"""The built-in kinds: complete, importable, and true to the wire."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wire_values import wire_values

import kubewright.models
from kubewright.model import (
    GroupVersionKind,
    MicroTime,
    Model,
    Object,
    ObjectMeta,
    Quantity,
    ScaleInfo,
    decode,
    encode,
    from_dict,
    info_of,
    to_dict,
)
from kubewright.models import built_in_kinds, group_of, module_of, resolve
from kubewright.models.apiextensions.v1 import CustomResourceSubresources, JSONSchemaProps
from kubewright.models.apps.v1 import DaemonSet, Deployment, DeploymentCondition
from kubewright.models.core.v1 import Container, Node, Pod, PodSpec, Secret, Service, ServiceSpec
from kubewright.models.events.v1 import Event
from kubewright.models.networking.v1 import IPBlock, NetworkPolicy, NetworkPolicyIngressRule
from kubewright.models.resource.v1 import DeviceAttribute

KINDS = list(built_in_kinds())
POD = Path(__file__).with_name("testdata") / "pod.json"


def classes_of(module: str) -> list[type[Model]]:
    found = importlib.import_module(module)
    return [getattr(found, name) for name in found.__all__]


def modules() -> list[str]:
    packages = [each.name for each in pkgutil.iter_modules(kubewright.models.__path__) if each.ispkg]
    return [
        f"kubewright.models.{package}.{version.name}"
        for package in packages
        for version in pkgutil.iter_modules([f"{kubewright.models.__path__[0]}/{package}"])
    ]


def the_class(gvk: GroupVersionKind) -> type[Object]:
    found = resolve(gvk)
    assert found is not None
    return found


@pytest.mark.parametrize("module", modules())
def test_every_name_of_a_module_is_a_class_with_a_description_or_fields(module: str) -> None:
    for cls in classes_of(module):
        assert issubclass(cls, Model)
        assert cls.__doc__ or cls.__struct_fields__
        msgspec.json.Decoder(cls, dec_hook=lambda wanted, value: value)  # its annotations are types


@pytest.mark.parametrize("gvk", KINDS, ids=str)
def test_every_kind_of_the_index_resolves_to_the_class_of_that_kind(gvk: GroupVersionKind) -> None:
    assert info_of(the_class(gvk)).gvk == gvk


def test_every_kind_of_a_module_is_in_the_index() -> None:
    made = [info_of(cls).gvk for module in modules() for cls in classes_of(module) if issubclass(cls, Object)]
    assert sorted(made) == sorted(KINDS)


def test_kinds_that_are_not_built_in_do_not_resolve() -> None:
    assert resolve(GroupVersionKind("apps", "v1", "Pod")) is None
    assert resolve(GroupVersionKind("example.com", "v1", "Web")) is None
    assert module_of("example.com", "v1") is None


def test_a_package_is_named_by_its_group() -> None:
    assert module_of("rbac.authorization.k8s.io", "v1") == "kubewright.models.rbac.v1"
    assert (group_of("rbac"), group_of("core"), group_of("rbac.authorization")) == (
        "rbac.authorization.k8s.io",
        "",
        None,
    )


# What has no zero: the request of a certificate, and the stub of one.
_WITHOUT_ZERO = ("CertificateSigningRequest", "PodCertificateRequest")


@pytest.mark.parametrize("gvk", [gvk for gvk in KINDS if gvk.kind not in _WITHOUT_ZERO], ids=str)
def test_an_empty_object_of_any_kind_can_be_read_and_written(gvk: GroupVersionKind) -> None:
    made = decode(the_class(gvk), b"{}")
    again = orjson.loads(encode(made))
    assert (again.pop("apiVersion"), again.pop("kind")) == (gvk.api_version, gvk.kind)
    assert from_dict(the_class(gvk), again) == made


@pytest.mark.parametrize("gvk", KINDS, ids=str)
def test_a_status_needs_no_arguments(gvk: GroupVersionKind) -> None:
    for f in msgspec.structs.fields(the_class(gvk)):
        if f.name == "status":
            f.type()


@pytest.mark.parametrize("gvk", KINDS, ids=str)
@settings(max_examples=3, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_was_read_is_written_with_nothing_more_than_gos_zeros(gvk: GroupVersionKind, data: st.DataObject) -> None:
    wire = data.draw(wire_values(the_class(gvk)))
    written = to_dict(from_dict(the_class(gvk), wire))
    assert (written.pop("apiVersion"), written.pop("kind")) == (gvk.api_version, gvk.kind)
    assert _without_zeros(written, beside=wire) == _without_zeros(wire, beside=wire)


def _without_zeros(value: Any, beside: Any) -> Any:
    """`value` without what is zero and not in `beside`; empty metadata, spec and status are the same as absent ones."""
    if isinstance(value, dict) and isinstance(beside, dict):
        parts = {name: _without_zeros(part, beside.get(name)) for name, part in value.items()}
        return {name: part for name, part in parts.items() if part or beside.get(name)}
    if isinstance(value, list) and isinstance(beside, list):
        return [_without_zeros(part, other) for part, other in zip(value, beside, strict=True)]
    return _without_zeros(value, {}) if isinstance(value, dict) else value


def test_a_pod_of_a_server_is_written_as_it_was_read() -> None:
    body = POD.read_bytes()
    assert _without_nulls(orjson.loads(encode(decode(Pod, body)))) == _without_nulls(orjson.loads(body))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value


def test_a_pod_reads_as_typed_values() -> None:
    pod = decode(Pod, POD.read_bytes())
    web, sidecar = pod.spec.containers
    assert web.resources is not None
    assert web.resources.requests["cpu"] == Quantity("0.25")
    assert [port.container_port for port in sidecar.ports] == [15001]
    assert pod.status.pod_ips[0].ip == "10.2.0.5"
    assert pod.status.phase == "Running"
    assert pod.status.container_statuses[0].last_state is not None
    assert pod.metadata.finalizers == ["example.com/backup"]


def test_lists_and_maps_need_no_guard() -> None:
    pod = Pod(metadata=ObjectMeta(name="p"), spec=PodSpec(containers=[Container(name="c")]))
    assert [volume.name for volume in pod.spec.volumes] == []
    assert pod.spec.node_selector == {}
    assert to_dict(pod)["spec"] == {"containers": [{"name": "c"}]}


def test_nulls_in_the_place_of_lists_and_required_fields_are_read() -> None:
    pod = from_dict(Pod, {"spec": {"containers": None, "nodeSelector": None}, "status": {"conditions": None}})
    assert (pod.spec.containers, pod.spec.node_selector, pod.status.conditions) == ([], {}, [])
    assert from_dict(Event, {"eventTime": None}).event_time is None


def test_fields_of_a_newer_server_are_passed_over() -> None:
    assert from_dict(Node, {"spec": {"orbit": 7, "podCIDR": "10.0.0.0/24"}}).spec.pod_cidr == "10.0.0.0/24"


def test_values_of_an_enumeration_that_a_newer_server_knows_are_read() -> None:
    assert from_dict(Service, {"spec": {"type": "Teleporter"}}).spec.type == "Teleporter"


def test_keywords_are_fields_with_an_underscore() -> None:
    rule = NetworkPolicyIngressRule(from_=[])
    assert to_dict(rule) == {}
    assert to_dict(IPBlock(cidr="10.0.0.0/8", except_=["10.1.0.0/16"])) == {
        "cidr": "10.0.0.0/8",
        "except": ["10.1.0.0/16"],
    }
    policy = from_dict(NetworkPolicy, {"spec": {"ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]}})
    assert policy.spec.ingress[0].from_[0].ip_block == IPBlock(cidr="10.0.0.0/8")


def test_acronyms_and_dollar_signs_go_over_the_wire_as_they_are() -> None:
    spec = ServiceSpec(cluster_ip="None", external_ips=["192.0.2.7"], load_balancer_ip="192.0.2.8")
    assert to_dict(spec) == {"clusterIP": "None", "externalIPs": ["192.0.2.7"], "loadBalancerIP": "192.0.2.8"}
    schema = JSONSchemaProps(ref_="#/x", not_=JSONSchemaProps(enum=[None, 1]), x_kubernetes_int_or_string=True)
    assert to_dict(schema) == {"$ref": "#/x", "not": {"enum": [None, 1]}, "x-kubernetes-int-or-string": True}
    assert to_dict(DeviceAttribute(bool_=False, int_=0)) == {"bool": False, "int": 0}


def test_the_data_of_a_secret_is_bytes() -> None:
    secret = Secret(metadata=ObjectMeta(name="s"), data={"key": b"\x00\x01"})
    assert to_dict(secret)["data"] == {"key": "AAE="}
    assert decode(Secret, encode(secret)).data["key"] == b"\x00\x01"


def test_an_object_that_may_be_empty_is_sent_empty() -> None:
    assert to_dict(
        CustomResourceSubresources(status=from_dict(_type_of(CustomResourceSubresources, "status"), {}))
    ) == {"status": {}}


def _type_of(cls: type[Model], name: str) -> Any:
    (found,) = [f.type for f in msgspec.structs.fields(cls) if f.name == name]
    return found.__args__[0]


def test_a_status_of_zeros_is_not_sent() -> None:
    daemons = from_dict(DaemonSet, {"spec": {"selector": {}, "template": {}}})
    assert daemons.status.number_ready == 0
    assert "status" not in to_dict(daemons)


def test_what_go_always_sends_is_always_sent() -> None:
    assert to_dict(DeploymentCondition(type="Available")) == {"type": "Available", "status": ""}


def test_times_with_microseconds_keep_six_digits() -> None:
    event = from_dict(Event, {"eventTime": "2026-01-02T03:04:05.000000Z"})
    assert isinstance(event.event_time, MicroTime)
    assert to_dict(event)["eventTime"] == "2026-01-02T03:04:05.000000Z"


def test_short_names_categories_and_subresources_are_those_of_kubectl() -> None:
    info = info_of(Deployment)
    assert (info.short_names, info.categories, info.status, info.scale) == (("deploy",), ("all",), True, ScaleInfo())
    assert (info_of(Node).namespaced, info_of(Node).scale) == (False, None)


def test_merge_facts_are_there_for_apply_and_strategic_patches() -> None:
    assert Container.__list_map_keys__["ports"] == ("containerPort", "protocol")
    assert PodSpec.__patch_strategies__["volumes"] == "merge,retainKeys"
    assert PodSpec.__patch_merge_keys__["volumes"] == "name"
    assert ServiceSpec.__list_map_keys__["ports"] == ("port", "protocol")
