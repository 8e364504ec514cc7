"""Installing CRDs: the order of requests, what is refused before one, and how long it waits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from recording_http import PAGE_NOT_FOUND, RecordingHttp, Request, answer, failure, not_found

import virtual
from kubewright.client import Client, CrdConflict, CrdNotReady, Forbidden, InvalidRequest, install_crds
from kubewright.client.transport import Response

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def crd(
    *versions: str, storage: str = "", unserved: tuple[str, ...] = (), name: str = "webs", **spec: Any
) -> dict[str, Any]:
    versions = versions or ("v1",)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{name}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": name, "kind": "Web"},
            "versions": [
                {"name": each, "served": each not in unserved, "storage": each == (storage or versions[0])}
                for each in versions
            ],
            **spec,
        },
    }


def conditions(**by_type: str) -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": status, "message": "taken"} for kind, status in by_type.items()]}


READY = conditions(NamesAccepted="True", Established="True")


class Server:
    """Holds CRDs; each answer of a collection is the next of `serving`, and then an empty list."""

    def __init__(
        self, *found: dict[str, Any], status: dict[str, Any] = READY, serving: list[Response] | None = None
    ) -> None:
        self.crds = {each["metadata"]["name"]: each for each in found}
        self.status = [status]
        self.serving = serving or []
        self.http = RecordingHttp(self)

    def __call__(self, request: Request) -> Response:
        name = request.path.removeprefix(CRDS).strip("/")
        if request.path.startswith(CRDS):
            if request.method == "PATCH":
                self.crds[name] = {"status": None, **request.json}
            if name not in self.crds:
                return not_found("customresourcedefinitions", name, "apiextensions.k8s.io")
            status = self.status.pop(0) if len(self.status) > 1 else self.status[0]
            return answer({**self.crds[name], "status": self.crds[name].get("status") or status})
        if request.path == "/apis":
            return answer({"kind": "APIGroupDiscoveryList", "items": []})
        return self.serving.pop(0) if self.serving else answer({"metadata": {}, "items": []})

    @property
    def log(self) -> list[str]:
        return [f"{r.method} {r.target}" for r in self.http.requests if r.path != "/apis"]


def install(server: Server, *crds: dict[str, Any], **options: Any) -> float:
    """Returns the seconds that it took."""

    async def main() -> float:
        await install_crds(Client(server.http), crds, **options)
        return asyncio.get_running_loop().time() - virtual.START_AT

    return virtual.run(main())


def test_each_crd_is_applied_and_each_served_version_is_listed() -> None:
    server = Server()
    assert install(server, crd("v1", "v2", "v3", unserved=("v2",))) == 0
    assert server.log == [
        f"GET {CRDS}/webs.example.com",
        f"PATCH {CRDS}/webs.example.com?fieldManager=kubewright-crds&force=true",
        "GET /apis/example.com/v1/webs?limit=1",
        "GET /apis/example.com/v3/webs?limit=1",
    ]


def test_one_that_the_answer_shows_to_be_established_is_not_asked_for_again_and_another_is() -> None:
    server = Server()
    server.status = [conditions(), READY]
    assert install(server, crd()) == pytest.approx(0.02)
    assert [line.split()[0] for line in server.log] == ["GET", "PATCH", "GET", "GET"]


@pytest.mark.parametrize(
    ("found", "applied", "told"),
    [
        (None, {"generation": 1}, "created"),
        ({"generation": 3, "resourceVersion": "7"}, {"generation": 3, "resourceVersion": "8"}, "unchanged"),
        ({"generation": 3}, {"generation": 4}, "changed"),
        ({"generation": 3}, {"generation": 3, "labels": {"a": "b"}}, "changed"),
    ],
)
def test_what_became_of_each_crd_is_told(
    found: dict[str, Any] | None, applied: dict[str, Any], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    def stored(metadata: dict[str, Any]) -> dict[str, Any]:
        manifest = crd()
        return {**manifest, "metadata": {**manifest["metadata"], **metadata}}

    class Numbering(Server):
        def __call__(self, request: Request) -> Response:
            answered = super().__call__(request)
            return answer({**stored(applied), "status": READY}) if request.method == "PATCH" else answered

    caplog.set_level("INFO")
    install(Numbering(*([stored(found)] if found is not None else [])), crd())
    assert [record.getMessage() for record in caplog.records] == [f"CRD webs.example.com: {told}"]


def test_all_are_applied_before_one_is_waited_for() -> None:
    server = Server()
    install(server, crd(), crd(name="zones"))
    assert [line.split()[0] for line in server.log] == ["GET", "PATCH", "GET", "PATCH", "GET", "GET"]


def test_what_is_sent_is_the_manifest_without_its_status() -> None:
    server = Server()
    manifest = {**crd(), "status": {"conditions": []}}
    before = repr(manifest)
    install(server, manifest, field_manager="me")
    [patch] = [r for r in server.http.requests if r.method == "PATCH"]
    assert patch.json == crd()
    assert patch.query["fieldManager"] == "me"
    assert repr(manifest) == before


def test_it_waits_until_established_and_then_until_the_collection_answers() -> None:
    busy = failure(429, "TooManyRequests", "storage is (re)initializing", details={"retryAfterSeconds": 1})
    server = Server(serving=[PAGE_NOT_FOUND, busy, busy])
    server.status = [{}, conditions(NamesAccepted="True"), conditions(NamesAccepted="True", Established="False"), READY]
    assert 0.1 < install(server, crd()) < 1
    assert server.log.count("GET /apis/example.com/v1/webs?limit=1") == 4


def test_a_crd_that_is_never_ready_is_told_with_what_was_seen_last() -> None:
    with pytest.raises(CrdNotReady) as late:
        install(Server(status={}), crd(), timeout_seconds=5)
    assert str(late.value) == (
        "CRD webs.example.com: not ready within 5 s (not Established yet); is the API server overloaded?"
    )
    busy = [failure(429, "TooManyRequests", "storage is (re)initializing")] * 1000
    with pytest.raises(CrdNotReady, match="storage is"):
        install(Server(serving=busy), crd(), timeout_seconds=5)
    with pytest.raises(CrdNotReady, match="does not serve Web"):
        install(Server(serving=[PAGE_NOT_FOUND] * 1000), crd(), timeout_seconds=5)


def test_an_error_that_does_not_pass_is_told_at_once() -> None:
    with pytest.raises(Forbidden):
        install(Server(serving=[failure(403, "Forbidden")]), crd())


def test_names_that_are_not_accepted_are_a_conflict() -> None:
    with pytest.raises(CrdConflict) as conflict:
        install(Server(status=conditions(NamesAccepted="False", Established="False")), crd())
    assert str(conflict.value) == (
        "CRD webs.example.com: its names are not accepted: taken; "
        "choose another kind, plural or short name, or delete the other CRD"
    )


def test_a_stored_version_that_would_be_dropped_is_a_conflict_before_anything_is_sent() -> None:
    server = Server({**crd("v1"), "status": {**READY, "storedVersions": ["v1", "v1alpha1"]}})
    with pytest.raises(CrdConflict, match=r"stored in v1alpha1, and only v1, v2 is defined here"):
        install(server, crd("v1", "v2"))
    assert server.log == [f"GET {CRDS}/webs.example.com"]


@pytest.mark.parametrize(
    ("changed", "field"),
    [({"scope": "Cluster"}, "spec.scope"), ({"names": {"plural": "webs", "kind": "Site"}}, "spec.names.kind")],
)
def test_what_cannot_be_changed_is_a_conflict(changed: dict[str, Any], field: str) -> None:
    server = Server({**crd(), "status": READY})
    with pytest.raises(CrdConflict) as conflict:
        install(server, crd(**changed))
    assert field in conflict.value.rule
    assert len(server.log) == 1


def test_another_storage_version_and_a_version_that_goes_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    server = Server({**crd("v1", "v0"), "status": {**READY, "storedVersions": ["v1"]}})
    install(server, crd("v1", "v2", storage="v2"))
    assert [record.getMessage() for record in caplog.records] == [
        "CRD webs.example.com: the storage version changes from v1 to v2; objects are converted as they are written",
        "CRD webs.example.com: v0 will no longer be served; clients that use it fail",
    ]


def test_what_stays_as_it_is_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    install(Server({**crd(), "status": {**READY, "storedVersions": None}}), crd())
    assert caplog.records == []


def test_a_crd_that_is_being_deleted_is_waited_for() -> None:
    dying = crd()
    dying["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    server = Server(dying)

    async def main() -> None:
        installing = asyncio.ensure_future(install_crds(Client(server.http), [crd()]))
        await asyncio.sleep(3)
        assert not any(line.startswith("PATCH") for line in server.log)
        server.crds.clear()
        await installing

    virtual.run(main())
    with pytest.raises(CrdNotReady, match="an older one is still being deleted"):
        install(Server(dying), crd(), timeout_seconds=5)


@pytest.mark.parametrize(
    ("manifest", "field"),
    [
        ({"kind": "List", "apiVersion": "v1"}, "kind"),
        ({**crd(), "apiVersion": "apiextensions.k8s.io/v1beta1"}, "kind"),
        ({**crd(), "metadata": {}}, "metadata.name"),
        ({**crd(), "metadata": None}, "metadata.name"),
    ],
)
def test_what_is_no_crd_is_refused_before_anything_is_sent(manifest: dict[str, Any], field: str) -> None:
    server = Server()
    with pytest.raises(InvalidRequest) as refused:
        install(server, crd(), manifest)
    assert refused.value.field == field
    assert server.log == []


def test_cancelling_ends_the_wait() -> None:
    async def main() -> None:
        installing = asyncio.ensure_future(install_crds(Client(Server(status={}).http), [crd()]))
        await asyncio.sleep(1)
        installing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await installing

    virtual.run(main())
