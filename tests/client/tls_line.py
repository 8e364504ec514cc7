"""A connection without a network: a server's TLS session, ours, and fakes of what is below and above it."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import client_certificates as certificates

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

    def __init__(
        self,
        *,
        pair: certificates.Pair | None = None,
        version: ssl.TLSVersion | None = None,
        tickets: int = 2,
        like: Line | None = None,
        resumed: ssl.SSLSession | None = None,
        elsewhere: bool = False,
    ) -> None:
        """`like`: of the same client, and to the same server unless it is `elsewhere`."""
        self.trusts = certificates.client_context() if like is None else like.trusts
        self.serves = certificates.server_context(pair or certificates.good())
        if like is not None and not elsewhere:
            self.serves = like.serves
        elif version is not None:
            self.serves.maximum_version = version
        self.serves.num_tickets = tickets
        self._to, self._from = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.server = self.serves.wrap_bio(self._to, self._from, server_side=True)
        self.above, self.below = Above(), Below()
        self.ours = SecureTransport(self.trusts, "127.0.0.1", self.above, bytearray(READ_BYTES), resumed)
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
