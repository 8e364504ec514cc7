from __future__ import annotations

import copy
import pickle

import pytest

from kubewright.model import (
    Column,
    Condition,
    GroupVersionKind,
    GroupVersionResource,
    Key,
    Model,
    Object,
    ObjectMeta,
    Resource,
    ScaleInfo,
    decode,
    encode,
    info_of,
    key_of,
    origin_of,
    resource,
)
from kubewright.model.resource import pluralize

from .kinds import ConfigMap, Fleet, Web, WebSpec, WebStatus


def test_a_class_knows_its_kind():
    info = info_of(Web)
    assert (Web.api_version, Web.kind) == ("example.com/v1", "Web")
    assert info.gvk == GroupVersionKind("example.com", "v1", "Web")
    assert info.gvr == GroupVersionResource("example.com", "v1", "webs")
    assert (info.singular, info.list_kind, info.resource_name) == ("web", "WebList", "webs.example.com")
    assert (info.namespaced, info.status) == (True, True)
    assert (info_of(Fleet).namespaced, info_of(Fleet).status) == (False, False)
    assert (info_of(ConfigMap).api_version, info_of(ConfigMap).resource_name) == ("v1", "configmaps")


def test_everything_can_be_said_of_a_kind():
    @resource(
        group="g.io",
        version="v1beta1",
        kind="Other",
        plural="others",
        singular="oth",
        namespaced=False,
        short_names=["o"],
        categories=["all"],
        columns=[Column("Ready", ".status.ready")],
        status=False,
        scale=ScaleInfo(),
        served=False,
        storage=False,
        deprecated=True,
        deprecation_warning="use v1",
    )
    class Named(Resource[WebSpec, WebStatus]):
        pass

    info = info_of(Named)
    assert (info.kind, info.plural, info.singular, info.short_names, info.categories) == (
        "Other",
        "others",
        "oth",
        ("o",),
        ("all",),
    )
    assert info.columns == (Column("Ready", ".status.ready"),)
    assert (info.status, info.served, info.storage, info.namespaced) == (False,) * 4
    assert (info.deprecated, info.deprecation_warning, info.scale) == (True, "use v1", ScaleInfo())


def test_a_class_without_a_kind_cannot_be_sent():
    class Nameless(Resource[WebSpec]):
        pass

    for use in (lambda: info_of(Nameless), lambda: encode(Nameless(spec=WebSpec(image="x")))):
        with pytest.raises(TypeError, match=r"Nameless: its kind is not known; decorate the class with @resource"):
            use()


def test_status_starts_with_its_defaults_and_a_missing_one_is_none():
    class Bare(Resource[WebSpec]):
        pass

    assert Web(spec=WebSpec(image="x")).status == WebStatus()
    assert Bare(spec=WebSpec(image="x")).status is None
    assert Web(spec=WebSpec(image="x")).status is not Web(spec=WebSpec(image="x")).status


def test_a_spec_that_cannot_be_made_has_to_be_given():
    with pytest.raises(TypeError, match=r"Web.spec: missing, and WebSpec\(\) cannot be made .*'image'\); pass spec="):
        Web()

    class Easy(Model):
        a: int = 1

    class EasyKind(Resource[Easy]):
        pass

    assert EasyKind().spec == Easy()


def test_a_status_with_a_required_field_is_refused_with_the_cure():
    class NeedyStatus(Model):
        a: int

    class Needy(Resource[WebSpec, NeedyStatus]):
        pass

    with pytest.raises(TypeError, match=r"Needy.status: missing, .* give every field of a status a default"):
        Needy(spec=WebSpec(image="x"))


def test_a_status_that_cannot_be_made_is_refused_when_the_kind_is_said():
    class NeedyStatus(Model):
        ready: int

    class Needy(Resource[WebSpec, NeedyStatus]):
        pass

    for status in (None, True, False):
        with pytest.raises(TypeError, match=r"Needy.status: .*'ready'.* give every field of a status a default"):
            resource(group="e.io", version="v1", status=status)(Needy)


