"""How a client is made; what is done with its answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from recording_http import RecordingHttp, answer
from web_model import Pod, Web, web

import virtual
from kubewright.client import Client, ClientConfig, ConfigError, MergePatch
from kubewright.model import DecodeError, ObjectMeta, origin_of, unstructured

Eviction = unstructured("policy/v1", "Eviction", plural="evictions")
SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": {"uid": "u"}}


def client_of(body: Any, status: int = 200) -> Client:
    return Client(RecordingHttp(lambda _: answer(body, status)), field_manager="op")


def test_connecting_sends_nothing() -> None:
    async def main() -> None:
        # The port of a server that does not exist: a request to it could not succeed.
        async with Client.connect(ClientConfig(server="http://127.0.0.1:9", namespace="prod")) as client:
            assert client.namespace == "prod"
        await client.close()

    asyncio.run(main())


def test_connecting_takes_options_over_the_configuration() -> None:
    async def main() -> None:
        config = ClientConfig(server="http://127.0.0.1:9", namespace="prod")
        async with Client.connect(config, namespace="dev", field_manager="op") as client:
            assert (client.namespace, client.field_manager) == ("dev", "op")
            assert client.http.config is config

    asyncio.run(main())


def test_connecting_without_any_configuration_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ConfigError):
        Client.connect()


def test_a_deletion_that_is_done_gives_none() -> None:
    assert virtual.run(client_of(SUCCESS).delete(Web, "a")) is None
    assert virtual.run(client_of(b"").delete(Web, "a")) is None


def test_a_deletion_that_waits_gives_the_object() -> None:
    waiting = {
        "kind": "Web",
        "metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"image": "x"},
    }
    left = virtual.run(client_of(waiting, 202).delete(Web, "a"))
    assert isinstance(left, Web)
    assert left.metadata.deletion_timestamp is not None


def test_a_subresource_that_answers_with_a_status_gives_what_was_sent() -> None:
    eviction = Eviction(metadata=ObjectMeta(name="p"))
    assert virtual.run(client_of(SUCCESS, 201).create(eviction, of=Pod, subresource="eviction")) is eviction


def test_an_answer_remembers_what_it_was_read_from() -> None:
    body = b'{"kind":"Web","metadata":{"name":"a"},"spec":{"image":"x","later":1}}'
    assert origin_of(virtual.run(client_of(body).get(Web, "a"))) == body


def test_an_answer_that_does_not_fit_the_class_is_a_decode_error_with_the_path() -> None:
    client = client_of({"metadata": {"name": "a"}, "spec": {"image": 5}})
    with pytest.raises(DecodeError, match=r"Web\.spec\.image"):
        virtual.run(client.patch(web(), MergePatch({})))
    with pytest.raises(DecodeError):
        virtual.run(client_of(b"<html>").apply(web()))
