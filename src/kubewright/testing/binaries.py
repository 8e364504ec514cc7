"""Finds the programs of a control plane.

Owns the order of places, and the sentence that names all of them when a program is in none:

    1  TEST_ASSET_ETCD, TEST_ASSET_KUBE_APISERVER, ...   one program each; a wrong path is an error, not a miss
    2  KUBEBUILDER_ASSETS                                a folder; a wrong path is an error too
    3  the envtest store, newest version first           shared with setup-envtest
    4  our cache                                         what `make controlplane` has built
    5  the official envtest index                        etcd, kube-apiserver and kubectl only; checksum verified
    6  a build from the Go modules                       into 4; some minutes, once

What a person set (1, 2) is taken program by program. From 3 on, a place counts only if it has *everything* that is
still missing: a kube-controller-manager must not be newer than its kube-apiserver
(https://kubernetes.io/releases/version-skew-policy/), so versions are not mixed behind anybody's back.
ENVTEST_INSTALLED_ONLY=true (setup-envtest's own variable) leaves out 5 and 6.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kubewright.testing import build as go_build
from kubewright.testing import envtest
from kubewright.testing.errors import BinariesNotFound, BuildFailed, DownloadFailed
from kubewright.testing.paths import envtest_store, go_platform
from kubewright.testing.programs import ENVTEST_PROGRAMS, variable_of

_CURE = (
    "run `make controlplane` in a checkout of Kubewright (needs Go, builds once into your cache), or "
    "`setup-envtest use`, or point KUBEBUILDER_ASSETS at a folder with the programs"
)


@dataclass(frozen=True, slots=True)
class Binaries:
    """Where each program is; `sources` says for people why that one was taken."""

    paths: Mapping[str, Path]
    sources: Mapping[str, str]

    def __getitem__(self, program: str) -> Path:
        return self.paths[program]

    def stages(self, env: Mapping[str, str] | None = None) -> list[Path]:
        """Return kwok's stage files: beside kwok, else in our cache. Empty if there are none."""
        for folder in (self.paths["kwok"].parent, go_build.cached(env)[0]):
            if files := sorted((folder / go_build.STAGES_FOLDER).glob("*.yaml")):
                return files
        return []


class _Search:
    def __init__(self, programs: Sequence[str]) -> None:
        self.missing = list(programs)
        self.paths: dict[str, Path] = {}
        self.sources: dict[str, str] = {}
        self.looked_at: list[str] = []

    def take(self, program: str, path: Path, source: str) -> None:
        self.missing.remove(program)
        self.paths[program] = path
        self.sources[program] = source

    def take_all_from(self, folder: Path, source: str) -> bool:
        """Take all that is missing from `folder`, or nothing, and note why not."""
        lacks = [program for program in self.missing if not go_build.is_program(folder / program)]
        if lacks:
            self.looked_at.append(f"{source}: lacks {', '.join(lacks)}")
            return False
        for program in list(self.missing):
            self.take(program, folder / program, source)
        return True

    def failure(self, wrong: Sequence[str] | None = None, cure: str = _CURE) -> BinariesNotFound:
        return BinariesNotFound(wrong or self.missing, self.looked_at, cure)


def find_binaries(
    programs: Sequence[str] = ENVTEST_PROGRAMS,
    *,
    env: Mapping[str, str] | None = None,
    index_url: str = envtest.INDEX_URL,
    progress: Callable[[str], None] = go_build.say_to_stderr,
    cancelled: Callable[[], bool] = lambda: False,
) -> Binaries:
    """Return where `programs` are; see the module for the order.

    May download some 60 MB or build for minutes, telling `progress` about it. Raises BinariesNotFound, which names
    every place that was looked at and the cure, or InterruptedError soon after `cancelled()` has turned true.
    """
    env = os.environ if env is None else env
    platform = go_platform()
    search = _Search(programs)
    _from_variables(search, env)
    if search.missing:
        _from_kubebuilder_assets(search, env)
    if search.missing:
        _from_store(search, envtest_store(env), platform)
    if search.missing:
        _from_cache(search, env)
    if search.missing and _is_true(env.get("ENVTEST_INSTALLED_ONLY", "")):
        search.looked_at.append("envtest index and Go build: not tried, as ENVTEST_INSTALLED_ONLY is set")
        raise search.failure()
    if search.missing:
        _from_index(search, env, platform, index_url, progress, cancelled)
    if search.missing:
        _from_go(search, env, progress, cancelled)
    if search.missing:
        raise search.failure()
    return Binaries(search.paths, search.sources)


def _from_variables(search: _Search, env: Mapping[str, str]) -> None:
    unset = []
    for program in list(search.missing):
        variable = variable_of(program)
        value = env.get(variable, "")
        if not value:
            unset.append(variable)
            continue
        path = Path(value).expanduser().absolute()
        if not go_build.is_program(path):
            search.looked_at.append(f"{variable}={value}: is not an executable file")
            raise search.failure([program], f"correct {variable} or unset it")
        search.take(program, path, variable)
    if unset:
        search.looked_at.append(f"{', '.join(unset)}: not set")


def _from_kubebuilder_assets(search: _Search, env: Mapping[str, str]) -> None:
    value = env.get("KUBEBUILDER_ASSETS", "")
    if not value:
        search.looked_at.append("KUBEBUILDER_ASSETS: not set")
        return
    folder = Path(value).expanduser().absolute()
    if not folder.is_dir():
        search.looked_at.append(f"KUBEBUILDER_ASSETS={value}: is not a folder")
        raise search.failure(cure="correct KUBEBUILDER_ASSETS or unset it")
    for program in list(search.missing):
        if go_build.is_program(folder / program):
            search.take(program, folder / program, "KUBEBUILDER_ASSETS")
    if search.missing:
        search.looked_at.append(f"KUBEBUILDER_ASSETS={value}: lacks {', '.join(search.missing)}")


def _from_store(search: _Search, store: Path, platform: tuple[str, str]) -> None:
    folders = envtest.installed(store, platform)
    if not folders:
        search.looked_at.append(f"envtest store {store}: nothing installed for {'/'.join(platform)}")
    for folder in folders:
        if search.take_all_from(folder, f"envtest store {folder}"):
            return


def _from_cache(search: _Search, env: Mapping[str, str]) -> None:
    folder, present = go_build.cached(env)
    source = f"cache {folder}"
    lacks = [program for program in search.missing if program not in present]
    if lacks:
        search.looked_at.append(f"{source}: lacks {', '.join(lacks)}")
        return
    for program in list(search.missing):
        search.take(program, present[program], source)


def _from_index(
    search: _Search,
    env: Mapping[str, str],
    platform: tuple[str, str],
    index_url: str,
    progress: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> None:
    others = [program for program in search.missing if program not in ENVTEST_PROGRAMS]
    if others:
        search.looked_at.append(f"envtest index: does not have {', '.join(others)}")
        return
    try:
        release = envtest.newest_release(platform, index_url)
        folder = envtest.install(release, envtest_store(env), platform, progress, cancelled)
    except DownloadFailed as error:
        search.looked_at.append(f"envtest index: {error}")
        return
    search.take_all_from(folder, f"envtest index, {release.version}")


def _from_go(
    search: _Search,
    env: Mapping[str, str],
    progress: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> None:
    try:
        folder = go_build.build(search.missing, env=env, progress=progress, cancelled=cancelled)
    except BuildFailed as error:
        search.looked_at.append(f"Go build: {error}")
        return
    search.take_all_from(folder, f"Go build in {folder}")


def _is_true(value: str) -> bool:
    return value.strip().lower() in ("1", "t", "true", "yes", "on")
