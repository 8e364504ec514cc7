"""What the benchmark runs, built once into the user's cache: three Go programs and one virtual environment per peer.

Owns which they are, and nothing that runs; `hack/goprograms.py` builds and keeps the Go programs. Kubewright is
installed from this checkout, editable, so that it is always what is in it; kopf gets an environment of its own and is
no dependency of the project.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from hack import goprograms

from kubewright.testing.gobuild import GoSource
from kubewright.testing.locks import FileLock
from kubewright.testing.paths import cache_dir

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
OPERATORS = BENCH / "operators"
PYTHON = os.environ.get("BENCH_PYTHON") or sys.executable
"""The interpreter of what is measured. How it was built makes a difference of a third."""
_BUILD_SECONDS = 3600.0


def go_program(source: Path) -> Path:
    """Build the Go module in a folder, if it is not built yet; the program."""
    return goprograms.go_program(GoSource(source), "-".join(source.relative_to(ROOT).parts))


def environment(name: str, *requirements: str) -> Path:
    """Make a virtual environment of PYTHON with what is required, if there is none yet; its folder of programs."""
    key = hashlib.sha256("\n".join((PYTHON, about_python()["version"], *requirements)).encode()).hexdigest()[:12]
    target = _cache() / f"venv-{name}-{key}"
    with FileLock(_cache() / f".venv-{name}.lock").held(_BUILD_SECONDS):
        if not (target / ".complete").exists():
            _say(f"making an environment with {' '.join(requirements)}")
            shutil.rmtree(target, ignore_errors=True)
            subprocess.run([PYTHON, "-m", "venv", str(target)], check=True)
            subprocess.run([str(target / "bin/python"), "-m", "pip", "install", "-q", *requirements], check=True)
            (target / ".complete").touch()
    return target / "bin"


@cache
def about_python() -> dict[str, str]:
    """What PYTHON says of itself: `version`, with date and compiler, and `options` that it was configured with."""
    text = (
        "import json, sys, sysconfig; print(json.dumps([sys.version, sysconfig.get_config_var('CONFIG_ARGS') or '']))"
    )
    version, options = json.loads(subprocess.run([PYTHON, "-c", text], capture_output=True, check=True).stdout)
    return {"version": version, "options": options}


def kubewright(*, speedups: bool) -> Path:
    """The environment of Kubewright as users install it: without extras, or with `speedups`."""
    where = f"{ROOT}[speedups]" if speedups else str(ROOT)
    return environment("kubewright-speedups" if speedups else "kubewright", "--editable", where)


def kopf() -> Path:
    """The environment of kopf."""
    return environment("kopf", *(OPERATORS / "kopf-requirements.txt").read_text().split())


def _cache() -> Path:
    folder = cache_dir() / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
