"""Watch lines and list pages to entries: the fast path must never say anything else than a JSON library would."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kubewright.cache import Entry, Unreadable, labels_of, owners_of
from kubewright.cache.frame import (
    Bookmark,
    ErrorStatus,
    Garbled,
    Removed,
    Upserted,
    entry_of,
    read_items,
    read_line,
    read_page,
)
from kubewright.model import Key, OwnerReference

MANAGED = [{"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {'k:{"name":"a"}': {}}}}]
WIDGET = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {
        "generation": 3,
        "labels": {"app": "a"},
        "managedFields": MANAGED,
        "name": "w",
        "namespace": "default",
        "resourceVersion": "42",
        "uid": "u-1",
    },
    "spec": {"size": 1},
}


def go(value: Any) -> bytes:
    """JSON as Go's encoder writes it, near enough."""
    return json.dumps(value, separators=(",", ":")).encode()


def event(kind: str, value: Any) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (kind.encode(), go(value))


def without_managed_fields(value: Any) -> Any:
    meta = {name: field for name, field in value["metadata"].items() if name != "managedFields"}
    return {**value, "metadata": meta}


# Objects as lists of pairs, so that a key can come twice, written with any white space and any escapes.


class Pairs(list[tuple[str, Any]]):
    pass


def write(value: Any, chance: Random, *, wild: bool) -> str:
    def space() -> str:
        return chance.choice(["", "", " ", "\n", "\t ", "\r\n"]) if wild else ""

    def string(text: str) -> str:
        plain = json.dumps(text, ensure_ascii=chance.random() < 0.5)
        if wild and chance.random() < 0.15:
            return '"' + "".join(f"\\u{ord(char):04x}" if ord(char) < 0x10000 else char for char in text) + '"'
        return plain

    if isinstance(value, Pairs):
        inner = ("," + space()).join(
            f"{space()}{string(key)}{space()}:{space()}{write(each, chance, wild=wild)}{space()}" for key, each in value
        )
        return "{" + (inner or space()) + "}"
    if isinstance(value, list):
        inner = ("," + space()).join(space() + write(each, chance, wild=wild) + space() for each in value)
        return "[" + (inner or space()) + "]"
    return string(value) if isinstance(value, str) else json.dumps(value)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
keys = st.sampled_from(
    ["managedFields", 'x"managedFields', '"managedFields":', "metadata", "name", "items", "object", "type", "a"]
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 2**40),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
    st.sampled_from(['"managedFields":[1],', '{"managedFields":[1]}', "\\", '"', "</&>"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(keys, inner), max_size=3).map(Pairs),
    max_leaves=8,
)
managed = st.sampled_from([[], [1], [{"f:a": {}}]]).map(lambda value: json.loads(json.dumps(value))) | values


def fields(required: list[tuple[str, st.SearchStrategy[Any]]], others: st.SearchStrategy[Any]) -> Any:
    present = [strategy.map(lambda value, name=name: (name, value)) for name, strategy in required]
    return (
        st.tuples(st.lists(st.one_of(*present, others), max_size=6), *present[:1])
        .map(lambda drawn: Pairs([*drawn[0], *drawn[1:]]))
        .flatmap(st.permutations)
        .map(Pairs)
    )


metas = fields(
    [
        ("name", texts.filter(bool)),
        ("namespace", st.none() | texts),
        ("uid", st.none() | texts),
        ("resourceVersion", st.none() | st.sampled_from(["1", "42"])),
        ("generation", st.none() | st.integers(0, 9)),
        ("managedFields", managed),
        ("managedFields", managed),
    ],
    st.tuples(st.sampled_from(["annotations", "labels", 'x"managedFields']), values),
)
objects = fields([("metadata", metas)], st.tuples(st.sampled_from(["spec", "managedFields", "aaa", "kind"]), values))


