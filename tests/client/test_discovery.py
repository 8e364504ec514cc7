"""Discovery: both forms, nulls, and how often the server is asked."""

from __future__ import annotations

import asyncio

import pytest
from recording_http import PAGE_NOT_FOUND, RecordingHttp, Request, answer, failure

import virtual
from kubewright.client.discovery import Discovery, KindNotServed
from kubewright.client.errors import ApiError
from kubewright.client.transport import Response
from kubewright.model import GroupVersionKind

WEB = GroupVersionKind("example.com", "v1", "Web")
POD = GroupVersionKind("", "v1", "Pod")

AGGREGATED = {
    "kind": "APIGroupDiscoveryList",
    "apiVersion": "apidiscovery.k8s.io/v2",
    "items": [
        {"metadata": {"name": "away.io"}, "versions": [{"version": "v1", "resources": None, "freshness": "Stale"}]},
        {"metadata": {"name": "empty.io"}, "versions": None},
        {
            "metadata": {"name": "example.com", "creationTimestamp": None},
            "versions": [
                {
                    "version": "v1",
                    "freshness": "Current",
                    "resources": [
                        {"resource": "odd", "responseKind": None, "scope": "Namespaced"},
                        {
                            "resource": "webs",
                            "responseKind": {"group": "example.com", "version": "v1", "kind": "Web"},
                            "scope": "Namespaced",
                            "singularResource": "web",
                            "verbs": ["get"],
                            "shortNames": ["wb"],
                            "categories": ["all"],
                            "subresources": [
                                {"subresource": "status", "responseKind": None, "verbs": None},
                                {"subresource": "scale"},
                            ],
                        },
                        {
                            "resource": "zones",
                            "responseKind": {"kind": "Zone"},
                            "scope": "Cluster",
                            "shortNames": None,
                            "subresources": None,
                        },
                    ],
                }
            ],
        },
    ],
}
LEGACY = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/api/v1": {
        "kind": "APIResourceList",
        "groupVersion": "v1",
        "resources": [
            {
                "name": "pods",
                "singularName": "",
                "namespaced": True,
                "kind": "Pod",
                "verbs": ["get"],
                "shortNames": ["po"],
            },
            {"name": "pods/status", "singularName": "", "namespaced": True, "kind": "Pod", "verbs": ["get"]},
        ],
    },
    "/apis": {
        "kind": "APIGroupList",
        "groups": [{"name": "example.com", "versions": [{"groupVersion": "example.com/v1", "version": "v1"}]}],
    },
    "/apis/example.com/v1": {"kind": "APIResourceList", "groupVersion": "example.com/v1", "resources": None},
}


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def modern(_: Request) -> Response:
    return answer(AGGREGATED)


def legacy(request: Request) -> Response:
    return answer(LEGACY[request.path]) if request.path in LEGACY else PAGE_NOT_FOUND


def test_it_asks_for_the_aggregated_form_and_takes_the_older_one() -> None:
    http = RecordingHttp(modern)
    virtual.run(Discovery(http).resolve(WEB))
    accepted = http.requests[0].headers["accept"].split(",")
    assert [each.split(";")[-1] for each in accepted] == ["as=APIGroupDiscoveryList"] * 2 + ["application/json"]


def test_a_kind_is_found_with_its_plural_scope_and_subresources() -> None:
    info = virtual.run(Discovery(RecordingHttp(modern)).resolve(WEB))
    assert (info.group, info.version, info.kind, info.plural) == ("example.com", "v1", "Web", "webs")
    assert (info.namespaced, info.status, info.singular) == (True, True, "web")
    assert info.scale is not None
    assert (info.short_names, info.categories) == (("wb",), ("all",))


def test_nulls_are_empty() -> None:
    info = virtual.run(Discovery(RecordingHttp(modern)).resolve(GroupVersionKind("example.com", "v1", "Zone")))
    assert (info.namespaced, info.status, info.scale, info.short_names) == (False, False, None, ())


def test_the_older_form_is_asked_for_the_one_group_version() -> None:
    http = RecordingHttp(legacy)
    info = virtual.run(Discovery(http).resolve(POD))
    assert (info.plural, info.namespaced, info.status, info.singular) == ("pods", True, True, "pod")
    assert [r.target for r in http.requests] == ["/api", "/api/v1"]


@pytest.mark.parametrize("gvk", [WEB, GroupVersionKind("example.com", "v2", "Web"), GroupVersionKind("a", "v1", "Web")])
def test_the_older_form_with_nulls_and_without_the_kind(gvk: GroupVersionKind) -> None:
    with pytest.raises(KindNotServed):
        virtual.run(Discovery(RecordingHttp(legacy)).resolve(gvk))


