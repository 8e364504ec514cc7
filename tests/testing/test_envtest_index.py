from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from kubewright.testing import envtest
from kubewright.testing.errors import DownloadFailed
from kubewright.testing.programs import ENVTEST_PROGRAMS

LINUX = ("linux", "amd64")
Website = tuple[str, Path]


def tarball(folder: Path, *names: str, prefix: str = "controller-tools/envtest/") -> tuple[str, str]:
    """Write envtest.tar.gz with these files; return its name and SHA-512."""
    with tarfile.open(folder / "envtest.tar.gz", "w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(prefix + name)
            member.size = len(name)
            archive.addfile(member, io.BytesIO(name.encode()))
    return "envtest.tar.gz", hashlib.sha512((folder / "envtest.tar.gz").read_bytes()).hexdigest()


def index(website: Website, releases: Any) -> str:
    url, folder = website
    (folder / "index.yaml").write_text(json.dumps({"releases": releases}))
    return f"{url}/index.yaml"


def entry(version: str, platform: str = "linux-amd64") -> dict[str, dict[str, str]]:
    return {f"envtest-{version}-{platform}.tar.gz": {"hash": f"hash of {version}", "selfLink": f"link to {version}"}}


def install(website: Website, store: Path, sha512: str) -> Path:
    release = envtest.Release("v1.36.2", f"{website[0]}/envtest.tar.gz", sha512)
    return envtest.install(release, store, LINUX, lambda _: None)


def test_the_newest_release_for_the_machine_is_chosen_and_no_pre_release(website: Website) -> None:
    url = index(
        website,
        {
            "v1.9.0": entry("v1.9.0"),
            "v1.30.1": entry("v1.30.1"),
            "v1.31.0": entry("v1.31.0", "darwin-arm64"),
            "v1.30.2-rc.0": entry("v1.30.2-rc.0"),
        },
    )
    assert envtest.newest_release(LINUX, url) == envtest.Release("v1.30.1", "link to v1.30.1", "hash of v1.30.1")


def test_a_machine_without_releases_is_told_so(website: Website) -> None:
    url = index(website, {"v1.30.1": entry("v1.30.1")})
    with pytest.raises(DownloadFailed, match="has no release for linux/riscv64"):
        envtest.newest_release(("linux", "riscv64"), url)


@pytest.mark.parametrize("text", ["releases: 3", "[]", "releases: {v1: {x: ", "hello", "releases: {v1.0.0: 1}"])
def test_what_is_no_index_is_called_so(text: str, website: Website) -> None:
    (website[1] / "index.yaml").write_text(text)
    with pytest.raises(DownloadFailed, match="is not an envtest index"):
        envtest.newest_release(LINUX, f"{website[0]}/index.yaml")


def test_an_index_that_is_not_there_names_url_and_reason(website: Website) -> None:
    with pytest.raises(DownloadFailed, match=r"nothing\.yaml: cannot be read: .*404"):
        envtest.newest_release(LINUX, f"{website[0]}/nothing.yaml")


def test_only_http_is_fetched(tmp_path: Path) -> None:
    (tmp_path / "index.yaml").write_text("releases: {}")
    with pytest.raises(DownloadFailed, match="no http or https URL"):
        envtest.newest_release(LINUX, f"file://{tmp_path}/index.yaml")


def test_the_three_programs_are_installed_executable_under_the_stores_naming(website: Website, tmp_path: Path) -> None:
    _, digest = tarball(website[1], *ENVTEST_PROGRAMS, "README.md")
    folder = install(website, tmp_path / "store", digest)
    assert folder == tmp_path / "store" / "1.36.2-linux-amd64"
    assert sorted(path.name for path in folder.iterdir()) == sorted(ENVTEST_PROGRAMS)
    assert all(path.stat().st_mode & 0o111 for path in folder.iterdir())
    assert [path.name for path in (tmp_path / "store").iterdir()] == [folder.name]


def test_a_wrong_checksum_installs_nothing(website: Website, tmp_path: Path) -> None:
    tarball(website[1], *ENVTEST_PROGRAMS)
    with pytest.raises(DownloadFailed, match=r"has SHA-512 .* the index says 0000000000000000\.\.\.; not used"):
        install(website, tmp_path / "store", "0" * 128)
    assert list((tmp_path / "store").iterdir()) == []


def test_a_tarball_without_a_program_installs_nothing(website: Website, tmp_path: Path) -> None:
    _, digest = tarball(website[1], "etcd", "kubectl")
    with pytest.raises(DownloadFailed, match="lacks kube-apiserver"):
        install(website, tmp_path / "store", digest)
    assert list((tmp_path / "store").iterdir()) == []


def test_what_is_no_tarball_installs_nothing(website: Website, tmp_path: Path) -> None:
    (website[1] / "envtest.tar.gz").write_text("hello")
    with pytest.raises(DownloadFailed, match="is not a readable tarball"):
        install(website, tmp_path / "store", hashlib.sha512(b"hello").hexdigest())
    assert list((tmp_path / "store").iterdir()) == []


def test_a_path_that_leads_out_of_the_folder_does_not(website: Website, tmp_path: Path) -> None:
    _, digest = tarball(website[1], *ENVTEST_PROGRAMS, prefix="../../../")
    folder = install(website, tmp_path / "store", digest)
    assert sorted(path.name for path in folder.iterdir()) == sorted(ENVTEST_PROGRAMS)
    assert not (tmp_path / "etcd").exists()


def test_what_is_installed_is_not_downloaded_again(website: Website, tmp_path: Path) -> None:
    name, digest = tarball(website[1], *ENVTEST_PROGRAMS)
    folder = install(website, tmp_path / "store", digest)
    (website[1] / name).unlink()
    assert install(website, tmp_path / "store", digest) == folder


def test_an_incomplete_folder_is_replaced(website: Website, tmp_path: Path) -> None:
    folder = tmp_path / "store" / "1.36.2-linux-amd64"
    folder.mkdir(parents=True)
    (folder / "etcd").write_text("half")
    _, digest = tarball(website[1], *ENVTEST_PROGRAMS)
    assert (install(website, tmp_path / "store", digest) / "etcd").read_text() == "etcd"
