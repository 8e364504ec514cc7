"""Runs one case on a fresh embedded server.

`python -m tests.apiserver.fidelity.replaying [SUBJECT ...]` prints a report: which cases differ, grouped by the first
difference.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from . import recorded
from .cases import Case, Subject, load_all
from .comparing import differences
from .embedded import EmbeddedDoor
from .known import reasons
from .running import Names, StepFailed, run_case, set_up

_CASE_SECONDS = 20.0
"""The longest wait of a recorded case is 3 s."""


async def replay(subject: Subject, case: Case) -> list[Any]:
    """Return what the embedded server answers, as `recorded` has it; a step that fails is an answer as well."""
    door = EmbeddedDoor(plugins=subject.plugins, controllers=subject.controllers)
    names = Names(counted=True)
    try:
        shared = await set_up(door, subject, names)
    except StepFailed:
        shared = "missing.example.com"
    try:
        return await asyncio.wait_for(run_case(door, case, shared, names), _CASE_SECONDS)
    except (StepFailed, TimeoutError) as error:
        return [{"failed": str(error) or "no end"}]
    finally:
        await door.close()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.apiserver.fidelity.replaying", description=__doc__)
    parser.add_argument("--all", action="store_true", help="all differences of each case, not only the first")
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="files in cases/ without ending (default: all)")
    options = parser.parse_args(arguments)
    groups: dict[str, list[str]] = collections.defaultdict(list)
    total = equal = 0
    for subject in load_all():
        if options.subjects and subject.name not in options.subjects:
            continue
        recording = recorded.read(subject.name)
        good = 0
        for case in subject.cases:
            try:
                found = asyncio.run(replay(subject, case))
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                found = [{"raised": f"{error!r} at {where.filename.rpartition('/')[2]}:{where.lineno}"}]
            text = differences(recording.get(case.name), found)
            total += 1
            if not text:
                equal += 1
                good += 1
                continue
            lines = text.split("\n")
            first = next((line for line in lines if "raised" in line or "failed" in line), lines[0])
            known = " (known)" if case.key in reasons() else ""
            shown = "".join(f"\n      {line}" for line in (lines if options.all else [first]))
            groups[_cause(first)].append(f"{case.key}{known}{shown}")
        print(f"{subject.name}: {good} of {len(subject.cases)}", file=sys.stderr)
    print(f"{equal} of {total} cases are answered as by the real server (expected -> found)\n")
    for cause, cases in sorted(groups.items(), key=lambda each: -len(each[1])):
        print(f"{len(cases)} x {cause}")
        for each in cases:
            print(f"    {each}")
    return 0


def _cause(line: str) -> str:
    """Return the difference without what is peculiar to one case."""
    where, _, what = line.partition(": ")
    return f"{re.sub(r'^.*?[.]', '', re.sub(r'[0-9]+', 'N', where))}: {what}"[:160]


if __name__ == "__main__":
    sys.exit(main())
