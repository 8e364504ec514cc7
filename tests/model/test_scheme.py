from __future__ import annotations

import orjson
import pytest

from kubewright.model import (
    DecodeError,
    DocumentError,
    GroupVersionKind,
    KindConflict,
    NoKindRegistered,
    Object,
    Resource,
    Scheme,
    Unstructured,
    encode,
    key_of,
    origin_of,
    resource,
)

from .kinds import ConfigMap, Fleet, Web, WebSpec

WEB = GroupVersionKind("example.com", "v1", "Web")


def built_in(gvk):
    return ConfigMap if gvk == GroupVersionKind("", "v1", "ConfigMap") else None


def raw(kind="Web", api_version="example.com/v1", **fields):
    return {"apiVersion": api_version, "kind": kind, **(fields or {"spec": {"image": "x"}})}


def test_a_registered_kind_is_decoded_as_its_class():
    scheme = Scheme(Web)
    web = scheme.decode(raw())
    assert isinstance(web, Web)
    assert web.spec.image == "x"
    data = encode(web)
    assert origin_of(scheme.decode(data)) is data
    assert WEB in scheme
    assert "Web" not in scheme
    assert scheme.class_of(WEB) is Web


def test_the_resolver_is_asked_for_what_is_not_registered():
    scheme = Scheme(Web, resolver=built_in, known=lambda: [GroupVersionKind("", "v1", "ConfigMap")])
    assert isinstance(scheme.decode(raw("ConfigMap", "v1", data={"a": "b"})), ConfigMap)
    assert scheme.find(GroupVersionKind("", "v1", "Pod")) is None
    assert scheme.kinds() == [GroupVersionKind("", "v1", "ConfigMap"), WEB]


def test_a_registered_class_goes_before_the_resolver():
    @resource(group="", version="v1", kind="ConfigMap")
    class Mine(Object):
        pass

    assert isinstance(Scheme(Mine, resolver=built_in).decode(raw("ConfigMap", "v1", data={})), Mine)


def test_two_schemes_know_nothing_of_each_other():
    Scheme(Web)
    assert WEB not in Scheme()


def test_registering_twice_is_no_conflict_and_another_class_is():
    @resource(group="example.com", version="v1", kind="Web")
    class Other(Resource[WebSpec]):
        pass

    scheme = Scheme(Web)
    scheme.register(Web)
    with pytest.raises(KindConflict) as caught:
        scheme.register(Fleet, Other)
    assert "kind example.com/v1, Kind=Web: is registered as " in str(caught.value)
    assert "kinds.Web and cannot be " in str(caught.value)
    assert str(caught.value).endswith("Other, too; use another Scheme for one")
    assert scheme.kinds() == [WEB]
    with pytest.raises(KindConflict):
        Scheme(Web, Other)


def test_a_class_without_a_kind_cannot_be_registered():
    class Nameless(Object):
        pass

    with pytest.raises(TypeError, match="its kind is not known"):
        Scheme(Nameless)


KNOWN = [
    WEB,
    GroupVersionKind("apps", "v1", "Deployment"),
    GroupVersionKind("", "v1", "Pod"),
    GroupVersionKind("example.com", "v1", "Website"),
    GroupVersionKind("other.io", "v1", "Wex"),
]


@pytest.mark.parametrize(
    ("kind", "api_version", "near"),
    [
        ("Wbe", "example.com/v1", [WEB, KNOWN[4]]),
        ("Deployment", "apps/v1beta1", [KNOWN[1]]),
        ("deployment", "v1", [KNOWN[1]]),
        ("Deploymnet", "apps/v1", [KNOWN[1]]),
        ("Pod", "apps/v1", [KNOWN[2]]),
        ("Web", "other.io/v1", [WEB, KNOWN[4]]),
        ("Zebra", "example.com/v1", []),
    ],
)
def test_an_unknown_kind_is_an_error_that_names_the_closest_kinds(kind, api_version, near):
    scheme = Scheme(known=lambda: KNOWN)
    for use in (
        lambda: scheme.decode(raw(kind, api_version)),
        lambda: scheme.class_of(GroupVersionKind.of(api_version, kind)),
    ):
        with pytest.raises(NoKindRegistered) as caught:
            use()
        assert list(caught.value.near) == near


def test_the_error_of_an_unknown_kind_says_what_to_do():
    with pytest.raises(NoKindRegistered) as caught:
        Scheme(Web).decode(raw("Wbe"))
    assert str(caught.value) == (
        'no kind "Wbe" is registered for version "example.com/v1"; did you mean "Web" of "example.com/v1"? '
        "If not, register its class with Scheme.register, or decode with unstructured=True"
    )
    with pytest.raises(NoKindRegistered) as caught:
        Scheme().decode(raw("Wbe"))
    assert str(caught.value) == (
        'no kind "Wbe" is registered for version "example.com/v1"; '
        "register its class with Scheme.register, or decode with unstructured=True"
    )


