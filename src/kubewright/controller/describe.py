"""`@controller`: a description of what to reconcile, and with what.

Decorating has no effect beyond the value that it returns: nothing is registered, no I/O is done, and two operators may
hold the same description. A decorated function stays a function (call it in a test); a decorated class stays the class,
and its instances are what an operator takes.

| decorated | an operator takes | dependencies come from |
|---|---|---|
| `async def` or `def` of `(obj, ctx)` | the function itself | module globals, closures |
| class with `reconcile(self, obj, ctx)` and perhaps `finalize(self, obj, ctx)` | an instance | its constructor |

What else wakes it is said by its methods: `@reconcile.watches(Kind)` and `@reconcile.source` for a function, methods
decorated with `watches(Kind)` and `source` for a class.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import update_wrapper
from typing import Any, Generic, Literal, Protocol, TypeVar, cast, overload

import msgspec

from kubewright.model import Key, Object, info_of
from kubewright.model.names import label_key_problem
from kubewright.queue import RateLimiter

from .blocking import SyncContext
from .callables import signature_of
from .context import Context
from .outcome import Result
from .predicates import Predicate
from .watching import Owned, Source, Watch, check_kind, parts_of, source_of, watch_of

__all__ = ["BoundController", "ControllerSpec", "FunctionController", "bind", "controller"]

T = TypeVar("T", bound=Object)
A = TypeVar("A")
M = TypeVar("M", bound=Callable[..., Any])
R = TypeVar("R", bound="Result | Awaitable[Result | None] | None")
CtxT = TypeVar("CtxT", Context, SyncContext)
ClassT = TypeVar("ClassT")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?")


class ControllerSpec(msgspec.Struct, frozen=True):
    """What `@controller` was told. `finalizer` is used only when there is something to finalize."""

    kind: type[Object]
    name: str
    owns: tuple[Owned, ...]
    workers: int
    deadline_seconds: float | None
    finalizer: str
    by: Literal["object", "key"] = "object"
    predicate: Predicate | None = None
    wakes_itself: bool = False
    former_finalizers: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    rate_limiter: Callable[[], RateLimiter[Key]] | None = None


class FunctionController(Generic[A, CtxT, R]):
    """A decorated function. Calling it calls the function."""

    def __init__(self, spec: ControllerSpec, function: Callable[[A, CtxT], R], finalize: Any) -> None:
        self.spec = spec
        self.function: Callable[[A, CtxT], R] = function
        self.finalize_function = finalize
        self._watches: tuple[Watch, ...] = ()
        self._sources: tuple[Source, ...] = ()
        update_wrapper(self, function)

    def __call__(self, obj: A, ctx: CtxT) -> R:
        return self.function(obj, ctx)

    def __repr__(self) -> str:
        return f"<controller {self.spec.name} of {self.spec.kind.__name__}>"

    def watches(
        self, kind: type[Object], *, predicate: Predicate | None = None, reads: Sequence[type[Object]] = ()
    ) -> Callable[[M], M]:
        """Map objects of another kind to the names of those to reconcile. See `kubewright.controller.watches`."""
        describe = watch_of(kind, predicate=predicate, reads=reads)

        def described(mapper: M) -> M:
            self._watches += (describe(mapper),)
            return mapper

        return described

    def source(self, function: M) -> M:
        """Reconcile what an async generator yields. See `kubewright.controller.source`."""
        self._sources += (source_of(function),)
        return function


class _Decorator(Protocol[A]):
    # The order matters: a class is also a callable.
    @overload
    def __call__(self, target: type[ClassT], /) -> type[ClassT]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, target: Callable[[A, CtxT], R], /) -> FunctionController[A, CtxT, R]: ...


@overload
def controller(
    kind: type[T],
    *,
    owns: Sequence[type[Object] | Owned] = (),
    name: str | None = None,
    workers: int = 1,
    deadline_seconds: float | None = None,
    predicate: Predicate | None = None,
    wakes_itself: bool = False,
    sources: Sequence[Source] = (),
    rate_limiter: Callable[[], RateLimiter[Key]] | None = None,
    finalizer: str | None = None,
    former_finalizers: Sequence[str] = (),
    finalize: Callable[[T, Context], Awaitable[None]] | Callable[[T, SyncContext], None] | None = None,
    by: Literal["object"] = "object",
) -> _Decorator[T]: ...
@overload
def controller(
    kind: type[Object],
    *,
    by: Literal["key"],
    owns: Sequence[type[Object] | Owned] = (),
    name: str | None = None,
    workers: int = 1,
    deadline_seconds: float | None = None,
    predicate: Predicate | None = None,
    sources: Sequence[Source] = (),
    rate_limiter: Callable[[], RateLimiter[Key]] | None = None,
) -> _Decorator[Key]: ...
def controller(
    kind: type[Any],
    *,
    owns: Sequence[type[Object] | Owned] = (),
    name: str | None = None,
    workers: int = 1,
    deadline_seconds: float | None = None,
    predicate: Predicate | None = None,
    wakes_itself: bool = False,
    sources: Sequence[Source] = (),
    rate_limiter: Callable[[], RateLimiter[Key]] | None = None,
    finalizer: str | None = None,
    former_finalizers: Sequence[str] = (),
    finalize: Callable[..., Any] | None = None,
    by: Literal["object", "key"] = "object",
) -> Any:
    """Describe the controller of a kind.

    Args:
        kind: what is reconciled, one object at a time.
        owns: kinds of children. A change of a child reconciles the object that is its controller owner. `owned(Kind,
            predicate=..., any_owner=True)` says more.
        name: in logs and metrics; the lower-case kind unless given. Unique within one operator.
        workers: how many objects are reconciled at once, 1 unless given. Never one object twice at a time.
        deadline_seconds: a reconcile that takes longer is cancelled and retried. None: no limit.
        predicate: which changes of an object reconcile it (see `kubewright.controller.predicates`); all unless given.
            Those of its children and of what is watched have their own.
        wakes_itself: what a reconcile writes wakes it again. Unless given it does not: the status and the children that
            this controller itself has written are no news to it (see `kubewright.controller.echoes`). For a reconcile
            that goes on from one phase in its status to the next, or that looks at its children by a client of its own.
        sources: timers, such as `every(300)`, and other sources that are no functions.
        rate_limiter: makes what decides how long a failed object waits; 5 ms doubling to 1000 s each, with jitter,
            unless given.
        finalizer: the name that holds back deletion while `finalize` has not returned; `<group>/<name>` unless given.
            Qualified by a domain, such as `example.com/clean` (`ValidateFinalizerName` of apimachinery).
        former_finalizers: names that earlier versions of this controller have set. They are removed from an object that
            is being deleted; so is `<group>/<name>` when there is no `finalize` any more.
        finalize: for a function controller, what to do before an object goes. A class has a `finalize` method instead.
        by: `key` calls the function with the `Key` of an object in place of the object, also when it is gone: for what
            has to be done where something is absent. Then there is no status difference and no finalizer.

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
    children = tuple(each if isinstance(each, Owned) else Owned(each) for each in owns)
    for child in children:
        check_kind("controller(owns=[...])", child.kind)
    if predicate is not None and not isinstance(predicate, Predicate):
        raise TypeError(
            f"controller(predicate={_called(predicate)}): must be a Predicate; make one with where(...) or changed(...)"
        )
    others: Sequence[object] = sources
    for other in others:
        if not isinstance(other, Source):
            rule = "is no source; decorate it with @reconcile.source"
            raise TypeError(f"controller(sources=[...]): {_called(other)} {rule}")
    if isinstance(former_finalizers, str):
        raise TypeError(f"controller(former_finalizers={former_finalizers!r}): must be a list of names")
    for option, names in (("finalizer", (finalizer,)), ("former_finalizers", former_finalizers)):
        for each_name in names:
            if each_name is not None:
                _check_finalizer(option, each_name)
    if by not in ("object", "key"):
        raise ValueError(f"controller(by={by!r}): must be 'object' or 'key'")
    if by == "key" and (finalize or finalizer or former_finalizers or wakes_itself):
        raise TypeError('controller(by="key"): has no object to finalize, and no status; leave finalize= and such out')
    spec = ControllerSpec(
        kind=kind,
        name=chosen,
        owns=children,
        workers=workers,
        deadline_seconds=deadline_seconds,
        finalizer=finalizer or f"{info.group or 'kubewright'}/{chosen}",
        by=by,
        predicate=predicate,
        wakes_itself=wakes_itself,
        former_finalizers=tuple(former_finalizers),
        sources=tuple(sources),
        rate_limiter=rate_limiter,
    )
    first = "key" if by == "key" else "obj"

    def describe(target: Any) -> Any:
        if inspect.isclass(target):
            if not callable(getattr(target, "reconcile", None)):
                raise TypeError(f"@controller on {target.__name__}: the class has no reconcile(self, obj, ctx) method")
            if finalize is not None:
                raise TypeError(f"@controller on {target.__name__}: give the class a finalize method, not finalize=")
            _check_parameters(target, "reconcile", first, spec)
            if hasattr(target, "finalize"):
                if by == "key":
                    raise TypeError(f'@controller(by="key") on {target.__name__}: has no object to finalize')
                _check_parameters(target, "finalize", first, spec)
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
                    f"@controller: {_called(function)}{_signature(function)} must take two arguments, ({first}, ctx)"
                )
            if function is not None:
                _check_annotation(function, 0, spec)
        return FunctionController(spec, target, finalize)

    return describe


