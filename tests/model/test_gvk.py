from __future__ import annotations

import pytest

from kubewright.model import GroupKind, GroupVersionKind, GroupVersionResource, Key
from kubewright.model.gvk import join_api_version, split_api_version


@pytest.mark.parametrize(
    ("text", "parts"), [("v1", ("", "v1")), ("apps/v1", ("apps", "v1")), ("a.b/v1", ("a.b", "v1"))]
)
def test_an_api_version_is_split_and_joined(text, parts):
    assert split_api_version(text) == parts
    assert join_api_version(*parts) == text


@pytest.mark.parametrize("text", ["", "a/b/c", "/v1", "apps/", "/"])
def test_a_malformed_api_version_is_refused(text):
    with pytest.raises(ValueError, match="is not 'version' or 'group/version'"):
        split_api_version(text)


def test_names_of_kinds_and_collections():
    gvk = GroupVersionKind.of("apps/v1", "Deployment")
    assert gvk == GroupVersionKind("apps", "v1", "Deployment")
    assert str(gvk) == "apps/v1, Kind=Deployment"
    assert gvk.group_kind == GroupKind("apps", "Deployment")
    assert (str(gvk.group_kind), str(GroupKind("", "Pod"))) == ("Deployment.apps", "Pod")
    assert GroupVersionResource("apps", "v1", "deployments").base_path == "/apis/apps/v1"
    assert GroupVersionResource("", "v1", "pods").base_path == "/api/v1"
    assert str(GroupVersionResource("", "v1", "pods")) == "v1, Resource=pods"


@pytest.mark.parametrize(("text", "key"), [("a", Key("", "a")), ("ns/a", Key("ns", "a"))])
def test_a_key_comes_back_from_its_text(text, key):
    assert Key.parse(text) == key
    assert str(key) == text


@pytest.mark.parametrize("text", ["", "ns/", "a/b/c"])
def test_a_malformed_key_is_refused(text):
    with pytest.raises(ValueError, match="is not 'name' or 'namespace/name'"):
        Key.parse(text)
