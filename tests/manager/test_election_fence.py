"""What is sent, and when: nothing by who does not lead, however long it has waited."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kubewright.client import Client, ClientConfig, Limits, MergePatch, TransportError
from kubewright.client.transport import TransportClosed
from kubewright.manager.election.fence import Fence, FencedTransport, fenced, fenced_http1
from kubewright.manager.election.leadership import Leadership, LeadershipLost
from kubewright.models.core.v1 import ConfigMap


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Server:
    """Counts the requests that arrive, and answers when it is told to."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.answering = asyncio.Event()
        self.connections = 0
        self.open_connections = 0
        self._arrived = asyncio.Condition()

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_connections += 1
        try:
            while line := await reader.readline():
                length = 0
                while (header := await reader.readline()).strip():
                    if header.lower().startswith(b"content-length:"):
                        length = int(header.partition(b":")[2])
                await reader.readexactly(length)
                async with self._arrived:
                    self.requests.append(line.decode().rpartition(" ")[0])
                    self._arrived.notify_all()
                if not self.answering.is_set():
                    # Until it may answer, or there is nobody to answer.
                    waits = [asyncio.ensure_future(self.answering.wait()), asyncio.ensure_future(reader.read(1))]
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                    for each in waits:
                        each.cancel()
                    await asyncio.gather(*waits, return_exceptions=True)
                    if not self.answering.is_set():
                        return
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}")
        except OSError:
            pass
        finally:
            self.open_connections -= 1
            writer.close()

    async def arrived(self, count: int) -> None:
        async with asyncio.timeout(10):
            async with self._arrived:
                await self._arrived.wait_for(lambda: len(self.requests) >= count)


Case = Callable[[Server, Clock, Leadership, FencedTransport], Awaitable[None]]


def on_a_server(case: Case) -> None:
    """Run a test of a leader with 10 s left, and 2.5 s to end after that."""

    async def main() -> None:
        clock = Clock()
        leadership = Leadership("ns/lease", "me", clock=clock)
        leadership.extend(110.0, 112.5, 3)
        async with Server() as server:
            fence = Fence(leadership, "api.example:443", kernel_seconds=2.5)
            transport = FencedTransport(fence, fenced_http1(ClientConfig(server=server.url)))
            try:
                await case(server, clock, leadership, transport)
            finally:
                await transport.close()

    asyncio.run(main())


def test_a_write_of_who_leads_is_sent_with_the_time_that_is_left_for_it() -> None:
    async def case(server: Server, clock: Clock, leadership: Leadership, transport: FencedTransport) -> None:
        server.answering.set()
        await transport.request("PATCH", "/a?fieldManager=me", body=b"{}")
        clock.now = 109.9
        await transport.request("DELETE", "/a")
        await transport.request("GET", "/a")
        assert server.requests == ["PATCH /a?fieldManager=me&timeout=12500ms", "DELETE /a?timeout=2599ms", "GET /a"]

    on_a_server(case)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_write_of_who_does_not_lead_any_more_makes_no_connection(method: str) -> None:
    async def case(server: Server, clock: Clock, leadership: Leadership, transport: FencedTransport) -> None:
        clock.now = 110.0
        with pytest.raises(LeadershipLost) as lost:
            await transport.request(method, "/a")
        assert str(lost.value) == "api.example:443: not sent: this process no longer holds the Lease ns/lease"
        assert isinstance(lost.value, TransportError)
        assert lost.value.phase == "wait"
        assert server.connections == 0

    on_a_server(case)


def test_reads_go_on_without_a_leadership() -> None:
    async def case(server: Server, clock: Clock, leadership: Leadership, transport: FencedTransport) -> None:
        leadership.revoke()
        server.answering.set()
        assert (await transport.request("GET", "/a")).status == 200
        lines: list[bytes] = []
        assert (await transport.stream("GET", "/a?watch=1", on_line=lines.append)).status == 200
        assert lines == [b"{}"]

    on_a_server(case)


