"""How Services get their addresses and node ports, and keep or lose them."""

from __future__ import annotations

from typing import Any

import pytest
from differential import decoded

from kubewright.apiserver.builtin.kinds.services import SERVICE
from kubewright.apiserver.errors import StatusError
from kubewright.apiserver.strategy import Context

Object = dict[str, Any]


def _service(name: str = "a", **spec: Any) -> Object:
    made = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "n"}}
    return decoded({**made, "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}, **spec}})


class Cluster:
    """The Services that there are."""

    def __init__(self) -> None:
        self.objects: list[Object] = []

    def context(self, *, is_dry_run: bool = False) -> Context:
        return Context(objects=lambda group, plural, namespace: self.objects, is_dry_run=is_dry_run)

    def add(self, name: str = "a", **spec: Any) -> Object:
        made = _service(name, **spec)
        SERVICE["prepare_create"](made, self.context())
        self.objects.append(made)
        spec_made: Object = made["spec"]
        return spec_made

    def change(self, old: Object, **spec: Any) -> Object:
        new = _service(**{**old, **spec})
        SERVICE["prepare_update"](new, {"metadata": new["metadata"], "spec": old}, self.context())
        made: Object = new["spec"]
        return made


def test_addresses_are_given_from_behind_those_that_a_cluster_keeps() -> None:
    cluster = Cluster()
    assert [cluster.add(name)["clusterIP"] for name in "abc"] == ["10.96.1.0", "10.96.1.1", "10.96.1.2"]


def test_an_address_that_was_asked_for_is_given_once() -> None:
    cluster = Cluster()
    assert cluster.add("a", clusterIP="10.96.0.10")["clusterIPs"] == ["10.96.0.10"]
    with pytest.raises(StatusError, match="provided IP is already allocated"):
        cluster.add("b", clusterIP="10.96.0.10")


def test_a_headless_service_has_no_address() -> None:
    assert Cluster().add(clusterIP="None")["clusterIPs"] == ["None"]


def test_node_ports_are_given_from_behind_those_that_a_cluster_keeps() -> None:
    spec = Cluster().add(type="NodePort", ports=[{"name": "a", "port": 80}, {"name": "b", "port": 81}])
    assert [each["nodePort"] for each in spec["ports"]] == [30086, 30087]


def test_one_port_of_two_protocols_has_one_node_port() -> None:
    ports = [{"name": "a", "port": 53}, {"name": "b", "port": 53, "protocol": "UDP"}]
    spec = Cluster().add(type="NodePort", ports=ports)
    assert [each["nodePort"] for each in spec["ports"]] == [30086, 30086]


def test_a_change_without_address_and_node_ports_keeps_them() -> None:
    cluster = Cluster()
    old = cluster.add(type="NodePort")
    new = cluster.change(old, clusterIP="", clusterIPs=[], ports=[{"port": 80}])
    assert (new["clusterIP"], new["ports"][0]["nodePort"]) == (old["clusterIP"], old["ports"][0]["nodePort"])


def test_a_service_that_becomes_a_name_loses_its_address() -> None:
    cluster = Cluster()
    new = cluster.change(cluster.add(), type="ExternalName", externalName="example.com")
    assert not {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"} & set(new)


def test_a_name_that_becomes_a_service_gets_an_address() -> None:
    cluster = Cluster()
    old = cluster.add(type="ExternalName", externalName="example.com")
    assert "clusterIP" not in old
    assert cluster.change(old, type="ClusterIP")["clusterIP"] == "10.96.1.0"


def test_node_ports_go_with_the_type_that_had_them() -> None:
    cluster = Cluster()
    assert "nodePort" not in cluster.change(cluster.add(type="NodePort"), type="ClusterIP")["ports"][0]


def test_a_node_port_twice_in_a_change_is_an_error_without_a_code_as_on_the_real_server() -> None:
    cluster = Cluster()
    old = cluster.add(type="NodePort", ports=[{"name": "a", "port": 80}, {"name": "b", "port": 81}])
    ports = [{**each, "nodePort": 30500} for each in old["ports"]]
    with pytest.raises(StatusError) as refused:
        cluster.change(old, ports=ports)
    assert (refused.value.code, str(refused.value)) == (500, "duplicate nodePort: {TCP 30500}")
