"""What else wakes a controller: other objects, mapped to its own, and whatever a program iterates over.

    @reconcile.watches(Secret, predicate=has_label("example.com/db"))
    def databases_of(secret: Secret, cache: Lookup) -> Iterable[Key]:
        return cache.keys(Database, by_secret, secret.metadata.name)

    @reconcile.source
    async def orders(ctx: SourceContext) -> AsyncIterator[Key]: ...

Descriptions only; `mapping` and `sources` run them. A class controller has methods decorated with `watches(Kind)` and
`source`.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import msgspec

from kubewright.model import Key, Object, info_of

from .lookup import Lookup
from .predicates import Predicate

if TYPE_CHECKING:
    from .sources import SourceContext

__all__ = ["Mapper", "Owned", "Source", "Watch", "check_kind", "owned", "parts_of", "source", "source_of"]
__all__ += ["watch_of", "watches"]

T = TypeVar("T", bound=Object)
F = TypeVar("F", bound=Callable[..., Any])

Woken: TypeAlias = Iterable[Key]
Mapper: TypeAlias = Callable[[Any, Lookup], "Woken | Awaitable[Woken]"]
_MARK = "__kubewright_wakes__"


class Owned(msgspec.Struct, frozen=True):
    """A kind of children. See `owned`."""

    kind: type[Object]
    predicate: Predicate | None = None
    any_owner: bool = False


def owned(kind: type[Object], *, predicate: Predicate | None = None, any_owner: bool = False) -> Owned:
    """For `owns=[...]`: a kind of children, with more to say about it than its class.

    Args:
        predicate: which of their changes reconcile the owner; all unless given.
        any_owner: reconcile every owner of the controller's kind, and not only the one that is the controller.
    """
    check_kind("owned", kind)
    _check_predicate("owned", predicate)
    return Owned(kind, predicate, any_owner)


class Watch(msgspec.Struct, frozen=True):
    """Changes of other objects, and whom they concern."""

    kind: type[Object]
    mapper: Mapper
    predicate: Predicate | None
    reads: tuple[type[Object], ...]
    name: str


class Source(msgspec.Struct, frozen=True):
    """Something asynchronous that says which objects to reconcile."""

    run: Callable[[SourceContext], AsyncIterator[Key]]
    name: str
    priority: int = 0


class _Watches(Protocol):
    def __call__(self, mapper: F, /) -> F: ...


def watches(
    kind: type[Object],
    *,
    predicate: Predicate | None = None,
    reads: Sequence[type[Object]] = (),
) -> _Watches:
    """For a method of a class controller: maps objects of another kind to the names of those to reconcile.

    The method is given the object and a `Lookup` of the cache, and returns names. It is called for the states before
    and after a change, so that an object which no longer points somewhere wakes what it pointed to. An `async def` may
    wait; then the changes of one object are mapped one after the other. What raises is logged and tried again with
    back-off: no change is lost.

    Args:
        predicate: which changes to map; all unless given.
        reads: other kinds that the mapper looks up. The controller's own, and all it watches, are there already.
    """
    describe = watch_of(kind, predicate=predicate, reads=reads)

    def mark(mapper: F) -> F:
        _marks(mapper).append(describe(mapper))
        return mapper

    return mark


def watch_of(
    kind: type[Object], *, predicate: Predicate | None, reads: Sequence[type[Object]]
) -> Callable[[Mapper], Watch]:
    """The description that `watches` makes of a mapper. Raises TypeError."""
    check_kind("watches", kind)
    _check_predicate("watches", predicate)
    for each in reads:
        check_kind("watches(reads=[...])", each)
    return lambda mapper: Watch(kind, mapper, predicate, tuple(reads), _name(mapper))


def source(function: F) -> F:
    """For a method of a class controller: an async generator that yields the names of objects to reconcile.

    It runs while the controller does, and is given a `SourceContext`. One that ends has nothing more to say; one that
    raises is started again, with back-off.
    """
    _marks(function).append(source_of(function))
    return function


def source_of(function: Callable[..., Any]) -> Source:
    """The description that `source` makes of a function. Raises TypeError."""
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"source {_name(function)}: must yield the names of objects: async def with yield")
    return Source(function, _name(function))


def parts_of(target: object) -> tuple[tuple[Watch, ...], tuple[Source, ...]]:
    """What the methods of a class controller's instance watch, bound to it."""
    watched: list[Watch] = []
    sources: list[Source] = []
    for name in dir(type(target)):
        function = inspect.getattr_static(type(target), name, None)
        for part in getattr(function, _MARK, ()):
            bound = getattr(target, name)
            if isinstance(part, Watch):
                watched.append(msgspec.structs.replace(part, mapper=bound))
            else:
                sources.append(msgspec.structs.replace(part, run=bound))
    return tuple(watched), tuple(sources)


def check_kind(what: str, kind: object) -> None:
    """Raises TypeError unless `kind` is the class of a kind."""
    if not (isinstance(kind, type) and issubclass(kind, Object)):
        called = getattr(kind, "__name__", None) or repr(kind)
        rule = "is not the class of a kind; import it, such as from kubewright.models.apps.v1 import Deployment"
        raise TypeError(f"{what}: {called} {rule}")
    info_of(kind)


def _check_predicate(what: str, predicate: object) -> None:
    if predicate is not None and not isinstance(predicate, Predicate):
        called = getattr(predicate, "__name__", None) or repr(predicate)
        raise TypeError(f"{what}(predicate={called}): must be a Predicate; make one with where(...) or changed(...)")


def _marks(function: Any) -> list[Watch | Source]:
    if not hasattr(function, _MARK):
        setattr(function, _MARK, [])
    marks: list[Watch | Source] = getattr(function, _MARK)
    return marks


def _name(function: object) -> str:
    return getattr(function, "__name__", None) or type(function).__name__
