"""The entry point: which reader of arguments a command line is for (see `run`)."""

from __future__ import annotations

import sys

from . import collector
from .failure import one_line_errors

__all__ = ["main"]


def main() -> None:
    """Entry point of the `kubewright` command."""
    with one_line_errors():
        if sys.argv[1:2] == ["run"]:
            collector.rest()
            from .run import run

            run(sys.argv[2:])
        elif sys.argv[1:2] == ["apiserver"]:
            from .apiserver import serve

            serve(sys.argv[2:])
        else:
            from .app import app

            app()