def expect_entry(entry: Entry, text: str) -> None:
    """`entry` is what json.loads reads from `text`, without managedFields."""
    value = json.loads(text)
    meta = value["metadata"]
    assert (entry.name, entry.namespace, entry.uid, entry.resource_version, entry.generation) == (
        meta["name"],
        meta.get("namespace") or "",
        meta.get("uid") or "",
        meta.get("resourceVersion") or "",
        meta.get("generation") or 0,
    )
    assert json.loads(entry.data) == without_managed_fields(value)


@settings(max_examples=250, deadline=None)
@given(objects, st.randoms(use_true_random=False), st.booleans())
def test_an_entry_is_what_a_json_library_reads_without_managed_fields(obj: Pairs, chance: Random, wild: bool) -> None:
    text = write(obj, chance, wild=wild)
    expect_entry(entry_of(text.encode()), text)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["ADDED", "MODIFIED", "DELETED"]),
    objects,
    st.lists(st.sampled_from(["type", "object", "more"]), max_size=2),
    st.booleans(),
    st.randoms(use_true_random=False),
    st.sampled_from(["", "\n", " \n"]),
)
def test_a_line_is_what_a_json_library_reads(
    kind: str, obj: Pairs, extra: list[str], swap: bool, chance: Random, end: str
) -> None:
    pairs: dict[str, Any] = {"type": kind, "object": obj, "more": "}"}
    pairs = Pairs((name, pairs[name]) for name in ["type", "object", *extra])
    text = write(Pairs(reversed(pairs) if swap else pairs), chance, wild=bool(extra)) + end
    found = read_line(text.encode())
    assert isinstance(found, Removed if kind == "DELETED" else Upserted)
    expect_entry(found.entry, json.dumps(json.loads(text)["object"]))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40) | st.sampled_from([event("ADDED", WIDGET), go(WIDGET)]), st.data())
@example(b'{"type":"ADDED","object":{"metadata":{"name":"a"}}]', None)
@example(b'{"type":"ADDED","object":}', None)
def test_what_is_no_json_is_never_taken_for_an_event(line: bytes, data: Any) -> None:
    if data is not None and len(line) > 60:
        cut = data.draw(st.integers(0, len(line)))
        line = line[:cut] + data.draw(st.binary(max_size=3)) + line[data.draw(st.integers(cut, len(line))) :]
    try:
        found = read_line(line)
    except Garbled:
        return
    if isinstance(found, Upserted | Removed):
        # Inside strings that are skipped, msgspec takes bytes that are no UTF-8, as Go does.
        assert json.loads(found.entry.data.decode("utf-8", "replace")) is not None
        json.loads(line.decode("utf-8", "replace"))


def test_the_bytes_of_gos_encoder_are_kept_but_for_managed_fields() -> None:
    found = read_line(event("MODIFIED", WIDGET))
    assert found == Upserted(Entry("default", "w", "u-1", "42", 3, go(without_managed_fields(WIDGET))))
    assert found.entry.key == Key("default", "w")


@pytest.mark.parametrize("position", ["first", "last", "only"])
def test_managed_fields_are_cut_wherever_they_stand(position: str) -> None:
    rest = {"name": "w"} if position != "only" else {}
    meta = {"managedFields": MANAGED, **rest} if position == "first" else {**rest, "managedFields": MANAGED}
    if position == "only":
        with pytest.raises(ValueError, match=r"metadata\.name: missing"):
            entry_of(go({"metadata": meta}))
        return
    assert entry_of(go({"metadata": meta})).data == b'{"metadata":{"name":"w"}}'


