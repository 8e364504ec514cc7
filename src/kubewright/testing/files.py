"""Files with secrets in them. A module of its own, because everything that starts something writes some."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_private"]


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner may read, all of it or nothing: it appears by rename."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    fd = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        file.write(data)
    os.replace(unfinished, path)
