"""Free ports on the loopback interface, for programs that can only be told a number.

Owns the reservation of port numbers between processes of one user. The number is chosen *below* the range from which
the usual kernels take the local ports of outgoing connections (Linux 32768 and up, macOS 49152 and up): a port found
by binding to 0 lies inside it, and any connection made before the program binds may take it away.

Guarantee: a number returned here is not returned again to this user for two minutes, by which time its program has
bound it. Caveat: a foreign program may still take it; starting a control plane then fails and says so.
"""

from __future__ import annotations

import random
import socket
import time
from pathlib import Path

from kubewright.testing.errors import ControlPlaneError
from kubewright.testing.locks import FileLock
from kubewright.testing.paths import runtime_dir

_FIRST, _LAST = 20000, 32000
_RESERVED_SECONDS = 120.0
_LOCK_TIMEOUT_SECONDS = 10.0


def reserve_ports(count: int, directory: Path | None = None) -> list[int]:
    """Return `count` different ports that nobody listens on, reserved in `directory` (default: per user).

    Raises ControlPlaneError when no port in the range is free.
    """
    directory = directory or runtime_dir() / "ports"
    chooser = random.SystemRandom()
    with FileLock(directory / "lock").held(_LOCK_TIMEOUT_SECONDS):
        taken = _reserved(directory)
        ports: list[int] = []
        for port in chooser.sample(range(_FIRST, _LAST), _LAST - _FIRST):
            if len(ports) == count:
                break
            if port not in taken and _is_free(port):
                (directory / str(port)).touch()
                ports.append(port)
    if len(ports) < count:
        raise ControlPlaneError(
            f"no {count} free ports between {_FIRST} and {_LAST} on 127.0.0.1; end programs that listen there"
        )
    return ports


def _reserved(directory: Path) -> set[int]:
    """Return the numbers still reserved, and forget the others."""
    now = time.time()
    taken = set()
    for file in directory.iterdir():
        if not file.name.isdigit():
            continue
        if now - file.stat().st_mtime > _RESERVED_SECONDS:
            file.unlink(missing_ok=True)
        else:
            taken.add(int(file.name))
    return taken


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As Go's listeners do; without it the remains of a closed connection would count as a listener.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
