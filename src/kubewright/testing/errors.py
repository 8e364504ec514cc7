"""What can go wrong with a real control plane, as values with facts.

Owns the error types of the room and the text they show. It refuses to know how a control plane is built, found or
run: whoever raises passes the facts, and the text (what happened, what was looked at, the cure) is made here, in
`__str__`, so that nobody has to parse a message to learn a path or a name.

    ControlPlaneError            anything of this room; catch this one
    +- BinariesNotFound          a program of the control plane is nowhere to be found
    +- DownloadFailed            the envtest index or a tarball could not be had, or its checksum is wrong
    +- BuildFailed               the Go build could not start or did not succeed
    +- StartFailed               a component died, or was not ready in time
    +- CommandFailed             kubectl returned a non-zero exit code
    +- RequestFailed             the API server answered a request of ours with an error
    +- ClusterError              a detached cluster (`kubewright cluster`) cannot be brought up or down
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class ControlPlaneError(Exception):
    """Base of all errors of `kubewright.testing`."""


class BinariesNotFound(ControlPlaneError):
    """Programs of the control plane were found nowhere.

    `missing` names the programs, `looked_at` every place that was searched with what was found there, in order.
    """

    def __init__(self, missing: Sequence[str], looked_at: Sequence[str], cure: str) -> None:
        super().__init__(missing, looked_at, cure)
        self.missing = tuple(missing)
        self.looked_at = tuple(looked_at)
        self.cure = cure

    def __str__(self) -> str:
        places = "".join(f"\n  - {place}" for place in self.looked_at)
        return f"no {', '.join(self.missing)} found; looked at:{places}\n{self.cure}"


class DownloadFailed(ControlPlaneError):
    """The envtest index or one of its tarballs could not be had, or did not have the published checksum."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)
        self.url = url
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}"


class BuildFailed(ControlPlaneError):
    """The Go build of the control plane could not start or failed; `output` holds its last lines."""

    def __init__(self, what: str, reason: str, output: str = "") -> None:
        super().__init__(what, reason, output)
        self.what = what
        self.reason = reason
        self.output = output

    def __str__(self) -> str:
        return f"cannot build {self.what}: {self.reason}" + (f"\n{self.output}" if self.output else "")


class StartFailed(ControlPlaneError):
    """A component exited, or was not ready in time.

    `log_dir` is the folder where the logs of all components are kept (None when logs are not kept);
    `last_lines` the end of the failing component's log.
    """

    def __init__(self, component: str, reason: str, last_lines: str = "", log_dir: Path | None = None) -> None:
        super().__init__(component, reason, last_lines, log_dir)
        self.component = component
        self.reason = reason
        self.last_lines = last_lines
        self.log_dir = log_dir

    def __str__(self) -> str:
        text = f"{self.component} {self.reason}"
        if self.last_lines:
            text += f"\nlast lines of its log:\n{self.last_lines}"
        if self.log_dir is not None:
            text += f"\nlogs of all components are kept in {self.log_dir}"
        return text


class CommandFailed(ControlPlaneError):
    """kubectl ended with a non-zero exit code."""

    def __init__(self, argv: Sequence[str], returncode: int, stdout: str, stderr: str) -> None:
        super().__init__(argv, returncode, stdout, stderr)
        self.argv = tuple(argv)
        self.returncode = returncode
        self.stdout = stdout
        self.stderr = stderr

    def __str__(self) -> str:
        said = (self.stderr or self.stdout).strip()
        return f"kubectl {' '.join(self.argv)} ended with exit code {self.returncode}: {said}"


class RequestFailed(ControlPlaneError):
    """The API server answered with an error, or (`code` 0) could not be reached."""

    def __init__(self, method: str, path: str, code: int, message: str) -> None:
        super().__init__(method, path, code, message)
        self.method = method
        self.path = path
        self.code = code
        self.message = message

    def __str__(self) -> str:
        answer = f"HTTP {self.code}: " if self.code else ""
        return f"{self.method} {self.path}: {answer}{self.message}"


class ClusterError(ControlPlaneError):
    """A detached cluster cannot be brought up or down; the message has the reason and the cure."""
