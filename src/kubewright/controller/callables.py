"""What a reconcile function is, where it is written, and what is wrong with what it returned: words for people."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["is_async", "place_of", "signature_of", "what_is_wrong"]


def place_of(function: Any) -> str:
    """What was called, and where it is written."""
    plain = inspect.unwrap(function)
    code = getattr(plain, "__code__", None)
    name = getattr(plain, "__qualname__", None) or type(plain).__name__
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code is not None else name


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """How it is called; a wrapper counts and not what it wraps. From Python 3.14 on annotations are evaluated when they
    are asked for, and may name what is imported for type checkers only: such a one stays a forward reference."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return inspect.signature(function, follow_wrapped=False, annotation_format=Format.FORWARDREF)
    return inspect.signature(function, follow_wrapped=False)


def what_is_wrong(outcome: object, in_thread: bool) -> str:
    """What is wrong with a value that a function returned. By its type: the value may be large, or secret."""
    if not inspect.isawaitable(outcome):
        return f"returned a value of type {type(outcome).__name__}; return None or after(seconds)"
    if inspect.iscoroutine(outcome):
        outcome.close()
    if in_thread:
        return (
            f"a `def` function returned a {type(outcome).__name__}; declare it `async def` "
            "(a decorator around it may hide that it is)"
        )
    return f"returned a {type(outcome).__name__} that nobody waits for; did you forget await?"


def is_async(function: Any) -> bool:
    """Whether it is an `async def`, or an object that is called like one."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
