"""Health and version: what probes and `kubectl version` ask."""

from __future__ import annotations

import platform
from typing import Any, Final

from ..request import Request, Response, json_response
from ..server import ApiServer

__all__ = ["KUBERNETES", "health", "version"]

KUBERNETES: Final = "1.37"
"""The minor version whose behaviour this is."""

_CHECKS: Final = ("ping", "store", "catalog")
_PATHS: Final = ("/healthz", "/livez", "/readyz")
_TEXT: Final = [("content-type", "text/plain; charset=utf-8"), ("x-content-type-options", "nosniff")]


def health(server: ApiServer, request: Request) -> Response | None:
    """`/healthz`, `/livez`, `/readyz`, `?verbose`, and single checks below them."""
    for path in _PATHS:
        if request.path.rstrip("/") == path:
            if not any(name == "verbose" for name, _ in request.query):
                return Response(200, b"ok", list(_TEXT))
            lines = [f"[+]{each} ok" for each in _CHECKS] + [f"{path[1:]} check passed", ""]
            return Response(200, "\n".join(lines).encode(), list(_TEXT))
        if request.path.startswith(f"{path}/") and request.path[len(path) + 1 :] in _CHECKS:
            return Response(200, b"ok", list(_TEXT))
    return None


def version(server: ApiServer, request: Request) -> Response | None:
    """`/version`. The git version says that this is no build of Kubernetes; clients only read the numbers."""
    if request.path.rstrip("/") != "/version":
        return None
    major, minor = KUBERNETES.split(".")
    facts: dict[str, Any] = {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": f"v{KUBERNETES}.0+kubewright",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": f"python{platform.python_version()}",
        "compiler": platform.python_implementation().lower(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }
    return json_response(200, facts)
