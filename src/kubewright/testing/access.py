"""What a test or a person needs to use a running control plane, and nothing by which to stop it.

Owns kubeconfigs for any user, kubectl, and one-off requests, all derived from the control plane's folder. It is a
small frozen value that can be written down and read again in another process (`as_record`, `from_record`): so one
server is used by many test processes, and a detached cluster by later commands. It refuses to know how the control
plane was started or who keeps it alive.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kubewright.testing.certs import Authority, KeyPair
from kubewright.testing.errors import CommandFailed
from kubewright.testing.kubeconfig import ADMIN as ADMIN
from kubewright.testing.kubeconfig import render
from kubewright.testing.rest import Rest

ADMIN_GROUPS = ("system:masters",)
_KUBECTL_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """A running control plane, as its users see it.

    `name` names cluster and context in kubeconfigs; `url` is the API server; `kubeconfig_path` the administrator's
    kubeconfig; `pki` the folder with the certificate authorities; `kubectl_path` a kubectl of the server's version;
    `controllers` whether a controller manager runs; `nodes` how many nodes were made.
    """

    name: str
    url: str
    kubeconfig_path: Path
    pki: Path
    kubectl_path: Path
    controllers: bool
    nodes: int

    @property
    def ca(self) -> str:
        """The certificate authority that signs the API server's certificate, PEM."""
        return (self.pki / "serving-ca.crt").read_text()

    @property
    def env(self) -> dict[str, str]:
        """The variables by which kubectl and other clients find this control plane as administrator."""
        return {"KUBECONFIG": str(self.kubeconfig_path)}

    def kubeconfig(self, user: str = ADMIN, groups: Sequence[str] | None = None) -> str:
        """Return a kubeconfig (YAML) with a new client certificate for `user`, member of `groups`.

        `groups` defaults to system:masters for "admin" and to none for anybody else; the server adds
        system:authenticated. The user need not exist and has the rights that RBAC gives. Raises ValueError for a user
        name that a certificate cannot hold (1 to 64 bytes).
        """
        if groups is None:
            groups = ADMIN_GROUPS if user == ADMIN else ()
        authority = Authority(
            KeyPair((self.pki / "client-ca.crt").read_bytes(), (self.pki / "client-ca.key").read_bytes())
        )
        credentials = authority.client(user, groups)
        return render(
            name=self.name,
            url=self.url,
            ca=(self.pki / "serving-ca.crt").read_bytes(),
            user=user,
            credentials=credentials,
        )

    def kubectl(self, *args: str, stdin: str | None = None, timeout_seconds: float = _KUBECTL_SECONDS) -> str:
        """Run kubectl as administrator, with `stdin` as its input, and return what it printed to stdout.

        Blocks: in asynchronous code use `await asyncio.to_thread(access.kubectl, ...)`. Raises CommandFailed on a
        non-zero exit code, subprocess.TimeoutExpired after `timeout_seconds`.
        """
        # kubectl caches discovery per host and port below HOME/.kube; another server may have had our port before.
        cache = self.kubeconfig_path.parent / "kubectl-cache"
        done = subprocess.run(
            [str(self.kubectl_path), f"--kubeconfig={self.kubeconfig_path}", f"--cache-dir={cache}", *args],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            env={**os.environ, **self.env},
            check=False,
        )
        if done.returncode != 0:
            raise CommandFailed(args, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def rest(self) -> Rest:
        """Return a small HTTPS client as administrator; close it after use."""
        return Rest(self.url, self.pki / "serving-ca.crt", self.pki / "admin.crt", self.pki / "admin.key")

    def as_record(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {key: str(value) if isinstance(value, Path) else value for key, value in asdict(self).items()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> ClusterAccess:
        """Read `as_record` back. Raises KeyError or TypeError for anything else."""
        paths = {key: Path(record[key]) for key in ("kubeconfig_path", "pki", "kubectl_path")}
        return cls(**{**record, **paths})
