"""Deadlines in virtual time, on connections whose socket is a list."""

from __future__ import annotations

import asyncio
from math import inf

import pytest

import virtual
from kubewright.client.http1_answer import StreamReader
from kubewright.client.http1_connection import Connection, StaleConnection
from kubewright.client.http1_deadlines import Deadlines
from kubewright.client.http1_exchange import Exchange
from kubewright.client.http1_pool import Pool
from kubewright.client.transport import ConnectFailed, Limits, RequestTimeout, Response, StreamIdle, TransportClosed

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Item:
    """Something that waits, and notes when it was told."""

    def __init__(self, deadlines: Deadlines, due_at: float) -> None:
        self.due_at = due_at
        self.told: list[float] = []
        deadlines.add(self)

    def on_due(self, now: float) -> None:
        self.told.append(now)
        self.due_at = inf


class Wire(asyncio.Transport):
    """A transport that keeps what is written, and is closed when it is told so."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self.protocol = protocol
        self.written: list[bytes] = []
        self.is_closed = False

    def write(self, data: object) -> None:
        assert isinstance(data, bytes)
        self.written.append(data)

    def abort(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)


class Rig:
    """A pool over wires."""

    def __init__(self, *, cap: int = 2, idle_seconds: float = 75.0, dial_seconds: float = 0.0) -> None:
        self.loop = asyncio.get_running_loop()
        self.deadlines = Deadlines(self.loop)
        self.wires: list[Wire] = []
        self.dial_seconds = dial_seconds
        self.dial_error: Exception | None = None
        self.pool = Pool("server:1", cap, "max_connections", idle_seconds, self.deadlines, self._dial)

    async def _dial(self, pool: Pool) -> Connection:
        await asyncio.sleep(self.dial_seconds)
        if self.dial_error is not None:
            raise self.dial_error
        connection = Connection("server:1", Limits(), pool)
        wire = Wire(connection)
        connection.connection_made(wire)
        self.wires.append(wire)
        return connection

    async def close(self) -> None:
        self.pool.close()
        await self.pool.wait_closed()

    def submit(
        self, target: str = "/", seconds: float = 30.0, stream: StreamReader | None = None, idle: float | None = None
    ) -> asyncio.Future[Response]:
        exchange = Exchange(
            self.loop, target.encode(), "GET", target, self.loop.time() + seconds, seconds, stream, idle
        )
        self.pool.submit(exchange)
        return exchange.future


def test_who_is_due_is_told_then_and_once() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        deadlines = Deadlines(loop)
        start = loop.time()
        items = [Item(deadlines, start + after) for after in (30, 5, 5, 60, inf)]
        await asyncio.sleep(100)
        assert [item.told for item in items] == [[start + 30], [start + 5], [start + 5], [start + 60], []]

    virtual.run(main())


def test_a_deadline_moved_later_is_kept_without_saying_so() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        deadlines = Deadlines(loop)
        start = loop.time()
        item = Item(deadlines, start + 5)
        for _ in range(9):
            await asyncio.sleep(4)
            item.due_at = loop.time() + 5
        await asyncio.sleep(100)
        assert item.told == [start + 41]

    virtual.run(main())


def test_without_deadlines_there_is_no_timer() -> None:
    async def main() -> None:
        deadlines = Deadlines(asyncio.get_running_loop())
        item = Item(deadlines, asyncio.get_running_loop().time() + 5)
        await asyncio.sleep(10)
        deadlines.discard(item)
        with pytest.raises(virtual.Deadlock):
            await asyncio.Event().wait()

    with pytest.raises(virtual.Deadlock):
        virtual.run(main())


def test_a_thousand_requests_set_the_timer_about_once_per_deadline() -> None:
    async def main() -> None:
        rig = Rig(cap=1)
        timers = 0
        call_at = rig.loop.call_at

        def counting(*args: object, **kwargs: object) -> object:
            nonlocal timers
            timers += 1
            return call_at(*args, **kwargs)  # type: ignore[arg-type]

        rig.loop.call_at = counting  # type: ignore[method-assign, assignment]
        for _ in range(1000):
            answer = rig.submit()
            await virtual.settle()
            rig.wires[0].protocol.data_received(OK)
            await answer
        assert timers <= 3
        await rig.close()

    virtual.run(main())


def test_a_request_ends_at_its_deadline() -> None:
    async def main() -> None:
        rig = Rig()
        start = rig.loop.time()
        with pytest.raises(RequestTimeout, match="no complete answer within 30 s"):
            await rig.submit()
        assert rig.loop.time() == start + 30
        assert rig.wires[0].is_closed

    virtual.run(main())


def test_the_wait_for_a_connection_counts_for_the_deadline() -> None:
    async def main() -> None:
        rig = Rig(cap=1)
        first, second = rig.submit("/1", 20), rig.submit("/2", 30)
        start = rig.loop.time()
        with pytest.raises(RequestTimeout):
            await first
        with pytest.raises(RequestTimeout):
            await second
        assert rig.loop.time() == start + 30
        assert [wire.written for wire in rig.wires] == [[b"/1"], [b"/2"]]

    virtual.run(main())


def test_an_idle_connection_is_closed_after_its_time_and_not_before() -> None:
    async def main() -> None:
        rig = Rig(idle_seconds=75)
        for _ in range(3):
            answer = rig.submit()
            await virtual.settle()
            rig.wires[0].protocol.data_received(OK)
            await answer
            await asyncio.sleep(74)
        assert len(rig.wires) == 1
        await asyncio.sleep(2)
        assert rig.wires[0].is_closed
        rig.submit()
        await virtual.settle()
        assert len(rig.wires) == 2
        await rig.close()

    virtual.run(main())


def test_a_stream_that_speaks_in_time_is_not_idle() -> None:
    async def main() -> None:
        rig = Rig()
        lines: list[bytes] = []
        start = rig.loop.time()
        answer = rig.submit("/watch", 30, StreamReader(Limits(), lines.append, None), 10)
        await virtual.settle()
        protocol = rig.wires[0].protocol
        assert isinstance(protocol, asyncio.Protocol)
        protocol.data_received(STREAM)
        for _ in range(50):
            await asyncio.sleep(9)
            protocol.data_received(b"2\r\n{\n\r\n")
        assert not answer.done()
        with pytest.raises(StreamIdle, match="no byte came for 10 s"):
            await answer
        assert rig.loop.time() == start + 50 * 9 + 10
        assert len(lines) == 50

    virtual.run(main())


def test_a_stream_without_a_bound_waits_for_ever() -> None:
    async def main() -> None:
        rig = Rig()
        answer = rig.submit("/watch", 30, StreamReader(Limits(), print, None), None)
        await virtual.settle()
        rig.wires[0].protocol.data_received(STREAM)
        await asyncio.sleep(100_000)
        assert not answer.done()
        await rig.close()
        with pytest.raises(TransportClosed):
            await answer

    virtual.run(main())


def test_a_slow_dial_delays_nobody_who_can_have_another_connection() -> None:
    async def main() -> None:
        rig = Rig(dial_seconds=5)
        first, second = rig.submit("/1"), rig.submit("/2")
        await asyncio.sleep(6)
        rig.dial_seconds = 1000
        rig.wires[0].protocol.data_received(OK)
        rig.wires[1].protocol.connection_lost(None)
        await first
        third = rig.submit("/3")
        await virtual.settle()
        assert rig.wires[0].written == [b"/1", b"/3"]
        rig.wires[0].protocol.data_received(OK)
        assert (await third).body == b"ok"
        with pytest.raises(Exception, match="closed the connection before it answered"):
            await second
        await rig.close()

    virtual.run(main())


def test_the_error_of_a_dial_is_told_to_who_waits_longest_and_the_next_is_tried() -> None:
    async def main() -> None:
        rig = Rig(cap=1, dial_seconds=1)
        rig.dial_error = ConnectFailed("server:1", "connect", "no")
        calls = [rig.submit(f"/{at}") for at in range(3)]
        start = rig.loop.time()
        for at, call in enumerate(calls, 1):
            with pytest.raises(ConnectFailed):
                await call
            assert rig.loop.time() == start + at

    virtual.run(main())


def test_a_defect_in_a_dial_is_told_and_not_swallowed() -> None:
    async def main() -> None:
        rig = Rig()
        rig.dial_error = ZeroDivisionError("a defect")
        with pytest.raises(ZeroDivisionError):
            await rig.submit()

    virtual.run(main())


def test_close_ends_dials_and_who_waits_for_them() -> None:
    async def main() -> None:
        rig = Rig(dial_seconds=1000)
        call = rig.submit()
        await asyncio.sleep(1)
        start = rig.loop.time()
        await rig.close()
        assert rig.loop.time() == start
        with pytest.raises(TransportClosed):
            await call
        assert len(asyncio.all_tasks()) == 1

    virtual.run(main())


def test_only_a_connection_that_was_used_before_and_not_heard_is_stale() -> None:
    async def main() -> None:
        rig = Rig(cap=1)
        for data, kind in ((b"", False), (OK, True), (OK + b"HTTP", False)):
            answer = rig.submit()
            await virtual.settle()
            protocol = rig.wires[-1].protocol
            assert isinstance(protocol, asyncio.Protocol)
            if data:
                protocol.data_received(OK)
                await answer
                answer = rig.submit()
                if data != OK:
                    protocol.data_received(b"HTTP")
            protocol.connection_lost(ConnectionResetError(104, "reset"))
            error = answer.exception()
            assert isinstance(error, StaleConnection) == kind, (data, error)
        await rig.close()

    virtual.run(main())


def test_an_interrupt_in_a_callback_reaches_the_loop_and_ends_the_stream() -> None:
    async def main() -> None:
        rig = Rig()

        def interrupt(line: bytes) -> None:
            raise KeyboardInterrupt

        answer = rig.submit("/", 30, StreamReader(Limits(), interrupt, None))
        await virtual.settle()
        with pytest.raises(KeyboardInterrupt):
            rig.wires[0].protocol.data_received(STREAM + b"2\r\n1\n\r\n")
        assert rig.wires[0].is_closed
        assert isinstance(answer.exception(), KeyboardInterrupt)

    virtual.run(main())


def test_a_callback_that_fails_on_the_last_line_at_the_end_of_the_connection_comes_out() -> None:
    async def main() -> None:
        rig = Rig()

        def fail(line: bytes) -> None:
            raise LookupError(line)

        answer = rig.submit("/", 30, StreamReader(Limits(), fail, None))
        await virtual.settle()
        protocol = rig.wires[0].protocol
        protocol.data_received(b"HTTP/1.1 200 OK\r\n\r\nunfinished")
        protocol.connection_lost(None)
        assert isinstance(answer.exception(), LookupError)

    virtual.run(main())
