"""What programs import from `kubewright` is what its rooms have, and costs nothing until it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kubewright
from kubewright.controller import predicates, sources, watching

BY_HOME = {
    predicates: [name for name in predicates.__all__ if name != "filtered"],
    sources: ["SourceContext", "every"],
    watching: ["owned", "source", "watches"],
}


@pytest.mark.parametrize("name", kubewright.__all__)
def test_every_name_can_be_imported(name: str) -> None:
    assert getattr(kubewright, name) is not None


@pytest.mark.parametrize(("home", "name"), [(home, name) for home, names in BY_HOME.items() for name in names])
def test_what_a_controller_is_described_with_is_at_hand(home: object, name: str) -> None:
    assert name in kubewright.__all__
    assert getattr(kubewright, name) is getattr(home, name)


def test_a_name_loads_its_room_when_it_is_used_and_not_before() -> None:
    program = (
        "import sys, kubewright\n"
        "print('kubewright.controller' in sys.modules)\n"
        "kubewright.generation_changed\n"
        "print('kubewright.controller' in sys.modules, callable(kubewright.controller))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["False", "True", "True"]
