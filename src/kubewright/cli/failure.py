"""What a user sees when something fails: a line on standard error for each mistake, and an exit code that is not 0.

Errors of ours carry field, value, rule and cure in their text; nothing is added here. What is not an error of ours is a
bug, of the operator or of Kubewright: its type and text are shown, and the traceback with KUBEWRIGHT_DEBUG=1.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["one_line_errors"]


def _expected() -> tuple[type[BaseException], ...]:
    from kubewright.apiserver.journal import JournalError
    from kubewright.client import ApiError, ConfigError, CrdConflict, CrdNotReady, InvalidRequest, TransportError
    from kubewright.controller import Terminal
    from kubewright.generate import GenerateError
    from kubewright.manager import CacheNotSynced
    from kubewright.model import DecodeError
    from kubewright.schema import SchemaError
    from kubewright.schema.compat import DiffError
    from kubewright.testing import ControlPlaneError

    from .load import LoadError

    return (
        ApiError,
        CacheNotSynced,
        ConfigError,
        ControlPlaneError,
        CrdConflict,
        CrdNotReady,
        DecodeError,
        DiffError,
        GenerateError,
        InvalidRequest,
        JournalError,
        LoadError,
        OSError,
        SchemaError,
        Terminal,
        TransportError,
    )


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End the process with exit code 1 and one line for any error inside; 130 for Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if os.environ.get("KUBEWRIGHT_DEBUG"):
            traceback.print_exc()
            sys.exit(1)
        for each in _parts(error):
            print(f"error: {_text(each)}", file=sys.stderr)
        sys.exit(1)


def _parts(error: Exception) -> tuple[object, ...]:
    """The mistakes of a schema are independent of one another and are shown one a line."""
    from kubewright.schema import SchemaError

    return error.causes if isinstance(error, SchemaError) else (error,)


def _text(error: object) -> str:
    from kubewright.testing import ControlPlaneError

    if isinstance(error, ControlPlaneError):
        return str(error)  # several lines where it quotes a log
    if type(error).__str__ is OSError.__str__ and isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"  # without Python's number and quotes
    # Some texts are the server's and have lines, such as a CEL expression with a caret below it.
    text = " ".join(str(error).split())
    if isinstance(error, _expected()) or not isinstance(error, Exception):
        return text
    return f"{type(error).__name__}: {text}".rstrip(": ") + " (unexpected; KUBEWRIGHT_DEBUG=1 shows where)"
