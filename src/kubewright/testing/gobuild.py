"""One program out of a Go module: the compiler, its flags and environment, and what it says meanwhile.

Owns the build command. Refuses to know which programs there are and where they are kept (`build` for the control plane,
`hack/goprograms.py` for all others).

Guarantees: G1 a program appears under its name by rename, complete and executable. G2 `-mod=readonly`: what is not in
the committed go.sum is not built. G3 the compiler ends with a build that is cancelled.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kubewright.testing.errors import BuildFailed
from kubewright.testing.programs import version_key

Progress = Callable[[str], None]

_OLDEST_GO = "1.21"
"""The first Go that can fetch the newer one which a go.mod asks for (https://go.dev/doc/toolchain)."""
_USUAL_GO = "/usr/local/go/bin/go"
"""Where Go's own installer puts it, and PATH often does not look."""
_HEARTBEAT_SECONDS = 15.0
_OUTPUT_LINES = 20


@dataclass(frozen=True, slots=True)
class GoSource:
    """What is built: a package, in the folder of a module that is committed with its go.sum.

    `kubernetes` is the version ("v1.37.2") that a program of Kubernetes is told to be of; empty for others.
    """

    folder: Path
    package: str = "."
    kubernetes: str = ""

    def linker_flags(self) -> str:
        """The flags that strip symbols, and tell a program of Kubernetes its version (it would say v0.0.0-master)."""
        flags = ["-s", "-w"]
        if self.kubernetes:
            major, minor = self.kubernetes.removeprefix("v").split(".")[:2]
            facts = {"gitVersion": self.kubernetes, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
            flags += [f"-X k8s.io/component-base/version.{name}={value}" for name, value in facts.items()]
            flags.append(f"-X k8s.io/client-go/pkg/version.gitVersion={self.kubernetes}")
        return " ".join(flags)


def program_of(
    source: GoSource,
    target: Path,
    *,
    what: str,
    go: str,
    env: Mapping[str, str],
    progress: Progress,
    cancelled: Callable[[], bool] = lambda: False,
) -> None:
    """Build a program into the file `target`; `what` names it in messages, such as "etcd v3.7.3".

    Raises BuildFailed, InterruptedError within a second after `cancelled()` has turned true.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    command = [
        go, "build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false",
        "-ldflags", source.linker_flags(), "-o", str(unfinished), source.package,
    ]  # fmt: skip
    try:
        code, output = _run(command, source.folder, go_env(env), what, progress, cancelled)
        if code != 0:
            raise BuildFailed(
                what,
                f"`go build {source.package}` in {source.folder} ended with exit code {code}; if a download failed, "
                "check the network and GOPROXY, then do the same again (it goes on from here)",
                output,
            )
        unfinished.chmod(0o755)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def go_env(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of the go command: static programs, and no go.work above a checkout that replaces what a module
    requires."""
    return {**env, "CGO_ENABLED": "0", "GOWORK": "off"}


def find_go(env: Mapping[str, str]) -> str:
    """Return the go command. Raises BuildFailed, with the cure, if there is none or it is too old to help itself."""
    candidates = [shutil.which("go", path=env.get("PATH", os.defpath)), _USUAL_GO]
    go = next((path for path in candidates if path and os.access(path, os.X_OK)), None)
    cure = "install Go from https://go.dev/dl/ (any Go since 1.21 fetches the one it needs) and run `make controlplane`"
    if go is None:
        raise BuildFailed("the control plane", f"there is no go command in PATH; {cure}")
    shown = subprocess.run(
        [go, "env", "GOVERSION"], capture_output=True, text=True, cwd="/", env=go_env(env), check=False
    ).stdout.strip()
    if version_key(shown.removeprefix("go"))[0] < version_key(_OLDEST_GO)[0]:
        raise BuildFailed("the control plane", f"{go} is {shown or 'not working'}; {cure}")
    return go


def _run(
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    what: str,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> tuple[int, str]:
    """Run the compiler, saying now and then how far it is; return its exit code and last lines."""
    last: deque[str] = deque(maxlen=_OUTPUT_LINES)
    compiled = downloaded = 0
    started = said = time.monotonic()
    with (
        subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(env),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,  # so that the compilers below it can be ended with it
        ) as process,
        selectors.DefaultSelector() as selector,
    ):
        assert process.stdout is not None
        selector.register(process.stdout, selectors.EVENT_READ)
        rest = b""
        try:
            while True:
                if selector.select(1.0):
                    chunk = os.read(process.stdout.fileno(), 65536)
                    if not chunk:
                        break
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        text = line.decode(errors="replace")
                        if text.startswith("go: downloading"):
                            downloaded += 1
                        elif re.fullmatch(r"[\w.~/-]+", text):  # `go build -v` prints one import path per package
                            compiled += 1
                        else:
                            last.append(text)
                if cancelled():
                    raise InterruptedError(f"{what}: the build was cancelled")
                now = time.monotonic()
                if now - said >= _HEARTBEAT_SECONDS:
                    said = now
                    progress(f"{downloaded} modules downloaded, {compiled} packages compiled, {now - started:.0f} s")
            code = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return code, "\n".join([*last, rest.decode(errors="replace")]).strip()