def test_an_unknown_kind_can_be_had_unstructured():
    scheme = Scheme(Web)
    one, two = (scheme.decode(raw("New"), unstructured=True) for _ in range(2))
    assert isinstance(one, Unstructured)
    assert (one.api_version, one.kind, one["spec"]) == ("example.com/v1", "New", {"image": "x"})
    assert type(one) is type(two)
    assert isinstance(scheme.decode(raw(), unstructured=True), Web)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"apiVersion": "v1"}, "Object.kind: is missing; say which kind the object is, such as 'Pod'"),
        ({"kind": "Web"}, "Object.apiVersion: is missing; say which kind the object is, such as 'v1'"),
        ({"kind": "Web", "apiVersion": ""}, "Object.apiVersion: is missing"),
        ({"kind": "Web", "apiVersion": "a/b/c"}, "Object.apiVersion: apiVersion: 'a/b/c' is not 'version'"),
        ({"kind": 5, "apiVersion": "v1"}, "Object.kind: Expected `str | null`, got `int`"),
        (b"[]", "Object: Expected `object`, got `array`"),
        (b"{", "Object: Input data was truncated"),
        (raw(spec=[]), "Web.spec: Expected `object`, got `array`"),
    ],
)
def test_what_is_no_object_is_a_decode_error(data, message):
    with pytest.raises(DecodeError) as caught:
        Scheme(Web).decode(data)
    assert str(caught.value).startswith(message)


# -- lists ------------------------------------------------------------------------------------------------------------


def test_items_of_a_typed_list_have_the_kind_of_the_list():
    data = orjson.dumps(
        {
            "apiVersion": "example.com/v1",
            "kind": "WebList",
            "metadata": {"resourceVersion": "5", "continue": "c"},
            "items": [{"metadata": {"name": "a"}, "spec": {"image": "x", "new": 1}}, raw(spec={"image": "y"})],
        }
    )
    found = Scheme(Web).decode_list(data)
    assert (found.metadata.resource_version, found.metadata.continue_) == ("5", "c")
    assert [item.spec.image for item in found.items] == ["x", "y"]
    assert b'"new":1' in origin_of(found.items[0])


def test_a_plain_list_has_items_of_several_kinds():
    items = [raw(), raw("Fleet", metadata={"name": "f"}), raw("New")]
    found = Scheme(Web, Fleet).decode_list(
        {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items}, unstructured=True
    )
    assert [type(item).kind for item in found.items] == ["Web", "Fleet", "New"]
    assert Scheme().decode_list({"apiVersion": "v1", "kind": "List", "items": None}).items == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (raw(), "Web.kind: Expected a list; decode a single object with decode()"),
        ({"kind": "WebList"}, "Object.apiVersion: is missing"),
        (raw("WebList", items=[{"spec": {"image": "x"}}, {"spec": 5}]), "WebList.items[1].spec: Expected `object`"),
        (raw("List", "v1", items=[{"spec": {}}]), "List.items[0].kind: is missing"),
        (raw("WebList", items={}), "List.items: Expected `array | null`, got `object`"),
        (b"{", "List: Input data was truncated"),
    ],
)
def test_what_is_no_list_is_a_decode_error(data, message):
    with pytest.raises(DecodeError) as caught:
        Scheme(Web).decode_list(data)
    assert str(caught.value).startswith(message)


# -- texts ------------------------------------------------------------------------------------------------------------

TEXT = """\
# Two documents, one of them a list.
apiVersion: example.com/v1
kind: Web
metadata: {name: a}
spec:
  image: x
---
apiVersion: v1
kind: List
items:
- apiVersion: example.com/v1
  kind: Fleet
  metadata:
    name: f
- apiVersion: example.com/v1
  kind: Web
  metadata:
    name: b
  spec:
    image: z
    replicas: 3
"""


def test_all_objects_of_a_text_come_in_order():
    found = Scheme(Web, Fleet).decode_all(TEXT)
    assert [(type(each), key_of(each).name) for each in found] == [(Web, "a"), (Fleet, "f"), (Web, "b")]
    assert found[2].spec.replicas == 3
    assert Scheme(Web).decode_all(orjson.dumps(raw()))[0].spec.image == "x"
    assert Scheme().decode_all("") == []


def test_a_typed_list_in_a_text_is_taken_apart():
    text = "apiVersion: example.com/v1\nkind: WebList\nitems:\n- spec: {image: x}\n- spec: {image: z}\n"
    assert [each.spec.image for each in Scheme(Web).decode_all(text)] == ["x", "z"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("replicas: 3", "replicas: many", "document 2, line 21: Web.spec.replicas: Expected `int`, got `str`"),
        ("image: x", "image: [x]", "document 1, line 6: Web.spec.image: Expected `str`, got `array`"),
        (
            "kind: Fleet",
            "kind: Fleer",
            'document 2, line 12: no kind "Fleer" is registered for version "example.com/v1"',
        ),
        ("kind: Web\nmetadata: {name: a}", "x: y", "document 1, line 2: Object.kind: is missing"),
        ("kind: List", "kind: {}", "document 2, line 9: Object.kind: Expected `str | null`, got `object`"),
        ("items:", "items: :", "document 2, line 10: is not YAML"),
    ],
)
def test_errors_of_a_text_carry_the_document_and_the_line(old, new, message):
    assert old in TEXT
    with pytest.raises(DocumentError) as caught:
        Scheme(Web, Fleet).decode_all(TEXT.replace(old, new))
    assert str(caught.value).startswith(message)


def test_an_unknown_kind_of_a_text_can_be_had_unstructured():
    found = Scheme(Web).decode_all(TEXT, unstructured=True)
    assert [isinstance(each, Unstructured) for each in found] == [False, True, False]
