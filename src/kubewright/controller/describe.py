"""`@controller`: a description of what to reconcile, and with what.

Decorating has no effect beyond the value that it returns: nothing is registered, no I/O is done, and two operators may
hold the same description. A decorated function stays a function (call it in a test); a decorated class stays the class,
and its instances are what an operator takes.

| decorated | an operator takes | dependencies come from |
|---|---|---|
| `async def` or `def` of `(obj, ctx)` | the function itself | module globals, closures |
| class with `reconcile(self, obj, ctx)` and perhaps `finalize(self, obj, ctx)` | an instance | its constructor |
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import update_wrapper
from typing import Any, Generic, Protocol, TypeVar, cast, overload

import msgspec

from kubewright.model import Object, info_of

from .blocking import SyncContext
from .context import Context
from .outcome import Result

__all__ = ["BoundController", "ControllerSpec", "FunctionController", "bind", "controller"]

T = TypeVar("T", bound=Object)
R = TypeVar("R", bound="Result | Awaitable[Result | None] | None")
CtxT = TypeVar("CtxT", Context, SyncContext)
ClassT = TypeVar("ClassT")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?")


class ControllerSpec(msgspec.Struct, frozen=True):
    """What `@controller` was told. `finalizer` is used only when there is something to finalize."""

    kind: type[Object]
    name: str
    owns: tuple[type[Object], ...]
    workers: int
    deadline_seconds: float | None
    finalizer: str


class FunctionController(Generic[T, CtxT, R]):
    """A decorated function. Calling it calls the function."""

    def __init__(self, spec: ControllerSpec, function: Callable[[T, CtxT], R], finalize: Any) -> None:
        self.spec = spec
        self.function: Callable[[T, CtxT], R] = function
        self.finalize_function = finalize
        update_wrapper(self, function)

    def __call__(self, obj: T, ctx: CtxT) -> R:
        return self.function(obj, ctx)

    def __repr__(self) -> str:
        return f"<controller {self.spec.name} of {self.spec.kind.__name__}>"


class _Decorator(Protocol[T]):
    # The order matters: a class is also a callable.
    @overload
    def __call__(self, target: type[ClassT], /) -> type[ClassT]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, target: Callable[[T, CtxT], R], /) -> FunctionController[T, CtxT, R]: ...


def controller(
    kind: type[T],
    *,
    owns: Sequence[type[Object]] = (),
    name: str | None = None,
    workers: int = 1,
    deadline_seconds: float | None = None,
    finalizer: str | None = None,
    finalize: Callable[[T, Context], Awaitable[None]] | Callable[[T, SyncContext], None] | None = None,
) -> _Decorator[T]:
    """Describe the controller of a kind.

    Args:
        kind: what is reconciled, one object at a time.
        owns: kinds of children. A change of a child reconciles the object that is its controller owner.
        name: in logs and metrics; the lower-case kind unless given. Unique within one operator.
        workers: how many objects are reconciled at once, 1 unless given. Never one object twice at a time.
        deadline_seconds: a reconcile that takes longer is cancelled and retried. None: no limit.
        finalizer: the name that holds back deletion while `finalize` has not returned; `<group>/<name>` unless given.
        finalize: for a function controller, what to do before an object goes. A class has a `finalize` method instead.

    Raises:
        ValueError, TypeError: an argument breaks a rule; the message names it.
    """
    info = info_of(kind)
    chosen = name or info.kind.lower()
    if not _NAME.fullmatch(chosen):
        raise ValueError(f"controller(name={chosen!r}): must be lower-case letters, digits, '-' and '.', at most 63")
    if workers < 1:
        raise ValueError(f"controller(workers={workers}): must be 1 or more")
    if deadline_seconds is not None and deadline_seconds <= 0:
        raise ValueError(f"controller(deadline_seconds={deadline_seconds}): must be positive, or None for no limit")
    for child in owns:
        info_of(child)
    spec = ControllerSpec(
        kind=kind,
        name=chosen,
        owns=tuple(owns),
        workers=workers,
        deadline_seconds=deadline_seconds,
        finalizer=finalizer or f"{info.group or 'kubewright'}/{chosen}",
    )

    def describe(target: Any) -> Any:
        if inspect.isclass(target):
            if not callable(getattr(target, "reconcile", None)):
                raise TypeError(f"@controller on {target.__name__}: the class has no reconcile(self, obj, ctx) method")
            if finalize is not None:
                raise TypeError(f"@controller on {target.__name__}: give the class a finalize method, not finalize=")
            cast("Any", target).__controller__ = spec
            return target
        if not callable(target):
            raise TypeError(f"@controller on {target!r}: not a function or a class")
        return FunctionController(spec, target, finalize)

    return cast("_Decorator[T]", describe)


class BoundController(msgspec.Struct, frozen=True):
    """A description with the functions to call: what the runner works with."""

    spec: ControllerSpec
    reconcile: Callable[[Any, Any], Any]
    finalize: Callable[[Any, Any], Any] | None


def bind(described: object) -> BoundController:
    """From what a user gave to an operator.

    Raises:
        TypeError: it is not a controller; the message says what is missing.
    """
    if isinstance(described, FunctionController):
        return BoundController(described.spec, described.function, described.finalize_function)
    spec = getattr(described, "__controller__", None)
    if inspect.isclass(described):
        fix = "pass an instance of it" if spec else "decorate it with @controller and pass an instance of it"
        raise TypeError(f"{described.__name__} is a class; {fix}")
    if not isinstance(spec, ControllerSpec):
        name = getattr(described, "__name__", None) or repr(described)
        raise TypeError(f"{name} is not a controller; decorate it with @controller(Kind)")
    finalize = getattr(described, "finalize", None)
    return BoundController(spec, cast("Any", described).reconcile, finalize)
