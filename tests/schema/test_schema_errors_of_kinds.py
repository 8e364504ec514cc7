"""Kinds that cannot be: names, paths, versions that do not agree; each error with class, rule and cure."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.model import (
    Column,
    Model,
    Object,
    Resource,
    ScaleInfo,
    resource,
)
from kubewright.schema import (
    MinProperties,
    SchemaError,
    crd_of,
)


class Specced(Model):
    size: int = 1
    name: str = ""
    tags: list[str] = []


class Statused(Model):
    ready: int = 0


def crd_causes(cls: type[Object]) -> list[str]:
    with pytest.raises(SchemaError) as error:
        crd_of(cls)
    return [f"{cause.rule}; {cause.cure}" for cause in error.value.causes]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"group": "example"}, "group='example' is not a domain; use one with a dot"),
        ({"group": "Example.com"}, "group='Example.com' is not a domain"),
        ({"group": ""}, "the core group is only for built-in kinds; give @resource a group that you own"),
        ({"group": "apps.k8s.io"}, "group='apps.k8s.io' belongs to Kubernetes; it needs the project's approval"),
        ({"group": "x.kubernetes.io"}, "belongs to Kubernetes"),
        ({"version": "V1"}, "version: 'V1' is not a DNS label; use lower-case letters"),
        ({"version": "1"}, "version: '1' is not a DNS label"),
        ({"plural": "my_webs"}, "plural: 'my_webs' is not a DNS label"),
        ({"kind": "My_Web"}, "kind: 'My_Web' is not a DNS label"),
        ({"short_names": ["Web"]}, "short_names: 'Web' is not a DNS label"),
        ({"short_names": ["po"]}, "short_names: 'po' belongs to a built-in kind"),
        ({"categories": ["a b"]}, "categories: 'a b' is not a DNS label"),
        ({"deprecation_warning": "old"}, "deprecation_warning without deprecated; add deprecated=True"),
        ({"deprecated": True, "deprecation_warning": ""}, "deprecation_warning has 0 bytes; write 1 to 256 bytes"),
        ({"deprecated": True, "deprecation_warning": "ä" * 129}, "deprecation_warning has 258 bytes"),
        ({"deprecated": True, "deprecation_warning": "a\nb"}, "has a character that cannot be printed"),
        ({"storage": False}, "no version stores objects; set storage=False on all versions but one"),
        ({"served": False}, "no version is served; set served=True on one"),
        ({"columns": [Column("", ".spec.size")]}, "a column of '.spec.size' has no name; name it"),
        ({"columns": [Column("A", ".spec.siz")]}, "the path '.spec.siz' names 'siz', which .spec does not have; "
         "did you mean .spec.size?"),
        ({"columns": [Column("A", "spec.size")]}, "does not start with a dot; did you mean .spec.size?"),
        ({"columns": [Column("A", "size")]}, "does not start with a dot; did you mean .spec.size?"),
        ({"columns": [Column("A", ".spec.size.x")]}, "goes on below .spec.size, which is an integer"),
        ({"columns": [Column("A", ".spec[0]")]}, "takes an item of .spec, which is an object"),
        ({"columns": [Column("A", ".spec.{}")]}, "names '{}'"),
        ({"columns": [Column("A", ".spec.size]")]}, "cannot be read from ']' on"),
        ({"columns": [Column("A", ".spec.name", type="integer")]}, "of type integer shows .spec.name, which is a string"
         ": it would stay empty; take type= away (it is string)"),
        ({"columns": [Column("A", ".spec.size", type="date")]}, "of type date shows .spec.size, which is an integer"),
        ({"columns": [Column("A", ".spec.size", type="text")]}, "has the type 'text'; use one of string, integer"),
        ({"columns": [Column("A", ".spec.size", format="int16")]}, "has the format 'int16'; use one of byte, date"),
        ({"scale": ScaleInfo()}, "scale replicas_path: the path '.spec.replicas' names 'replicas'"),
        ({"scale": ScaleInfo(".spec.name", ".status.ready")}, "'.spec.name' is a string; it has to be an integer"),
        ({"scale": ScaleInfo(".status.ready", ".status.ready")}, "is not a plain path there; name a field below .spec"),
        ({"scale": ScaleInfo(".spec.size", ".status.ready", ".spec.size")}, "it has to be a string"),
        ({"selectable_fields": [".spec.siz"]}, "selectable_fields: the path '.spec.siz' names 'siz', which .spec"),
        ({"selectable_fields": [".spec.tags"]}, "'.spec.tags' is a list; name a field that is a string, an integer or"),
        ({"selectable_fields": [".spec.tags[0]"]}, "'.spec.tags[0]' is a string; name a field that is a string"),
        ({"selectable_fields": [".metadata.name"]}, "'.metadata.name' is metadata; select it by metadata.name"),
        ({"selectable_fields": [".spec.size", ".spec.size"]}, "names a field twice; name it once"),
        ({"selectable_fields": [f".spec.f{each}" for each in range(9)]}, "there are 9, and a server takes 8"),
        ({"labels": {"a b": "c"}}, "labels: a b='c' has a name with other characters than allowed; use letters"),
        ({"labels": {"a": "b c"}}, "labels: a='b c' has other characters than allowed"),
        ({"annotations": {"a/b/c": ""}}, "annotations: a/b/c='' has more than one '/'; write it as name"),
        ({"in_crd": False}, "all versions have in_crd=False; keep one in the CRD"),
    ],
)  # fmt: skip
def test_a_kind_with_names_or_paths_that_cannot_be_is_refused(options: dict[str, Any], said: str) -> None:
    @resource(**{"group": "example.com", "version": "v1"} | options)
    class Web(Resource[Specced, Statused]):
        pass

    assert any(said in cause for cause in crd_causes(Web)), crd_causes(Web)


def test_a_group_of_kubernetes_needs_its_approval() -> None:
    approved = {"api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1"}

    @resource(group="apps.k8s.io", version="v1", annotations=approved)
    class Web(Resource[Specced, Statused]):
        pass

    assert crd_of(Web)["metadata"]["annotations"] == approved


def test_a_version_may_be_left_out_of_the_crd() -> None:
    first, second = versions(in_crd=False)
    assert [each["name"] for each in crd_of(first, second)["spec"]["versions"]] == [first.__resource__.version]


def test_labels_of_several_versions_are_put_together() -> None:
    first, second = versions(labels={"a": "b"}, storage=False)
    assert crd_of(first, second)["metadata"]["labels"] == {"a": "b"}


def test_the_status_subresource_needs_a_status() -> None:
    @resource(group="example.com", version="v1", status=True)
    class Web(Resource[Specced]):
        pass

    assert "has the status subresource and no status; declare Resource[Spec, Status]" in crd_causes(Web)[0]


def test_a_kind_with_the_status_subresource_counts_no_fields_at_its_root() -> None:
    @MinProperties(1)
    @resource(group="example.com", version="v1")
    class Web(Resource[Specced, Statused]):
        pass

    assert "minProperties on a kind with the status subresource" in crd_causes(Web)[0]


def test_a_class_without_a_kind_has_no_crd() -> None:
    class Web(Resource[Specced]):
        pass

    assert crd_causes(Web) == ["its kind is not known; decorate it with @resource(group=..., version=...)"]
    with pytest.raises(TypeError, match="at least one class"):
        crd_of()


def versions(**second: Any) -> list[type[Object]]:
    @resource(group="example.com", version="v1", kind="Web")
    class New(Resource[Specced]):
        pass

    @resource(**{"group": "example.com", "version": "v1beta1", "kind": "Web", "storage": False} | second)
    class Old(Resource[Specced]):
        pass

    return [New, Old]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"storage": True}, "v1, v1beta1 all store objects; set storage=False on all versions but one"),
        ({"version": "v1"}, "version v1 is given twice; give every class a version of its own"),
        ({"kind": "Other", "plural": "webs", "singular": "web"}, "kind is 'Other', and 'Web' in v1 (New)"),
        ({"namespaced": False}, "namespaced is False, and True in v1 (New); the versions of a kind share names"),
        ({"short_names": ["w"]}, "short_names is ('w',), and () in v1 (New)"),
        ({"group": "other.com"}, "group is 'other.com', and 'example.com' in v1 (New)"),
    ],
)
def test_versions_of_a_kind_have_to_agree(second: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError) as error:
        crd_of(*versions(**second))
    assert any(said in str(cause) for cause in error.value.causes), str(error.value)
