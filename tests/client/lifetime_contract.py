"""What every transport must do with many requests at a time, with cancelled ones, and at its end."""

from __future__ import annotations

import asyncio

import pytest
from contract_base import Contract, ok
from scripted_server import LAST_CHUNK, OK, STREAM, Peer, ScriptedServer, answer

from kubewright.client.transport import RequestTimeout, Transport, TransportClosed


async def silent(peer: Peer) -> None:
    """The script of a server that takes requests and says nothing."""
    await peer.request()
    await peer.hung_up()


async def once(peer: Peer) -> None:
    """The script of a server that answers the first request on each connection only."""
    await peer.request()
    peer.send(OK)
    await peer.hung_up()


class LifetimeContract(Contract):
    def test_requests_at_a_time_have_a_connection_each_up_to_the_cap(self) -> None:
        gate = asyncio.Event()

        async def script(peer: Peer) -> None:
            while True:
                await peer.request()
                await gate.wait()
                peer.send(OK)

        async def main() -> None:
            async with self.against(script, max_connections=3) as (server, transport):
                calls = [asyncio.ensure_future(transport.request("GET", "/")) for _ in range(20)]
                await server.until_requests(3)
                assert len(server.peers) == 3
                gate.set()
                assert {(await call).status for call in calls} == {200}
                assert len(server.peers) == 3
                assert len(server.requests) == 20

        self.run(main())

    def test_requests_are_sent_in_the_order_of_their_calls(self) -> None:
        async def main() -> None:
            async with self.against(ok, max_connections=1) as (server, transport):
                await asyncio.gather(*(transport.request("GET", f"/{at}") for at in range(50)))
                assert [request.target for request in server.requests] == [f"/{at}" for at in range(50)]

        self.run(main())

    def test_each_call_gets_its_own_answer(self) -> None:
        async def echo(peer: Peer) -> None:
            while True:
                request = await peer.request()
                await peer.send_slowly(answer(request.target.encode()))

        async def main() -> None:
            async with self.against(echo, max_connections=4) as (_, transport):
                answers = await asyncio.gather(*(transport.request("GET", f"/{at}") for at in range(200)))
                assert [each.body for each in answers] == [b"/%d" % at for at in range(200)]

        self.run(main())

    def test_who_finds_no_connection_in_time_was_never_sent(self) -> None:
        async def main() -> None:
            async with self.against(silent, max_connections=1) as (server, transport):
                first = asyncio.ensure_future(transport.request("GET", "/first"))
                await server.until_requests(1)
                with pytest.raises(RequestTimeout, match=r"GET /second: no free connection within 0\.05 s") as caught:
                    await transport.request("GET", "/second", timeout_seconds=0.05)
                assert caught.value.phase == "wait"
                first.cancel()
                assert [request.target for request in server.requests] == ["/first"]

        self.run(main())

    def test_a_stream_takes_no_place_from_a_request(self) -> None:
        async def script(peer: Peer) -> None:
            request = await peer.request()
            peer.send(STREAM if request.target == "/watch" else OK)
            await peer.hung_up()

        async def main() -> None:
            async with self.against(script, max_connections=1) as (server, transport):
                streams = [asyncio.ensure_future(transport.stream("GET", "/watch", on_line=print)) for _ in range(5)]
                await server.until_requests(5)
                assert (await transport.request("GET", "/")).body == b"ok"
                for stream in streams:
                    stream.cancel()

        self.run(main())

    def test_streams_have_a_cap_of_their_own(self) -> None:
        gate = asyncio.Event()

        async def script(peer: Peer) -> None:
            while True:
                await peer.request()
                peer.send(STREAM)
                await gate.wait()
                peer.send(LAST_CHUNK)

        async def main() -> None:
            async with self.against(script, max_streams=2) as (server, transport):
                streams = [asyncio.ensure_future(transport.stream("GET", "/watch", on_line=print)) for _ in range(5)]
                await server.until_requests(2)
                assert len(server.peers) == 2
                gate.set()
                await asyncio.gather(*streams)
                assert len(server.peers) == 2

        self.run(main())

    def test_a_cancelled_request_closes_its_connection_and_frees_its_place(self) -> None:
        async def main() -> None:
            async with self.against(silent, ok, max_connections=1) as (server, transport):
                call = asyncio.ensure_future(transport.request("POST", "/"))
                await server.until_requests(1)
                waiting = asyncio.ensure_future(transport.request("GET", "/next"))
                await asyncio.sleep(0)
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call
                await server.peers[0].closed.wait()
                assert (await waiting).status == 200

        self.run(main())

    def test_a_request_cancelled_while_it_waits_is_not_sent(self) -> None:
        async def main() -> None:
            async with self.against(ok, max_connections=1) as (server, transport):
                calls = [asyncio.ensure_future(transport.request("GET", f"/{at}")) for at in range(6)]
                await asyncio.sleep(0)
                for call in calls[1::2]:
                    call.cancel()
                await asyncio.gather(*calls, return_exceptions=True)
                assert [request.target for request in server.requests] == ["/0", "/2", "/4"]
                assert len(server.peers) == 1

        self.run(main())

    def test_a_call_cancelled_when_its_answer_is_in_spoils_nothing(self) -> None:
        async def main() -> None:
            async with self.against(ok, max_connections=1) as (_, transport):
                for turns in range(12):
                    call = asyncio.ensure_future(transport.request("GET", "/"))
                    for _ in range(turns):
                        await asyncio.sleep(0)
                    call.cancel()
                    assert (await transport.request("GET", "/")).body == b"ok"

        self.run(main())

    def test_calls_cancelled_at_random_leave_the_others_alone(self) -> None:
        async def echo(peer: Peer) -> None:
            while True:
                request = await peer.request()
                await peer.send_slowly(answer(request.target.encode()))

        async def main() -> None:
            async with self.against(echo, max_connections=3) as (_, transport):
                calls = [asyncio.ensure_future(transport.request("GET", f"/{at}")) for at in range(300)]
                for at in range(0, 300, 7):
                    await asyncio.sleep(0)
                    calls[(at * 31) % 300].cancel()
                for at, result in enumerate(await asyncio.gather(*calls, return_exceptions=True)):
                    if not isinstance(result, asyncio.CancelledError):
                        assert not isinstance(result, BaseException)
                        assert result.body == b"/%d" % at

        self.run(main())

    def test_after_close_there_is_neither_task_nor_socket(self) -> None:
        async def main() -> None:
            async with self.against(once, silent, max_connections=2) as (server, transport):
                await transport.request("GET", "/")
                calls = [asyncio.ensure_future(transport.request("GET", f"/{at}")) for at in range(5)]
                calls.append(asyncio.ensure_future(transport.stream("GET", "/watch", on_line=print)))
                await server.until_requests(3)
                mine = asyncio.all_tasks()
                await asyncio.gather(transport.close(), transport.close())
                await transport.close()
                assert not asyncio.all_tasks() - mine
                for call in calls:
                    with pytest.raises(TransportClosed, match="closed by this program"):
                        await call
                for peer in server.peers:
                    await peer.closed.wait()
                with pytest.raises(TransportClosed):
                    await transport.request("GET", "/")
                with pytest.raises(TransportClosed):
                    await transport.stream("GET", "/", on_line=print)

        self.run(main())

    def test_close_ends_a_connection_that_is_being_made(self) -> None:
        async def main() -> None:
            async with ScriptedServer(silent) as server:
                # The server does not speak TLS, so the handshake goes on until somebody ends it.
                transport = self.make(server.url.replace("http:", "https:"))
                call = asyncio.ensure_future(transport.request("GET", "/"))
                await server.connected.wait()
                await transport.close()
                with pytest.raises(TransportClosed):
                    await call
                await server.peers[0].closed.wait()

        self.run(main())

    def test_a_transport_that_was_never_used_can_be_closed(self) -> None:
        async def main() -> None:
            transport = self.make("http://127.0.0.1:1")
            await transport.close()
            with pytest.raises(TransportClosed):
                await transport.request("GET", "/")

        self.run(main())

    def test_a_transport_belongs_to_the_loop_of_its_first_call(self) -> None:
        async def first() -> None:
            async with self.against(ok) as (_, transport):
                await transport.request("GET", "/")
                kept.append(transport)

        async def second() -> None:
            with pytest.raises(RuntimeError, match="belongs to the event loop of its first call"):
                await kept[0].request("GET", "/")
            await kept[0].close()

        kept: list[Transport] = []
        self.run(first())
        self.run(second())
