"""The load program, spoken to: one JSON line there, one JSON line back. See `bench/load/main.go` for the commands."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from . import programs


@dataclass(frozen=True, slots=True)
class Credentials:
    """How to reach an API server: a client certificate or a token."""

    server: str
    authority: Path
    certificate: Path | None
    key: Path | None
    token: str | None


class Load:
    """A load program that runs. `sent` is what it has asked of the API server by now, `verb resource` to count."""

    def __init__(self, credentials: Credentials) -> None:
        command = [str(programs.go_program(programs.BENCH / "load"))]
        command += ["-server", credentials.server, "-ca", str(credentials.authority)]
        if credentials.certificate is not None:
            command += ["-cert", str(credentials.certificate), "-key", str(credentials.key)]
        if credentials.token is not None:
            command += ["-token", credentials.token]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sent: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        self._process.wait()

    def run(self, op: str, **options: Any) -> dict[str, Any]:
        """One command, to its end. Raises RuntimeError when the load program or a write failed."""
        self.begin(op, **options)
        return self.end()

    def begin(self, op: str, **options: Any) -> None:
        """Start a command; `end` gives its result."""
        assert self._process.stdin is not None
        self._op = op
        self._process.stdin.write(orjson.dumps({"op": op, **options}) + b"\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the load program ended during {self._op!r}")
        result: dict[str, Any] = orjson.loads(line)
        if result.get("error"):
            raise RuntimeError(f"load {self._op}: {result['error']}")
        verb = {"create": "post widgets", "fill": "post widgets", "clear": "delete widgets"}.get(
            self._op, "patch widgets"
        )
        self.sent[verb] = self.sent.get(verb, 0) + result["written"]
        return result
