"""Where the room keeps things on disk, and what this machine is called in Go's words.

    cache_dir()      built or downloaded programs, kept logs, detached clusters; survives a reboot
    runtime_dir()    data of running control planes, port reservations; per user, mode 0700, may vanish
    envtest_store()  the store of setup-envtest, shared with it: read from, and installed into

Owns these places and nothing else: no file is read here. Every function takes the environment as an argument, so that
a test can point a whole control plane elsewhere without touching `os.environ`.
"""

from __future__ import annotations

import os
import platform
import stat
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kubewright.testing.errors import ControlPlaneError

_ARCH = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
"""`platform.machine()` in Go's words; other machines keep their name (ppc64le and s390x are the same in both)."""


def go_platform() -> tuple[str, str]:
    """Return (os, arch) as Go names them, for example ("linux", "amd64").

    Raises ControlPlaneError on Windows, where kube-apiserver and etcd are not run by this room.
    """
    if sys.platform == "win32":
        raise ControlPlaneError(
            "a real control plane runs on Linux and macOS; on Windows use it inside WSL 2, "
            "or point the test at an existing cluster"
        )
    machine = platform.machine().lower()
    return sys.platform, _ARCH.get(machine, machine)


def cache_dir(env: Mapping[str, str] | None = None) -> Path:
    """Return the cache folder: KUBEWRIGHT_CACHE_DIR, else $XDG_CACHE_HOME/kubewright, else ~/.cache/kubewright."""
    env = os.environ if env is None else env
    if own := env.get("KUBEWRIGHT_CACHE_DIR"):
        return Path(own).expanduser().absolute()
    if xdg := env.get("XDG_CACHE_HOME"):
        return Path(xdg).absolute() / "kubewright"
    return _home(env) / ".cache" / "kubewright"


def envtest_store(env: Mapping[str, str] | None = None) -> Path:
    """Return the folder in which setup-envtest keeps one folder per version, `<version>-<os>-<arch>`."""
    env = os.environ if env is None else env
    if sys.platform == "darwin":
        return _home(env) / "Library" / "Application Support" / "io.kubebuilder.envtest" / "k8s"
    data = Path(env["XDG_DATA_HOME"]) if env.get("XDG_DATA_HOME") else _home(env) / ".local" / "share"
    return data / "kubebuilder-envtest" / "k8s"


def runtime_dir() -> Path:
    """Return (and make) the user's folder for running control planes, `<tmp>/kubewright-<uid>`, mode 0700.

    Raises ControlPlaneError if that name is taken by another user: private keys are written below it.
    """
    directory = Path(tempfile.gettempdir()) / f"kubewright-{os.getuid()}"
    directory.mkdir(mode=0o700, exist_ok=True)
    facts = directory.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid():
        raise ControlPlaneError(f"{directory} belongs to another user; set TMPDIR to a folder of your own")
    if facts.st_mode & 0o077:
        directory.chmod(0o700)
    return directory


def _home(env: Mapping[str, str]) -> Path:
    return Path(env["HOME"]) if env.get("HOME") else Path.home()
