"""What the numbers were measured on and with: without it they mean nothing."""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubewright

from . import programs


def facts() -> dict[str, Any]:
    """Machine, versions and date."""
    python = programs.about_python()
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "python": python["version"],
        "python_is_optimized": "--enable-optimizations" in python["options"],
        "kubewright": kubewright.__version__,
        "commit": _output("git", "-C", str(programs.ROOT), "describe", "--always", "--dirty"),
        "controller_runtime": _required("sigs.k8s.io/controller-runtime"),
        "go": _go_version(),
        "kopf": (programs.OPERATORS / "kopf-requirements.txt").read_text().strip().removeprefix("kopf=="),
        "load_average": round(os.getloadavg()[0], 2),
    }


def _cpu() -> str:
    found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    return found[1] if found else platform.machine()


def _required(module: str) -> str:
    found = re.search(rf"{re.escape(module)} (v\S+)", (programs.OPERATORS / "go" / "go.mod").read_text())
    return found[1] if found else "?"


def _go_version() -> str:
    said = _output("go", "version", str(programs.go_program(programs.OPERATORS / "go")))
    return said.rpartition(" ")[2]


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{command[0]}: {error}", file=sys.stderr)
        return "?"
