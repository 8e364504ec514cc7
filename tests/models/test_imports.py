"""What an import costs: nothing that was not asked for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def run(program: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    found: dict[str, float] = json.loads(done.stdout)
    return found


LOADED = """
import json, sys
import {module}
print(json.dumps({{name: 0 for name in sys.modules if name.startswith("kubewright.models")}}))
"""


def test_the_model_does_not_import_the_built_in_kinds() -> None:
    assert run(LOADED.format(module="kubewright.model")) == {}


def test_the_package_imports_none_of_its_kinds() -> None:
    assert set(run(LOADED.format(module="kubewright.models"))) == {
        "kubewright.models",
        "kubewright.models._index",
        "kubewright.models.lookup",
        "kubewright.models.one_of",
    }


def test_a_group_imports_only_what_it_refers_to() -> None:
    loaded = set(run(LOADED.format(module="kubewright.models.rbac.v1")))
    assert "kubewright.models.rbac.v1" in loaded
    assert "kubewright.models.core.v1" not in loaded


TIMED = """
import json, time
import kubewright.model, kubewright.models
times = {}
for group in ("core", "apps"):
    start = time.process_time()
    __import__(f"kubewright.models.{group}.v1")
    times[group] = (time.process_time() - start) * 1000
start = time.process_time()
from kubewright.models.core.v1 import Pod
kubewright.model.decode(Pod, b'{"spec":{"containers":[]}}')
times["first Pod"] = (time.process_time() - start) * 1000
print(json.dumps(times))
"""


def test_importing_the_core_group_takes_milliseconds(record_property: pytest.RecordProperty) -> None:
    # 9 ms on a quiet machine; 28 where Python is told not to keep compiled modules. The bound is for loaded ones.
    times = run(TIMED)
    for name, milliseconds in times.items():
        record_property(name, milliseconds)
        print(f"{name}: {milliseconds:.1f} ms of CPU")
    assert times["core"] < 200
