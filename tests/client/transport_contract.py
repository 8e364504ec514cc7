"""What every transport must do with requests: the contract of kubewright.client.transport.Transport.

A transport joins by a subclass that says how to make one (see test_http1_contract.py). What a transport that has no
sockets of its own cannot fail in is in a class of its own.
"""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

import pytest
from contract_base import CHUNKED, Contract, cases, ok, raw
from scripted_server import OK, Peer, ScriptedServer, answer, chunk

from kubewright.client.transport import (
    ConnectionLost,
    ConnectRefused,
    ProtocolError,
    RequestTimeout,
    ResponseTooLarge,
)


class RequestContract(Contract):
    def test_a_request_is_sent_as_given(self) -> None:
        async def main() -> None:
            async with self.against(ok) as (server, transport):
                response = await transport.request(
                    "PATCH",
                    "/a%20b?c=d&e",
                    headers=(("Accept", "application/json"), ("X-Text", "gr\u00fcn")),
                    body=b"{}",
                )
                assert response == (200, {"content-length": "2"}, b"ok")
                (request,) = server.requests
                assert (request.method, request.target, request.body) == ("PATCH", "/a%20b?c=d&e", b"{}")
                assert request.headers == {
                    "host": f"127.0.0.1:{server.port}",
                    "accept": "application/json",
                    "x-text": "gr\u00fcn",
                    "content-length": "2",
                }

        self.run(main())

    @pytest.mark.parametrize(("method", "length"), [("POST", "0"), ("PUT", "0"), ("GET", None), ("DELETE", None)])
    def test_a_request_without_body_has_a_length_only_where_one_is_expected(
        self, method: str, length: str | None
    ) -> None:
        async def main() -> None:
            async with self.against(ok) as (server, transport):
                await transport.request(method, "/")
                assert server.requests[0].headers.get("content-length") == length

        self.run(main())

    @pytest.mark.parametrize(
        ("data", "body"),
        cases(
            length=(answer(b"hello", "X-A: 1", "x-a: 2"), b"hello"),
            chunks=(CHUNKED + chunk(b"hel") + chunk(b"lo") + b"0\r\n\r\n", b"hello"),
            trailer=(CHUNKED + chunk(b"hello") + b"0\r\nX-B: c\r\n\r\n", b"hello"),
            gzip=(answer(gzip.compress(b"hello", mtime=0), "Content-Encoding: gzip"), b"hello"),
            interim=(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + answer(b"hello"), b"hello"),
            empty=(answer(b""), b""),
            no_content=(b"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n", b""),
            not_modified=(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", b""),
        ),
    )
    def test_an_answer_does_not_depend_on_how_its_bytes_arrive(self, data: bytes, body: bytes) -> None:
        async def script(peer: Peer) -> None:
            for at in range(1, len(data)):
                await peer.request()
                await peer.send_slowly(data[:at], data[at:])
            await peer.request()
            await peer.send_slowly(*(data[at : at + 1] for at in range(len(data))))
            await peer.hung_up()

        async def main() -> None:
            async with self.against(script) as (server, transport):
                for _ in range(len(data)):
                    response = await transport.request("GET", "/")
                    assert response.body == body
                    assert "link" not in response.headers
                    assert response.headers.get("x-a") in (None, "1, 2")
                assert len(server.peers) == 1

        self.run(main())

    def test_the_answer_to_head_has_no_body_whatever_it_says(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

        async def main() -> None:
            async with self.against(raw(head, OK)) as (server, transport):
                assert (await transport.request("HEAD", "/")).body == b""
                assert (await transport.request("GET", "/")).body == b"ok"
                assert len(server.peers) == 1

        self.run(main())

    @pytest.mark.parametrize("status", ["301 Moved", "404 Not Found", "429 Too Many", "500 Oops", "599 What"])
    def test_an_answer_is_an_answer_whatever_its_status(self, status: str) -> None:
        async def main() -> None:
            async with self.against(raw(answer(b"text", "Location: /b", status=status))) as (server, transport):
                response = await transport.request("GET", "/")
                assert (response.status, response.body) == (int(status[:3]), b"text")
                assert len(server.requests) == 1

        self.run(main())

    def test_a_large_body_goes_both_ways(self) -> None:
        body = bytes(range(256)) * 40_000

        async def main() -> None:
            async with self.against(raw(answer(body))) as (server, transport):
                assert (await transport.request("PUT", "/", body=body)).body == body
                assert server.requests[0].body == body

        self.run(main())

    def test_requests_one_after_the_other_use_one_connection(self) -> None:
        async def main() -> None:
            async with self.against(ok) as (server, transport):
                for _ in range(10):
                    await transport.request("POST", "/", body=b"x")
                assert len(server.peers) == 1

        self.run(main())

    @pytest.mark.parametrize(
        "data",
        [
            answer(b"ok", "Connection: close"),
            b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
            OK + b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nnot yours",
            OK + b"garbage",
            OK + b"H",
        ],
        ids=["close", "HTTP/1.0", "another answer", "garbage", "the start of another answer"],
    )
    def test_a_connection_that_cannot_be_trusted_further_is_not_used_again(self, data: bytes) -> None:
        async def main() -> None:
            async with self.against(raw(data)) as (server, transport):
                for count in (1, 2, 3):
                    assert (await transport.request("GET", "/")).body == b"ok"
                    assert len(server.peers) == count

        self.run(main())

    def test_a_connection_on_which_nobody_asked_is_dropped(self) -> None:
        async def talkative(peer: Peer) -> None:
            await peer.request()
            await peer.send_slowly(OK, OK)
            await peer.hung_up()

        async def main() -> None:
            async with self.against(talkative, ok) as (server, transport):
                await transport.request("GET", "/")
                await server.peers[0].closed.wait()
                await transport.request("GET", "/")
                assert len(server.peers) == 2

        self.run(main())

    @pytest.mark.parametrize(
        ("data", "error"),
        cases(
            other_protocol=(b"SSH-2.0-OpenSSH_9.2\r\n", ProtocolError),
            bare_line_feeds=(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", ProtocolError),
            length_is_no_number=(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", ProtocolError),
            two_lengths=(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk", ProtocolError),
            length_and_chunks=(CHUNKED[:-2] + b"Content-Length: 2\r\n\r\n", ProtocolError),
            chunk_size_is_no_number=(CHUNKED + b"xyz\r\n", ProtocolError),
            upgrade=(b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", ProtocolError),
            damaged_gzip=(answer(b"\x1f\x8b damaged", "Content-Encoding: gzip"), ProtocolError),
            cut_gzip=(answer(gzip.compress(b"x" * 99)[:-9], "Content-Encoding: gzip"), ProtocolError),
            unknown_coding=(answer(b"?", "Content-Encoding: br"), ProtocolError),
            huge_head=(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000, ResponseTooLarge),
            huge_body=(answer(b"x" * 70_000), ResponseTooLarge),
            huge_decompressed=(answer(gzip.compress(b"x" * 1_000_000), "Content-Encoding: gzip"), ResponseTooLarge),
        ),
    )
    def test_a_bad_answer_is_one_clear_error_and_the_next_request_goes_on(
        self, data: bytes, error: type[Exception]
    ) -> None:
        async def once(peer: Peer) -> None:
            await peer.request()
            peer.send(data)
            await peer.hung_up()

        async def main() -> None:
            limits = {"max_head_bytes": 65536, "max_body_bytes": 65536}
            async with self.against(once, ok, **limits) as (server, transport):
                with pytest.raises(error) as caught:
                    await transport.request("GET", "/a")
                assert str(caught.value).startswith(f"127.0.0.1:{server.port}: GET /a: ")
                assert "\n" not in str(caught.value)
                assert (await transport.request("GET", "/")).body == b"ok"

        self.run(main())

    @pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
    def test_a_kept_connection_that_was_closed_costs_a_safe_request_nothing(self, method: str) -> None:
        async def stale(peer: Peer) -> None:
            await peer.request()
            peer.send(OK)
            await peer.request()  # and closes without an answer

        async def main() -> None:
            async with self.against(stale, raw(answer(b""))) as (server, transport):
                await transport.request("GET", "/")
                await transport.request(method, "/again")
                assert [request.target for request in server.requests] == ["/", "/again", "/again"]
                assert len(server.peers) == 2

        self.run(main())

    def test_a_safe_request_is_sent_a_second_time_only_once(self) -> None:
        async def stale(peer: Peer) -> None:
            await peer.request()
            peer.send(OK)
            await peer.request()

        async def closes(peer: Peer) -> None:
            await peer.request()

        async def main() -> None:
            async with self.against(stale, closes) as (server, transport):
                await transport.request("GET", "/")
                with pytest.raises(ConnectionLost):
                    await transport.request("GET", "/")
                assert len(server.requests) == 3

        self.run(main())

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
    def test_a_request_that_may_change_something_is_never_sent_twice(self, method: str) -> None:
        async def stale(peer: Peer) -> None:
            await peer.request()
            peer.send(OK)
            await peer.request()

        async def main() -> None:
            async with self.against(stale, ok) as (server, transport):
                await transport.request("GET", "/")
                with pytest.raises(ConnectionLost, match="may or may not"):
                    await transport.request(method, "/", body=b"{}")
                assert len(server.requests) == 2

        self.run(main())

    def test_a_connection_closed_while_it_was_idle_is_not_used(self) -> None:
        async def once(peer: Peer) -> None:
            await peer.request()
            peer.send(OK)

        async def main() -> None:
            async with self.against(once) as (server, transport):
                for count in (1, 2, 3):
                    await transport.request("POST", "/", body=b"{}")
                    assert len(server.peers) == count
                    await server.peers[-1].closed.wait()
                    await asyncio.sleep(0.01)  # for the end of the connection to arrive

        self.run(main())

    @pytest.mark.parametrize(
        "data",
        cases(
            no_answer=(b"",),
            half_a_head=(b"HTTP/1.1 200",),
            half_a_body=(answer(b"hello")[:-1],),
            half_a_chunk=(CHUNKED + b"5\r\nhel",),
        ),
    )
    @pytest.mark.parametrize("how", ["close", "reset"])
    def test_an_answer_that_is_cut_off_is_a_lost_connection(self, data: bytes, how: str) -> None:
        async def cut(peer: Peer) -> None:
            await peer.request()
            await peer.send_slowly(data)
            if how == "reset":
                peer.reset()

        async def main() -> None:
            async with self.against(cut) as (server, transport):
                with pytest.raises(ConnectionLost) as caught:
                    await transport.request("GET", "/")
                assert caught.value.phase == "response"
                assert len(server.requests) == 1  # this connection was new: nothing is tried again

        self.run(main())

    def test_a_server_that_closes_what_it_accepts_is_an_error_and_not_a_storm_of_connections(self) -> None:
        async def closes(peer: Peer) -> None:
            pass

        async def main() -> None:
            async with self.against(closes) as (server, transport):
                for _ in range(3):
                    with pytest.raises(ConnectionLost, match="before it answered"):
                        await transport.request("GET", "/")
                assert len(server.peers) <= 4

        self.run(main())

    def test_an_answer_without_length_ends_with_the_connection(self) -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send_slowly(b"HTTP/1.1 200 OK\r\n\r\nhel", b"lo")

        async def main() -> None:
            async with self.against(script) as (_, transport):
                assert (await transport.request("GET", "/")).body == b"hello"

        self.run(main())

    def test_no_answer_in_time_is_a_timeout_and_closes_the_connection(self) -> None:
        async def silent(peer: Peer) -> None:
            await peer.request()
            await peer.hung_up()

        async def main() -> None:
            async with self.against(silent, ok) as (server, transport):
                with pytest.raises(RequestTimeout, match=r"GET /slow: no complete answer within 0.05 s"):
                    await transport.request("GET", "/slow", timeout_seconds=0.05)
                await server.peers[0].closed.wait()
                assert (await transport.request("GET", "/")).status == 200

        self.run(main())

    def test_an_answer_that_trickles_in_has_the_same_deadline(self) -> None:
        async def slow(peer: Peer) -> None:
            await peer.request()
            for byte in answer(b"x" * 10_000):
                peer.send(bytes([byte]))
                await asyncio.sleep(0.005)

        async def main() -> None:
            async with self.against(slow) as (_, transport):
                with pytest.raises(RequestTimeout):
                    await transport.request("GET", "/", timeout_seconds=0.1)

        self.run(main())

    def test_nobody_listening_is_said_so(self) -> None:
        async def main() -> None:
            async with ScriptedServer(ok) as server:
                url = server.url
            transport = self.make(url)
            with pytest.raises(ConnectRefused, match=r"127.0.0.1:\d+: connection refused") as caught:
                await transport.request("GET", "/")
            assert caught.value.phase == "connect"
            await transport.close()

        self.run(main())

    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            (("GET", "no-slash", ()), "target 'no-slash'"),
            (("GET", "/a b", ()), "target '/a b'"),
            (("GET", "/a\r\nX: y", ()), "target"),
            (("GET", "/\u00fc", ()), "target"),
            (("GE T", "/", ()), "method 'GE T'"),
            (("GET\r\n", "/", ()), "method"),
            (("GET", "/", (("X-A", "b\r\nX-C: d"),)), "header X-A"),
            (("GET", "/", (("X-A", "b\0"),)), "header X-A"),
            (("GET", "/", (("X A", "b"),)), "header name 'X A'"),
            (("GET", "/", (("", "b"),)), "header name ''"),
            (("GET", "/", (("Content-Length", "3"),)), "header Content-Length"),
            (("GET", "/", (("Transfer-Encoding", "chunked"),)), "header Transfer-Encoding"),
            (("GET", "/", (("host", "x"),)), "header host"),
        ],
    )
    def test_what_cannot_be_put_on_the_wire_is_refused_by_name(self, arguments: Any, match: str) -> None:
        method, target, headers = arguments

        async def main() -> None:
            async with self.against(ok) as (server, transport):
                with pytest.raises(ValueError, match=match) as caught:
                    await transport.request(method, target, headers=headers)
                assert "X-C: d" not in str(caught.value)
                assert not server.requests

        self.run(main())
