from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kubewright.testing import build as go_build
from kubewright.testing import gobuild
from kubewright.testing.binaries import find_binaries
from kubewright.testing.errors import BinariesNotFound
from kubewright.testing.paths import go_platform
from kubewright.testing.programs import ENVTEST_PROGRAMS, PROGRAMS

MakeProgram = Callable[..., Path]
NO_INDEX = "http://127.0.0.1:9/index.yaml"
"""Port 9 of the loopback: nobody listens there."""


@pytest.fixture(autouse=True)
def no_go_at_its_usual_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gobuild, "_USUAL_GO", "/nonexistent/go")


def store(env: dict[str, str], version: str) -> Path:
    return Path(env["XDG_DATA_HOME"]) / "kubebuilder-envtest" / "k8s" / "-".join((version, *go_platform()))


def fill_cache(env: dict[str, str], program: MakeProgram, **changed: str) -> Path:
    """Make the cache look as after a build from the committed Go modules, with some versions changed."""
    modules = go_build.modules_dir()
    assert modules is not None
    versions = go_build.versions(modules)
    folder = go_build.cache_folder(versions["kube-apiserver"], env)
    for name in PROGRAMS:
        program(folder / name)
    (folder / "versions.json").write_text(json.dumps({**versions, **changed}))
    return folder


def publish(website: tuple[str, Path], version: str = "v1.36.2") -> str:
    """Publish an index with one release on the website; return the index' URL."""
    url, folder = website
    file = f"envtest-{version}-{'-'.join(go_platform())}.tar.gz"
    with tarfile.open(folder / file, "w:gz") as archive:
        for name in ENVTEST_PROGRAMS:
            member = tarfile.TarInfo(f"controller-tools/envtest/{name}")
            member.size, member.mode = len(name), 0o755
            archive.addfile(member, io.BytesIO(name.encode()))
    digest = hashlib.sha512((folder / file).read_bytes()).hexdigest()
    index = {"releases": {version: {file: {"hash": digest, "selfLink": f"{url}/{file}"}}}}
    (folder / "index.yaml").write_text(json.dumps(index))
    return f"{url}/index.yaml"


def test_a_test_asset_variable_wins_over_every_other_place(
    env: dict[str, str], tmp_path: Path, program: MakeProgram
) -> None:
    mine = program(tmp_path / "mine" / "my-etcd")
    fill_cache(env, program)
    for name in ENVTEST_PROGRAMS:
        program(tmp_path / "assets" / name)
    env |= {"TEST_ASSET_ETCD": str(mine), "KUBEBUILDER_ASSETS": str(tmp_path / "assets")}
    found = find_binaries(env=env)
    assert found["etcd"] == mine
    assert found["kube-apiserver"] == tmp_path / "assets" / "kube-apiserver"


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_has_a_variable(name: str, env: dict[str, str], tmp_path: Path, program: MakeProgram) -> None:
    variable = "TEST_ASSET_" + name.upper().replace("-", "_")
    env[variable] = str(program(tmp_path / "x"))
    assert find_binaries([name], env=env).sources == {name: variable}


def test_a_test_asset_variable_with_a_wrong_path_is_an_error_that_names_both(env: dict[str, str]) -> None:
    env["TEST_ASSET_ETCD"] = "/nonexistent/etcd"
    with pytest.raises(BinariesNotFound) as caught:
        find_binaries(env=env)
    assert caught.value.missing == ("etcd",)
    assert "TEST_ASSET_ETCD=/nonexistent/etcd: is not an executable file" in str(caught.value)
    assert "correct TEST_ASSET_ETCD or unset it" in str(caught.value)


def test_kubebuilder_assets_that_is_no_folder_is_an_error_that_names_it(env: dict[str, str]) -> None:
    env["KUBEBUILDER_ASSETS"] = "/nonexistent"
    with pytest.raises(BinariesNotFound, match="KUBEBUILDER_ASSETS=/nonexistent: is not a folder"):
        find_binaries(env=env)


def test_kubebuilder_assets_may_lack_programs_that_another_place_has(
    env: dict[str, str], tmp_path: Path, program: MakeProgram
) -> None:
    program(tmp_path / "assets" / "etcd")
    env["KUBEBUILDER_ASSETS"] = str(tmp_path / "assets")
    cache = fill_cache(env, program)
    found = find_binaries(env=env)
    assert found["etcd"].parent == tmp_path / "assets"
    assert found["kubectl"].parent == cache