def test_a_group_version_that_the_older_form_lists_and_does_not_serve_is_not_there() -> None:
    def handle(request: Request) -> Response:
        return PAGE_NOT_FOUND if request.path.endswith("/v1") else legacy(request)

    async def main() -> None:
        http = RecordingHttp(handle)
        discovery = Discovery(http, clock=Clock())
        for _ in range(3):
            with pytest.raises(KindNotServed):
                await discovery.resolve(WEB)
        assert [r.path for r in http.requests] == ["/apis", "/apis/example.com/v1"]

    virtual.run(main())


def test_a_known_kind_costs_no_request_and_a_group_no_other() -> None:
    async def main() -> None:
        http = RecordingHttp(modern)
        clock = Clock()
        discovery = Discovery(http, clock=clock)
        for _ in range(3):
            await discovery.resolve(WEB)
            clock.now += 3600
        assert [r.path for r in http.requests] == ["/apis"]

    virtual.run(main())


def test_a_missing_kind_is_asked_for_once_a_second() -> None:
    async def main() -> None:
        http = RecordingHttp(modern)
        clock = Clock()
        discovery = Discovery(http, clock=clock)
        for _ in range(50):
            with pytest.raises(KindNotServed):
                await discovery.resolve(GroupVersionKind("example.com", "v1", "Nope"))
            clock.now += 0.1
        assert len(http.requests) == 5

    virtual.run(main())


def test_a_kind_that_appears_is_found_after_a_second() -> None:
    async def main() -> None:
        http = RecordingHttp(lambda _: answer({**AGGREGATED, "items": None}))
        clock = Clock()
        discovery = Discovery(http, clock=clock)
        with pytest.raises(KindNotServed):
            await discovery.resolve(WEB)
        http.handle = modern
        with pytest.raises(KindNotServed):
            await discovery.resolve(WEB)
        clock.now += 1
        assert (await discovery.resolve(WEB)).plural == "webs"

    virtual.run(main())


def test_a_kind_that_appears_is_found_at_once_after_forget() -> None:
    async def main() -> None:
        http = RecordingHttp(lambda _: answer({**AGGREGATED, "items": None}))
        discovery = Discovery(http, clock=Clock())
        with pytest.raises(KindNotServed):
            await discovery.resolve(WEB)
        http.handle = modern
        discovery.forget(WEB)
        await discovery.resolve(WEB)

    virtual.run(main())


def test_many_tasks_that_miss_at_once_cause_one_request() -> None:
    async def main() -> None:
        http = RecordingHttp(modern)
        discovery = Discovery(http, clock=Clock())
        names = ["Web", "Zone", "Nope", "Nada"] * 5
        found = await asyncio.gather(
            *(discovery.resolve(GroupVersionKind("example.com", "v1", name)) for name in names), return_exceptions=True
        )
        assert sum(isinstance(each, KindNotServed) for each in found) == 10
        assert len(http.requests) == 1

    virtual.run(main())


def test_a_cancelled_task_does_not_take_the_others_with_it() -> None:
    async def main() -> None:
        discovery = Discovery(RecordingHttp(modern), clock=Clock())
        first = asyncio.ensure_future(discovery.resolve(WEB))
        second = asyncio.ensure_future(discovery.resolve(WEB))
        await asyncio.sleep(0)
        first.cancel()
        assert (await second).plural == "webs"

    virtual.run(main())


def test_an_error_of_the_server_is_told_and_not_remembered() -> None:
    async def main() -> None:
        http = RecordingHttp(lambda _: failure(500, "InternalError", "boom"))
        discovery = Discovery(http, clock=Clock())
        with pytest.raises(ApiError, match="boom"):
            await discovery.resolve(WEB)
        http.handle = modern
        await discovery.resolve(WEB)

    virtual.run(main())


def test_a_group_whose_server_is_away_is_told_apart_from_one_that_is_not_there() -> None:
    with pytest.raises(KindNotServed, match=r"the API service of away\.io/v1 is away"):
        virtual.run(Discovery(RecordingHttp(modern)).resolve(GroupVersionKind("away.io", "v1", "Thing")))


@pytest.mark.parametrize(
    ("gvk", "near"),
    [
        (GroupVersionKind("example.com", "v2", "Web"), ["Web"]),
        (GroupVersionKind("example.com", "v1", "Wob"), []),
        (GroupVersionKind("example.com", "v1", "Zones"), ["Zone"]),
        (GroupVersionKind("example.com", "v1", "web"), ["Web"]),
    ],
)
def test_the_closest_kinds_are_named(gvk: GroupVersionKind, near: list[str]) -> None:
    with pytest.raises(KindNotServed) as caught:
        virtual.run(Discovery(RecordingHttp(modern)).resolve(gvk))
    assert [each.kind for each in caught.value.near] == near


def test_the_cure_for_a_built_in_kind_is_no_crd() -> None:
    with pytest.raises(KindNotServed) as caught:
        virtual.run(Discovery(RecordingHttp(modern)).resolve(GroupVersionKind("apps", "v1beta1", "Deployment")))
    assert "kubectl api-resources" in caught.value.cure
