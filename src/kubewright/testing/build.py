"""Builds the programs of a control plane from their Go modules, once, into the user's cache.

Owns: the two small Go modules of `hack/controlplane` (the only place where versions are written), and the cache folder
that results. Refuses to know: how a Go program is built (`gobuild`), how programs are searched or run. The command
behind `make controlplane` is `python -m kubewright.testing.build`.

    <cache>/controlplane/<kubernetes version>-<os>-<arch>/
        etcd kube-apiserver kube-controller-manager kubectl kube-scheduler kwok
        kwok-stages/        how kwok plays nodes, pods and volumes: data files of the kwok module, copied
        versions.json       program -> version that was built; a program counts only if this matches go.mod

Guarantees: G1 a program appears under its name by rename, complete and executable. G2 two processes never build at the
same time for one cache: the second waits, then finds everything done.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kubewright.testing.errors import BuildFailed, ControlPlaneError
from kubewright.testing.gobuild import GoSource, Progress, find_go, go_env, program_of
from kubewright.testing.locks import FileLock
from kubewright.testing.paths import cache_dir, go_platform
from kubewright.testing.programs import KWOK, PROGRAMS, version_key

STAGES_FOLDER = "kwok-stages"
_STAGES = (
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-complete.yaml",
    "pod/fast/pod-delete.yaml",
    "volume/fast/pv-bind.yaml",
    "volume/fast/pv-delete.yaml",
    "volume/fast/pvc-provision.yaml",
    "volume/fast/pvc-delete.yaml",
)
"""Below `kustomize/stage` of the kwok module: nodes, pods and claims become ready, bound and gone without delay."""
_LOCK_TIMEOUT_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class _Source:
    folder: str
    """The Go module below `hack/controlplane`."""
    module: str
    """The required module whose version is the program's version."""
    package: str


_KUBERNETES = "k8s.io/kubernetes"