def test_the_newest_version_in_the_envtest_store_is_taken(env: dict[str, str], program: MakeProgram) -> None:
    for version in ("1.9.3", "1.30.0", "1.31.0-rc.1", "1.31.0", "1.4.0"):
        for name in ENVTEST_PROGRAMS:
            program(store(env, version) / name)
    assert find_binaries(env=env)["etcd"].parent == store(env, "1.31.0")


def test_an_incomplete_version_in_the_envtest_store_is_passed_over_whole(
    env: dict[str, str], program: MakeProgram
) -> None:
    program(store(env, "1.31.0") / "etcd")
    for name in ENVTEST_PROGRAMS:
        program(store(env, "1.30.0") / name)
    assert {path.parent for path in find_binaries(env=env).paths.values()} == {store(env, "1.30.0")}


def test_versions_of_the_store_and_the_cache_are_not_mixed(env: dict[str, str], program: MakeProgram) -> None:
    for name in ENVTEST_PROGRAMS:
        program(store(env, "1.31.0") / name)
    cache = fill_cache(env, program)
    assert {path.parent for path in find_binaries(PROGRAMS, env=env).paths.values()} == {cache}


def test_the_cache_counts_only_what_was_built_from_the_versions_in_go_mod(
    env: dict[str, str], program: MakeProgram
) -> None:
    fill_cache(env, program, kwok="v0.1.0")
    env["ENVTEST_INSTALLED_ONLY"] = "true"
    assert find_binaries(["etcd"], env=env)
    with pytest.raises(BinariesNotFound, match="lacks kwok"):
        find_binaries(["kwok"], env=env)


def test_installed_only_neither_downloads_nor_builds(
    env: dict[str, str], website: tuple[str, Path], program: MakeProgram
) -> None:
    program(Path(env["PATH"]) / "go", "#!/bin/sh\necho go was called >&2; exit 1\n")
    env["ENVTEST_INSTALLED_ONLY"] = "true"
    with pytest.raises(BinariesNotFound, match="not tried, as ENVTEST_INSTALLED_ONLY is set") as caught:
        find_binaries(env=env, index_url=publish(website))
    assert "go was called" not in str(caught.value)


def test_the_index_is_used_when_nothing_is_installed_and_fills_the_shared_store(
    env: dict[str, str], website: tuple[str, Path]
) -> None:
    said: list[str] = []
    found = find_binaries(env=env, index_url=publish(website), progress=said.append)
    assert {path.parent for path in found.paths.values()} == {store(env, "1.36.2")}
    assert found["etcd"].read_text() == "etcd"
    assert any("downloading" in line for line in said)
    again = find_binaries(env=env, index_url=NO_INDEX)
    assert again.paths == found.paths
    assert again.sources["etcd"].startswith("envtest store")


def test_the_index_is_not_asked_for_programs_that_it_does_not_have(
    env: dict[str, str], website: tuple[str, Path]
) -> None:
    with pytest.raises(BinariesNotFound, match="envtest index: does not have kube-controller-manager, kube-sch"):
        find_binaries(PROGRAMS, env=env, index_url=publish(website), progress=lambda _: None)
    assert not store(env, "1.36.2").exists()


def test_the_error_names_every_place_that_was_looked_at_and_the_cure(
    env: dict[str, str], tmp_path: Path, program: MakeProgram
) -> None:
    program(tmp_path / "assets" / "etcd")
    program(store(env, "1.31.0") / "etcd")
    env["KUBEBUILDER_ASSETS"] = str(tmp_path / "assets")
    with pytest.raises(BinariesNotFound) as caught:
        find_binaries(env=env, index_url=NO_INDEX, progress=lambda _: None)
    text = str(caught.value)
    assert text.startswith("no kube-apiserver, kubectl found; looked at:")
    places = [
        "TEST_ASSET_KUBE_APISERVER, TEST_ASSET_KUBECTL: not set",
        f"KUBEBUILDER_ASSETS={tmp_path / 'assets'}: lacks kube-apiserver, kubectl",
        f"envtest store {store(env, '1.31.0')}: lacks kube-apiserver, kubectl",
        f"cache {tmp_path / 'cache' / 'kubewright' / 'controlplane'}",
        f"envtest index: {NO_INDEX}: cannot be read",
        "Go build: cannot build the control plane: there is no go command in PATH",
    ]
    positions = [text.index(place) for place in places]
    assert positions == sorted(positions)
    assert "run `make controlplane`" in text.splitlines()[-1]
