"""Hot loops: an object that is reconciled again and again because what its reconcile writes does not stay, or is never
the same twice.

Two such loops are common, and both look like work: a field that another writer puts back each time, and a field that
the reconcile itself makes anew (a time, a random name, a list in no fixed order), whose change wakes it again. Each
costs requests without end, for this operator and for everybody who watches.

    pass wrote, woken by a change ----5 in a window----> suspect: what its writes change is looked at, field by field
    suspect ----a field put back 10 times, or made anew 50 times, in a window----> hot: slowed, reported
    hot ----nothing of it for a while, or a new generation of the object----> forgotten

A write counts only in a pass that a change *of the same target* has caused, while the generation of the reconciled
object stays: a rollout whose status advances, a poll by `after`, an autoscaler on a timer, somebody who edits a spec
again and again are no loops. Numbers that only grow slowly (a canary) stay below 50 a minute.

Owns the counts and the decision. Pure: `now` is an argument, and what was written is told by who wrote it.

Cost: a dictionary entry for each object that was written in the last window, until it is found suspect.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import msgspec

from .fieldpaths import Path, text

__all__ = ["HotLoop", "HotLoops", "Suspect", "Target"]


class Target(NamedTuple):
    """What was written: the kind, and the object's name; of the reconciled object itself the kind is empty."""

    kind: str
    name: str


class HotLoop(msgspec.Struct, frozen=True):
    """What is reported.

    Attributes: `returns` and `writes` of the last window; `others`, how often somebody else had changed the field in
    between; `managers`, who else has set it, the last one first; `delay_seconds`, how long the next reconcile waits.
    """

    target: Target
    path: Path
    returns: int
    writes: int
    others: int
    within_seconds: float
    managers: tuple[str, ...]
    delay_seconds: float

    def __str__(self) -> str:
        field = f"{self.target.kind} {self.target.name}: {text(self.path)}" if self.target.kind else text(self.path)
        if self.returns and (self.others or self.managers):
            what = f"written back {self.returns} times in {self.within_seconds:.0f} s, against {_listed(self.managers)}"
            cure = "let one of the two leave the field out"
        elif self.returns:
            what = f"written back and forth {self.returns} times in {self.within_seconds:.0f} s"
            cure = "make the reconcile say the same for the same state"
        else:
            what = f"made anew {self.writes} times in {self.within_seconds:.0f} s, each time woken by the change before"
            cure = "leave out what is never the same, such as times and random names"
        return f"{field} was {what}; {cure}. It is reconciled every {self.delay_seconds:g} s at most until that ends"


class _Field:
    """The writes of one field, of the last window."""

    __slots__ = ("last", "managers", "others", "returns_at", "values", "written_at")

    def __init__(self, most: int) -> None:
        self.written_at: deque[float] = deque(maxlen=most)
        self.returns_at: deque[float] = deque(maxlen=most)
        self.values: deque[Any] = deque(maxlen=most)
        self.managers: dict[str, None] = {}
        self.last: Any = None
        self.others = 0

    def wrote(self, before: Any, after: Any, managers: Iterable[str], now: float, since: float) -> None:
        for times in (self.written_at, self.returns_at):
            while times and times[0] < since:
                times.popleft()
        if not self.written_at:
            self.values.clear()
            self.managers.clear()
            self.others = 0
        elif before != self.last:
            self.others += 1
        self.last = after
        if after in self.values:
            self.returns_at.append(now)
        else:
            self.values.append(after)
        self.written_at.append(now)
        self.managers.update(dict.fromkeys(managers))


