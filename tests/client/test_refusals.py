"""What cannot be meant is refused before anything is sent, and the error says which argument it was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recording_http import RecordingHttp
from web_model import ConfigMap, Pod, Web, Zone, config_map, web

import virtual
from kubewright.client.client import Client
from kubewright.client.options import ListQuery
from kubewright.client.patches import MergePatch
from kubewright.client.paths import InvalidRequest, PathCache, collection_path, segment
from kubewright.client.scale import Scale
from kubewright.model import Key, Object, ObjectMeta, info_of

Call = Callable[[Client], Awaitable[Any]]
BAD_NAMES = ["", ".", "..", "a/b", "/", "a%2Fb", "../a"]


def refused(call: Call) -> InvalidRequest:
    http = RecordingHttp()
    with pytest.raises(InvalidRequest) as caught:
        virtual.run(call(Client(http, namespace="prod")))
    assert http.requests == []
    return caught.value


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize(
    "verb",
    [
        lambda c, name: c.get(Web, name),
        lambda c, name: c.find(Web, name),
        lambda c, name: c.get(Web, Key("prod", name)),
        lambda c, name: c.create(web(name)),
        lambda c, name: c.update(web(name)),
        lambda c, name: c.update_status(web(name)),
        lambda c, name: c.patch(Web, MergePatch({}), name),
        lambda c, name: c.patch_raw(Web, MergePatch({}), name),
        lambda c, name: c.apply(web(name), field_manager="op"),
        lambda c, name: c.apply_raw(Web, b"{}", name, field_manager="op"),
        lambda c, name: c.delete(Web, name),
        lambda c, name: c.delete(web(name)),
        lambda c, name: c.get_scale(Web, name),
    ],
    ids=[
        "get",
        "find",
        "key",
        "create",
        "update",
        "status",
        "patch",
        "patch raw",
        "apply",
        "apply raw",
        "delete",
        "delete object",
        "scale",
    ],
)
def test_a_name_that_would_address_something_else_is_refused(verb: Callable[[Client, str], Any], name: str) -> None:
    error = refused(lambda c: verb(c, name))
    assert error.field == "metadata.name"
    assert error.value == name


@pytest.mark.parametrize("namespace", BAD_NAMES)
def test_a_namespace_that_would_address_something_else_is_refused(namespace: str) -> None:
    assert refused(lambda c: c.get(Web, "a", namespace=namespace)).field == "namespace"
    assert refused(lambda c: c.list(Web, namespace=namespace)).field == "namespace"
    assert refused(lambda c: c.delete_all(Web, namespace=namespace)).field == "namespace"


@pytest.mark.parametrize("subresource", BAD_NAMES)
def test_a_subresource_that_would_address_something_else_is_refused(subresource: str) -> None:
    assert refused(lambda c: c.get(Web, "a", subresource=subresource)).field == "subresource"


def test_an_empty_name_says_what_it_would_have_done() -> None:
    text = str(refused(lambda c: c.delete(Web, "")))
    assert text == "metadata.name: '' is empty and would address the whole collection; give metadata.name"


def test_a_name_that_is_no_text_is_refused() -> None:
    assert refused(lambda c: c.delete(Web, 5)).rule == "is not a str"  # type: ignore[arg-type]


def test_a_dictionary_is_neither_a_patch_nor_an_object() -> None:
    plain: Any = {"spec": {}}
    assert "MergePatch({...})" in str(refused(lambda c: c.patch(Web, plain, "a")))
    assert "give an object, or its class and a name" in str(refused(lambda c: c.delete(plain)))
    assert "give an object, or its class and a name" in str(refused(lambda c: c.update(plain)))


def test_a_class_without_a_name_is_refused() -> None:
    assert refused(lambda c: c.delete(Web)).field == "metadata.name"
    assert refused(lambda c: c.patch(Web, MergePatch({}))).field == "metadata.name"


@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.create(web(namespace="dev"), namespace="prod"),
        lambda c: c.update(web(namespace="dev"), namespace="prod"),
        lambda c: c.apply(web(namespace="dev"), namespace="prod", field_manager="op"),
        lambda c: c.delete(web(namespace="dev"), namespace="prod"),
        lambda c: c.patch(web(namespace="dev"), MergePatch({}), namespace="prod"),
        lambda c: c.get(Web, Key("dev", "a"), namespace="prod"),
        lambda c: c.patch(web(namespace="dev"), MergePatch({}), Key("prod", "a")),
        lambda c: c.update(
            Scale(metadata=ObjectMeta(name="a", namespace="x")), of=web(namespace="y"), subresource="scale"
        ),
    ],
)
def test_two_namespaces_that_differ_are_refused(call: Call) -> None:
    assert refused(call).field == "namespace"


def test_two_names_that_differ_are_refused() -> None:
    assert refused(lambda c: c.delete(web("a"), "b")).field == "name"
    assert refused(lambda c: c.update_scale(web("a"), Scale(metadata=ObjectMeta(name="b")))).field == "name"


@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.get(Zone, "a", namespace="prod"),
        lambda c: c.get(Zone, Key("prod", "a")),
        lambda c: c.list(Zone, namespace="prod"),
        lambda c: c.delete_all(Zone, namespace="prod"),
        lambda c: c.create(Zone(metadata=ObjectMeta(name="a", namespace="prod"))),
        lambda c: anext(c.watch(Zone, namespace="prod")),
    ],
)
def test_a_namespace_for_a_cluster_scoped_kind_is_refused(call: Call) -> None:
    assert str(refused(call)) == "namespace: 'prod' was given for Zone, which is cluster-scoped; leave it out"


def test_a_collection_is_deleted_only_in_a_namespace_that_was_said() -> None:
    assert refused(lambda c: c.delete_all(Web)).field == "namespace"


def test_server_side_apply_without_a_field_manager_is_refused() -> None:
    error = refused(lambda c: c.apply(web()))
    assert error.field == "field_manager"
    assert "here or on the client" in error.cure


@pytest.mark.parametrize("manager", ["a\nb", "x" * 129, "ä" * 65])
def test_a_field_manager_that_the_server_would_refuse_is_refused(manager: str) -> None:
    assert refused(lambda c: c.apply(web(), field_manager=manager)).field == "field_manager"


def test_creating_what_was_read_is_refused() -> None:
    error = refused(lambda c: c.create(web(resource_version="7")))
    assert error.field == "metadata.resourceVersion"
    assert "update() or apply()" in error.cure


def test_a_place_for_a_subresource_without_a_subresource_is_refused() -> None:
    assert refused(lambda c: c.create(web(), of=Pod)).field == "of"
    assert refused(lambda c: c.create(web(), name="a")).field == "name"


def test_the_status_of_a_kind_that_has_none_is_refused() -> None:
    error = refused(lambda c: c.update_status(config_map()))
    assert (error.field, error.value) == ("subresource", "status")
    assert refused(lambda c: c.patch(ConfigMap, MergePatch({}), "a", subresource="status")).field == "subresource"


@pytest.mark.parametrize(
    "labels", ["a in b", "a=,,b", {"a": "b,c=d"}, {"a b": "c"}, {"": "x"}, {"a": "x" * 64}, {"a": 5}, 7, ["a"]]
)
def test_a_label_selector_that_would_select_something_else_is_refused(labels: Any) -> None:
    assert refused(lambda c: c.delete_all(Web, namespace="prod", labels=labels)).field == "labels"


@pytest.mark.parametrize("fields", ["a", {"": "x"}, {"a=b": "x"}, {"a": 5}, 7])
def test_a_field_selector_that_would_select_something_else_is_refused(fields: Any) -> None:
    assert refused(lambda c: c.delete_all(Web, namespace="prod", fields=fields)).field == "fields"


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("limit", lambda c: c.list(Web, limit=0)),
        ("page_size", lambda c: anext(aiter(c.iterate(Web, page_size=0)))),
        ("propagation", lambda c: c.delete(Web, "a", propagation="background")),
        ("grace_period_seconds", lambda c: c.delete(Web, "a", grace_period_seconds=-1)),
        ("uid", lambda c: c.delete(Web, "a", uid="")),
        ("resource_version", lambda c: c.delete(Web, "a", resource_version="")),
        ("field_validation", lambda c: c.create(web(), field_validation="strict")),
        ("resource_version_match", lambda c: c.list(Web, resource_version_match="Exact")),
        ("path", lambda c: c.raw("GET", "version")),
        ("path", lambda c: c.raw("GET", "/version?x=y")),
    ],
)
def test_an_option_that_cannot_be_one_is_refused(field: str, call: Call) -> None:
    assert refused(call).field == field


@pytest.mark.parametrize("version", ["", "0"])
def test_a_watch_from_no_version_is_refused_at_once(version: str) -> None:
    with pytest.raises(InvalidRequest):
        Client(RecordingHttp()).watch(Web, resource_version=version)


def test_a_patch_with_an_empty_lock_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        MergePatch({}, resource_version="")


def test_a_class_without_a_kind_is_an_error_that_names_the_decorator() -> None:
    class Nameless(Object, dict=True):
        pass

    with pytest.raises(TypeError, match="@resource"):
        virtual.run(Client(RecordingHttp()).get(Nameless, "a"))


# -- quoting ----------------------------------------------------------------------------------------------------------


@given(st.text())
def test_a_segment_is_refused_or_survives_the_way_through_a_url(text: str) -> None:
    try:
        quoted = segment(text, "metadata.name")
    except InvalidRequest:
        assert text in ("", ".", "..") or "/" in text or "%" in text or any(0xD800 <= ord(c) < 0xE000 for c in text)
        return
    assert unquote(quoted) == text
    assert quoted.isascii()
    assert not set(quoted) & set(' /?#"<>\\^`{|}\r\n\t\x00')
    assert quoted not in ("", ".", "..")


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_path_has_as_many_segments_as_its_form_whatever_the_names(namespace: str, name: str) -> None:
    try:
        path = f"{collection_path(info_of(Web), namespace)}/{segment(name, 'metadata.name')}"
    except InvalidRequest:
        return
    parts = path.split("/")
    assert parts[:5] == ["", "apis", "example.com", "v1", "namespaces"]
    assert (unquote(parts[5]), parts[6], unquote(parts[7])) == (namespace, "webs", name)
    assert len(parts) == 8


@given(st.text(), st.text())
def test_a_query_of_a_list_keeps_what_it_is_given_apart(field_value: str, token: str) -> None:
    try:
        query = ListQuery.of({"a": "b"}, {"metadata.name": field_value}).page(5, token)
    except (InvalidRequest, UnicodeEncodeError):
        return
    assert query.isascii()
    assert query.count("&") == (3 if token else 2)
    assert not set(query) & set(" #\r\n\t/")


def test_the_memory_of_paths_is_bounded() -> None:
    cache = PathCache()
    for number in range(10_000):
        cache.collection(Web, info_of(Web), f"n{number}")
    assert len(cache._known) <= 4096