def _is_kind(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Object)


def _called(value: object) -> str:
    return getattr(value, "__name__", None) or repr(value)


def _idle(finalizer: str) -> str:
    return f"controller(finalizer={finalizer!r}): there is nothing to finalize"


def _check_finalizer(option: str, finalizer: str) -> None:
    problem = label_key_problem(finalizer)
    if problem is None and "/" not in finalizer:
        problem = "has no domain; write it as example.com/name"
    if problem is not None:
        raise ValueError(f"controller({option}={finalizer!r}): {problem}")


def _check_parameters(cls: type, method: str, first: str, spec: ControllerSpec) -> None:
    function = getattr(cls, method)
    if not callable(function):
        raise TypeError(f"@controller on {cls.__name__}: {method} is not a method")
    given = 3 if inspect.isfunction(inspect.getattr_static(cls, method)) else 2
    if not _takes(function, given):
        rule = f"{method}{_signature(function)} must take (self, {first}, ctx)"
        raise TypeError(f"@controller on {cls.__name__}: {rule}")
    _check_annotation(function, given - 2, spec)


def _check_annotation(function: Callable[..., Any], place: int, spec: ControllerSpec) -> None:
    """Refuse a function whose parameter at `place` says that it is of another kind than it will be given."""
    try:
        parameters = list(signature_of(function).parameters.values())
    except ValueError:  # written in C
        return
    if len(parameters) <= place:
        return
    name, said = parameters[place].name, parameters[place].annotation
    if isinstance(said, str):  # postponed: a plain name is looked up, anything else is taken on trust
        said = getattr(function, "__globals__", {}).get(said)
    expected: type = Key if spec.by == "key" else spec.kind
    if (_is_kind(said) or said is Key) and not issubclass(expected, said):
        cure = f"say {name}: {expected.__name__}, or @controller({_called(said)}) if that is meant"
        raise TypeError(
            f"@controller({spec.kind.__name__}): {_called(function)} is given a {expected.__name__}, and says"
            f" {name}: {_called(said)}; {cure}"
        )


