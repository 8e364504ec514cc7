"""The TLS of a connection, between two fakes: what comes up, what goes down, and what an end means."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import client_certificates as certificates
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tls_line import Line

import virtual
from kubewright.client.http1_secure import READ_BYTES

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


@pytest.mark.parametrize("version", VERSIONS)
def test_a_later_connection_goes_on_with_the_session_of_an_earlier_one(version: ssl.TLSVersion) -> None:
    async def main() -> None:
        first = Line(version=version)
        await first.shake()
        first.up(first.said(b"with the ticket"))
        session = first.ours.session
        assert session is not None
        second = Line(like=first, resumed=session)
        await second.shake()
        assert second.server.session_reused
        second.up(second.said(b"hello"))
        assert second.above.data == b"hello"

    virtual.run(main())


def test_a_server_that_does_not_know_the_session_is_checked_as_any() -> None:
    async def main() -> None:
        first = Line()
        await first.shake()
        first.up(first.said(b"with the ticket"))
        second = Line(like=first, resumed=first.ours.session, elsewhere=True)
        await second.shake()
        assert not second.server.session_reused
        bad = Line(like=first, resumed=first.ours.session, pair=certificates.by_unknown_authority(), elsewhere=True)
        with pytest.raises(ssl.SSLError, match="ALERT_UNKNOWN_CA"):
            await bad.refused()

    virtual.run(main())


def test_without_a_ticket_there_is_no_session_to_go_on_with() -> None:
    async def main() -> None:
        line = Line(tickets=0)
        await line.shake()
        line.up(line.said(b"no ticket"))
        assert line.ours.session is None

    virtual.run(main())
