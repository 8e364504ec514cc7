"""An embedded API server in the place of a real control plane: the same `ClusterAccess`, for tests that know no other.

Owns the folder that makes the one look like the other: certificate authorities, the administrator's certificate and
kubeconfig. It refuses to play what the embedded server is not: there are no processes to stop.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kubewright.testing.access import ADMIN, ADMIN_GROUPS, ClusterAccess
from kubewright.testing.binaries import find_binaries
from kubewright.testing.certs import Authority
from kubewright.testing.embedded import EmbeddedServer, EmbeddedThread
from kubewright.testing.errors import BinariesNotFound
from kubewright.testing.files import write_private
from kubewright.testing.paths import runtime_dir
from kubewright.testing.programs import KUBECTL

__all__ = ["embedded_access"]

_NAME = "kubewright"
"""As a real one is called: whoever reads it in a message is not to know the difference."""

_LATE = ("kubewright.apiserver", "kubewright.schema")
"""Packages of which a server imports a part only when it is needed. Under pytest that parses source (assertions of
plugins are rewritten), and CPython 3.11 cannot parse on two threads at once (SystemError: AST constructor recursion
depth mismatch): so all of it is imported before there is a second thread."""


@contextlib.contextmanager
def embedded_access(name: str = _NAME, *, nodes: int = 0) -> Iterator[ClusterAccess]:
    """An embedded server on a thread of its own, over HTTPS, for as long as the block lasts. With nodes it has
    controllers and kubelets, too: `Workloads`, and what collects garbage.

    Client certificates are users, as on a real server. kubectl is one that is installed; nothing is downloaded or
    built for it, and without one only `ClusterAccess.kubectl` does not work.
    """
    _import_all()
    with tempfile.TemporaryDirectory(prefix="embedded-", dir=runtime_dir()) as made:
        folder = Path(made)
        pki = folder / "pki"
        pki.mkdir(mode=0o700)
        clients = Authority.create(f"{name} client CA")
        pairs = {"client-ca": clients.pair, "admin": clients.client(ADMIN, ADMIN_GROUPS)}
        for file, pair in pairs.items():
            write_private(pki / f"{file}.crt", pair.certificate)
            write_private(pki / f"{file}.key", pair.key)
        with EmbeddedThread(
            lambda: EmbeddedServer(name=name, pki=pki, client_ca=pki / "client-ca.crt", garbage=nodes > 0, nodes=nodes)
        ) as served:
            write_private(pki / "serving-ca.crt", served.ca)
            access = ClusterAccess(
                name=name,
                url=served.url,
                kubeconfig_path=folder / "kubeconfig",
                pki=pki,
                kubectl_path=_kubectl(),
                controllers=nodes > 0,
                nodes=nodes,
            )
            write_private(access.kubeconfig_path, access.kubeconfig().encode())
            yield access


def _import_all() -> None:
    for name in _LATE:
        package = importlib.import_module(name)
        for each in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not each.name.endswith(".__main__"):
                importlib.import_module(each.name)


def _kubectl() -> Path:
    try:
        return find_binaries([KUBECTL], env={**os.environ, "ENVTEST_INSTALLED_ONLY": "true"})[KUBECTL]
    except BinariesNotFound:
        return Path(shutil.which(KUBECTL) or KUBECTL)
