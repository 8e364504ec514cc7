"""One row per verb, kind and option: the request that goes out for it, to the letter."""

from __future__ import annotations

from typing import Any

import pytest
from read_rows import READS
from recording_http import RecordingHttp
from request_rows import Call, read_web, reply
from web_model import Pod, Web, web
from write_rows import WRITES

import virtual
from kubewright.client.client import Client
from kubewright.client.patches import MergePatch
from kubewright.client.scale import Scale

ROWS = [*READS, *WRITES]


@pytest.mark.parametrize(("call", "method", "target", "content_type", "body"), ROWS)
def test_each_call_sends_one_request_and_it_is_this(
    call: Call, method: str, target: str, content_type: str | None, body: Any
) -> None:
    http = RecordingHttp(reply)
    virtual.run(call(Client(http, namespace="prod")))
    [request] = http.requests
    assert (request.method, request.target) == (method, target)
    assert request.headers.get("accept") == "application/json"
    assert request.headers.get("content-type") == content_type
    assert request.json == body


def test_there_are_sixty_rows_and_more() -> None:
    assert len(ROWS) >= 60


def test_what_comes_back_has_the_type_of_what_was_sent() -> None:
    async def main() -> None:
        client = Client(RecordingHttp(reply))
        assert type(await client.create(web())) is Web
        assert type(await client.get(Pod, "a")) is Pod
        assert type(await client.patch(Pod, MergePatch({}), "a")) is Pod
        assert type(await client.get(Scale, "a", of=Pod, subresource="scale")) is Scale

    virtual.run(main())


def test_objects_that_are_passed_in_are_not_changed() -> None:
    async def main() -> None:
        client = Client(RecordingHttp(reply), field_manager="op")
        obj = read_web()
        before = repr(obj)
        await client.update(obj)
        await client.apply(obj)
        await client.apply(obj, subresource="status")
        await client.delete(obj)
        assert repr(obj) == before

    virtual.run(main())
