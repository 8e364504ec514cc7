"""Counters, gauges and histograms, and the registry that they are read from.

Owns the numbers and their names. Refuses to know formats (`exposition`), what is measured (`instruments`, `process`)
and who asks.

    Registry ──< Family (name, help, kind, label names) ──< child: Counter | Gauge | Histogram | Reading
        └──< collectors: functions that give whole families when they are asked

Who counts holds on to the child: `done = family.labels("web", "success")` once, `done.inc()` a million times. A child
is a slot or two and one addition (inc 0.05 us, observe 0.13 us; prometheus_client's 0.3 and 0.6 with a lock and a value
object each, and 1 us more for a look-up by label). What only has to be known when somebody looks is not counted at all:
a `Reading` calls a function then.

There is no default registry: a manager has its own, so that two of them in one process count apart.

Names are Prometheus' (https://prometheus.io/docs/concepts/data_model/): a counter ends with `_total`, and names that
would be one in either format (`x` and `x_total`, `x_count` and the histogram `x`) cannot both be made.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar, cast

__all__ = [
    "Collector",
    "Counter",
    "Distribution",
    "Family",
    "Gauge",
    "Histogram",
    "Kind",
    "Labels",
    "Metric",
    "Point",
    "Reading",
    "Registry",
]

Kind: TypeAlias = Literal["counter", "gauge", "histogram"]
Labels: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values, sorted by name."""

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")


# What is read


class Point(NamedTuple):
    """A number."""

    labels: Labels
    value: float


class Distribution(NamedTuple):
    """What a histogram has seen: `counts[i]` values up to `bounds[i]` and above the bound before; the last one above
    all bounds."""

    labels: Labels
    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    sum: float


class Metric(NamedTuple):
    """A family at one moment. `points` are numbers, or distributions for a histogram, in the order of their labels."""

    name: str
    kind: Kind
    help: str
    points: Sequence[Point] | Sequence[Distribution]


Collector: TypeAlias = Callable[[], Iterable[Metric]]
"""Gives families when asked. Must not block: it runs on the event loop."""


# What is counted


class Counter:
    """A number that only grows, from 0."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def inc(self, amount: float = 1.0) -> None:
        """Count. Raises ValueError for less than nothing."""
        if amount < 0:
            raise ValueError(f"inc(amount={amount!r}): a counter only grows; use a gauge")
        self.value += amount


class Gauge:
    """A number that goes up and down; 0 before it is set."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def set(self, value: float) -> None:
        self.value = value

    def inc(self, amount: float = 1.0) -> None:
        self.value += amount

    def dec(self, amount: float = 1.0) -> None:
        self.value -= amount


class Reading:
    """A number that is asked for when it is read."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], float]) -> None:
        self._read = read

    @property
    def value(self) -> float:
        return self._read()


class Histogram:
    """Numbers, counted by size. Attributes: `bounds`, `counts` and `sum` as of `Distribution`."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    @property
    def count(self) -> int:
        """How many numbers."""
        return sum(self.counts)


C = TypeVar("C", Counter, Gauge, Histogram)


class Family(Generic[C]):
    """All children of one name; made by a `Registry`."""

    def __init__(self, name: str, kind: Kind, help: str, label_names: tuple[str, ...], make: Callable[[], C]) -> None:  # noqa: A002
        self.name = name
        self.kind: Kind = kind
        self.help = help
        self.label_names = label_names
        self._make: Callable[[], C] = make
        self._children: dict[tuple[str, ...], C | Reading] = {}
        # Sorted names, each with its place among the values.
        self._order = sorted((label, place) for place, label in enumerate(label_names))

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}{{{','.join(self.label_names)}}}>"

    def labels(self, *values: str) -> C:
        """The child with these label values, in the order of the label names; made, and from then on shown, when new.

        Raises:
            ValueError: too few or too many, or that child is read from a function.
        """
        child = self._children.get(self._checked(values))
        if child is None:
            child = self._children[values] = self._make()
        elif isinstance(child, Reading):
            raise ValueError(f"{self.name}{values}: is read from a function; it cannot be counted as well")
        return child

    def read(self, function: Callable[[], float], *values: str) -> None:
        """Ask `function` whenever the child with these label values is read; in place of one that is there."""
        if self.kind == "histogram":
            raise ValueError(f"{self.name}: a histogram is not one number; register a collector")
        self._children[self._checked(values)] = Reading(function)

    def remove(self, *values: str) -> None:
        """Show the child with these label values no more, if there is one."""
        self._children.pop(self._checked(values), None)

    def collect(self) -> Metric:
        """All children as they are now."""
        points: list[Point] = []
        distributions: list[Distribution] = []
        for labels, child in sorted((self._labels(values), child) for values, child in self._children.items()):
            if isinstance(child, Histogram):
                distributions.append(Distribution(labels, child.bounds, tuple(child.counts), child.sum))
            else:
                points.append(Point(labels, child.value))
        return Metric(self.name, self.kind, self.help, distributions or points)

    def _labels(self, values: tuple[str, ...]) -> Labels:
        return tuple((name, values[place]) for name, place in self._order)

    def _checked(self, values: tuple[str, ...]) -> tuple[str, ...]:
        if len(values) != len(self.label_names):
            raise ValueError(
                f"{self.name}{values}: has the labels ({', '.join(self.label_names)}); give one value each"
            )
        return values


