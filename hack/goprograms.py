"""Programs of the Go modules of this repository, each built once into the user's cache.

Owns where they are kept and when they are built anew: their name has a hash of the module's files in it. How a Go
program is built is `kubewright.testing.gobuild`'s.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from kubewright.testing.build import say_to_stderr
from kubewright.testing.gobuild import GoSource, find_go, program_of
from kubewright.testing.locks import FileLock
from kubewright.testing.paths import cache_dir

__all__ = ["go_program"]

_BUILD_SECONDS = 3600.0


def go_program(source: GoSource, name: str) -> Path:
    """The program, named so in the cache; built if it is not there. Raises ControlPlaneError."""
    folder = cache_dir() / "programs"
    target = folder / f"{name}-{_digest(source)}"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f".{name}.lock").held(_BUILD_SECONDS):
        if not target.exists():
            say_to_stderr(f"building {name} (once)")
            program_of(
                source,
                target,
                what=name,
                go=find_go(os.environ),
                env=os.environ,
                progress=lambda line: say_to_stderr(f"{name}: {line}"),
            )
            for old in folder.glob(f"{name}-{'[0-9a-f]' * 12}"):
                if old != target:
                    old.unlink()
    return target


def _digest(source: GoSource) -> str:
    total = hashlib.sha256(f"{source.package} {source.kubernetes}".encode())
    for path in sorted(source.folder.iterdir()):
        if path.suffix in {".go", ".mod", ".sum"}:
            total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()[:12]
