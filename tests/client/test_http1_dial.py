"""From a name to a connection: which step failed, and that nothing stays open."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

import virtual
from kubewright.client.http1_dial import Dialer
from kubewright.client.transport import ConnectFailed, ConnectRefused, ConnectTimeout


def dialer(host: str, port: int = 6443) -> Dialer:
    return Dialer(host, port, tls=None, tls_name=None, connect_seconds=10)


def resolving(*addresses: tuple[str, int], error: OSError | None = None, seconds: float = 0) -> Any:
    """A getaddrinfo that gives these IPv4 addresses."""

    async def getaddrinfo(*args: object, **kwargs: object) -> Any:
        await asyncio.sleep(seconds)
        if error is not None:
            raise error
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in addresses]

    return getaddrinfo


def closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def test_a_name_that_does_not_exist_is_named() -> None:
    async def main() -> None:
        loop: Any = asyncio.get_running_loop()
        loop.getaddrinfo = resolving(error=socket.gaierror(-2, "Name or service not known"))
        with pytest.raises(ConnectFailed) as caught:
            await dialer("api.example").dial(asyncio.Protocol)
        assert str(caught.value) == (
            "api.example:6443: the host name api.example cannot be resolved (Name or service not known);"
            " correct the server address, or the DNS"
        )
        assert caught.value.phase == "resolve"

    virtual.run(main())


def test_a_resolver_that_does_not_answer_has_the_deadline_too() -> None:
    async def main() -> None:
        loop: Any = asyncio.get_running_loop()
        loop.getaddrinfo = resolving(seconds=1000)
        with pytest.raises(ConnectTimeout, match="the host name was not resolved within 10 s"):
            await dialer("api.example").dial(asyncio.Protocol)

    virtual.run(main())


def test_an_address_that_does_not_answer_leaves_time_for_the_next() -> None:
    async def main() -> None:
        loop: Any = asyncio.get_running_loop()
        loop.getaddrinfo = resolving(("192.0.2.1", 1), ("192.0.2.2", 1), ("192.0.2.3", 1))
        tried: list[tuple[float, str]] = []

        async def sock_connect(sock: socket.socket, address: tuple[str, int]) -> None:
            tried.append((loop.time(), address[0]))
            await asyncio.sleep(1000)

        loop.sock_connect = sock_connect
        start = loop.time()
        with pytest.raises(ConnectTimeout, match="no connection within 10 s; is the address right"):
            await dialer("api.example").dial(asyncio.Protocol)
        assert [address for _, address in tried] == ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
        assert [at - start for at, _ in tried] == pytest.approx([0, 10 / 3, 20 / 3])
        assert loop.time() == pytest.approx(start + 10)

    virtual.run(main())


def test_a_refused_address_is_followed_by_the_next() -> None:
    async def main() -> None:
        server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        loop: Any = asyncio.get_running_loop()
        loop.getaddrinfo = resolving(("127.0.0.1", closed_port()), ("127.0.0.1", port))
        protocol = await dialer("api.example", port).dial(asyncio.Protocol)
        assert isinstance(protocol, asyncio.Protocol)
        server.close()

    class Closing(asyncio.Protocol):
        pass

    asyncio.run(main())


def test_nobody_listening_is_refused_by_address_and_port() -> None:
    async def main() -> None:
        port = closed_port()
        with pytest.raises(ConnectRefused, match=rf"127\.0\.0\.1:{port}: connection refused"):
            await dialer("127.0.0.1", port).dial(asyncio.Protocol)

    asyncio.run(main())


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_an_address_is_not_looked_up(host: str) -> None:
    async def main() -> None:
        loop: Any = asyncio.get_running_loop()
        loop.getaddrinfo = resolving(error=socket.gaierror(-2, "must not be called"))
        with pytest.raises(ConnectFailed) as caught:
            await dialer(host, closed_port()).dial(asyncio.Protocol)
        assert caught.value.phase == "connect"

    asyncio.run(main())


def test_a_cancelled_dial_closes_its_socket() -> None:
    async def main() -> None:
        loop: Any = asyncio.get_running_loop()
        sockets: list[socket.socket] = []

        async def sock_connect(sock: socket.socket, address: object) -> None:
            sockets.append(sock)
            await asyncio.Event().wait()

        loop.sock_connect = sock_connect
        task = asyncio.ensure_future(dialer("127.0.0.1").dial(asyncio.Protocol))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [sock.fileno() for sock in sockets] == [-1]

    virtual.run(main())
