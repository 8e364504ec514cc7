"""`make demo` on a machine that has nothing but Python: no Go, no kubectl, no cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def test_the_demo_needs_neither_kubectl_nor_a_control_plane(tmp_path: Path) -> None:
    kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    env = {**kept, "PATH": "/nonexistent", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "examples.rediscluster.demo"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "there is no kubectl here" in done.stdout
    for step in ("three replicas are Ready", "scaled to five", "back and Ready", "nothing of it is left", "is gone"):
        assert f"{step}\n" in done.stdout, done.stdout
