"""Where the configuration of a client is looked for.

Owns the search order and the reading of files; what a kubeconfig means is `kubeconfig`'s. The order is that of
controller-runtime's `config.GetConfig`: what was asked for, then KUBECONFIG, then the pod's service account, then the
home folder. It differs from kubectl, which looks into the home folder before it thinks of a pod; an operator in a pod
with a stray ~/.kube/config must still talk to its own cluster.

Two things are stricter than in Go: a KUBECONFIG of which no file exists is an error (client-go warns and goes on to
whatever comes next), and a service account without its CA is one (client-go goes on with the system's authorities).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .config import ClientConfig, ConfigError
from .kubeconfig import KubeConfigError, merged, parse

__all__ = ["SERVICE_ACCOUNT_FOLDER", "NoCluster", "from_kubeconfig", "in_cluster", "load"]

SERVICE_ACCOUNT_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_POD = "the pod's service account"


class NoCluster(KubeConfigError):
    """Nothing says which cluster to use: no argument, no environment, no pod, no file. Nothing is wrong either."""


def load(
    kubeconfig: str | os.PathLike[str] | None,
    context: str | None,
    environ: Mapping[str, str],
    *,
    folder: Path = SERVICE_ACCOUNT_FOLDER,
) -> ClientConfig:
    """See ClientConfig.load; `folder` is where a pod's service account is mounted."""
    if kubeconfig is not None:
        return from_kubeconfig(Path(kubeconfig), context)
    listed = [path for path in environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    if listed:
        paths = [Path(path).expanduser() for path in dict.fromkeys(listed)]
        found = [path for path in paths if path.exists()]
        if not found:
            raise KubeConfigError(
                "environment",
                "KUBECONFIG",
                os.pathsep.join(listed),
                "names no file that exists",
                "correct it, or unset it to use the service account or ~/.kube/config",
            )
        source = os.pathsep.join(str(path) for path in found)
        return merged([(parse(_read(path), str(path)), str(path), path.parent) for path in found], source, context)
    if context is None and environ.get("KUBERNETES_SERVICE_HOST") and (folder / "token").is_file():
        return in_cluster(environ, folder)
    home = environ.get("HOME")
    path = (Path(home) if home else Path.home()) / ".kube" / "config"
    if path.exists():
        return from_kubeconfig(path, context)
    raise NoCluster(
        "no cluster is configured",
        "",
        "",
        f"KUBECONFIG is not set, this is no pod with a service account, and {path} does not exist",
        "give a kubeconfig (--kubeconfig FILE or KUBECONFIG=FILE)",
    )


def from_kubeconfig(source: str | os.PathLike[str] | Mapping[str, Any], context: str | None) -> ClientConfig:
    """See ClientConfig.from_kubeconfig."""
    if isinstance(source, Mapping):
        return merged([(source, "the given kubeconfig", Path())], "the given kubeconfig", context)
    if isinstance(source, str) and "\n" in source:
        name = "the given kubeconfig text"
        return merged([(parse(source, name), name, Path())], name, context)
    path = Path(source).expanduser()
    return merged([(parse(_read(path), str(path)), str(path), path.parent)], str(path), context)


def in_cluster(environ: Mapping[str, str], folder: str | os.PathLike[str] | None = None) -> ClientConfig:
    """See ClientConfig.in_cluster."""
    root = SERVICE_ACCOUNT_FOLDER if folder is None else Path(folder)
    host, port = environ.get("KUBERNETES_SERVICE_HOST", ""), environ.get("KUBERNETES_SERVICE_PORT", "")
    for name, value in (("KUBERNETES_SERVICE_HOST", host), ("KUBERNETES_SERVICE_PORT", port)):
        if not value:
            raise ConfigError(_POD, name, "", "is not set", "run in a pod, or give a kubeconfig")
    token_file = root / "token"
    for path in (token_file, root / "ca.crt"):
        if not path.is_file():
            raise ConfigError(
                _POD,
                str(path),
                "",
                "does not exist",
                "set automountServiceAccountToken of the pod and of its service account, or give a kubeconfig",
            )
    namespace = environ.get("POD_NAMESPACE", "")
    if not namespace and (root / "namespace").is_file():
        namespace = _read(root / "namespace").decode("utf-8", "replace").strip()
    return ClientConfig(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        namespace=namespace or "default",
        ca_data=_read(root / "ca.crt"),
        token_file=token_file,
        source=_POD,
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise KubeConfigError(
            str(path), "", "", f"cannot be read ({error.strerror})", "correct the path or the file's permissions"
        ) from None