@pytest.mark.parametrize("option", ["short_names", "categories"])
def test_one_text_in_the_place_of_a_list_of_names_is_refused_with_the_cure(option):
    with pytest.raises(TypeError, match=rf"resource\({option}='web'\): must be a list; write {option}=\['web'\]"):
        resource(group="e.io", version="v1", **{option: "web"})


def test_a_short_name_that_the_kind_has_already_is_refused():
    class Gear(Resource[WebSpec]):
        pass

    for names in ({}, {"plural": "gears"}, {"singular": "gear"}):
        for taken in ("gear", "gears"):
            with pytest.raises(ValueError, match=f"Gear: short_names: '{taken}' is the plural or the singular"):
                resource(group="e.io", version="v1", short_names=["g", taken], **names)(Gear)
    with pytest.raises(ValueError, match="'cog' is"):
        resource(group="e.io", version="v1", short_names=["cog"], singular="cog")(Gear)
    assert info_of(resource(group="e.io", version="v1", short_names=["g"])(Gear)).short_names == ("g",)


def test_a_mistyped_attribute_is_an_error_that_suggests():
    web = Web(spec=WebSpec(image="x"))
    with pytest.raises(AttributeError, match="Web has no field 'statsu'; did you mean 'status'"):
        web.statsu = 1
    with pytest.raises(AttributeError, match="Web has no field 'zzz'; it has metadata, spec, status"):
        web.zzz = 1
    web.status = WebStatus(ready=1)
    assert web.status.ready == 1


def test_objects_are_compared_by_value_and_not_by_where_they_came_from():
    data = b'{"metadata":{"name":"a"},"spec":{"image":"x","new":1}}'
    web = decode(Web, data)
    assert web == Web(metadata=ObjectMeta(name="a"), spec=WebSpec(image="x"))
    assert origin_of(web) == data
    assert origin_of(Web(spec=WebSpec(image="x"))) is None


@pytest.mark.parametrize(
    "copier",
    [copy.copy, copy.deepcopy, lambda obj: pickle.loads(pickle.dumps(obj))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_are_equal_and_remember_the_origin(copier):
    web = decode(Web, b'{"metadata":{"name":"a"},"spec":{"image":"x"},"status":{"conditions":[]}}')
    web.status.conditions.append(Condition(type="Ready", status="True", reason="Up"))
    copied = copier(web)
    assert copied == web
    assert copied is not web
    assert origin_of(copied) == origin_of(web)


def test_a_deep_copy_shares_nothing():
    web = Web(metadata=ObjectMeta(name="a"), spec=WebSpec(image="x"))
    copied = copy.deepcopy(web)
    copied.metadata.labels["a"] = "b"
    copied.spec.image = "y"
    assert (web.metadata.labels, web.spec.image) == ({}, "x")


def test_key_of_names_an_object_among_its_kind():
    assert key_of(Web(metadata=ObjectMeta(name="a", namespace="ns"), spec=WebSpec(image="x"))) == Key("ns", "a")
    assert str(key_of(Fleet(metadata=ObjectMeta(name="f")))) == "f"


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Web", "webs"),
        ("Policy", "policies"),
        ("Gateway", "gateways"),
        ("Ingress", "ingresses"),
        ("Box", "boxes"),
        ("Batch", "batches"),
        ("Mesh", "meshes"),
    ],
)
def test_plurals_are_made_as_gos_tools_make_them(kind, plural):
    assert pluralize(kind) == plural


def test_a_kind_can_have_other_parts_than_spec_and_status():
    @resource(group="e.io", version="v1")
    class Data(Object):
        data: dict[str, bytes] = {}
        type: str = "Opaque"

    obj = decode(Data, b'{"data":{"a":"aGk="}}')
    assert obj.data == {"a": b"hi"}
    assert encode(obj) == b'{"apiVersion":"e.io/v1","kind":"Data","data":{"a":"aGk="},"type":"Opaque"}'