class Registry:
    """Families by name, and collectors.

    Expected flow: make families, hold on to their children, `collect` when somebody asks.

    Guarantees:
        M1 Asking for a family that is there gives that one, if it is the same in all; else it is an error.
        M2 `collect` is in the order of the names, and of the label values within each: equal states read equal.
        M3 No two names that a scraper could take for one.
    Caveats: made for the thread of one event loop. From other threads an addition may be lost now and then, as nothing
        locks.
    """

    def __init__(self) -> None:
        self._families: dict[str, Family[Counter] | Family[Gauge] | Family[Histogram]] = {}
        self._taken: dict[str, str] = {}
        self._collectors: list[Collector] = []

    def counter(self, name: str, help: str, labels: Sequence[str] = ()) -> Family[Counter]:  # noqa: A002
        """A family of counters. `name` ends with `_total`; without labels the one child is there at once.

        Raises:
            ValueError: the name, a label name or the help text breaks a rule, or the name is taken by another family.
        """
        if not name.endswith("_total"):
            raise ValueError(f"counter {name!r}: must end with _total; OpenMetrics has no other counters")
        return self._family(Family(name, "counter", help, tuple(labels), Counter))

    def gauge(self, name: str, help: str, labels: Sequence[str] = ()) -> Family[Gauge]:  # noqa: A002
        """A family of gauges. As `counter`."""
        return self._family(Family(name, "gauge", help, tuple(labels), Gauge))

    def histogram(
        self,
        name: str,
        help: str,  # noqa: A002
        labels: Sequence[str] = (),
        *,
        buckets: Sequence[float],
    ) -> Family[Histogram]:
        """A family of histograms with the same upper bounds, ascending; the last, +Inf, is understood. As `counter`."""
        bounds = tuple(float(bound) for bound in buckets if bound != inf)
        if not bounds or any(low >= high for low, high in pairwise(bounds)):
            raise ValueError(f"histogram {name!r}: buckets={tuple(buckets)!r} must be some, in ascending order")
        return self._family(Family(name, "histogram", help, tuple(labels), lambda: Histogram(bounds)), bounds)

    def register(self, collector: Collector) -> None:
        """Ask `collector` too. The same one twice is one."""
        if collector not in self._collectors:
            self._collectors.append(collector)

    def unregister(self, collector: Collector) -> None:
        """Ask `collector` no more."""
        if collector in self._collectors:
            self._collectors.remove(collector)

    def collect(self) -> list[Metric]:
        """All families that have children.

        Raises:
            ValueError: two give the same name. Exception: a collector or a function of a `Reading` failed.
        """
        found = [family.collect() for family in self._families.values()]
        found += [metric for collector in self._collectors for metric in collector()]
        found.sort(key=lambda metric: metric.name)
        for one, other in pairwise(found):
            if one.name == other.name:
                raise ValueError(f"metric {one.name}: given by two collectors; leave it out of one of them")
        return [metric for metric in found if metric.points]

    def value(self, name: str, *labels: str) -> float | None:
        """The number at a family's label values (how many numbers, for a histogram), without making a child.

        For tests and for conditions on oneself; None when there is none.
        """
        family = self._families.get(name)
        child = family._children.get(labels) if family is not None else None
        return child.count if isinstance(child, Histogram) else None if child is None else child.value

    def _family(self, family: Family[C], bounds: tuple[float, ...] = ()) -> Family[C]:
        present = self._families.get(family.name)
        if present is not None:
            if _shape(present) != _shape(family) or (bounds and bounds != _bounds(present)):
                raise ValueError(f"{family!r}: the name is taken by {present!r}; choose another one")
            return cast("Family[C]", present)  # its kind, so its children, are the same
        _check(family)
        for name in _names(family):
            if name in self._taken:
                raise ValueError(f"{family!r}: cannot be told from {self._taken[name]}; choose another name")
        self._taken.update(dict.fromkeys(_names(family), repr(family)))
        self._families[family.name] = family
        if not family.label_names:
            family.labels()
        return family


def _check(family: Family[C]) -> None:
    if not _NAME.fullmatch(family.name):
        raise ValueError(f"metric {family.name!r}: must be letters, digits, '_' and ':', and not begin with a digit")
    if not family.help:
        raise ValueError(f"metric {family.name!r}: needs a help text")
    for label in family.label_names:
        if not _LABEL.fullmatch(label) or (label == "le" and family.kind == "histogram"):
            raise ValueError(
                f"metric {family.name!r}: label {label!r} must be letters, digits and '_', not begin with a digit or "
                "'__', and not be 'le' of a histogram"
            )
    if len(set(family.label_names)) < len(family.label_names):
        raise ValueError(f"metric {family.name!r}: labels {family.label_names} must differ")


def _names(family: Family[C]) -> Iterator[str]:
    """All names that stand for a family or its samples, in either format."""
    yield family.name
    if family.kind == "counter":
        yield family.name.removesuffix("_total")
    elif family.kind == "histogram":
        yield from (f"{family.name}_{suffix}" for suffix in ("bucket", "sum", "count"))


def _shape(family: Family[Counter] | Family[Gauge] | Family[Histogram]) -> tuple[object, ...]:
    return family.kind, family.help, family.label_names


def _bounds(family: Family[Counter] | Family[Gauge] | Family[Histogram]) -> tuple[float, ...]:
    made = family._make()
    return made.bounds if isinstance(made, Histogram) else ()
