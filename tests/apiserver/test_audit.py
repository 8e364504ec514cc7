"""The audit log: what of which requests is told, and when."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from kubewright.apiserver import ApiServer, Request, Response, Stream, User, new_server
from kubewright.apiserver.audit import Audit, AuditRule
from kubewright.apiserver.faults import Fault, Faults

MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}}


class Clock:
    def __init__(self) -> None:
        self.at = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(milliseconds=5)
        return self.at


def audited(audit: Audit, *filters: Any) -> ApiServer:
    server = new_server(now=Clock(), seed=1)
    server.use(*filters)
    server.use(audit, first=True)
    return server


def ask(server: ApiServer, method: str, target: str, body: Any = b"", user: User | None = None) -> Any:
    request = Request.of(method, target, body=body, headers={"user-agent": "tester/1"})
    if user is not None:
        request.user = user
    return asyncio.run(server.handle(request))


def test_a_request_is_told_with_who_what_and_when() -> None:
    audit = Audit()
    assert ask(audited(audit), "GET", f"{MAPS}/a?resourceVersion=0").status == 404
    (event,) = audit.events
    assert event["auditID"]
    assert {name: event[name] for name in event if name not in ("auditID", "stageTimestamp", "user")} == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "stage": "ResponseComplete",
        "requestURI": f"{MAPS}/a?resourceVersion=0",
        "verb": "get",
        "userAgent": "tester/1",
        "objectRef": {"resource": "configmaps", "namespace": "default", "name": "a", "apiVersion": "v1"},
        "responseStatus": {
            "metadata": {},
            "status": "Failure",
            "message": 'configmaps "a" not found',
            "reason": "NotFound",
            "code": 404,
        },
        "requestReceivedTimestamp": event["requestReceivedTimestamp"],
    }
    assert event["user"]["username"] == "kubernetes-admin"
    assert event["stageTimestamp"] > event["requestReceivedTimestamp"]


def test_levels_say_how_much_is_told_and_the_first_rule_counts() -> None:
    rules = (
        AuditRule(level="None", verbs=frozenset({"list"})),
        AuditRule(level="Request", resources=frozenset({"configmaps"}), verbs=frozenset({"create"})),
        AuditRule(level="None", resources=frozenset({"configmaps"}), users=frozenset({"nobody"})),
    )
    audit = Audit("RequestResponse", rules=rules)
    server = audited(audit)
    ask(server, "POST", MAPS, config_map("a"))
    ask(server, "GET", MAPS)
    ask(server, "GET", f"{MAPS}/a")
    ask(server, "GET", "/version")
    created, read, version = audit.events
    assert created["requestObject"]["data"] == {"a": "1"}
    assert created["objectRef"]["name"] == "a"
    assert "responseObject" not in created
    assert read["responseObject"]["metadata"]["name"] == "a"
    assert (version["verb"], version["requestURI"], "objectRef" in version) == ("get", "/version", False)


def test_what_is_refused_is_told_too() -> None:
    audit = Audit("RequestResponse")
    faults = Faults()
    faults.add(Fault(verb="create", status=429))
    assert ask(audited(audit, faults), "POST", MAPS, config_map("a")).status == 429
    (event,) = audit.events
    assert (event["responseStatus"]["code"], event["responseObject"]["code"]) == (429, 429)


def test_a_watch_is_told_when_it_starts_and_when_it_ends() -> None:
    audit = Audit()
    server = audited(audit)

    async def main() -> None:
        stream = await server.handle(Request.of("GET", f"{MAPS}?watch=true"))
        assert isinstance(stream, Stream)
        assert [each["stage"] for each in audit.events] == ["ResponseStarted"]
        stream.close()
        stream.close()

    asyncio.run(main())
    assert [each["stage"] for each in audit.events] == ["ResponseStarted", "ResponseComplete"]
    assert len({each["auditID"] for each in audit.events}) == 1


def test_a_file_has_an_event_a_line(tmp_path: Path) -> None:
    audit = Audit(path=tmp_path / "audit.jsonl")
    server = audited(audit)
    for name in "ab":
        answer = ask(server, "POST", MAPS, config_map(name))
        assert isinstance(answer, Response)
    audit.close()
    lines = (tmp_path / "audit.jsonl").read_bytes().splitlines()
    assert [orjson.loads(each)["responseStatus"]["code"] for each in lines] == [201, 201]
    assert audit.events == []


def test_what_nobody_expected_is_told_as_it_was_answered(caplog: pytest.LogCaptureFixture) -> None:
    async def fails(*_: Any) -> Response:
        raise RuntimeError("a filter with an error")

    audit = Audit()
    assert ask(audited(audit, fails), "GET", MAPS).status == 500
    assert audit.events[0]["responseStatus"]["code"] == 500
    assert "a filter with an error" in caplog.text
