"""What every transport must do with streams."""

from __future__ import annotations

import asyncio

import pytest
from contract_base import Contract, cases, ok, raw
from scripted_server import LAST_CHUNK, OK, STREAM, Peer, answer, chunk

from kubewright.client.transport import (
    ConnectionLost,
    ProtocolError,
    RequestTimeout,
    Response,
    ResponseTooLarge,
    StreamIdle,
)

EVENTS = [b'{"type":"ADDED"}', b"", b'{"type":"MODIFIED","x":"' + b"y" * 300 + b'"}', b"{}"]


class StreamContract(Contract):
    @pytest.mark.parametrize(
        "data",
        [
            STREAM + b"".join(chunk(event + b"\n") for event in EVENTS) + LAST_CHUNK,
            STREAM + chunk(b"\n".join(EVENTS)) + LAST_CHUNK,
            STREAM + b"".join(chunk(bytes([byte])) for byte in b"\n".join(EVENTS)) + LAST_CHUNK,
            answer(b"\n".join(EVENTS) + b"\n"),
            b"HTTP/1.1 100 Continue\r\n\r\n" + STREAM + chunk(b"\n".join(EVENTS)) + b"0\r\nX: y\r\n\r\n",
        ],
        ids=["a chunk an event", "one chunk", "a chunk a byte", "a length", "interim and trailer"],
    )
    def test_the_lines_do_not_depend_on_how_their_bytes_arrive(self, data: bytes) -> None:
        async def script(peer: Peer) -> None:
            for at in range(1, len(data), 7):
                await peer.request()
                await peer.send_slowly(data[:at], data[at : at + 3], data[at + 3 :])
            await peer.request()
            await peer.send_slowly(*(data[at : at + 1] for at in range(len(data))))
            await peer.hung_up()

        async def main() -> None:
            async with self.against(script) as (server, transport):
                for _ in range(1, len(data) + 7, 7):
                    lines: list[bytes] = []
                    response = await transport.stream("GET", "/watch", on_line=lines.append)
                    assert lines == EVENTS
                    assert (response.status, response.body) == (200, b"")
                assert len(server.peers) == 1

        self.run(main())

    def test_a_stream_without_length_ends_with_the_connection(self) -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send_slowly(b"HTTP/1.1 200 OK\r\n\r\n", b"a\nb\n", b"c")

        async def main() -> None:
            async with self.against(script) as (_, transport):
                lines: list[bytes] = []
                await transport.stream("GET", "/log", on_line=lines.append)
                assert lines == [b"a", b"b", b"c"]

        self.run(main())

    def test_the_head_is_told_before_the_first_line(self) -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            peer.send(STREAM.replace(b"\r\n\r\n", b"\r\nX-A: b\r\n\r\n") + chunk(b"1\n") + LAST_CHUNK)
            await peer.hung_up()

        async def main() -> None:
            async with self.against(script) as (_, transport):
                told: list[object] = []
                await transport.stream("GET", "/", on_line=told.append, on_response=told.append)
                head, line = told
                assert isinstance(head, Response)
                assert (head.status, head.headers["x-a"], head.body, line) == (200, "b", b"", b"1")

        self.run(main())

    def test_a_line_is_handed_over_when_it_is_complete(self) -> None:
        async def main() -> None:
            seen = asyncio.Event()

            async def script(peer: Peer) -> None:
                await peer.request()
                peer.send(STREAM + chunk(b"1\n") + chunk(b"half"))
                await seen.wait()
                peer.send(chunk(b"\n") + LAST_CHUNK)

            async with self.against(script) as (_, transport):
                lines: list[bytes] = []

                def on_line(line: bytes) -> None:
                    lines.append(line)
                    seen.set()

                await transport.stream("GET", "/", on_line=on_line)
                assert lines == [b"1", b"half"]

        self.run(main())

    def test_a_line_of_ten_megabytes_is_one_line(self) -> None:
        line = bytes(range(32, 64)) * (10 * 2**20 // 32)

        async def main() -> None:
            data = STREAM + chunk(line + b"\n") + chunk(b"after\n") + LAST_CHUNK
            async with self.against(raw(data)) as (_, transport):
                lines: list[bytes] = []
                await transport.stream("GET", "/", on_line=lines.append)
                assert lines == [line, b"after"]

        self.run(main())

    @pytest.mark.parametrize(
        "data",
        cases(
            unfinished=(STREAM + chunk(b"x" * 70_000),),
            in_pieces=(STREAM + chunk(b"x" * 40_000) * 2,),
            whole=(STREAM + chunk(b"x" * 70_000 + b"\n"),),
        ),
    )
    def test_a_line_beyond_the_limit_is_refused(self, data: bytes) -> None:
        async def main() -> None:
            async with self.against(raw(data), max_line_bytes=65536) as (_, transport):
                with pytest.raises(ResponseTooLarge, match="the line is larger than 65536 bytes"):
                    await transport.stream("GET", "/", on_line=print)

        self.run(main())

    @pytest.mark.parametrize("status", ["410 Gone", "500 Oops", "304 Not Modified", "302 Found"])
    def test_another_answer_is_returned_whole_and_has_no_lines(self, status: str) -> None:
        body = b"" if status.startswith("304") else b"one\ntwo\n"

        async def script(peer: Peer) -> None:
            while True:
                await peer.request()
                await peer.send_slowly(answer(b"one\ntwo\n", status=status)[: None if body else -8], b"")

        def never(told: object) -> None:
            raise AssertionError(told)

        async def main() -> None:
            async with self.against(script) as (server, transport):
                for _ in range(3):
                    response = await transport.stream("GET", "/", on_line=never, on_response=never)
                    assert (response.status, response.body) == (int(status[:3]), body)
                assert len(server.peers) == 1

        self.run(main())

    @pytest.mark.parametrize("data", cases(no_content=(b"HTTP/1.1 204 No Content\r\n\r\n",), empty=(answer(b""),)))
    def test_a_stream_of_nothing_has_a_head_and_no_lines(self, data: bytes) -> None:
        async def main() -> None:
            async with self.against(raw(data)) as (server, transport):
                heads: list[Response] = []
                lines: list[bytes] = []
                for count in (1, 2):
                    await transport.stream("GET", "/", on_line=lines.append, on_response=heads.append)
                    assert (len(heads), lines, len(server.peers)) == (count, [], 1)

        self.run(main())

    @pytest.mark.parametrize("how", ["close", "reset"])
    def test_a_stream_that_is_cut_off_is_a_lost_connection(self, how: str) -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send_slowly(STREAM + chunk(b"1\n") + b"3\r\n2\n")
            if how == "reset":
                peer.reset()

        async def main() -> None:
            async with self.against(script) as (server, transport):
                lines: list[bytes] = []
                with pytest.raises(ConnectionLost, match="in the middle of the stream") as caught:
                    await transport.stream("GET", "/", on_line=lines.append)
                assert caught.value.phase == "stream"
                assert lines == [b"1", b"2"]
                assert len(server.requests) == 1

        self.run(main())

    def test_a_kept_connection_that_was_closed_costs_a_stream_nothing(self) -> None:
        async def stale(peer: Peer) -> None:
            await peer.request()
            peer.send(STREAM + LAST_CHUNK)
            await peer.request()

        async def main() -> None:
            data = STREAM + chunk(b"1\n") + LAST_CHUNK
            async with self.against(stale, raw(data)) as (server, transport):
                lines: list[bytes] = []
                await transport.stream("GET", "/", on_line=lines.append)
                await transport.stream("GET", "/", on_line=lines.append)
                assert lines == [b"1"]
                assert len(server.peers) == 2

        self.run(main())

    @pytest.mark.parametrize(
        "data",
        cases(after_the_head=(STREAM,), after_a_line=(STREAM + chunk(b"1\n"),), in_a_line=(STREAM + b"5\r\n12",)),
    )
    def test_silence_beyond_the_bound_is_an_error(self, data: bytes) -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            peer.send(data)
            await peer.hung_up()

        async def main() -> None:
            async with self.against(script) as (server, transport):
                with pytest.raises(StreamIdle, match=r"GET /watch: no byte came for 0\.05 s"):
                    await transport.stream("GET", "/watch", on_line=str, idle_seconds=0.05)
                await server.peers[0].closed.wait()

        self.run(main())

    def test_the_head_of_a_stream_has_the_deadline_of_a_request(self) -> None:
        async def silent(peer: Peer) -> None:
            await peer.request()
            await peer.hung_up()

        async def main() -> None:
            async with self.against(silent, request_seconds=0.05) as (_, transport):
                with pytest.raises(RequestTimeout):
                    await transport.stream("GET", "/", on_line=print)

        self.run(main())

    def test_a_stream_outlives_the_deadline_of_requests(self) -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            peer.send(STREAM)
            await asyncio.sleep(0.2)
            peer.send(chunk(b"late\n") + LAST_CHUNK)

        async def main() -> None:
            async with self.against(script, request_seconds=0.1) as (_, transport):
                lines: list[bytes] = []
                await transport.stream("GET", "/", on_line=lines.append)
                assert lines == [b"late"]

        self.run(main())

    @pytest.mark.parametrize("error", [ValueError("mine"), StopIteration("mine"), KeyError("mine")])
    @pytest.mark.parametrize("where", ["on_line", "on_response"])
    def test_what_a_callback_raises_comes_out_and_closes_the_stream(self, error: Exception, where: str) -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            peer.send(STREAM + chunk(b"1\n") + chunk(b"2\n"))
            await peer.hung_up()

        async def main() -> None:
            lines: list[bytes] = []

            def fail(told: object) -> None:
                lines.append(b"called")
                raise error

            async with self.against(script, ok) as (server, transport):
                on_line, on_response = (fail, None) if where == "on_line" else (lines.append, fail)
                with pytest.raises((type(error), RuntimeError)) as caught:
                    await transport.stream("GET", "/", on_line=on_line, on_response=on_response)
                assert error in (caught.value, caught.value.__cause__)
                assert lines == [b"called"]
                await server.peers[0].closed.wait()
                assert (await transport.request("GET", "/")).body == b"ok"

        self.run(main())

    def test_a_cancelled_stream_closes_its_connection(self) -> None:
        async def main() -> None:
            first = asyncio.Event()

            async def script(peer: Peer) -> None:
                await peer.request()
                peer.send(STREAM + chunk(b"1\n"))
                await peer.hung_up()

            async with self.against(script) as (server, transport):
                stream = asyncio.ensure_future(
                    transport.stream("GET", "/", on_line=lambda line: first.set(), idle_seconds=60)
                )
                await first.wait()
                stream.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await stream
                await server.peers[0].closed.wait()

        self.run(main())

    @pytest.mark.parametrize(
        "data",
        cases(
            no_number=(STREAM + b"x\r\n",),
            prefix=(STREAM + b"0x5\r\nhello\r\n",),
            sign=(STREAM + b"-5\r\nhello\r\n",),
            too_much_data=(STREAM + b"5\r\nhello!\r\n",),
            no_size=(STREAM + b"\r\n",),
            endless_size=(STREAM + b"1" * 5000,),
            huge_size=(STREAM + b"1" * 20 + b"\r\n",),
            endless_trailer=(STREAM + b"0\r\nX: " + b"y" * 70_000,),
            compressed=(STREAM.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"),),
            other_protocol=(b"SSH-2.0\r\n",),
        ),
    )
    def test_broken_framing_is_one_clear_error(self, data: bytes) -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            peer.send(data)
            await peer.hung_up()

        async def main() -> None:
            async with self.against(script) as (_, transport):
                with pytest.raises(ProtocolError, match=r"GET /: the answer is not valid HTTP/1\.1: ") as caught:
                    await transport.stream("GET", "/", on_line=print)
                assert "\n" not in str(caught.value)

        self.run(main())

    def test_bytes_after_a_stream_end_its_connection(self) -> None:
        async def main() -> None:
            data = STREAM + chunk(b"1\n") + LAST_CHUNK + OK
            async with self.against(raw(data)) as (server, transport):
                for count in (1, 2):
                    lines: list[bytes] = []
                    await transport.stream("GET", "/", on_line=lines.append)
                    assert (lines, len(server.peers)) == ([b"1"], count)

        self.run(main())

    def test_head_cannot_be_streamed(self) -> None:
        async def main() -> None:
            async with self.against(ok) as (_, transport):
                with pytest.raises(ValueError, match="method 'HEAD'"):
                    await transport.stream("HEAD", "/", on_line=print)

        self.run(main())
