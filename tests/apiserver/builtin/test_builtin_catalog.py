"""The catalog of built-in kinds: what is served, in which order, and that nothing is read before it is used."""

from __future__ import annotations

import pytest

from kubewright.apiserver.builtin import BuiltIn, builtin_catalog
from kubewright.apiserver.builtin.datafile import Data
from kubewright.apiserver.builtin.kinds import RULES

CATALOG = builtin_catalog()


class _Counting(Data):
    """A data file that notes what is read of it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def get(self, name: str) -> object:
        self.asked.append(name)
        return super().get(name)


def test_groups_come_in_the_order_of_the_real_server() -> None:
    groups = list(dict.fromkeys(each.group for each in CATALOG.types))
    assert groups[:5] == ["", "apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io"]


def test_making_the_catalog_reads_the_table_of_resources_and_nothing_else() -> None:
    data = _Counting()
    BuiltIn(data).catalog()
    assert set(data.asked) == {"resources.json"}


def test_a_kind_reads_the_types_of_its_packages_only() -> None:
    data = _Counting()
    kind = BuiltIn(data).catalog().of_kind("v1", "ConfigMap")
    assert kind is not None
    kind.strategy.decode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "b"}})
    assert set(data.asked) == {
        "resources.json",
        "types/kinds.json",
        "types/core_v1.json",
        "types/meta_v1.json",
        "types/types.json",
    }


@pytest.mark.parametrize("key", sorted(RULES))
def test_rules_are_of_a_kind_that_is_served(key: tuple[str, str]) -> None:
    assert CATALOG.of_kind(*key) is not None


@pytest.mark.parametrize(
    ("api_version", "kind", "plural", "short", "namespaced", "parts"),
    [
        ("v1", "Pod", "pods", ("po",), True, {"status", "binding", "eviction", "ephemeralcontainers", "resize"}),
        ("apps/v1", "Deployment", "deployments", ("deploy",), True, {"status", "scale"}),
        ("v1", "Namespace", "namespaces", ("ns",), False, {"status", "finalize"}),
        ("v1", "Node", "nodes", ("no",), False, {"status"}),
        ("batch/v1", "CronJob", "cronjobs", ("cj",), True, {"status"}),
        ("v1", "ServiceAccount", "serviceaccounts", ("sa",), True, {"token"}),
    ],
)
def test_a_kind_has_its_names_scope_and_subresources(
    api_version: str, kind: str, plural: str, short: tuple[str, ...], namespaced: bool, parts: set[str]
) -> None:
    found = CATALOG.of_kind(api_version, kind)
    assert found is not None
    assert (found.plural, found.short_names, found.namespaced) == (plural, short, namespaced)
    assert parts <= set(found.subresources)


def test_two_versions_of_events_are_one_resource_in_the_store() -> None:
    core, events = (CATALOG.of_kind(version, "Event") for version in ("v1", "events.k8s.io/v1"))
    assert core is not None
    assert events is not None
    assert core.storage == events.storage


def test_deprecated_kinds_say_so() -> None:
    endpoints = CATALOG.of_kind("v1", "Endpoints")
    assert endpoints is not None
    assert endpoints.warning == "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"


def test_the_components_of_a_group_version_have_descriptions_for_explain() -> None:
    found = BuiltIn().components("apps/v1")
    deployment = found["io.k8s.api.apps.v1.Deployment"]
    assert deployment["description"] == "Deployment enables declarative updates for Pods and ReplicaSets."
    assert deployment["x-kubernetes-group-version-kind"] == [{"group": "apps", "kind": "Deployment", "version": "v1"}]
