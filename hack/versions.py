"""Run the tests that need no control plane on every supported Python that is installed here: `make test-versions`.

Each version gets a virtual environment of its own (`.venv-3.12`). One that is not installed is said to be left out.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def interpreter(version: str) -> str | None:
    found = shutil.which(f"python{version}")
    if found is not None and _runs(found):
        return found
    managed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(managed[-1]) if managed else None


def _runs(python: str) -> bool:
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def main() -> int:
    failed = []
    for version in VERSIONS:
        if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
            continue
        python = interpreter(version)
        if python is None:
            print(f"Python {version}: not installed, left out")
            continue
        venv = ROOT / f".venv-{version}"
        run = str(venv / "bin" / "python")
        if not Path(run).exists():
            subprocess.run([python, "-m", "venv", str(venv)], check=True)
        subprocess.run([run, "-m", "pip", "install", "--quiet", "--editable", f"{ROOT}[dev]"], check=True)
        print(f"Python {version}:", flush=True)
        command = [run, "-m", "pytest", "--quiet", "--numprocesses", "auto", "-m", "not control_plane", *sys.argv[1:]]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            failed.append(version)
    print(f"failed: {', '.join(failed)}" if failed else "passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
