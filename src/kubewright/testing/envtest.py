"""The official envtest binaries: the index of controller-tools, and the store shared with setup-envtest.

Owns: reading the index, choosing a release for this machine, downloading with the published SHA-512, and unpacking
into the store so that setup-envtest finds it too. Refuses to know: where else programs may come from.

    index    releases: {v1.36.2: {envtest-v1.36.2-linux-amd64.tar.gz: {hash: <sha512, hex>, selfLink: <url>}}}
    tarball  controller-tools/envtest/{etcd,kube-apiserver,kubectl}
    store    <version without v>-<os>-<arch>/{etcd,kube-apiserver,kubectl}

Only the three programs are taken out of a tarball, by name, as regular files: nothing else in it can land on the disk.
A version's folder appears by rename, when all is in it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kubewright.testing.errors import DownloadFailed
from kubewright.testing.programs import ENVTEST_PROGRAMS, version_key

INDEX_URL = "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml"
_CONNECT_SECONDS = 10.0
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Release:
    """One tarball of the index: `version` ("v1.36.2"), where it lies and its SHA-512 in hex."""

    version: str
    url: str
    sha512: str


def installed(store: Path, platform: tuple[str, str]) -> list[Path]:
    """Return the store's folders for this (os, arch), newest version first."""
    suffix = "-" + "-".join(platform)
    if not store.is_dir():
        return []
    folders = [folder for folder in store.iterdir() if folder.is_dir() and folder.name.endswith(suffix)]
    folders = [folder for folder in folders if folder.name[0].isdigit()]
    return sorted(folders, key=lambda folder: version_key(folder.name.removesuffix(suffix)), reverse=True)


def newest_release(platform: tuple[str, str], index_url: str = INDEX_URL) -> Release:
    """Read the index and return its newest release (no pre-release) for this (os, arch).

    Raises DownloadFailed if the index cannot be had or has nothing for this machine.
    """
    import yaml

    try:
        with urllib.request.urlopen(_checked(index_url), timeout=_CONNECT_SECONDS) as answer:  # noqa: S310
            index = yaml.safe_load(answer.read())
        releases = [
            Release(version, files[name]["selfLink"], files[name]["hash"])
            for version, files in index["releases"].items()
            if (name := f"envtest-{version}-{platform[0]}-{platform[1]}.tar.gz") in files and "-" not in version
        ]
    except (OSError, ValueError) as error:
        raise DownloadFailed(index_url, f"cannot be read: {_reason(error)}") from error
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise DownloadFailed(
            index_url, "is not an envtest index (releases: <version>: <file>: hash, selfLink)"
        ) from error
    if not releases:
        raise DownloadFailed(index_url, f"has no release for {platform[0]}/{platform[1]}")
    return max(releases, key=lambda release: version_key(release.version))


def install(
    release: Release,
    store: Path,
    platform: tuple[str, str],
    progress: Callable[[str], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> Path:
    """Download `release`, check it, unpack it into `store` and return its folder there.

    A folder that is already there and complete is returned as it is. Raises DownloadFailed, or
    InterruptedError once `cancelled()` is true; the store then is as it was.
    """
    folder = store / f"{release.version.removeprefix('v')}-{platform[0]}-{platform[1]}"
    if all((folder / program).is_file() for program in ENVTEST_PROGRAMS):
        return folder
    store.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".kubewright-", dir=store))
    try:
        progress(f"downloading {release.url}")
        tarball = scratch / "envtest.tar.gz"
        digest = _download(release.url, tarball, cancelled)
        if digest != release.sha512.lower():
            raise DownloadFailed(
                release.url, f"has SHA-512 {digest[:16]}..., the index says {release.sha512[:16]}...; not used"
            )
        unpacked = scratch / "programs"
        unpacked.mkdir(mode=0o755)
        _unpack(release.url, tarball, unpacked)
        if folder.exists():  # incomplete, left by somebody else: the checks above found a program missing
            shutil.rmtree(folder)
        os.rename(unpacked, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    progress(f"installed Kubernetes {release.version} into {folder}")
    return folder


def _download(url: str, target: Path, cancelled: Callable[[], bool]) -> str:
    digest = hashlib.sha512()
    try:
        with (
            urllib.request.urlopen(_checked(url), timeout=_CONNECT_SECONDS) as answer,  # noqa: S310
            target.open("wb") as file,
        ):
            while chunk := answer.read(_CHUNK_BYTES):
                digest.update(chunk)
                file.write(chunk)
                if cancelled():
                    raise InterruptedError(f"the download of {url} was cancelled")
    except InterruptedError:
        raise
    except (OSError, ValueError) as error:
        raise DownloadFailed(url, f"cannot be downloaded: {_reason(error)}") from error
    return digest.hexdigest()


def _unpack(url: str, tarball: Path, target: Path) -> None:
    wanted = set(ENVTEST_PROGRAMS)
    try:
        with tarfile.open(tarball, "r:gz") as archive:
            for member in archive:
                name = member.name.rpartition("/")[2]
                if name not in wanted or not member.isfile():
                    continue
                source = archive.extractfile(member)
                if source is not None:
                    with source, (target / name).open("wb") as file:
                        shutil.copyfileobj(source, file)
                    (target / name).chmod(0o755)
                    wanted.discard(name)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DownloadFailed(url, f"is not a readable tarball: {error}") from error
    if wanted:
        raise DownloadFailed(url, f"lacks {', '.join(sorted(wanted))}")


def _checked(url: str) -> str:
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"{url!r} is no http or https URL")
    return url


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        error.close()
        return f"HTTP {error.code} {error.reason}"
    return str(error.reason) if isinstance(error, urllib.error.URLError) else str(error)
