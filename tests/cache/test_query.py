"""Lists from the cache are what a server would answer to the same question, and what our own writes make of it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from watching import encode, obj

import virtual
from kubewright.cache import Entry, Index, Informer, Store, field_index, index
from kubewright.cache.fields import field_of, fields_of
from kubewright.cache.frame import entry_of
from kubewright.cache.query import Query, Wanted
from kubewright.cache.reader import CacheNotSynced, Reader
from kubewright.cache.scope import EVERYTHING
from kubewright.model import Key, Object
from kubewright.model.fieldselector import FieldSelector
from kubewright.model.selector import Selector
from kubewright.models.core.v1 import ConfigMap, Pod


def entry(name: str, version: int = 1, *, namespace: str = "ns", labels: Any = None, **fields: Any) -> Entry:
    made = obj(name, version, namespace=namespace, **({"labels": labels} if labels else {}))
    return entry_of(encode({**made, **fields}))


def informer_of(*entries: Entry) -> Informer:
    store = Store()
    for each in entries:
        store.upsert(each)
    informer = Informer(store=store, name="things")
    informer.add_source(None, EVERYTHING)  # type: ignore[arg-type]  # never asked
    return informer


def names(found: Iterable[Entry]) -> list[str]:
    return sorted(f"{each.namespace}/{each.name}" for each in found)


# Fields


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("spec.node", ["n1"]),
        ("spec.count", ["5"]),
        ("spec.ratio", ["0.5"]),
        ("spec.on", ["true"]),
        ("spec.none", []),
        ("spec.missing.deep", []),
        ("spec", []),
        ("spec.node.deeper", []),
        ("spec.volumes.secret.name", ["s1", "s2"]),
        ("spec.names", ["a", "b"]),
        ("metadata.name", ["x"]),
        ("metadata.labels.app", ["w\u00e9b"]),
    ],
)
def test_a_field_is_found_by_its_path_and_through_lists(path: str, values: list[str]) -> None:
    spec = {
        "node": "n1",
        "count": 5,
        "ratio": 0.5,
        "on": True,
        "none": None,
        "volumes": [{"secret": {"name": "s1"}}, {"empty": {}}, {"secret": {"name": "s2"}}],
        "names": ["a", "b"],
    }
    data = json.dumps({"metadata": {"name": "x", "labels": {"app": "w\u00e9b"}}, "spec": spec}).encode()
    assert fields_of(data, path) == values
    assert field_of(data, path) == (values[0] if values else "")


# Indexes


@index(ConfigMap)
def by_owner(config: ConfigMap) -> Iterable[str]:
    return [config.data["owner"]] if "owner" in config.data else []


by_tier = field_index(ConfigMap, "data.tier")


def reader_of(informer: Informer | None, *, synced: bool = True) -> Reader:
    if informer is not None:
        informer._synced = synced
        next(iter(informer._parts))[1].has_told = synced

    async def get(kind: type[Object]) -> Informer:
        assert informer is not None
        return informer

    return Reader(get, lambda kind: informer)


def config(name: str, version: int = 1, **data: str) -> Entry:
    return entry(name, version, data=data)


def listed(informer: Informer, **asked: Any) -> list[str]:
    async def main() -> list[str]:
        return sorted(each.metadata.name for each in await reader_of(informer).list(ConfigMap, **asked))

    return virtual.run(main())


def test_an_index_is_called_as_the_function_that_it_is_made_of() -> None:
    assert isinstance(by_owner, Index)
    assert by_owner(ConfigMap(data={"owner": "me"})) == ["me"]
    assert list(by_tier(ConfigMap(data={"tier": "db"}))) == ["db"]


def test_objects_are_listed_by_the_value_of_an_index_or_of_several() -> None:
    informer = informer_of(
        config("a", owner="me", tier="db"), config("b", owner="me", tier="web"), config("c", owner="you", tier="db")
    )
    assert listed(informer, index={by_owner: "me"}) == ["a", "b"]
    assert listed(informer, index={by_owner: "me", by_tier: "db"}) == ["a"]
    assert listed(informer, index={by_owner: "nobody"}) == []


def test_an_index_follows_changes_after_it_was_added() -> None:
    informer = informer_of(config("a", owner="me"))
    assert listed(informer, index={by_owner: "me"}) == ["a"]
    informer.store.upsert(config("a", 2, owner="you"))
    informer.store.upsert(config("b", 3, owner="me"))
    assert listed(informer, index={by_owner: "me"}) == ["b"]


def test_what_an_index_does_not_find_is_not_decoded() -> None:
    decoded: list[str] = []

    @index(ConfigMap)
    def counting(config: ConfigMap) -> Iterable[str]:
        decoded.append(config.metadata.name)
        return [config.data["owner"]]

    informer = informer_of(*(config(f"c{number}", owner=str(number)) for number in range(50)))
    assert listed(informer, index={counting: "7"}) == ["c7"]
    assert len(decoded) == 50
    assert listed(informer, index={counting: "8"}) == ["c8"]
    assert len(decoded) == 50


def test_our_own_writes_are_found_by_the_values_that_they_have_now() -> None:
    informer = informer_of(config("a", owner="me"), config("b", owner="me"))
    informer.wrote(config("a", 10, owner="you"))
    informer.wrote(config("new", 11, owner="me"))
    assert listed(informer, index={by_owner: "me"}) == ["b", "new"]
    assert listed(informer, index={by_owner: "you"}) == ["a"]


def test_an_index_of_another_kind_is_refused() -> None:
    @index(Pod)
    def by_node(pod: Pod) -> Iterable[str]:
        return [pod.spec.node_name or ""]

    with pytest.raises(ValueError, match="by_node: is one of Pod, not of ConfigMap"):
        listed(informer_of(), index={by_node: "n"})


def test_two_indexes_by_one_field_are_one() -> None:
    informer = informer_of(config("a", tier="db"))
    assert listed(informer, index={by_tier: "db"}) == ["a"]
    assert listed(informer, index={field_index(ConfigMap, "data.tier"): "db"}) == ["a"]
    assert listed(informer, fields="data.tier=db") == ["a"]
    assert len(informer.store._indexes) == 1


def test_keys_are_found_without_waiting_in_kinds_that_are_watched() -> None:
    informer = informer_of(config("a", owner="me"), config("b", owner="you"))
    assert reader_of(informer).keys(ConfigMap, by_owner, "me") == [Key("ns", "a")]
    with pytest.raises(CacheNotSynced, match="configmaps: is not watched"):
        reader_of(None).keys(ConfigMap, by_owner, "me")
    with pytest.raises(CacheNotSynced):
        reader_of(informer, synced=False).keys(ConfigMap, by_owner, "me")


# Field selectors


def test_any_field_can_be_selected_by() -> None:
    informer = informer_of(config("a", tier="db"), config("b", tier="web"), config("c"))
    assert listed(informer, fields="data.tier=db") == ["a"]
    assert listed(informer, fields="data.tier!=db") == ["b", "c"]
    assert listed(informer, fields={"data.tier": ""}) == ["c"]
    assert listed(informer, fields="metadata.name=b,metadata.namespace=ns") == ["b"]
    assert listed(informer, fields="metadata.name!=b") == ["a", "c"]
    assert listed(informer, fields="metadata.name=a,data.tier=web") == []
    assert listed(informer, fields="metadata.namespace=elsewhere") == []


# Objects that are none


def test_an_object_that_is_none_of_its_class_is_reported_once_and_left_out(caplog: pytest.LogCaptureFixture) -> None:
    bad = entry("bad", data="not a map")
    informer = informer_of(config("a"), bad, config("b"))
    assert listed(informer) == ["a", "b"]

    async def again() -> None:
        reader = reader_of(informer)
        for _ in range(2):
            assert len(await reader.list(ConfigMap)) == 2
        assert reader.raw(ConfigMap, Key("ns", "bad")) == bad.data

    caplog.clear()
    caplog.set_level(logging.ERROR)
    virtual.run(again())
    assert caplog.text.count("ConfigMap ns/bad left out of lists: ") == 1


# Parity with a server

LABELS = st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["a", "b"]))
ENTRIES = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from(["n1", "n2"]), LABELS, st.sampled_from(["", "p", "q"])),
    max_size=12,
)
SELECTORS = st.sampled_from([None, "", "app=a", "app!=a", "app in (a,b),!tier", "tier", "app=a,tier notin (b)"])
FIELDS = st.sampled_from(
    [None, "", "spec.node=p", "spec.node!=p", "spec.node=", "metadata.name=x", "metadata.namespace!=n1,spec.node!=q"]
)


@settings(max_examples=300, deadline=None)
@given(ENTRIES, ENTRIES, SELECTORS, FIELDS, st.sampled_from([None, "n1", "n2", "n3"]), st.sampled_from([None, "p"]))
def test_a_list_is_what_a_server_answers_to_the_same_selectors(
    stored: Any, written: Any, labels: str | None, fields: str | None, namespace: str | None, wanted: str | None
) -> None:
    def made(version: int, each: Any) -> Entry:
        name, where, its_labels, node = each
        return entry(name, version, namespace=where, labels=its_labels, spec={"node": node} if node else {})

    informer = informer_of(*(made(number + 1, each) for number, each in enumerate(stored)))
    for number, each in enumerate(written):
        informer.wrote(made(100 + number, each))
    newest = {(each[1], each[0]): made(100 + number, each) for number, each in enumerate(written)}
    state = {each.key: each for each in informer.store} | {Key(*key): each for key, each in newest.items()}

    def is_meant(each: Entry) -> bool:
        fields_ = {"metadata.name": each.name, "metadata.namespace": each.namespace}
        fields_["spec.node"] = field_of(each.data, "spec.node")
        return (
            namespace in (None, each.namespace)
            and Selector.of(labels or "").matches(json.loads(each.data)["metadata"].get("labels", {}))
            and FieldSelector.of(fields or "").matches(fields_)
            and wanted in (None, fields_["spec.node"])
        )

    by_node = [] if wanted is None else [Wanted("node", _node, wanted)]
    found = Query(namespace, labels, fields, by_node).of(informer)
    assert names(found) == names(each for each in state.values() if is_meant(each))
    assert {each.key: each.resource_version for each in found} == {
        each.key: each.resource_version for each in state.values() if is_meant(each)
    }


def _node(each: Entry) -> list[str]:
    return [field_of(each.data, "spec.node")]


def test_a_label_that_is_written_with_an_escape_is_found_all_the_same() -> None:
    plain = entry("x", labels={"app": "web"})
    escaped = entry_of(plain.data.replace(b'"web"', b'"\\u0077eb"'))
    assert b'"web"' not in escaped.data
    assert names(Query(labels="app=web").of(informer_of(escaped))) == ["ns/x"]
    assert names(Query(labels="app=db").of(informer_of(escaped))) == []
