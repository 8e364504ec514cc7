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
from kubewright.model.names import label_key_problem

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
            Qualified by a domain, such as `example.com/clean` (`ValidateFinalizerName` of apimachinery).
        finalize: for a function controller, what to do before an object goes. A class has a `finalize` method instead.

    Raises:
        ValueError, TypeError: an argument breaks a rule; the message names it.
    """
    if not _is_kind(kind):
        raise TypeError(f"@controller on {_called(kind)}: say which kind it reconciles: @controller(Kind)")
    info = info_of(kind)
    chosen = name or info.kind.lower()
    if not _NAME.fullmatch(chosen):
        raise ValueError(f"controller(name={chosen!r}): must be lower-case letters, digits, '-' and '.', at most 63")
    if workers < 1:
        raise ValueError(f"controller(workers={workers}): must be 1 or more")
    if deadline_seconds is not None and deadline_seconds <= 0:
        raise ValueError(f"controller(deadline_seconds={deadline_seconds}): must be positive, or None for no limit")
    listed: object = owns
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        raise TypeError(f"controller(owns={_called(owns)}): must be a list of classes, such as owns=[ConfigMap]")
    for child in owns:
        if not _is_kind(child):
            rule = "is not the class of a kind; import it, such as from kubewright.models.apps.v1 import Deployment"
            raise TypeError(f"controller(owns=[...]): {_called(child)} {rule}")
        info_of(child)
    if finalizer is not None:
        _check_finalizer(finalizer)
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
            _check_parameters(target, "reconcile")
            if hasattr(target, "finalize"):
                _check_parameters(target, "finalize")
            elif finalizer is not None:
                raise TypeError(f"{_idle(finalizer)}; give {target.__name__} a finalize(self, obj, ctx) method")
            cast("Any", target).__controller__ = spec
            return target
        if not callable(target):
            raise TypeError(f"@controller on {target!r}: not a function or a class")
        if finalizer is not None and finalize is None:
            raise TypeError(f"{_idle(finalizer)}; give @controller(..., finalize=function) too")
        for function in (target, finalize):
            if function is not None and not _takes(function, 2):
                raise TypeError(
                    f"@controller: {_called(function)}{_signature(function)} must take two arguments, (obj, ctx)"
                )
        return FunctionController(spec, target, finalize)

    return cast("_Decorator[T]", describe)


def _is_kind(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Object)


def _called(value: object) -> str:
    return getattr(value, "__name__", None) or repr(value)


def _idle(finalizer: str) -> str:
    return f"controller(finalizer={finalizer!r}): there is nothing to finalize"


def _check_finalizer(finalizer: str) -> None:
    problem = label_key_problem(finalizer)
    if problem is None and "/" not in finalizer:
        problem = "has no domain; write it as example.com/name"
    if problem is not None:
        raise ValueError(f"controller(finalizer={finalizer!r}): {problem}")


def _check_parameters(cls: type, method: str) -> None:
    function = getattr(cls, method)
    if not callable(function):
        raise TypeError(f"@controller on {cls.__name__}: {method} is not a method")
    given = 3 if inspect.isfunction(inspect.getattr_static(cls, method)) else 2
    if not _takes(function, given):
        rule = f"{method}{_signature(function)} must take (self, obj, ctx)"
        raise TypeError(f"@controller on {cls.__name__}: {rule}")


def _takes(function: Callable[..., Any], count: int) -> bool:
    """Whether it can be called with so many positional arguments. A wrapper counts and not what it wraps."""
    try:
        inspect.signature(function, follow_wrapped=False).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # written in C, and silent about it
        return True
    return True


def _signature(function: Callable[..., Any]) -> str:
    return f"({', '.join(inspect.signature(function, follow_wrapped=False).parameters)})"


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
