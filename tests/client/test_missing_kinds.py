"""A missing object is one thing, a missing kind another."""

from __future__ import annotations

import pytest
from recording_http import PAGE_NOT_FOUND, RecordingHttp, Request, answer, failure, not_found
from web_model import Pod, Web, Zone, web

import virtual
from kubewright.client.client import Client
from kubewright.client.discovery import KindNotServed
from kubewright.client.errors import ApiError, NotFound
from kubewright.client.patches import MergePatch
from kubewright.client.transport import Response
from kubewright.model import GroupVersionKind, unstructured


def resource(kind: str, plural: str, scope: str = "Namespaced", **more: object) -> dict[str, object]:
    return {"resource": plural, "responseKind": {"group": "", "version": "", "kind": kind}, "scope": scope, **more}


def group(name: str, **versions: object) -> dict[str, object]:
    return {"metadata": {"name": name}, "versions": [{"version": v, "resources": r} for v, r in versions.items()]}


def aggregated(*groups: dict[str, object]) -> Response:
    return answer({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": list(groups)})


def server(*groups: dict[str, object]) -> RecordingHttp:
    """Serves discovery, and nothing else."""

    def handle(request: Request) -> Response:
        if request.path in ("/api", "/apis"):
            return aggregated(*(each for each in groups if bool(each["metadata"]["name"]) == (request.path == "/apis")))
        return PAGE_NOT_FOUND

    return RecordingHttp(handle)


def test_a_missing_object_is_not_found() -> None:
    client = Client(RecordingHttp(lambda _: not_found("webs", "a", "example.com")))
    with pytest.raises(NotFound) as caught:
        virtual.run(client.get(Web, "a"))
    assert caught.value.details.name == "a"


def test_find_gives_none_for_a_missing_object() -> None:
    client = Client(RecordingHttp(lambda _: not_found("webs", "a", "example.com")))
    assert virtual.run(client.find(Web, "a")) is None


def test_find_does_not_give_none_for_a_missing_kind() -> None:
    with pytest.raises(KindNotServed):
        virtual.run(Client(server()).find(Web, "a"))


def test_find_does_not_hide_other_errors() -> None:
    client = Client(RecordingHttp(lambda _: failure(403, "Forbidden", "no")))
    with pytest.raises(ApiError):
        virtual.run(client.find(Web, "a"))


def test_a_missing_kind_is_no_missing_object() -> None:
    assert not issubclass(KindNotServed, NotFound)
    assert issubclass(KindNotServed, ApiError)


@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.get(Web, "a"),
        lambda c: c.list(Web),
        lambda c: c.create(web()),
        lambda c: c.update(web()),
        lambda c: c.patch(web(), MergePatch({})),
        lambda c: c.apply(web(), field_manager="op"),
        lambda c: c.delete(web()),
        lambda c: c.delete_all(Web, namespace="a"),
        lambda c: c.get_scale(web()),
        lambda c: anext(c.watch(Web)),
    ],
)
def test_every_verb_says_that_the_kind_is_missing_and_what_to_do(call: object) -> None:
    with pytest.raises(KindNotServed) as caught:
        virtual.run(call(Client(server())))  # type: ignore[operator]
    assert caught.value.code == 404
    assert caught.value.gvk == GroupVersionKind("example.com", "v1", "Web")
    assert str(caught.value) == (
        "the server does not serve Web in example.com/v1; "
        "install its CustomResourceDefinition (install_crds, or kubectl apply -f)"
    )


def test_a_kind_that_is_served_in_another_version_is_named() -> None:
    http = server(group("example.com", v2=[resource("Web", "webs")]), group("other.org", v1=[resource("Webs", "x")]))
    with pytest.raises(KindNotServed) as caught:
        virtual.run(Client(http).list(Web))
    assert caught.value.near[0] == GroupVersionKind("example.com", "v2", "Web")
    assert "but Web in example.com/v2" in str(caught.value)


def test_a_plural_that_is_wrong_is_named() -> None:
    http = server(group("example.com", v1=[resource("Web", "webz")]))
    with pytest.raises(KindNotServed, match="with the plural 'webz'"):
        virtual.run(Client(http).list(Web))


def test_a_scope_that_is_wrong_is_named() -> None:
    http = server(group("example.com", v1beta1=[resource("Zone", "zones")]))
    with pytest.raises(KindNotServed, match="it is namespaced there"):
        virtual.run(Client(http).list(Zone))


def test_a_kind_that_comes_up_only_now_is_told_apart() -> None:
    http = server(group("example.com", v1=[resource("Web", "webs")]))
    with pytest.raises(KindNotServed, match="it will in a moment"):
        virtual.run(Client(http).list(Web))


def test_a_missing_kind_is_reported_also_where_discovery_is_forbidden() -> None:
    def handle(request: Request) -> Response:
        return failure(403, "Forbidden", "no") if request.path == "/apis" else PAGE_NOT_FOUND

    with pytest.raises(KindNotServed):
        virtual.run(Client(RecordingHttp(handle)).list(Web))


# -- kinds that are known by name -------------------------------------------------------------------------------------

Gadget = unstructured("example.com/v1", "Gadget")


def test_a_kind_without_a_plural_is_looked_up_once() -> None:
    http = server(group("example.com", v1=[resource("Gadget", "gadgetry", "Cluster")]))
    known = http.handle
    http.handle = lambda r: known(r) if r.path == "/apis" else answer({"metadata": {"name": "a"}})

    async def main() -> None:
        client = Client(http)
        await client.get(Gadget, "a")
        await client.get(Gadget, "b")

    virtual.run(main())
    assert [r.path for r in http.requests] == [
        "/apis",
        "/apis/example.com/v1/gadgetry/a",
        "/apis/example.com/v1/gadgetry/b",
    ]


def test_a_kind_that_is_served_under_another_path_later_is_found_there() -> None:
    served = {"plural": "gadgets"}

    def handle(request: Request) -> Response:
        if request.path == "/apis":
            return aggregated(group("example.com", v1=[resource("Gadget", served["plural"], "Cluster")]))
        return answer({"metadata": {"name": "a"}}) if served["plural"] in request.path else PAGE_NOT_FOUND

    async def main() -> None:
        client = Client(RecordingHttp(handle))
        await client.get(Gadget, "a")
        served["plural"] = "gizmos"
        with pytest.raises(KindNotServed):
            await client.get(Gadget, "a")
        await client.get(Gadget, "a")

    virtual.run(main())


def test_pods_that_do_not_exist_are_not_a_missing_kind() -> None:
    client = Client(RecordingHttp(lambda _: not_found("pods", "a")))
    assert virtual.run(client.find(Pod, "a")) is None
