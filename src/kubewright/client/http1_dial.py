"""From a server's address to an open connection.

Owns name look-up, TCP and the TLS handshake, under one deadline, and the words for what fails in each. It knows no
pool and no HTTP; the protocol object comes from its caller.

The three steps are taken one by one (asyncio would do all in one call) so that an error can say which of them failed:
a wrong name, a firewall and a proxy that does not speak TLS need different cures. Addresses are tried in the resolver's
order, each with its share of the time that is left.

Where the server's certificate is refused, the reason is worth one more connection: it verifies nothing, sends nothing
but the hello, reads the certificate, and is closed. Its result is kept for a minute, so that a client that retries
does not double its dials.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Callable
from typing import TypeVar

from .http1_secure import READ_BYTES, SecureTransport
from .http1_tls import CertificateFacts, handshake_failed, read_certificate, verification_failed
from .transport import ConnectFailed, ConnectRefused, ConnectTimeout, Phase, TLSError

P = TypeVar("P", bound=asyncio.Protocol)

# As Go's dialer: a peer that is gone is found out though nothing is sent, in some two minutes. Watches live on it.
_KEEP_ALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 6))
_FACTS_SECONDS = 60.0
_FACTS_TIMEOUT_SECONDS = 3.0

_Address = tuple[socket.AddressFamily, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]]


class Dialer:
    """Connects to one server. `tls_name` is the name that its certificate must hold, and is asked for (SNI).

    `on_lookup` is told each name that was resolved, and how many seconds that took.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        tls: ssl.SSLContext | None,
        tls_name: str | None,
        connect_seconds: float,
        on_lookup: Callable[[str, float], None] | None = None,
    ) -> None:
        self.server = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._host = host
        self._port = port
        self._tls = tls
        self._tls_name = (tls_name or host) if tls is not None else None
        self._connect_seconds = connect_seconds
        self._on_lookup = on_lookup
        self._buffer = bytearray(READ_BYTES if tls is not None else 0)
        self._last: SecureTransport | None = None
        self._facts: CertificateFacts | None = None
        self._facts_until = 0.0

    async def dial(self, protocol: Callable[[], P]) -> P:
        """Return a connected protocol. Raises ConnectFailed (with its subclasses) and TLSError.

        Cancellation: the socket is closed.
        """
        phase: Phase = "resolve"
        try:
            async with asyncio.timeout(self._connect_seconds) as limit:
                try:
                    addresses = await self._resolve()
                    phase = "connect"
                    sock = await self._connect(addresses, limit.when() or 0.0)
                    phase = "tls"
                    return await self._handshake(sock, protocol)
                except ssl.SSLCertVerificationError as error:
                    limit.reschedule(None)
                    facts = await self._certificate_facts(addresses)
                    raise verification_failed(self.server, self._tls_name or self._host, error, facts) from error
        except TimeoutError as error:
            raise self._timed_out(phase) from error
        except ssl.SSLError as error:
            raise handshake_failed(self.server, phase, error) from error
        except OSError as error:
            raise self._failed(phase, error) from error

    async def _resolve(self) -> list[_Address]:
        try:
            address = ipaddress.ip_address(self._host)
        except ValueError:
            loop = asyncio.get_running_loop()
            started_at = loop.time()
            found = await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
            if self._on_lookup is not None:
                self._on_lookup(self._host, loop.time() - started_at)
            return [(family, sockaddr) for family, _, _, _, sockaddr in found]
        # Without a thread: the resolver's would stay for as long as the loop.
        if address.version == 4:
            return [(socket.AF_INET, (self._host, self._port))]
        return [(socket.AF_INET6, (self._host, self._port, 0, 0))]

    async def _connect(self, addresses: list[_Address], until: float) -> socket.socket:
        loop = asyncio.get_running_loop()
        failure: OSError = OSError("the name has no addresses")
        for left, (family, sockaddr) in zip(range(len(addresses), 0, -1), addresses, strict=True):
            sock = socket.socket(family, socket.SOCK_STREAM)
            try:
                sock.setblocking(False)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                for name, value in _KEEP_ALIVE:
                    if hasattr(socket, name):
                        sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
                share = (until - loop.time()) / left
                async with asyncio.timeout(share if left > 1 else None):
                    await loop.sock_connect(sock, sockaddr)
            except OSError as error:  # TimeoutError is one
                sock.close()
                failure = error
            except BaseException:
                sock.close()
                raise
            else:
                return sock
        raise failure

    async def _handshake(self, sock: socket.socket, protocol: Callable[[], P]) -> P:
        loop = asyncio.get_running_loop()
        if self._tls is None:
            _, made = await loop.create_connection(protocol, sock=sock)
            return made
        made = protocol()
        resumed = None if self._last is None else self._last.session
        secure = SecureTransport(self._tls, self._tls_name, made, self._buffer, resumed)
        await loop.create_connection(lambda: secure, sock=sock)
        await secure.handshake()
        self._last = secure
        return made

    async def _certificate_facts(self, addresses: list[_Address]) -> CertificateFacts | None:
        loop = asyncio.get_running_loop()
        if loop.time() >= self._facts_until:
            blind = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            blind.check_hostname = False
            blind.verify_mode = ssl.CERT_NONE
            self._facts = None
            try:
                async with asyncio.timeout(_FACTS_TIMEOUT_SECONDS):
                    sock = await self._connect(addresses, loop.time() + _FACTS_TIMEOUT_SECONDS)
                    transport, _ = await loop.create_connection(
                        asyncio.Protocol, sock=sock, ssl=blind, server_hostname=self._tls_name
                    )
                session = transport.get_extra_info("ssl_object")
                der = session.getpeercert(binary_form=True)
                transport.abort()
                self._facts = read_certificate(der) if der else None
            except OSError:
                pass  # the reason for the refusal is known already; only its details are not
            self._facts_until = loop.time() + _FACTS_SECONDS
        return self._facts

    def _timed_out(self, phase: Phase) -> ConnectTimeout:
        seconds = f"{self._connect_seconds:g} s"
        if phase == "resolve":
            return ConnectTimeout(
                self.server, phase, f"the host name was not resolved within {seconds}", "is the DNS server reachable?"
            )
        if phase == "connect":
            return ConnectTimeout(
                self.server,
                phase,
                f"no connection within {seconds}",
                "is the address right, the network up, and the port open in the firewall?",
            )
        return ConnectTimeout(
            self.server,
            phase,
            f"connected, but no TLS handshake within {seconds}",
            "is there an API server at this port, and is it alive?",
        )

    def _failed(self, phase: Phase, error: OSError) -> ConnectFailed | TLSError:
        if isinstance(error, socket.gaierror):
            return ConnectFailed(
                self.server,
                phase,
                f"the host name {self._host} cannot be resolved ({error.strerror})",
                "correct the server address, or the DNS",
            )
        if isinstance(error, ConnectionRefusedError):
            return ConnectRefused(
                self.server,
                phase,
                "connection refused: nothing listens there",
                "start the API server, or correct the server address",
            )
        reason = error.strerror or str(error) or type(error).__name__
        if phase == "tls":
            return TLSError(
                self.server,
                phase,
                f"the server hung up during the TLS handshake ({reason})",
                "is there an API server at this port?",
            )
        return ConnectFailed(
            self.server, phase, f"no connection ({reason})", "is the network up, and the address right?"
        )
