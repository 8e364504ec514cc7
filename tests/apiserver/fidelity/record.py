"""Records what the real kube-apiserver answers: `python -m tests.apiserver.fidelity.record [--check] [SUBJECT ...]`.

Starts etcd and kube-apiserver without controllers (they would touch what the cases look at), runs the cases side by
side, each in a namespace of its own, and writes `recorded/`. With `--check` nothing is written: the exit code tells
whether the recordings are still true.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Any

from kubewright.testing.access import ClusterAccess
from kubewright.testing.controlplane import ControlPlane

from . import comparing, recorded
from .cases import Case, Subject, load_all
from .doors import Door, RealDoor
from .recorded import Recording
from .running import Names, run_case, set_up

_AT_A_TIME = 32
"""Cases at a time: most of them wait, for a watch or a new CRD."""

_PATIENCE_WITH_CONTROLLERS = 60.0
"""The namespace controller begins after 5 s, and looks again after 8."""


class RecordingFailed(Exception):
    """Cases that could not be run; `failures` says which and why."""

    def __init__(self, failures: Sequence[str]) -> None:
        super().__init__(failures)
        self.failures = failures

    def __str__(self) -> str:
        return "\n".join([f"{len(self.failures)} cases could not be recorded:", *self.failures])


def record(access: ClusterAccess, subjects: Sequence[Subject]) -> dict[str, Recording]:
    """Return the recordings by subject. Raises RecordingFailed."""
    return asyncio.run(_record(access, subjects))


async def _record(access: ClusterAccess, subjects: Sequence[Subject]) -> dict[str, Recording]:
    door = RealDoor(access)
    names = Names()
    failures: list[str] = []
    if any(subject.controllers for subject in subjects):
        door.patience_seconds = _PATIENCE_WITH_CONTROLLERS
    await door.start()
    try:
        limit = asyncio.Semaphore(_AT_A_TIME)
        together = [subject for subject in subjects if not (subject.alone or subject.apart)]
        results = await asyncio.gather(*(_subject(door, each, names, limit, failures) for each in together))
        result = {subject.name: recording for subject, recording in zip(together, results, strict=True)}
        for subject in subjects:
            if subject.alone or subject.apart:
                some = asyncio.Semaphore(1) if subject.alone else limit
                result[subject.name] = await _subject(door, subject, names, some, failures)
    finally:
        await door.close()
    if failures:
        raise RecordingFailed(failures)
    return result


async def _subject(
    door: Door, subject: Subject, names: Names, limit: asyncio.Semaphore, failures: list[str]
) -> Recording:
    async with limit:
        shared = await set_up(door, subject, names)

    async def one(case: Case) -> list[Any]:
        async with limit:
            try:
                return await run_case(door, case, shared, names)
            except Exception as error:
                failures.append(f"{case.key}: {error!r}")
                return []

    answers = await asyncio.gather(*(one(case) for case in subject.cases))
    return {case.name: answer for case, answer in zip(subject.cases, answers, strict=True)}


def by_server(subjects: Sequence[Subject]) -> list[tuple[dict[str, Any], list[Subject]]]:
    """The subjects that one server can answer, for each server, which is a `ControlPlane` with these options."""
    found: dict[tuple[tuple[str, ...], bool], list[Subject]] = {}
    for subject in subjects:
        found.setdefault((subject.plugins, subject.controllers), []).append(subject)
    return [
        # Tests start kube-apiserver with all admission plugins but one.
        ({"api_server_args": ["--disable-admission-plugins="] if plugins else [], "controllers": controllers}, those)
        for (plugins, controllers), those in found.items()
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.apiserver.fidelity.record", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="files in cases/ without ending (default: all)")
    options = parser.parse_args(arguments)
    subjects = [each for each in load_all() if not options.subjects or each.name in options.subjects]
    recordings: dict[str, Recording] = {}
    started = time.monotonic()
    for server, together in by_server(subjects):
        with ControlPlane(**server) as control_plane:
            try:
                recordings |= record(control_plane.access, together)
            except RecordingFailed as error:
                print(error, file=sys.stderr)
                return 2
    took = time.monotonic() - started
    changed: list[str] = []
    for name, recording in recordings.items():
        path, text = recorded.path_of(name), recorded.text_of(recording)
        if not path.exists() or path.read_text() != text:
            changed.append(name)
            if options.check:
                print(comparing.differences(recorded.read(name), recording, name), file=sys.stderr)
            else:
                path.write_text(text)
    cases = sum(len(subject.cases) for subject in subjects)
    print(f"{cases} cases of {len(subjects)} subjects in {took:.1f} s; changed: {', '.join(changed) or 'none'}")
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
