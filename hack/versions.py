"""Run the tests that need no control plane on every supported Python that is installed here: `make test-versions`.

Each version gets a virtual environment of its own (`.venv-3.12`) with the locked dependencies. One that is not
installed is said to be left out. `--python PATH`, which may be repeated, runs on these and no others; what follows goes
to pytest (`-m control_plane`: on the real control plane, which has to be built).
"""

from __future__ import annotations

import argparse
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


def version_of(python: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, check=True, text=True).stdout.strip()


def installed() -> dict[str, str]:
    """The interpreters found, by version: all that are supported but the one that runs this."""
    found = {}
    for version in VERSIONS:
        if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
            continue
        python = interpreter(version)
        if python is None:
            print(f"Python {version}: not installed, left out")
        else:
            found[version] = python
    return found


def passes(version: str, python: str, arguments: list[str]) -> bool:
    venv = ROOT / f".venv-{version}"
    run = str(venv / "bin" / "python")
    if not Path(run).exists():
        subprocess.run([python, "-m", "venv", str(venv)], check=True)
    pip = [run, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--requirement", str(ROOT / "requirements-dev.lock")], check=True)
    subprocess.run([*pip, "--no-deps", "--editable", str(ROOT)], check=True)
    print(f"Python {version}:", flush=True)
    tests = ["--quiet", "--numprocesses", "auto", "--dist", "loadscope", "-m", "not control_plane and not soak"]
    return subprocess.run([run, "-m", "pytest", *tests, *arguments], cwd=ROOT, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the tests on other Pythons; what is left goes to pytest.")
    parser.add_argument("--python", action="append", help="an interpreter, instead of all that are installed")
    asked, arguments = parser.parse_known_args()
    pythons = {version_of(each): each for each in asked.python} if asked.python else installed()
    failed = [version for version, python in pythons.items() if not passes(version, python, arguments)]
    print(f"failed: {', '.join(failed)}" if failed else "passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