@pytest.mark.parametrize(
    "text",
    [
        # An equal value under the same key elsewhere, the key of metadata being written otherwise.
        '{"aaa":{"managedFields":[1]},"metadata":{"managed\\u0046ields":[1],"name":"w"}}',
        '{"metadata":{"name":"w","managed\\u0046ields":[1]},"spec":{"managedFields":[1]}}',
        '{"metadata":{"name":"w","x\\"managedFields":[1],"managed\\u0046ields":[1]}}',
        '{"aaa":{"managedFields":[1]},"metadata":{"managedFields":[1],"name":"w"}}',
        '{"metadata":{"name":"w","annotations":{"managedFields":[1]},"managedFields":[1]}}',
        '{"metadata":{"managedFields":[1],"name":"v"},"metadata":{"managed\\u0046ields":[1],"name":"w"}}',
        '{"metadata":{"managedFields":[1],"managedFields":[1],"name":"w"}}',
        '{"metadata":{"managedFields":[1],"name":"w","managedFields" :[1]}}',
        '{"metadata":{"managedFields" :[1],"name":"w","managedFields":[1]}}',
        '{"metadata":{"name":"managedFields","managedFields":[1]}}',
        '{"metadata":{"name":"w","managedFields":null}}',
        '{"metadata":{"name":"w", "managedFields" : [1] }}',
    ],
)
def test_nothing_else_is_ever_cut(text: str) -> None:
    expect_entry(entry_of(text.encode()), text)


