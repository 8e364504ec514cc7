"""The TLS of a connection, between two fakes: what comes up, what goes down, and what an end means."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import client_certificates as certificates
import pytest
from hypothesis import given
from hypothesis import strategies as st

import virtual
from kubewright.client.http1_secure import READ_BYTES, SecureTransport


class Below(asyncio.Transport):
    """TCP's transport: what was written to it, and whether it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = bytearray()
        self.end = ""

    def write(self, data: Any) -> None:
        assert not self.end
        self.sent += data

    def abort(self) -> None:
        self.end = "aborted"

    def close(self) -> None:
        self.end = self.end or "closed"

    def is_closing(self) -> bool:
        return bool(self.end)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("10.0.0.1", 6443) if name == "peername" else default


class Above(asyncio.Protocol):
    """The protocol of a connection: what it was told."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.data = b""
        self.on_data = lambda: None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.told.append("made")

    def data_received(self, data: bytes) -> None:
        self.data += data
        self.on_data()

    def eof_received(self) -> None:
        self.told.append("eof")

    def connection_lost(self, exc: Exception | None) -> None:
        self.told.append(exc)


class Line:
    """A connection to a server of TLS, which is here as well."""

    def __init__(self, *, pair: certificates.Pair | None = None, version: ssl.TLSVersion | None = None) -> None:
        context = certificates.server_context(pair or certificates.good())
        if version is not None:
            context.maximum_version = version
        self._to, self._from = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.server = context.wrap_bio(self._to, self._from, server_side=True)
        self.above, self.below = Above(), Below()
        self.ours = SecureTransport(certificates.client_context(), "127.0.0.1", self.above, bytearray(READ_BYTES))
        self.ours.connection_made(self.below)

    def up(self, data: bytes, step: int = READ_BYTES) -> None:
        """Bytes from the network, so many at once."""
        for start in range(0, len(data), step):
            piece = data[start : start + step]
            self.ours.get_buffer(-1)[: len(piece)] = piece
            self.ours.buffer_updated(len(piece))

    def down(self) -> bytes:
        """What the server reads of what was sent by now."""
        self._to.write(bytes(self.below.sent))
        self.below.sent.clear()
        found = b""
        try:
            while piece := self.server.read(1 << 20):
                found += piece
        except ssl.SSLWantReadError:
            pass
        return found

    def wire(self) -> bytes:
        """What the server has sent, and was not taken yet."""
        return self._from.read()

    def said(self, data: bytes) -> bytes:
        """The same of a server that writes `data`."""
        view = memoryview(data)
        while view:
            view = view[self.server.write(view) :]
        return self.wire()

    async def shake(self, step: int = READ_BYTES) -> None:
        is_done = False
        while not is_done or self.below.sent:
            self._to.write(bytes(self.below.sent))
            self.below.sent.clear()
            if not is_done:
                try:
                    self.server.do_handshake()
                    is_done = True
                except ssl.SSLWantReadError:
                    pass
            self.up(self.wire(), step)
        await self.ours.handshake()

    async def refused(self) -> None:
        """As `shake`, and what the server hears afterwards."""
        await self.shake()
        self.down()


VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.mark.parametrize("version", VERSIONS)
def test_after_the_handshake_both_directions_carry_data(version: ssl.TLSVersion) -> None:
    async def main() -> None:
        line = Line(version=version)
        await line.shake()
        assert line.above.told == ["made"]
        line.ours.write(b"GET /")
        assert line.down() == b"GET /"
        line.up(line.said(b"200 OK"))
        assert line.above.data == b"200 OK"
        assert line.ours.get_extra_info("cipher")[1].startswith("TLSv1")
        assert line.ours.get_extra_info("peername") == ("10.0.0.1", 6443)
        assert line.ours.get_extra_info("ssl_object").getpeercert() == line.ours.get_extra_info("peercert")
        assert line.ours.get_extra_info("nothing", 7) == 7

    virtual.run(main())


def test_a_handshake_that_comes_byte_by_byte_is_one_too() -> None:
    async def main() -> None:
        line = Line()
        await line.shake(step=1)
        line.up(line.said(b"hello"), step=1)
        assert line.above.data == b"hello"

    virtual.run(main())


@given(
    messages=st.lists(st.tuples(st.integers(1, 40_000), st.booleans()), min_size=1, max_size=6),
    cuts=st.lists(st.integers(1, READ_BYTES), min_size=1, max_size=5),
)
def test_whatever_way_the_records_are_cut_the_data_is_the_same(
    messages: list[tuple[int, bool]], cuts: list[int]
) -> None:
    async def main() -> None:
        line = Line()
        await line.shake()
        sent, wire = b"", b""
        for number, (size, is_ours) in enumerate(messages):
            data = bytes([number]) * size
            if is_ours:
                line.ours.write(data)
                assert line.down() == data
            else:
                sent += data
                wire += line.said(data)
        at = 0
        while wire:
            step, at = cuts[at % len(cuts)], at + 1
            line.up(wire[:step])
            wire = wire[step:]
        assert line.above.data == sent
        assert line.above.told == ["made"]

    virtual.run(main())


def test_records_that_come_together_are_handed_up_together() -> None:
    async def main() -> None:
        line = Line()
        await line.shake()
        counted: list[int] = []
        line.above.on_data = lambda: counted.append(len(line.above.data))
        line.up(line.said(b"a" * 10) + line.said(b"b" * 10) + line.said(b"c" * 10))
        assert counted == [30]

    virtual.run(main())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_certificate_that_is_not_trusted_ends_the_handshake_and_the_server_is_told(version: ssl.TLSVersion) -> None:
    async def main() -> None:
        line = Line(pair=certificates.by_unknown_authority(), version=version)
        waits = asyncio.ensure_future(line.ours.handshake())
        with pytest.raises(ssl.SSLError, match="ALERT_UNKNOWN_CA"):
            await line.refused()
        with pytest.raises(ssl.SSLCertVerificationError):
            await waits
        assert line.below.end == "aborted"
        line.ours.connection_lost(None)
        assert line.above.told == []

    virtual.run(main())


@pytest.mark.parametrize("reason", [None, OSError("reset by peer")])
def test_a_connection_that_breaks_during_the_handshake_is_an_error_of_the_handshake(reason: OSError | None) -> None:
    async def main() -> None:
        line = Line()
        waits = asyncio.ensure_future(line.ours.handshake())
        await asyncio.sleep(0)
        line.ours.connection_lost(reason)
        with pytest.raises(type(reason) if reason else ConnectionResetError):
            await waits
        assert line.above.told == []

    virtual.run(main())


def test_a_server_that_hangs_up_during_the_handshake_is_told_as_a_reset() -> None:
    async def main() -> None:
        line = Line()
        waits = asyncio.ensure_future(line.ours.handshake())
        await asyncio.sleep(0)
        assert not line.ours.eof_received()
        with pytest.raises(ConnectionResetError):
            await waits

    virtual.run(main())


def test_a_cancelled_handshake_closes_the_connection_and_tells_nobody() -> None:
    async def main() -> None:
        line = Line()
        waits = asyncio.ensure_future(line.ours.handshake())
        await asyncio.sleep(0)
        waits.cancel()
        await asyncio.wait([waits])
        assert line.below.end == "aborted"
        line.ours.connection_lost(None)
        assert line.above.told == []

    virtual.run(main())


@pytest.mark.parametrize("version", VERSIONS)
def test_the_server_s_farewell_is_an_end_after_what_came_before_it(version: ssl.TLSVersion) -> None:
    async def main() -> None:
        line = Line(version=version)
        await line.shake()
        wire = line.said(b"the last")
        with pytest.raises(ssl.SSLWantReadError):
            line.server.unwrap()
        line.up(wire + line.wire())
        assert line.above.data == b"the last"
        assert line.above.told == ["made", "eof"]
        assert line.below.end == "closed"
        line.ours.connection_lost(None)
        assert line.above.told == ["made", "eof", None]

    virtual.run(main())


def test_an_end_of_the_stream_without_a_farewell_is_an_end() -> None:
    async def main() -> None:
        line = Line()
        await line.shake()
        line.up(line.said(b"cut")[:-3])
        assert not line.ours.eof_received()
        line.ours.connection_lost(None)
        assert line.above.data == b""
        assert line.above.told == ["made", "eof", None]

    virtual.run(main())


def test_a_broken_record_ends_the_connection_with_the_error_of_tls() -> None:
    async def main() -> None:
        line = Line()
        await line.shake()
        wire = bytearray(line.said(b"x" * 100))
        wire[-1] ^= 1
        line.up(bytes(wire))
        assert line.below.end == "aborted"
        line.ours.connection_lost(None)
        made, error = line.above.told
        assert made == "made"
        assert isinstance(error, ssl.SSLError)

    virtual.run(main())


def test_nothing_is_handed_up_or_sent_after_abort() -> None:
    async def main() -> None:
        line = Line()
        await line.shake()
        line.above.on_data = line.ours.abort
        line.up(line.said(b"one"))
        line.up(line.said(b"two"))
        line.ours.write(b"three")
        assert line.above.data == b"one"
        assert not line.below.sent
        assert line.ours.is_closing()
        line.ours.connection_lost(None)
        line.ours.write(b"four")
        line.ours.close()
        assert line.above.told == ["made", None]

    virtual.run(main())


def test_a_close_says_farewell_and_sends_what_was_written_first() -> None:
    async def main() -> None:
        line = Line()
        await line.shake()
        line.ours.write(b"x" * 100_000)
        line.ours.close()
        line.ours.close()
        assert line.below.end == "closed"
        assert line.down() == b"x" * 100_000
        assert line.server.read(10) == b""

    virtual.run(main())


def test_what_is_written_while_a_new_handshake_is_under_way_is_sent_after_it() -> None:
    async def main() -> None:
        line = Line(version=ssl.TLSVersion.TLSv1_2)
        await line.shake()

        class Busy:
            """A session that asks for a read before it writes, once."""

            def __init__(self, session: Any) -> None:
                self._session = session
                self._asked = False

            def write(self, data: bytes) -> int:
                if not self._asked:
                    self._asked = True
                    raise ssl.SSLWantReadError
                return int(self._session.write(data))

            def __getattr__(self, name: str) -> Any:
                return getattr(self._session, name)

        line.ours._session = Busy(line.ours._session)  # type: ignore[assignment]
        line.ours.write(b"one ")
        assert not line.below.sent
        line.up(line.said(b"go on"))
        assert line.down() == b"one "
        assert line.above.data == b"go on"
        line.ours.write(b"two")
        assert line.down() == b"two"

    virtual.run(main())
