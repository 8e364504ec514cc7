"""`kubewright apiserver`: the embedded API server until SIGTERM or Ctrl-C.

Like `run` it reads its arguments by argparse: what typer imports takes longer than all of its start.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from kubewright._loop import loop_factory

from .values import node_count

__all__ = ["serve"]


def serve(arguments: Sequence[str]) -> None:
    """Serve as the arguments say. Exits with code 2 for arguments that say nothing.

    Raises:
        JournalError, ClusterError, BindError.
    """
    given = _parser().parse_args(arguments)
    _many_files()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(given))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kubewright apiserver",
        description="An in-memory Kubernetes API server for tests and first steps, until SIGTERM or Ctrl-C. "
        "Standard output has one line, once it is ready, and is closed then: "
        'eval "$(kubewright apiserver & echo kill $! >stop)" starts it for a script, and `sh stop` ends it.',
        allow_abbrev=False,
    )
    option = parser.add_argument
    option("--port", type=_port, default=0, help="where to listen on 127.0.0.1; any that is free unless given")
    option("--kubeconfig", type=Path, help="write the administrator's kubeconfig to this file, once it is ready")
    option("--data-dir", type=Path, help="keep everything in this folder, and go on from it; nothing is kept without")
    option("--sync", action="store_true", help="with --data-dir: each write waits for the disk")
    option("--nodes", type=node_count, default=0, help="so many Nodes, on which Pods run (simulated); none without")
    return parser


async def _serve(given: argparse.Namespace) -> None:
    from kubewright.testing.embedded import EmbeddedServer

    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    served = EmbeddedServer(port=given.port, data_dir=given.data_dir, sync=given.sync, nodes=given.nodes)
    async with served:
        with served.lent_kubeconfig(given.kubeconfig) as path:
            kept = f"kept in {given.data_dir}" if given.data_dir else "nothing is kept"
            print(f"{served.url}: ready, in memory, {kept}; stop it with Ctrl-C", file=sys.stderr)
            print(f"kubectl --kubeconfig {shlex.quote(str(path))} get namespaces", file=sys.stderr)
            print(f"export KUBECONFIG={shlex.quote(str(path))}", flush=True)
            _close_output()
            await stopped.wait()


def _close_output() -> None:
    """A shell that reads the output of a command waits for its end."""
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())


def _many_files() -> None:
    """Each client is an open file; the usual limit of 1,024 is for programs with few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; give a number from 0 to 65535")
    return int(text)
