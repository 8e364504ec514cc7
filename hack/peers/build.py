"""Programs that others have written, and that the embedded API server is to be good enough for.

    python -m hack.peers.build        # builds what is missing and prints where they are

Helm, of both major versions that are in use, and cert-manager's controllers: each a small Go module in this folder that
pins what it is made of, built once into the user's cache.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from hack.goprograms import go_program

from kubewright.testing.gobuild import GoSource, find_go, go_env

_HERE = Path(__file__).parent
_CERT_MANAGER = "github.com/cert-manager/cert-manager"
HELMS = ("v3", "v4")


def helm(major: str) -> Path:
    """The program of a major version ("v4"); built where it is missing. Raises ControlPlaneError."""
    return go_program(GoSource(_HERE / "helm", f"helm.sh/helm/{major}/cmd/helm"), f"helm-{major}")


def cert_manager() -> Path:
    """cert-manager's controllers; built where they are missing. Raises ControlPlaneError."""
    return go_program(GoSource(_HERE / "certmanager"), "certmanager")


def cert_manager_crds() -> list[Path]:
    """The files of its definitions, as they lie in its module. Raises ControlPlaneError, CalledProcessError."""
    command = [find_go(os.environ), "mod", "download", "-json", _CERT_MANAGER]
    done = subprocess.run(
        command, cwd=_HERE / "certmanager", env=go_env(os.environ), capture_output=True, text=True, check=True
    )
    return sorted((Path(json.loads(done.stdout)["Dir"]) / "deploy" / "crds").glob("*.yaml"))


if __name__ == "__main__":
    for name in HELMS:
        print(f"helm {name}", helm(name))
    print("cert-manager", cert_manager())