def test_writes_that_waited_for_a_connection_while_the_time_ran_out_are_not_sent() -> None:
    async def case(server: Server, clock: Clock, leadership: Leadership, transport: FencedTransport) -> None:
        count = Limits().max_connections
        sent = [asyncio.create_task(transport.request("PATCH", f"/{number}")) for number in range(count)]
        await server.arrived(count)
        waiting = [asyncio.create_task(transport.request("PATCH", "/late")) for _ in range(50)]
        await asyncio.sleep(0)
        clock.now = 200.0  # the process was stopped, and goes on
        server.answering.set()
        results = await asyncio.gather(*sent, *waiting, return_exceptions=True)
        assert [getattr(each, "status", None) for each in results[:count]] == [200] * count
        assert {type(each) for each in results[count:]} == {LeadershipLost}
        assert len(server.requests) == count

    on_a_server(case)


def test_a_dropped_transport_ends_what_is_under_way_and_connects_anew() -> None:
    async def case(server: Server, clock: Clock, leadership: Leadership, transport: FencedTransport) -> None:
        under_way = asyncio.create_task(transport.request("PATCH", "/a"))
        await server.arrived(1)
        await transport.drop()
        with pytest.raises(TransportClosed):
            await under_way
        server.answering.set()
        assert (await transport.request("PATCH", "/b")).status == 200
        assert server.connections == 2

    on_a_server(case)


def test_what_is_under_way_when_the_leadership_is_lost_says_so() -> None:
    async def case(server: Server, clock: Clock, leadership: Leadership, transport: FencedTransport) -> None:
        under_way = asyncio.create_task(transport.request("PATCH", "/a"))
        await server.arrived(1)
        leadership.revoke()
        await transport.drop()
        with pytest.raises(LeadershipLost, match="given up, and perhaps carried out: this process no longer") as lost:
            await under_way
        assert lost.value.was_sent

    on_a_server(case)


def test_the_kernel_keeps_nothing_back_for_a_connection_that_is_dropped_or_does_not_get_through() -> None:
    async def case(server: Server, clock: Clock, leadership: Leadership, transport: FencedTransport) -> None:
        server.answering.set()
        await transport.request("PATCH", "/a")
        inner: Any = transport._inner
        (connection,) = inner._parts.requests._idle
        sock = connection._transport.get_extra_info("socket")
        assert struct.unpack("ii", sock.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)) == (1, 0)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 2500

    on_a_server(case)


def test_a_fenced_client_is_the_same_client_but_for_its_writes() -> None:
    async def case(server: Server, clock: Clock, leadership: Leadership, transport: FencedTransport) -> None:
        server.answering.set()
        config = ClientConfig(server=server.url)
        async with Client.connect(config, namespace="prod", field_manager="me", dry_run=True) as client:
            writer = fenced(client, transport)
            assert (writer.namespace, writer.field_manager) == ("prod", "me")
            leadership.revoke()
            with pytest.raises(LeadershipLost):
                await writer.patch(ConfigMap, MergePatch({}), name="a")
            await client.raw("PATCH", "/still-open")
            leadership.extend(110.0, 112.5, 4)
            await writer.raw("PATCH", "/again", body=b"{}")
        assert server.requests == ["PATCH /still-open", "PATCH /again?timeout=12500ms"]

    on_a_server(case)


def test_leadership_is_a_matter_of_the_clock_and_of_nobody_who_has_to_run() -> None:
    clock = Clock()
    leadership = Leadership("ns/lease", "me", clock=clock)
    assert not leadership.is_valid()
    leadership.extend(110.0, 112.5, 1)
    assert leadership.is_valid()
    assert leadership.is_valid(109.999)
    assert not leadership.is_valid(110.0)
    leadership.revoke()
    assert not leadership.is_valid(100.0)
    assert leadership.dead_at == 112.5, "what is guarded has its time as before"


@pytest.mark.skipif(sys.platform != "linux", reason="counts the open files of /proc")
def test_a_hundred_terms_leave_no_socket_open() -> None:
    async def case(server: Server, clock: Clock, leadership: Leadership, transport: FencedTransport) -> None:
        counts = []
        for number in range(100):
            leadership.extend(110.0, 112.5, number)
            calls = [asyncio.create_task(transport.request("PATCH", f"/{each}")) for each in range(3)]
            await server.arrived(3 * number + 3)
            leadership.revoke()
            await transport.drop()
            await asyncio.gather(*calls, return_exceptions=True)
            async with asyncio.timeout(10):
                while server.open_connections:  # noqa: ASYNC110 - the far ends see it a little later
                    await asyncio.sleep(0.001)
            counts.append(len(os.listdir("/proc/self/fd")))
        assert max(counts[10:]) <= max(counts[:10])

    on_a_server(case)
