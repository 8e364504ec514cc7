"""The tests of a real control plane on the embedded API server, as they are: in a pytest run of their own.

What takes longer (processes, random rules) is left to `make test-embedded`, which runs all of them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATHS = [
    "tests/client",
    "tests/controller",
    "tests/manager",
    "tests/models",
    "tests/test_fakeapi.py",
    "tests/testing/test_control_plane.py",
    "tests/schema/structural/test_cases_control_plane.py",
    "tests/schema/structural/test_crd_check_control_plane.py",
    "tests/schema/structural/test_diff_control_plane.py",
    "tests/schema/structural/test_resource_control_plane.py",
    "tests/schema/structural/test_string_formats_control_plane.py",
    "tests/schema/test_schema_control_plane.py",
]
AT_LEAST = 780


@pytest.mark.slow
@pytest.mark.control_plane  # for kubectl
def test_the_contracts_of_a_real_server_hold_on_the_embedded_one() -> None:
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "control_plane and not soak"]
    # What a test leaves behind is a failure of its run on the real server; here it would be one of whoever comes next.
    command += ["-W", "ignore::pytest.PytestUnraisableExceptionWarning"]
    env = {name: each for name, each in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, *command, "--kubewright-cluster=embedded", *PATHS],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= AT_LEAST


def test_every_exclusion_has_a_reason_and_is_of_a_file_that_exists() -> None:
    for each in tomllib.loads((ROOT / "tests" / "embedded_exclusions.toml").read_text())["excluded"]:
        assert each["reason"]
        assert each.get("tests") or each.get("fixtures")
        for place in each.get("tests", ()):
            path, _, name = place.partition("::")
            assert (ROOT / path).exists(), place
            assert not name or f"def {name.partition('[')[0]}(" in (ROOT / path).read_text(), place
