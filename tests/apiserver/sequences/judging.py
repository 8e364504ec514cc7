"""Runs sequences on both servers, compares, and makes a counterexample small.

Owns the comparison: the whole normalised answers of a sequence, the events of its watches among them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from fidelity.cases import Case, Step, Subject
from fidelity.comparing import differences
from fidelity.doors import Door, RealDoor
from fidelity.embedded import EmbeddedDoor
from fidelity.running import Names, StepFailed, run_case, set_up

from kubewright.testing.access import ClusterAccess

from .operations import sequence

_AT_A_TIME = 24
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SUBJECT = Subject(
    "differential",
    "random operations",
    [
        Step({"ok": f"POST {_CRDS}", "body": {"$like": "shared-crd"}}),
        Step({"ok": "GET /apis/$shared/v1/widgets", "until": 200}),
        Step({"ok": f"POST {_CRDS}", "body": {"$like": "gadget-crd"}}),
        Step({"ok": "GET /apis/$shared/v1/gadgets", "until": 200}),
        Step({"ok": "GET /apis/$shared/v1beta1/gadgets", "until": 200}),
    ],
    [],
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came out: how many operations were compared in how many seconds, and the first counterexample, if any."""

    operations: int
    sequences: int
    seconds: float
    counterexample: str = ""


class _Server:
    def __init__(self, door: Door, names: Names) -> None:
        self._door, self._names = door, names
        self._shared = ""

    async def start(self) -> None:
        self._shared = await set_up(self._door, SUBJECT, self._names)

    async def run(self, steps: Sequence[Step]) -> list[Any]:
        try:
            return await run_case(self._door, Case("differential", "random", steps), self._shared, self._names)
        except StepFailed as error:
            return [{"failed": str(error)}]


def compare(access: ClusterAccess, *, seed: int, operations: int, length: int, shrink_seconds: float) -> Verdict:
    """Run sequences of about `length` operations, the first made from `seed`, the next from `seed + 1`, and so on,
    until there are `operations`; compare, and take up to `shrink_seconds` to make the first counterexample small.
    """
    return asyncio.run(_compare(access, seed, operations, length, shrink_seconds))


async def _compare(access: ClusterAccess, seed: int, operations: int, length: int, shrink_seconds: float) -> Verdict:
    started = time.monotonic()
    sequences: dict[int, Sequence[Step]] = {}
    while sum(map(len, sequences.values())) < operations:
        number = seed + len(sequences)
        sequences[number] = sequence(number, length)
    door = RealDoor(access)
    try:
        real, embedded = _Server(door, Names()), _Server(EmbeddedDoor(), Names(counted=True))
        await real.start()
        await embedded.start()
        limit = asyncio.Semaphore(_AT_A_TIME)

        async def differing(number: int) -> tuple[int, str]:
            async with limit:
                return number, await _difference(real, embedded, sequences[number])

        results = await asyncio.gather(*map(differing, sequences))
        total = sum(map(len, sequences.values()))
        seconds = time.monotonic() - started
        bad = {number: text for number, text in results if text}
        if not bad:
            return Verdict(total, len(sequences), seconds)
        number = min(bad)
        steps = await _shrunk(real, embedded, sequences[number], shrink_seconds)
        text = await _difference(real, embedded, steps) or bad[number]
        return Verdict(total, len(sequences), seconds, _shown(number, bad, steps, text))
    finally:
        await door.close()


async def _difference(real: _Server, embedded: _Server, steps: Sequence[Step]) -> str:
    return differences(*await asyncio.gather(real.run(steps), embedded.run(steps)))


async def _shrunk(real: _Server, embedded: _Server, steps: Sequence[Step], seconds: float) -> Sequence[Step]:
    """Leave out steps, many at a time and then fewer, as long as the servers still differ."""
    deadline = time.monotonic() + seconds
    size = max(1, len(steps) // 2)
    while size:
        start = 0
        while start < len(steps) and time.monotonic() < deadline:
            fewer = [*steps[:start], *steps[start + size :]]
            if fewer and await _difference(real, embedded, fewer):
                steps = fewer
            else:
                start += size
        size //= 2
    return steps


def _shown(number: int, bad: Mapping[int, str], steps: Sequence[Step], text: str) -> str:
    case = [{"case": f"counterexample {number}", "steps": [dict(step.data) for step in steps]}]
    return "\n".join(
        [
            f"the servers differ in {len(bad)} sequences; that of seed {number}, made small:",
            yaml.safe_dump(case, sort_keys=False, width=110),
            "real -> embedded:",
            text,
            "",
            "where the sequences differ first:",
            *(f"{each}: {_first(found)}" for each, found in sorted(bad.items())),
        ]
    )


def _first(text: str) -> str:
    return next((line for line in text.split("\n") if ".message:" in line), text.split("\n")[0])
