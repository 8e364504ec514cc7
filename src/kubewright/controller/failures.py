"""How a reconcile that failed is told in the log: how loud, with a traceback or not, and not the same again and again.

| what it is | level | traceback |
|---|---|---|
| `Retry`, a conflict, a child that an earlier owner of our name still has | info | no |
| the server refuses or is away, a deadline, a cache that has not synced, a child of another owner | warning | no |
| `Terminal` | error | no |
| anything else: a mistake in the program | error | yes |

What the same object says again, attempt after attempt, is told once and then at the debug level, until it succeeds or
says something else. A bug with its traceback is told every time: the back-off sees to it that this is less and less.
"""

from __future__ import annotations

import logging

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


def is_mistake(error: Exception) -> bool:
    """Whether Go would have panicked."""
    return isinstance(error, _MISTAKES) and type(error).__module__ == "builtins"


class Failures:
    """The failures of one controller, told.

    Attributes: `told`, what was last said about objects that have not been reconciled since.
    """

    def __init__(self, kind: str, logger: logging.Logger) -> None:
        self._kind = kind
        self._logger = logger
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
            self._logger.error("%s: attempt %d failed", where, attempt, exc_info=error)

    def _once(self, key: Key, level: int, text: str, attempt: int | None = None) -> None:
        if self.told.get(key) == text:
            level = logging.DEBUG
        self.told[key] = text
        if attempt is not None:
            text = text.replace(": failed: ", f": attempt {attempt} failed: ", 1)
        self._logger.log(level, "%s", text)


def _is_predecessor(error: AlreadyOwned) -> bool:
    """Whether the owner in the way is an earlier object of the same name, whose children are being removed."""
    has, wanted = error.current, error.wanted
    return (has.kind, has.name) == (wanted.kind, wanted.name) and (
        has.api_version.rpartition("/")[0] == wanted.api_version.rpartition("/")[0]
    )
