"""Every numbered guarantee of this room has a test that is named after it, and no test is of a number that is none.

A test says in its name what it is of: `test_runner_g1_g2_...`, `test_pass_g1_finalizing_g1_...`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kubewright.controller import finalizing, reconciler, runner
from kubewright.controller.echoes import Echoes
from kubewright.controller.mapping import Mapping

SAID = {
    "runner": (runner.__doc__, 6),
    "pass": (reconciler.__doc__, 5),
    "finalizing": (finalizing.__doc__, 3),
    "mapping": (Mapping.__doc__, 2),
    "echoes": (Echoes.__doc__, 2),
}


def promised(doc: str | None) -> list[str]:
    guarantees = re.split("Attributes|Cancellation|Caveats", (doc or "").partition("Guarantees:")[2])[0]
    return re.findall(r"\bG\d\b", guarantees)


def numbers_of_tests(room: str) -> set[str]:
    names = re.findall(r"^def (test_\w+)", "\n".join(map(Path.read_text, Path(__file__).parent.glob("*.py"))), re.M)
    return {
        number.upper()
        for name in names
        for numbers in re.findall(rf"_{room}((?:_g\d)+)", name)
        for number in re.findall(r"g\d", numbers)
    }


@pytest.mark.parametrize("room", SAID)
def test_every_numbered_guarantee_has_a_test_of_its_number(room: str) -> None:
    doc, count = SAID[room]
    assert promised(doc) == [f"G{number}" for number in range(1, count + 1)]
    assert numbers_of_tests(room) == set(promised(doc))
