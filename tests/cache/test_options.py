"""What is held of a kind follows from the options as in controller-runtime: its table of defaulting, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.cache import CacheOptions, KindCache, NamespaceCache
from kubewright.cache.options import KindPlan
from kubewright.cache.scope import Scope
from kubewright.model import info_of, unstructured
from kubewright.models.core.v1 import Node, Pod, Secret


def plan(options: CacheOptions, kind: Any = Pod) -> KindPlan:
    return options.of_kind(info_of(kind))


def labels(options: CacheOptions, kind: Any = Pod) -> dict[str, str | None]:
    """The label selector of each namespace; None: nothing was said."""
    return {each.namespace: None if each.labels is None else str(each.labels) for each in plan(options, kind).scopes}


def fields(options: CacheOptions, kind: Any = Pod) -> dict[str, str]:
    return {each.namespace: each.field_selector for each in plan(options, kind).scopes}


def said(**values: Any) -> NamespaceCache:
    return NamespaceCache(**values)


BY_NAMESPACE = {"default": said(labels="from=default-namespaces")}
NOTHING = {"default": said()}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(
            CacheOptions(
                by_kind={Pod: KindCache(namespaces=NOTHING, labels="from=by-object")},
                namespaces=BY_NAMESPACE,
                labels="from=default",
            ),
            {"default": "from=by-object"},
            id="a namespace of the kind is defaulted from the kind",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache(namespaces=NOTHING)}, namespaces=BY_NAMESPACE, labels="from=default"),
            {"default": "from=default-namespaces"},
            id="then from that namespace of all kinds",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache(namespaces=NOTHING)}, labels="from=default"),
            {"default": "from=default"},
            id="then from what is said for everything",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache(namespaces={"default": said(labels="from=here")}, labels="a=b")}),
            {"default": "from=here"},
            id="what is said for a namespace of the kind stands",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache()}, namespaces=BY_NAMESPACE),
            {"default": "from=default-namespaces"},
            id="a kind without namespaces has those of all kinds",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache(namespaces={})}, namespaces=BY_NAMESPACE),
            {"": None},
            id="a kind with no namespaces at all is held in all",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache(namespaces=[])}, namespaces=["a"], labels="from=default"),
            {"": "from=default"},
            id="and then has the settings for everything",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache()}, labels="from=default"),
            {"": "from=default"},
            id="a kind is defaulted from what is said for everything",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache(labels="from=by-object")}, labels="from=default"),
            {"": "from=by-object"},
            id="not where it says something itself",
        ),
        pytest.param(
            CacheOptions(namespaces=NOTHING, labels="from=default"),
            {"default": "from=default"},
            id="a namespace is defaulted from what is said for everything",
        ),
        pytest.param(
            CacheOptions(namespaces={"default": said(labels="")}, labels="from=default"),
            {"default": ""},
            id="not where it says everything",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache(labels="from=pod")}, namespaces=NOTHING),
            {"default": "from=pod"},
            id="a namespace of all kinds has the selector of the kind",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache(labels="from=pod")}, namespaces=BY_NAMESPACE),
            {"default": "from=default-namespaces"},
            id="unless it has its own, which then counts as that of the namespace of the kind",
        ),
        pytest.param(
            CacheOptions(by_kind={Secret: KindCache(labels="a=b", namespaces=["x"])}, namespaces=["y"]),
            {"y": None},
            id="what is said of another kind says nothing",
        ),
    ],
)
def test_a_label_selector_is_looked_for_where_controller_runtime_does(
    options: CacheOptions, expected: dict[str, str | None]
) -> None:
    assert labels(options) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache()}, fields="from=default"),
            {"": "from=default"},
            id="a field selector is defaulted",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache(fields="from=by-object")}, fields="from=default"),
            {"": "from=by-object"},
            id="a field selector of the kind stands",
        ),
        pytest.param(
            CacheOptions(namespaces=["kube-public", "kube-system", ""]),
            {
                "kube-public": "",
                "kube-system": "",
                "": "metadata.namespace!=kube-public,metadata.namespace!=kube-system",
            },
            id="all namespaces beside named ones are all others",
        ),
        pytest.param(
            CacheOptions(namespaces={"kube-public": said(), "": said(fields="spec.nodeName=foo")}),
            {"kube-public": "", "": "metadata.namespace!=kube-public,spec.nodeName=foo"},
            id="with a field selector of their own",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache(namespaces=["a", ""])}, namespaces=["b"]),
            {"a": "", "": "metadata.namespace!=a"},
            id="those of a kind are all others of that kind",
        ),
        pytest.param(
            CacheOptions(by_kind={Pod: KindCache(namespaces={"a": said(), "": said(fields="spec.nodeName=foo")})}),
            {"a": "", "": "metadata.namespace!=a,spec.nodeName=foo"},
            id="with a field selector of their own too",
        ),
    ],
)
def test_a_field_selector_is_looked_for_where_controller_runtime_does(
    options: CacheOptions, expected: dict[str, str]
) -> None:
    assert fields(options) == expected


def test_the_other_settings_are_looked_for_in_the_same_order() -> None:
    def first(obj: dict[str, Any]) -> dict[str, Any]:
        return obj

    def second(obj: dict[str, Any]) -> dict[str, Any]:
        return obj

    options = CacheOptions(
        by_kind={Pod: KindCache(transform=first, resync_seconds=60, page_size=7, compress=True)},
        transform=second,
        resync_seconds=300,
    )
    assert plan(options) == KindPlan(
        scopes=(Scope(transform=first, resync_seconds=60),),
        page_size=7,
        stream_initial=False,
        compress=True,
        live=False,
        when_installed=False,
    )
    assert plan(options, Secret).scopes == (Scope(transform=second, resync_seconds=300),)


def test_a_resync_after_0_seconds_is_none_at_all() -> None:
    assert plan(CacheOptions()).scopes[0].resync_seconds == 36_000
    assert plan(CacheOptions(resync_seconds=0)).scopes[0].resync_seconds is None
    assert plan(CacheOptions(by_kind={Pod: KindCache(resync_seconds=0)})).scopes[0].resync_seconds is None


def test_a_cluster_scoped_kind_is_held_whole_whatever_the_namespaces() -> None:
    options = CacheOptions(namespaces={"a": said(labels="x=y")}, labels="from=default")
    assert labels(options, Node) == {"": "from=default"}


def test_a_kind_is_meant_by_its_group_and_kind_however_it_is_read() -> None:
    options = CacheOptions(by_kind={Pod: KindCache(labels="a=b")})
    assert labels(options, unstructured("v1", "Pod", plural="pods")) == {"": "a=b"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CacheOptions(by_kind={Node: KindCache(namespaces=["a"])}), r"by_kind\[Node\].namespaces: .*cluster"),
        (lambda: CacheOptions(namespaces="prod"), r"namespaces: 'prod' is one text; write namespaces=\['prod'\]"),
        (lambda: CacheOptions(namespaces=["Prod"]), "namespaces: 'Prod'"),
        (lambda: CacheOptions(labels="a in"), "a in"),
        (lambda: CacheOptions(fields="a"), "field selector 'a'"),
        (lambda: KindCache(page_size=0), "page_size: 0"),
        (lambda: NamespaceCache(resync_seconds=-1), "resync_seconds: -1 is negative"),
    ],
)
def test_what_cannot_be_meant_is_refused_where_it_is_said(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_an_operator_of_one_namespace_keeps_what_was_said_of_it() -> None:
    options = CacheOptions(namespaces={"a": said(labels="x=y"), "b": said()}).with_namespaces(["a"])
    assert labels(options) == {"a": "x=y"}
    assert labels(options.with_namespaces(["c"])) == {"c": None}
