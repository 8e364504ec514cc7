"""What goes into an election and what comes out of it: requests, answers, changes. Values without behaviour."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from .record import LeaseObject

__all__ = [
    "Answer",
    "Change",
    "Create",
    "Elected",
    "Ended",
    "Failed",
    "Found",
    "Get",
    "Lost",
    "Missing",
    "NewLeader",
    "Phase",
    "Renewed",
    "Request",
    "SlowPath",
    "Trouble",
    "Update",
]


class Phase(StrEnum):
    """Where an election stands.

    `STEPPING_DOWN`: the leadership is lost, and what it guarded may not have ended yet: nothing is asked for.
    """

    CANDIDATE = "candidate"
    LEADING = "leading"
    STEPPING_DOWN = "stepping down"
    RELEASING = "releasing"
    ENDED = "ended"


# Requests. Each is a new object, so that an answer can be told to be that of an earlier one.


class Get(Struct, frozen=True):
    """Read the Lease, from the server's storage and no cache: without a resourceVersion."""


class Create(Struct, frozen=True):
    """Create the Lease."""

    lease: LeaseObject


class Update(Struct, frozen=True):
    """Replace the Lease, if it is still of the resourceVersion that is in it."""

    lease: LeaseObject


Request: TypeAlias = Get | Create | Update

# Answers


class Found(Struct, frozen=True):
    """The Lease, as it was read or as it is after the write."""

    lease: LeaseObject


class Missing(Struct, frozen=True):
    """There is no such Lease."""


class Failed(Struct, frozen=True):
    """Any other answer, or none: a write may or may not have been carried out. `conflict`: surely not, it is older."""

    problem: str
    conflict: bool = False


Answer: TypeAlias = Found | Missing | Failed

# Changes


class Elected(Struct, frozen=True):
    """We lead until `valid_until` at least. `transitions` is the Lease's: it grows with each change of holder."""

    transitions: int
    valid_until: float


class Renewed(Struct, frozen=True):
    """We lead until `valid_until` at least. `transitions` is as before, unless somebody has edited the Lease."""

    transitions: int
    valid_until: float


class Lost(Struct, frozen=True):
    """We lead no more. Nothing is asked for before `stepped_down`."""

    reason: str


class NewLeader(Struct, frozen=True):
    """Another holder than before was seen, perhaps ourselves. "": nobody."""

    identity: str


class SlowPath(Struct, frozen=True):
    """A renewal had to read the Lease first (leader_election_slowpath_total)."""


class Trouble(Struct, frozen=True):
    """The server cannot be asked, or refuses: told once until it has answered well. "": it does again."""

    problem: str


class Ended(Struct, frozen=True):
    """The election is over. `released`: the lease was given back, and is free."""

    released: bool


Change: TypeAlias = Elected | Renewed | Lost | NewLeader | SlowPath | Trouble | Ended