class Suspect:
    """An object whose writes are looked at.

    Attributes: `generation`, the one for which it is suspect; `slowed_until`, when it may be reconciled again.
    """

    def __init__(self, rules: HotLoops, generation: int, now: float) -> None:
        self._rules = rules
        self._fields: dict[tuple[Target, Path], _Field] = {}
        self._written: dict[tuple[Target, Path], _Field] = {}  # since the last judgement
        self._seen_at = now
        self._delay_seconds = 0.0
        self.generation = generation
        self.slowed_until = 0.0

    def wrote(self, target: Target, path: Path, before: Any, after: Any, managers: Iterable[str], now: float) -> None:
        """A pass that a change of `target` has caused has changed one of its fields.

        Args:
            managers: who else had set it.
        """
        field = self._fields.get((target, path))
        if field is None:
            field = self._fields[target, path] = _Field(self._rules.most_writes)
        field.wrote(before, after, managers, now, now - max(self._rules.window_seconds, 4 * self._delay_seconds))
        self._written[target, path] = field
        self._seen_at = now

    def judge(self, now: float) -> HotLoop | None:
        """At the end of a pass that wrote: whether there is a loop. Then it is slowed, more each time."""
        rules = self._rules
        written, self._written = self._written, {}
        for (target, path), field in written.items():
            hot = len(field.returns_at) >= rules.most_returns or len(field.written_at) >= rules.most_writes
            if hot or (self._delay_seconds and (field.returns_at or len(field.written_at) > 1)):
                doubled = max(2 * self._delay_seconds, rules.first_seconds)
                self._delay_seconds = min(doubled, rules.longest_seconds)
                self.slowed_until = now + self._delay_seconds
                times = field.returns_at or field.written_at
                return HotLoop(
                    target=target,
                    path=path,
                    returns=len(field.returns_at),
                    writes=len(field.written_at),
                    others=field.others,
                    within_seconds=now - times[0],
                    managers=tuple(field.managers),
                    delay_seconds=self._delay_seconds,
                )
        return None

    @property
    def is_slowed(self) -> bool:
        return self._delay_seconds > 0

    def is_over(self, now: float) -> bool:
        """Whether nothing of it was seen for so long that it has ended."""
        return now - self._seen_at > max(self._rules.window_seconds, 4 * self._delay_seconds)


class HotLoops:
    """The objects of one controller.

    Args:
        window_seconds: the time in which writes are counted.
        suspect_passes: passes that wrote, from which on an object's writes are looked at; they cost a read each then.
        most_returns: how often a field may be put back to a value that it had in the window.
        most_writes: how often a field may be changed at all.
        first_seconds, longest_seconds: what a hot object waits for its next reconcile, doubled each time.

    Attributes: `suspects`, by object.
    """

    def __init__(
        self,
        *,
        window_seconds: float = 60.0,
        suspect_passes: int = 5,
        most_returns: int = 10,
        most_writes: int = 50,
        first_seconds: float = 1.0,
        longest_seconds: float = 60.0,
    ) -> None:
        self.window_seconds = window_seconds
        self.suspect_passes = suspect_passes
        self.most_returns = most_returns
        self.most_writes = most_writes
        self.first_seconds = first_seconds
        self.longest_seconds = longest_seconds
        self.suspects: dict[Hashable, Suspect] = {}
        self._counts: dict[Hashable, int] = {}
        self._counts_before: dict[Hashable, int] = {}
        self._counted_since = 0.0

    def __len__(self) -> int:
        """Objects that are slowed."""
        return sum(suspect.is_slowed for suspect in self.suspects.values())

    def wrote(self, key: Hashable, generation: int, now: float) -> None:
        """A pass that a change has caused has written something."""
        if now - self._counted_since > self.window_seconds:
            self._turn(now)
        count = self._counts[key] = self._counts.get(key, 0) + 1
        if count + self._counts_before.get(key, 0) >= self.suspect_passes and key not in self.suspects:
            self.suspects[key] = Suspect(self, generation, now)

    def suspect(self, key: Hashable, generation: int, now: float) -> Suspect | None:
        """At the start of a pass: whether its writes are to be looked at."""
        suspect = self.suspects.get(key)
        if suspect is None:
            return None
        if suspect.generation != generation or suspect.is_over(now):
            self.forget(key)
            return None
        return suspect

    def forget(self, key: Hashable) -> None:
        """The object is gone, or is another."""
        self.suspects.pop(key, None)
        self._counts.pop(key, None)
        self._counts_before.pop(key, None)

    def _turn(self, now: float) -> None:
        """Begin a new window. An object's writes are counted in this one and the one before."""
        self._counts_before = self._counts if now - self._counted_since <= 2 * self.window_seconds else {}
        self._counts = {}
        self._counted_since = now
        for key in [key for key, suspect in self.suspects.items() if suspect.is_over(now)]:
            del self.suspects[key]


def _listed(managers: tuple[str, ...]) -> str:
    if not managers:
        return "another writer"
    names = ", ".join(f'"{name}"' for name in managers[:3])
    return f"field manager {names}" if len(managers) == 1 else f"field managers {names}"
