"""`Condition` (meta/v1) and what one does with a list of them.

| rule | where it is written |
|---|---|
| the type is the key: one entry per type, others' entries are not ours to touch | API conventions, "Status" |
| `last_transition_time` moves when the status changes, and only then | apimachinery `meta.SetStatusCondition` |
| `observed_generation` says which generation of the spec the statement is about | meta/v1 Condition |
| type `CamelCase` or `prefix/CamelCase`; reason `CamelCase`, never empty; True, False or Unknown | meta/v1 validation |

Several controllers write conditions of one object. `merge_conditions` takes what this writer changed since it read the
object and keeps everything else as it is now: the way to write a list that the server would replace as a whole.

The read functions take conditions of any kind (those of Pods and Deployments have other fields), and None for a list
that is absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import ClassVar, Final, Literal, Protocol, TypeAlias, TypeVar

import msgspec

from .base import Model
from .names import label_key_problem
from .times import now as current_time
from .times import to_second

__all__ = [
    "Condition",
    "ConditionStatus",
    "find_condition",
    "is_false",
    "is_true",
    "merge_conditions",
    "remove_condition",
    "set_condition",
]

ConditionStatus: TypeAlias = Literal["True", "False", "Unknown"]

_STATUSES: Final = ("True", "False", "Unknown")
_REASON: Final = re.compile(r"[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_REASON_BYTES: Final = 1024
_MESSAGE_CHARACTERS: Final = 32768


class Condition(Model):
    """One statement about an object: `Condition(type="Ready", status="True", reason="AllReplicasUp")`.

    Give it to `set_condition`, which checks it and fills in `last_transition_time`. On the wire `message` is always
    there, also when it is empty; that time has to be.
    """

    __item_keys__: ClassVar = ("type",)

    type: str
    status: ConditionStatus
    observed_generation: int | None = None
    last_transition_time: datetime | None = None
    reason: str
    message: str = ""

    def check(self) -> None:
        """Raises ValueError: a field breaks the API conventions."""
        if problem := label_key_problem(self.type):
            raise ValueError(f"condition type {self.type!r}: {problem}")
        if self.status not in _STATUSES:
            raise ValueError(f"condition {self.type} status {self.status!r}: is none of {', '.join(_STATUSES)}")
        if self.observed_generation is not None and self.observed_generation < 0:
            raise ValueError(
                f"condition {self.type} observedGeneration {self.observed_generation}: is below 0; "
                "use the object's metadata.generation"
            )
        if _REASON.fullmatch(self.reason) is None:
            rule = "is not one word" if self.reason else "is empty"
            raise ValueError(
                f"condition {self.type} reason {self.reason!r}: {rule}; write CamelCase such as 'AllReplicasUp': "
                "letters, digits and '_', ',' or ':' inside, a letter first"
            )
        if len(self.reason) > _REASON_BYTES:
            raise ValueError(f"condition {self.type} reason {self.reason[:20]!r}...: has more than 1024 characters")
        if len(self.message) > _MESSAGE_CHARACTERS:
            raise ValueError(
                f"condition {self.type} message {self.message[:20]!r}...: has more than 32768 characters; shorten it"
            )


class AnyCondition(Protocol):
    """What conditions of all kinds have in common."""

    @property
    def type(self) -> str: ...

    @property
    def status(self) -> str: ...


ConditionT = TypeVar("ConditionT", bound=AnyCondition)


def find_condition(conditions: Iterable[ConditionT] | None, type: str) -> ConditionT | None:  # noqa: A002
    """The entry of that type itself, not a copy; None when there is none."""
    return next((each for each in conditions or () if each.type == type), None)


def is_true(conditions: Iterable[AnyCondition] | None, type: str) -> bool:  # noqa: A002
    """Whether the type is present and `True`: `is_true(deployment.status.conditions, "Available")`."""
    found = find_condition(conditions, type)
    return found is not None and found.status == "True"


def is_false(conditions: Iterable[AnyCondition] | None, type: str) -> bool:  # noqa: A002
    """Whether the type is present and `False`. An absent or Unknown condition is neither true nor false."""
    found = find_condition(conditions, type)
    return found is not None and found.status == "False"


def set_condition(
    conditions: list[Condition],
    new: Condition,
    *,
    now: datetime | None = None,
    observed_generation: int | None = None,
) -> bool:
    """Put `new` in place of the entry of its type, or at the end. Says whether the list changed.

    `last_transition_time` stays while the status stays; otherwise it is that of `new`, or `now`, cut to the second.
    `new` is not changed and not put into the list itself.

    Args:
        now: the time of a transition; the system's clock when it is not given.
        observed_generation: used where `new` has none: `web.metadata.generation`.

    Raises:
        ValueError: `new` breaks the API conventions; the list is as it was.
    """
    new.check()
    old = find_condition(conditions, new.type)
    if old is not None and old.status == new.status and old.last_transition_time is not None:
        since = old.last_transition_time
    else:
        since = to_second(new.last_transition_time or now or current_time())
    generation = observed_generation if new.observed_generation is None else new.observed_generation
    placed = msgspec.structs.replace(new, last_transition_time=since, observed_generation=generation)
    if old is None:
        conditions.append(placed)
        return True
    if old == placed:
        return False
    conditions[conditions.index(old)] = placed
    return True


def remove_condition(conditions: list[Condition], type: str) -> bool:  # noqa: A002
    """Take the type out of the list. Says whether it was there."""
    kept = [each for each in conditions if each.type != type]
    changed = len(kept) != len(conditions)
    if changed:
        conditions[:] = kept
    return changed


def merge_conditions(
    theirs: Sequence[Condition], ours: Sequence[Condition], base: Sequence[Condition]
) -> list[Condition]:
    """What to write when the list may have changed since it was read.

    Types that differ between `base` and `ours` (set, changed or removed here) are as in `ours`; all others are as in
    `theirs`. Where both changed a type to the same status, the transition is theirs: it happened before. The order is
    that of `theirs`, then new types in our order.

    Args:
        theirs: the list as it is on the server now.
        ours: the list as it should be, made from `base`.
        base: the list as it was read.
    """
    mine, read = _by_type(ours), _by_type(base)
    touched = {name for name in mine.keys() | read.keys() if mine.get(name) != read.get(name)}
    merged: dict[str, Condition] = {}
    for name, current in _by_type(theirs).items():
        if name not in touched:
            merged[name] = current
        elif name in mine:
            merged[name] = _since(mine[name], current)
    for name, wanted in mine.items():
        if name in touched and name not in merged:
            merged[name] = wanted
    return list(merged.values())


def _since(wanted: Condition, current: Condition) -> Condition:
    if wanted.status != current.status or current.last_transition_time is None:
        return wanted
    return msgspec.structs.replace(wanted, last_transition_time=current.last_transition_time)


def _by_type(conditions: Iterable[Condition]) -> dict[str, Condition]:
    found: dict[str, Condition] = {}
    for each in conditions:
        found.setdefault(each.type, each)  # of a type that is there twice, the first counts, as for find_condition
    return found
