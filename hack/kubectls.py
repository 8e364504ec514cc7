"""kubectl of several Kubernetes releases, built once from `hack/kubectl/*` into the user's cache.

    python hack/kubectls.py        # builds what is missing and prints where they are

The tests of the embedded API server drive it with all of them. The newest one is that of the control plane.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from kubewright.testing.binaries import find_binaries
from kubewright.testing.build import find_go
from kubewright.testing.errors import ControlPlaneError
from kubewright.testing.locks import FileLock
from kubewright.testing.paths import cache_dir

_MODULES = Path(__file__).parent / "kubectl"
_BUILD_SECONDS = 1800.0


NEWEST = "1.37"
RELEASES = (*sorted(each.name.removeprefix("v") for each in _MODULES.iterdir()), NEWEST)
"""Minor versions, the oldest first."""


def kubectl_of(release: str) -> Path:
    """The program of a minor version; built where it is missing. Raises ControlPlaneError."""
    return find_binaries(("kubectl",))["kubectl"] if release == NEWEST else _built(_MODULES / f"v{release}")


def _built(module: Path) -> Path:
    version = re.search(r"k8s\.io/kubectl v0\.(\S+)", (module / "go.mod").read_text())
    assert version is not None, module
    release = f"v1.{version.group(1)}"
    target = cache_dir() / "kubectl" / f"kubectl-{release}"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(target.with_name(f".{target.name}.lock")).held(_BUILD_SECONDS):
        if not target.exists():
            _build(module, release, target)
    return target


def _build(module: Path, release: str, target: Path) -> None:
    print(f"building kubectl {release}", file=sys.stderr)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    facts = {"gitVersion": release, "gitMajor": "1", "gitMinor": release.split(".")[1]}
    flags = " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in facts.items())
    command = [find_go(os.environ), "build", "-mod=readonly", "-trimpath", "-ldflags", f"-s -w {flags}"]
    done = subprocess.run(
        [*command, "-o", str(unfinished), "."],
        cwd=module,
        env={**os.environ, "CGO_ENABLED": "0"},
        capture_output=True,
        text=True,
        timeout=_BUILD_SECONDS,
    )
    if done.returncode:
        raise ControlPlaneError(f"kubectl {release} cannot be built in {module}:\n{done.stderr[-2000:]}")
    unfinished.replace(target)


if __name__ == "__main__":
    for name in RELEASES:
        print(name, kubectl_of(name))
