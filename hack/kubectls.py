"""kubectl of several Kubernetes releases, built once from `hack/kubectl/*` into the user's cache.

    python -m hack.kubectls        # builds what is missing and prints where they are

The tests of the embedded API server drive it with all of them. The newest one is that of the control plane.
"""

from __future__ import annotations

import re
from pathlib import Path

from hack.goprograms import go_program

from kubewright.testing.binaries import find_binaries
from kubewright.testing.gobuild import GoSource

_MODULES = Path(__file__).parent / "kubectl"

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
    return go_program(GoSource(module, kubernetes=release), f"kubectl-{release}")


if __name__ == "__main__":
    for name in RELEASES:
        print(name, kubectl_of(name))
