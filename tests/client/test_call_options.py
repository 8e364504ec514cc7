"""Whose options a call has: its own, else those of the client, which may be derived from another."""

from __future__ import annotations

from recording_http import RecordingHttp
from request_rows import OPTIONS, WEBS, Call, reply
from web_model import Web, Zone, web

import virtual
from kubewright.client.client import Client
from kubewright.client.patches import MergePatch


def sent(client: Client, http: RecordingHttp, call: Call) -> str:
    virtual.run(call(client))
    return http.requests[-1].target


def test_the_clients_options_are_those_of_every_write() -> None:
    http = RecordingHttp(reply)
    client = Client(http, namespace="prod", field_manager="op", dry_run=True, field_validation="Strict")
    query = "?dryRun=All&fieldManager=op&fieldValidation=Strict"
    assert sent(client, http, lambda c: c.create(web())) == f"{WEBS}{query}"
    assert sent(client, http, lambda c: c.update(web())) == f"{WEBS}/a{query}"
    assert sent(client, http, lambda c: c.patch(web(), MergePatch({}))) == f"{WEBS}/a{query}"
    assert sent(client, http, lambda c: c.apply(web())) == f"{WEBS}/a{query}&force=false"
    sent(client, http, lambda c: c.delete(web()))
    assert http.requests[-1].json == {**OPTIONS, "dryRun": ["All"]}
    sent(client, http, lambda c: c.delete_all(Zone))
    assert http.requests[-1].json == {**OPTIONS, "dryRun": ["All"]}


def test_the_clients_options_are_not_those_of_a_read() -> None:
    http = RecordingHttp(reply)
    client = Client(http, namespace="prod", field_manager="op", dry_run=True, field_validation="Strict")
    assert sent(client, http, lambda c: c.get(Web, "a")) == f"{WEBS}/a"


def test_a_calls_option_overrides_the_clients() -> None:
    http = RecordingHttp(reply)
    client = Client(http, namespace="prod", field_manager="op", dry_run=True, field_validation="Strict")
    call: Call = lambda c: c.create(web(), dry_run=False, field_manager="me", field_validation="Warn")  # noqa: E731
    assert sent(client, http, call) == f"{WEBS}?fieldManager=me&fieldValidation=Warn"
    sent(client, http, lambda c: c.delete(web(), dry_run=False))
    assert http.requests[-1].body is None


def test_with_options_changes_what_it_is_given_and_nothing_else() -> None:
    http = RecordingHttp(reply)
    client = Client(http, namespace="prod", field_manager="op")
    derived = client.with_options(dry_run=True, namespace="dev")
    dev = "/apis/example.com/v1/namespaces/dev/webs"
    assert sent(derived, http, lambda c: c.create(web())) == f"{dev}?dryRun=All&fieldManager=op"
    assert sent(client, http, lambda c: c.create(web())) == f"{WEBS}?fieldManager=op"
    assert (derived.namespace, derived.field_manager) == ("dev", "op")
    assert derived.http is client.http


def test_the_client_that_was_made_first_closes_the_connections() -> None:
    async def main() -> None:
        http = RecordingHttp(reply)
        async with Client(http) as client:
            async with client.with_options(dry_run=True):
                pass
            assert http.closed == 0
        assert http.closed == 1

    virtual.run(main())
