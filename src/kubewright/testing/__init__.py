"""For tests: a reconcile as a function (`FakeContext`), and real control planes, also for people (`ControlPlane`, and
`kubewright.testing.plugin` for pytest).

The names are loaded when first used: the pytest plugin lives in this package and is imported by every test run of
every project that has Kubewright installed, also by those that never start a control plane.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = [
    "BinariesNotFound",
    "BuildFailed",
    "ClusterAccess",
    "ClusterError",
    "CommandFailed",
    "ControlPlane",
    "ControlPlaneError",
    "DownloadFailed",
    "FakeContext",
    "NoServer",
    "RequestFailed",
    "StartFailed",
    "find_binaries",
]

if TYPE_CHECKING:
    from kubewright.testing.access import ClusterAccess
    from kubewright.testing.binaries import find_binaries
    from kubewright.testing.controlplane import ControlPlane
    from kubewright.testing.errors import (
        BinariesNotFound,
        BuildFailed,
        ClusterError,
        CommandFailed,
        ControlPlaneError,
        DownloadFailed,
        RequestFailed,
        StartFailed,
    )
    from kubewright.testing.fake import FakeContext, NoServer

_HOMES = {
    "ClusterAccess": "access",
    "ControlPlane": "controlplane",
    "FakeContext": "fake",
    "NoServer": "fake",
    "find_binaries": "binaries",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)


def __dir__() -> list[str]:
    return __all__