_SOURCES: Mapping[str, _Source] = {
    "etcd": _Source("kubernetes", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3"),
    **{
        name: _Source("kubernetes", _KUBERNETES, f"k8s.io/kubernetes/cmd/{name}")
        for name in ("kube-apiserver", "kube-controller-manager", "kubectl", "kube-scheduler")
    },
    "kwok": _Source("kwok", "sigs.k8s.io/kwok", "sigs.k8s.io/kwok/cmd/kwok"),
}


def say_to_stderr(line: str) -> None:
    """Print a progress line where a captured stdout or a pipe does not swallow it."""
    print(line, file=sys.stderr, flush=True)


def modules_dir() -> Path | None:
    """Return the folder of the two Go modules: beside the package in a wheel, `hack/controlplane` in a checkout."""
    here = Path(__file__).resolve()
    for folder in (here.parent / "controlplane_modules", here.parents[3] / "hack" / "controlplane"):
        if (folder / "kubernetes" / "go.mod").is_file() and (folder / "kwok" / "go.mod").is_file():
            return folder
    return None


def versions(modules: Path) -> dict[str, str]:
    """Return program -> version ("v1.37.2") as the go.mod files require them. Raises BuildFailed if one does not."""
    found = {}
    for program, source in _SOURCES.items():
        go_mod = modules / source.folder / "go.mod"
        match = re.search(rf"^\s*(?:require\s+)?{re.escape(source.module)}\s+(v\S+)", go_mod.read_text(), re.M)
        if match is None:
            raise BuildFailed(program, f"{go_mod} does not require {source.module}")
        found[program] = match[1]
    return found


def cache_folder(kubernetes_version: str, env: Mapping[str, str] | None = None) -> Path:
    """Return the cache folder of a Kubernetes version ("v1.37.2" or "1.37.2") for this machine."""
    key = "-".join((kubernetes_version.removeprefix("v"), *go_platform()))
    return cache_dir(env) / "controlplane" / key


def cached(env: Mapping[str, str] | None = None) -> tuple[Path, dict[str, Path]]:
    """Return the cache folder in use and the programs in it.

    With the Go modules at hand that is the folder of their versions and only what was built from exactly these;
    without them (an installed package) the newest folder there is.
    """
    modules = modules_dir()
    if modules is not None:
        wanted = versions(modules)
        folder = cache_folder(wanted["kube-apiserver"], env)
        built = _manifest(folder)
        return folder, {
            program: folder / program
            for program in PROGRAMS
            if built.get(program) == wanted[program] and is_program(folder / program)
        }
    base = cache_dir(env) / "controlplane"
    suffix = "-" + "-".join(go_platform())
    folders = [folder for folder in base.glob(f"[0-9]*{suffix}") if folder.is_dir()]
    if not folders:
        return base, {}
    newest = max(folders, key=lambda folder: version_key(folder.name.removesuffix(suffix)))
    return newest, {program: newest / program for program in PROGRAMS if is_program(newest / program)}


def build(
    programs: Sequence[str] = PROGRAMS,
    *,
    env: Mapping[str, str] | None = None,
    progress: Progress = say_to_stderr,
    cancelled: Callable[[], bool] = lambda: False,
) -> Path:
    """Build what is missing of `programs` into the cache and return the cache folder.

    A first build downloads several hundred megabytes and takes 5 to 10 minutes on two cores. Raises BuildFailed when
    there are no Go modules, no Go, or the compiler or the network fails, InterruptedError within a second after
    `cancelled()` has turned true; what was built before that stays.
    """
    env = os.environ if env is None else env
    modules = modules_dir()
    if modules is None:
        raise BuildFailed(
            "the control plane",
            "the Go modules (hack/controlplane) are not part of this installation; "
            "run `make controlplane` in a checkout of Kubewright, the cache is then shared",
        )
    wanted = versions(modules)
    folder = cache_folder(wanted["kube-apiserver"], env)
    with FileLock(folder.parent / f".{folder.name}.lock").held(
        _LOCK_TIMEOUT_SECONDS,
        cancelled=cancelled,
        on_wait=lambda: progress("another process is building the control plane; waiting for it"),
    ):
        present = cached(env)[1]
        missing = [program for program in PROGRAMS if program in programs and program not in present]
        if missing:
            go = find_go(env)
            folder.mkdir(parents=True, exist_ok=True)
            for number, program in enumerate(missing, 1):
                label = f"[{number}/{len(missing)}] {program} {wanted[program]}"
                _build_one(go, program, modules, wanted[program], folder, env, label, progress, cancelled)
    return folder


def _build_one(
    go: str,
    program: str,
    modules: Path,
    version: str,
    folder: Path,
    env: Mapping[str, str],
    label: str,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> None:
    source = _SOURCES[program]
    started = time.monotonic()
    progress(f"{label}: building")
    program_of(
        GoSource(modules / source.folder, source.package, version if source.module == _KUBERNETES else ""),
        folder / program,
        what=f"{program} {version}",
        go=go,
        env=env,
        progress=lambda line: progress(f"{label}: {line}"),
        cancelled=cancelled,
    )
    if program == KWOK:
        _copy_stages(go, modules / source.folder, source.module, folder / STAGES_FOLDER, env)
    _record(folder, program, version)
    size_mb = (folder / program).stat().st_size / 1e6
    progress(f"{label}: done in {time.monotonic() - started:.0f} s, {size_mb:.0f} MB")


def _copy_stages(go: str, cwd: Path, module: str, target: Path, env: Mapping[str, str]) -> None:
    shown = subprocess.run(
        [go, "list", "-m", "-f", "{{.Dir}}", module],
        cwd=cwd,
        env=go_env(env),
        capture_output=True,
        text=True,
        check=False,
    )
    source = Path(shown.stdout.strip()) / "kustomize" / "stage"
    target.mkdir(exist_ok=True)
    try:
        for stage in _STAGES:
            # Not shutil.copy: the module cache is read-only, and so would the copy be.
            (target / Path(stage).name).write_bytes((source / stage).read_bytes())
    except OSError as error:
        raise BuildFailed("kwok", f"cannot copy its stage files: {error}", shown.stderr.strip()) from error


def _manifest(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / "versions.json").read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _record(folder: Path, program: str, version: str) -> None:
    """Note what was built (under the build lock, so no other writer is about)."""
    unfinished = folder / f".versions.{os.getpid()}"
    unfinished.write_text(json.dumps({**_manifest(folder), program: version}, indent=1, sort_keys=True) + "\n")
    os.replace(unfinished, folder / "versions.json")


def is_program(path: Path) -> bool:
    """Whether `path` is an executable file."""
    return path.is_file() and os.access(path, os.X_OK)


def main(argv: Sequence[str] | None = None) -> int:
    """Build all programs, or those named; print where they are. Exit code 1, and one clear text, on failure."""
    parser = argparse.ArgumentParser(
        prog="python -m kubewright.testing.build",
        description="Build etcd, Kubernetes and kwok from their Go modules into the user's cache.",
    )
    parser.add_argument("program", nargs="*", help=f"of {', '.join(PROGRAMS)}; all by default")
    chosen = parser.parse_args(argv).program or list(PROGRAMS)
    if unknown := sorted(set(chosen) - set(PROGRAMS)):
        parser.error(f"unknown program {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    try:
        folder = build(chosen)
    except ControlPlaneError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; what was built so far is kept", file=sys.stderr)
        return 130
    print(f"the control plane is ready in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
