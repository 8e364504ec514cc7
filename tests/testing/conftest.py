"""Help for the tests of `kubewright.testing`: an environment of their own, fake programs, a local web server."""

from __future__ import annotations

import functools
import http.server
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment in which nothing is installed: home, caches and PATH are empty folders."""
    (tmp_path / "bin").mkdir()
    return {
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PATH": str(tmp_path / "bin"),
    }


@pytest.fixture
def program() -> Callable[..., Path]:
    """A function that makes an executable file."""

    def make(path: Path, text: str = "#!/bin/sh\n") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def website(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web server on the loopback: its URL and the folder that it serves."""
    folder = tmp_path / "website"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=functools.partial(server.serve_forever, poll_interval=0.01))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", folder
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def eventually() -> Callable[..., None]:
    """A function that polls a condition of another process until it holds, or fails the test."""

    def wait(condition: Callable[[], object], seconds: float = 15.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"did not come true within {seconds:g} s"
            time.sleep(0.02)

    return wait
