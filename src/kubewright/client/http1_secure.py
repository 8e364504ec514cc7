"""TLS between a TCP transport and the protocol of a connection.

Owns the TLS session of one connection: its handshake, the records of both directions, and what its end means. It knows
no HTTP, and makes no connection. It takes the place of asyncio's own layer (`ssl=` of `create_connection`) for the
sake of the hot path: that one asks for more after each record until it is refused, and a refusal is an exception; goes
through nine functions for a read and five for a write; and keeps 256 KiB per connection.

Expected flow: hand it to `create_connection` as the protocol, await `handshake()`. The protocol above is told
`connection_made` with this object as its transport once the handshake is done, then `data_received`, `eof_received` and
`connection_lost`, as by asyncio.

Guarantees: G1 what was written goes out in order, each write at once, unless the peer asks for a new handshake (TLS
1.2) in between. G2 `connection_lost` comes exactly once after `connection_made`, with the `ssl.SSLError` if that was
the reason, else with what the transport says; never after a handshake that failed. G3 nothing is handed up after
`abort`.

Assumptions: one event loop. `buffer` may be shared by all connections of that loop: it is read before anything else
runs. The protocol above bounds what it writes; there is no flow control.

Caveats: the end of the TCP stream is an end like the farewell of TLS (`close_notify`): what an answer's end is, HTTP
says.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, Final

__all__ = ["READ_BYTES", "SecureTransport"]

READ_BYTES: Final = 64 * 1024
"""How much is read from the socket at once: some twenty events."""

_RECORD_BYTES: Final = 16 * 1024
"""The most that a record holds (RFC 8446, 5.1): a read of so many leaves nothing of it."""


class SecureTransport(asyncio.BufferedProtocol, asyncio.Transport):
    """The TLS session of a connection: to TCP's transport a protocol, to the protocol above a transport.

    Args:
        name: what the server's certificate must hold, and is asked for (SNI).
        resumed: the session of an earlier connection (`session`) to go on with, to the same server with the same
            context. Neither side shows or checks certificates again, which halves the CPU of the handshake; where the
            server does not agree, the handshake is a whole one.
        above: the protocol above.
        buffer: what is read into, of READ_BYTES.
    """

    def __init__(
        self,
        context: ssl.SSLContext,
        name: str | None,
        above: asyncio.Protocol,
        buffer: bytearray,
        resumed: ssl.SSLSession | None = None,
    ) -> None:
        super().__init__()
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        # As bytes, unless it is international: a text would load the codec for those, with all of Unicode's tables.
        asked = name.encode() if name is not None and name.isascii() else name
        self._session = context.wrap_bio(self._incoming, self._outgoing, server_hostname=asked, session=resumed)
        self._above = above
        self._buffer = buffer
        self._view = memoryview(buffer)
        self._below: asyncio.Transport | None = None
        self._shaken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._shaken.add_done_callback(_seen)  # the dial may have been cancelled before it came to wait
        self._is_made = False  # the protocol above has been told of the connection, and not of its end
        self._is_over = False  # nothing is handed up any more
        self._unsent: list[bytes] = []
        self._lost_by: ssl.SSLError | None = None

    async def handshake(self) -> None:
        """Return when the handshake is done.

        Raises:
            ssl.SSLError: it failed. OSError: the connection broke, or the server hung up.

        Cancellation: the connection is closed.
        """
        try:
            await self._shaken
        except BaseException:
            self.abort()
            raise

    @property
    def session(self) -> ssl.SSLSession | None:
        """What a later connection may go on with; None before the server has given a ticket for it (TLS 1.3 sends it
        with the first data)."""
        session = self._session.session
        return session if session is not None and session.has_ticket else None

    # -- the protocol of the transport below -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._below = transport  # type: ignore[assignment]  # uvloop's has the methods but not the class
        self._shake()

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._incoming.write(self._view[:nbytes])
        if not self._is_made and not self._shake():
            return
        try:
            records, is_end = self._read()
        except ssl.SSLError as error:
            self._fail(error)
            return
        if self._outgoing.pending:
            self._flush()
        if self._unsent:
            self._send_unsent()
        if records and not self._is_over:
            self._above.data_received(records[0] if len(records) == 1 else b"".join(records))
        if is_end:
            self._end()

    def eof_received(self) -> None:
        if not self._is_made:
            self._refuse(ConnectionResetError("the connection was closed"))
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_over = True
        self._refuse(exc or ConnectionResetError("the connection was closed"))
        if self._is_made:
            self._is_made = False
            self._above.connection_lost(self._lost_by or exc)
        self._below = None

    # -- the transport of the protocol above -------------------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send `data`; nothing once the connection is closed."""
        if self._below is None or self._is_over:
            return
        if self._unsent or len(data) > _RECORD_BYTES:
            self._unsent.append(bytes(data))
            self._send_unsent()
            return
        try:
            self._session.write(data)
        except ssl.SSLWantReadError:
            self._unsent.append(bytes(data))
        except ssl.SSLError as error:
            self._fail(error)
            return
        self._below.write(self._outgoing.read())

    def abort(self) -> None:
        """Close the connection at once, without a farewell. `connection_lost` follows."""
        self._is_over = True
        if self._below is not None:
            self._below.abort()

    def close(self) -> None:
        """Close the connection when what was written has been sent, with a farewell that is not waited for."""
        if self._below is None or self._is_over:
            return
        self._is_over = True
        try:
            self._session.unwrap()
        except ssl.SSLError:
            pass  # always: the peer's own has not come yet
        self._flush()
        self._below.close()

    def is_closing(self) -> bool:
        """Whether it is closed, or will be."""
        return self._is_over or self._below is None or self._below.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """As asyncio's TLS transport: `ssl_object`, `sslcontext`, `peercert`, `cipher`, and what TCP's has."""
        match name:
            case "ssl_object":
                return self._session
            case "sslcontext":
                return self._session.context
            case "peercert":
                return self._session.getpeercert()
            case "cipher":
                return self._session.cipher()
        return default if self._below is None else self._below.get_extra_info(name, default)

    # -- between them -----------------------------------------------------------------------------------------------

    def _shake(self) -> bool:
        """Go on with the handshake. Whether it is done."""
        try:
            self._session.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
            return False
        except (ssl.SSLError, ssl.CertificateError) as error:
            self._flush()  # the alert that tells the server why
            self._refuse(error)
            self.abort()
            return False
        self._flush()
        if self._shaken.done():  # cancelled
            return False
        self._is_made = True
        self._shaken.set_result(None)
        self._above.connection_made(self)
        return True

    def _refuse(self, error: Exception) -> None:
        """End the handshake, if it is under way."""
        if not self._shaken.done():
            self._shaken.set_exception(error)

    def _read(self) -> tuple[list[bytes], bool]:
        """The records that have come; whether the server has said farewell. It stops where nothing is left, as to ask
        for more would be an exception."""
        records: list[bytes] = []
        read, incoming = self._session.read, self._incoming
        try:
            while incoming.pending:
                record = read(_RECORD_BYTES)
                if not record:
                    return records, True
                records.append(record)
        except ssl.SSLWantReadError:
            pass
        return records, False

    def _send_unsent(self) -> None:
        unsent = self._unsent
        try:
            while unsent:
                count = self._session.write(unsent[0])  # of one record at most
                unsent[0] = unsent[0][count:]
                if not unsent[0]:
                    del unsent[0]
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            self._fail(error)
            return
        self._flush()

    def _flush(self) -> None:
        if self._below is not None and self._outgoing.pending:
            self._below.write(self._outgoing.read())

    def _fail(self, error: ssl.SSLError) -> None:
        self._flush()
        self._lost_by = error
        self.abort()

    def _end(self) -> None:
        """The server sends no more."""
        if self._is_made and not self._is_over:
            self._above.eof_received()
            self.close()


def _seen(shaken: asyncio.Future[None]) -> None:
    if not shaken.cancelled():
        shaken.exception()
