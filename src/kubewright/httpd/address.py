"""Where a server listens, as Kubernetes' flags say it: `:8080`, `127.0.0.1:8081`, `[::1]:8443`; `0` or nothing for off.

No host means all addresses of the machine, IPv4 and IPv6 by one socket where the system can do that.
"""

from __future__ import annotations

import errno
import socket
from typing import NamedTuple

__all__ = ["Address"]

_BACKLOG = 128
_NO_IPV6 = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


class Address(NamedTuple):
    """`host` is a name or an IP address, `""` for all; `port` 0 is any that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str, *, name: str) -> Address | None:
        """From a flag's text; None for off.

        Raises:
            ValueError: it is not an address. The message begins with `name`.
        """
        text = text.strip()
        if text in ("", "0"):
            return None
        host, colon, port = text.rpartition(":")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        elif ":" in host or "[" in host:
            colon = ""
        if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
            raise ValueError(
                f"{name}: {text!r} is not an address; write :8080, 127.0.0.1:8080 or [::1]:8080, or 0 for none"
            )
        return cls(host, int(port))

    def bind(self) -> socket.socket:
        """A socket that is bound to the address, and listens. Raises OSError."""
        if self.host:
            family, _, _, _, where = socket.getaddrinfo(
                self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            return _listening(family, where[:2])
        if socket.has_dualstack_ipv6():
            try:
                return socket.create_server(
                    ("", self.port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=_BACKLOG
                )
            except OSError as error:
                if error.errno not in _NO_IPV6:
                    raise
        return _listening(socket.AF_INET, ("", self.port))


def _listening(family: socket.AddressFamily, where: tuple[object, ...]) -> socket.socket:
    return socket.create_server((str(where[0]), int(str(where[1]))), family=family, backlog=_BACKLOG)