def _takes(function: Callable[..., Any], count: int) -> bool:
    """Whether it can be called with so many positional arguments."""
    try:
        signature_of(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # written in C, and silent about it
        return True
    return True


def _signature(function: Callable[..., Any]) -> str:
    return f"({', '.join(signature_of(function).parameters)})"


class BoundController(msgspec.Struct, frozen=True):
    """A description with the functions to call: what the runner works with."""

    spec: ControllerSpec
    reconcile: Callable[[Any, Any], Any]
    finalize: Callable[[Any, Any], Any] | None
    watches: tuple[Watch, ...] = ()
    sources: tuple[Source, ...] = ()

    @property
    def kinds(self) -> tuple[type[Object], ...]:
        """All that is watched for it, its own kind first."""
        found = dict.fromkeys((self.spec.kind, *(child.kind for child in self.spec.owns)))
        for watch in self.watches:
            found.update(dict.fromkeys((watch.kind, *watch.reads)))
        return tuple(found)


def bind(described: object) -> BoundController:
    """From what a user gave to an operator.

    Raises:
        TypeError: it is not a controller; the message says what is missing.
    """
    if isinstance(described, FunctionController):
        all_sources = (*described.spec.sources, *described._sources)
        function, finalize = described.function, described.finalize_function
        return BoundController(described.spec, function, finalize, described._watches, all_sources)
    spec = getattr(described, "__controller__", None)
    if inspect.isclass(described):
        fix = "pass an instance of it" if spec else "decorate it with @controller and pass an instance of it"
        raise TypeError(f"{described.__name__} is a class; {fix}")
    if not isinstance(spec, ControllerSpec):
        name = getattr(described, "__name__", None) or repr(described)
        raise TypeError(f"{name} is not a controller; decorate it with @controller(Kind)")
    finalize = getattr(described, "finalize", None)
    watched, sources = parts_of(described)
    return BoundController(spec, cast("Any", described).reconcile, finalize, watched, (*spec.sources, *sources))