def test_a_bookmark_tells_its_version_and_whether_the_initial_events_end() -> None:
    bookmark = {"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"resourceVersion": "77"}, "spec": None}
    assert read_line(event("BOOKMARK", bookmark)) == Bookmark("77")
    bookmark["metadata"] = {"resourceVersion": "78", "annotations": {"k8s.io/initial-events-end": "true"}}
    assert read_line(event("BOOKMARK", bookmark)) == Bookmark("78", initial_events_end=True)


def test_an_error_tells_code_reason_message_and_when_to_come_back() -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old", "metadata": {}}
    assert read_line(event("ERROR", status)) == ErrorStatus(410, "Expired", "too old")
    status = {"code": 429, "details": {"retryAfterSeconds": 7}}
    assert read_line(event("ERROR", status)) == ErrorStatus(429, "", "", 7.0)
    status = {"code": 504, "reason": "Timeout", "details": {"causes": [{"reason": "ResourceVersionTooLarge"}]}}
    assert read_line(event("ERROR", status)) == ErrorStatus(504, "ResourceVersionTooLarge", "")


def test_an_error_that_is_no_status_is_still_an_error() -> None:
    found = read_line(event("ERROR", {"code": "x"}))
    assert isinstance(found, ErrorStatus)
    assert "code" in found.message


@pytest.mark.parametrize("line", [b"", b"{", b"null", b"[]", b'{"object":{}}', b'{"type":"ADDED"}', b'{"type":1}'])
def test_a_line_that_is_no_event_is_garbled_and_is_shown(line: bytes) -> None:
    with pytest.raises(Garbled, match="not a watch event"):
        read_line(line)


def bad(**meta: Any) -> dict[str, Any]:
    return {"metadata": {"name": "w", "namespace": "n", **meta}}


@pytest.mark.parametrize(
    ("value", "key", "problem"),
    [
        (bad(resourceVersion=7), Key("n", "w"), "resourceVersion"),
        (bad(generation="x"), Key("n", "w"), "generation"),
        (bad(name=""), None, "metadata.name: missing"),
        (bad(name=None), None, "metadata.name: missing"),
        ({"metadata": None}, None, "metadata.name: missing"),
        ({}, None, "metadata.name: missing"),
        ([], None, "Expected `object`"),
    ],
)
def test_an_object_with_bad_metadata_comes_as_unreadable_with_its_key_where_there_is_one(
    value: Any, key: Key | None, problem: str
) -> None:
    found = read_line(event("DELETED", value))
    assert isinstance(found, Unreadable)
    assert found.key == key
    assert found.removed
    assert problem in found.problem
    assert json.loads(found.data) == value


def test_an_unknown_type_of_event_is_reported_with_the_known_ones() -> None:
    found = read_line(event("RENAMED", WIDGET))
    assert isinstance(found, Unreadable)
    assert found.key == Key("default", "w")
    assert "'RENAMED' is none of ADDED" in found.problem


NESTS = 50_000  # what Python allows has grown with its versions; since 3.14 it is what the stack has room for
DEEP = b'{"metadata":{"name":"deep","namespace":"n"},"spec":' + b'{"a":' * NESTS + b"1" + b"}" * NESTS + b"}"
HALF = b'{"metadata":{"name":"half","namespace":"n"},"spec":"\\ud800"}'


def on_a_small_stack(call: Callable[[], None]) -> None:
    if sys.version_info < (3, 14):  # which knows no size of a stack: a number of calls is the limit
        call()
        return
    before = threading.stack_size(1024 * 1024)
    try:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(call).result()
    finally:
        threading.stack_size(before)


@pytest.mark.parametrize(("data", "name"), [(DEEP, "deep"), (HALF, "half")], ids=["deep", "half"])
def test_an_object_that_no_decoder_reads_fails_alone(data: bytes, name: str) -> None:
    on_a_small_stack(lambda: _an_object_that_no_decoder_reads_fails_alone(data, name))


def _an_object_that_no_decoder_reads_fails_alone(data: bytes, name: str) -> None:
    found = read_line(b'{"type":"ADDED","object":%b}\n' % data)
    assert isinstance(found, Unreadable)
    assert found.key == Key("n", name)
    assert found.data == data

    body = b'{"kind":"WidgetList","metadata":{"resourceVersion":"9"},"items":[ %b, %b ,%b]}' % (
        go(WIDGET),
        data,
        go({"metadata": {"name": "other"}}),
    )
    page = read_page(body)
    assert page.resource_version == "9"
    first, second, third = read_items(iter(page.items), 10)
    assert isinstance(second, Unreadable)
    assert second.key == Key("n", name)
    assert isinstance(first, Entry)
    assert isinstance(third, Entry)
    assert (first.name, third.name) == ("w", "other")


def test_a_page_has_its_version_its_token_and_its_items_undecoded() -> None:
    body = go({"metadata": {"resourceVersion": "9", "continue": "t"}, "items": [WIDGET, bad(uid=1), WIDGET]})
    page = read_page(body)
    assert (page.resource_version, page.continue_token) == ("9", "t")
    items = iter(page.items)
    first, second = read_items(items, 2)
    assert isinstance(first, Entry)
    assert isinstance(second, Unreadable)
    assert not second.removed
    (third,) = read_items(items, 2)
    assert first == third
    assert read_items(items, 2) == []


@pytest.mark.parametrize("items", [None, []])
def test_a_page_without_objects_is_empty_whether_null_or_not(items: Any) -> None:
    page = read_page(go({"metadata": {"resourceVersion": "9", "continue": ""}, "items": items}))
    assert (page.items, page.continue_token) == ([], "")


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", go({"kind": "Table", "rows": []}), b'{"items":[1}'])
def test_what_is_no_list_is_garbled(body: bytes) -> None:
    with pytest.raises(Garbled, match="not a list"):
        read_page(body)


def test_labels_and_owners_are_read_from_the_bytes_on_demand() -> None:
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": True}
    data = go({"metadata": {"name": "w", "labels": {"a": "1"}, "ownerReferences": [owner]}, "spec": {"labels": {}}})
    assert labels_of(data) == {"a": "1"}
    assert owners_of(data) == [OwnerReference(api_version="v1", kind="Node", name="n", uid="u", controller=True)]
    for meta in ({}, {"labels": None, "ownerReferences": None}, None):
        assert labels_of(go({"metadata": meta})) == {}
        assert owners_of(go({"metadata": meta})) == []


def test_an_entry_owns_its_bytes_and_not_the_page_they_came_in() -> None:
    page = read_page(go({"metadata": {}, "items": [{"metadata": {"name": "a"}}]}))
    (entry,) = read_items(iter(page.items), 1)
    assert isinstance(entry, Entry)
    assert type(entry.data) is bytes
