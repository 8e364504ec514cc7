"""How a reconcile that failed is told in the log: how loud, with a traceback or not, and not the same again and again.

| what it is | level | traceback |
|---|---|---|
| `Retry`, a conflict, a child that an earlier owner of our name still has | info | no |
| the server refuses or is away, a deadline, a cache that has not synced, a child of another owner | warning | no |
| `Terminal` | error | no |
| anything else: a mistake in the program | error | yes |

What the same object says again, attempt after attempt, is told once and then at the debug level, until it succeeds or
says something else. A bug is told every time, in one line that says where it is: the back-off sees to it that this is
less and less. Its traceback is told once in ten minutes for each place, however many objects meet it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from kubewright.cache.reader import CacheNotSynced
from kubewright.client import ApiError, Conflict, TransportError
from kubewright.model import DecodeError, Key
from kubewright.model.owners import AlreadyOwned

from .outcome import Retry, Terminal
from .reconciler import DeadlineExceeded, Unreadable

__all__ = ["Failures", "is_mistake"]

# What stands for Go's panic, a mistake in the program. A class of one's own under one of these is raised on purpose.
_MISTAKES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    RecursionError,
    SyntaxError,
    TypeError,
)
_EXPECTED = (AlreadyOwned, ApiError, CacheNotSynced, DeadlineExceeded, DecodeError, TransportError)

_TRACE_SECONDS = 600.0
_MOST_PLACES = 256

_Place = tuple[type[BaseException], str, int]
"""Of a bug: what was raised, in which file and line."""


def is_mistake(error: Exception) -> bool:
    """Whether Go would have panicked."""
    return isinstance(error, _MISTAKES) and type(error).__module__ == "builtins"


class Failures:
    """The failures of one controller, told.

    Attributes: `told`, what was last said about objects that have not been reconciled since.
    """

    def __init__(self, kind: str, logger: logging.Logger, now: Callable[[], float] = time.monotonic) -> None:
        self._kind = kind
        self._logger = logger
        self._now = now
        self._traced_at: dict[_Place, float] = {}
        self.told: dict[Key, str] = {}

    def forget(self, key: Key) -> None:
        """The object was reconciled."""
        self.told.pop(key, None)

    def tell(self, key: Key, error: Exception, attempt: int) -> None:
        """A reconcile of `key` has failed."""
        where = f"{self._kind} {key}"
        if isinstance(error, Retry):
            self._once(key, logging.INFO, f"{where}: not yet: {error}")
        elif isinstance(error, Terminal):
            what = "cannot be read and is left alone" if isinstance(error, Unreadable) else "given up"
            self._once(key, logging.ERROR, f"{where}: {what} until it changes: {error}")
        elif isinstance(error, Conflict):
            self._once(key, logging.INFO, f"{where}: looked at an old version, trying again: {error}")
        elif isinstance(error, AlreadyOwned) and _is_predecessor(error):
            self._once(key, logging.INFO, f"{where}: not yet: {error}")
        elif isinstance(error, _EXPECTED):
            # What they say, they say in one line; where the code was does not matter.
            self._once(key, logging.WARNING, f"{where}: failed: {error}", attempt)
        else:
            self.told.pop(key, None)
            place = _place(error)
            said = f"{place[0].__qualname__}: {error}" if str(error) else place[0].__qualname__
            trace = error if self._is_due(place) else None
            text = "%s: attempt %d failed: %s (%s, line %d)"
            self._logger.error(text, where, attempt, said, place[1], place[2], exc_info=trace)

    def _is_due(self, place: _Place) -> bool:
        """Whether the traceback of a place is to be told."""
        traced, now = self._traced_at, self._now()
        if now - traced.get(place, -_TRACE_SECONDS) < _TRACE_SECONDS:
            return False
        if len(traced) >= _MOST_PLACES:
            traced.clear()
        traced[place] = now
        return True

    def _once(self, key: Key, level: int, text: str, attempt: int | None = None) -> None:
        if self.told.get(key) == text:
            level = logging.DEBUG
        self.told[key] = text
        if attempt is not None:
            text = text.replace(": failed: ", f": attempt {attempt} failed: ", 1)
        self._logger.log(level, "%s", text)


def _place(error: Exception) -> _Place:
    """Where an error was raised."""
    trace, file, line = error.__traceback__, "", 0
    while trace is not None:
        file, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
    return type(error), file, line


def _is_predecessor(error: AlreadyOwned) -> bool:
    """Whether the owner in the way is an earlier object of the same name, whose children are being removed."""
    has, wanted = error.current, error.wanted
    return (has.kind, has.name) == (wanted.kind, wanted.name) and (
        has.api_version.rpartition("/")[0] == wanted.api_version.rpartition("/")[0]
    )
