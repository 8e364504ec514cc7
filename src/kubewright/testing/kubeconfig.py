"""A kubeconfig for one user of one control plane, as text.

Owns the shape of the file (https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/) as far as this room writes
it: one cluster, one user with a client certificate or a token, one context, all data inside. It refuses to write files:
where a kubeconfig goes is the caller's decision; whether it may go there, `refuse_foreign` says.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kubewright.testing.errors import ClusterError

if TYPE_CHECKING:
    from kubewright.testing.certs import KeyPair

ADMIN: Final = "admin"
"""The administrator's name."""


def render(*, name: str, url: str, ca: bytes, user: str, credentials: KeyPair | str) -> str:
    """Return the YAML text; cluster and context are called `name`, `ca` is the PEM of the serving authority.

    `credentials` are a client certificate, or a bearer token.
    """
    # Written by hand: a library of YAML takes longer to load than an embedded server to start. What JSON quotes, YAML
    # reads.
    if isinstance(credentials, str):
        secret = f"token: {json.dumps(credentials)}"
    else:
        secret = (
            f"client-certificate-data: {_base64(credentials.certificate)}\n"
            f"    client-key-data: {_base64(credentials.key)}"
        )
    name, user, url = json.dumps(name), json.dumps(user), json.dumps(url)
    return f"""\
apiVersion: v1
kind: Config
clusters:
- name: {name}
  cluster:
    server: {url}
    certificate-authority-data: {_base64(ca)}
users:
- name: {user}
  user:
    {secret}
contexts:
- name: {name}
  context:
    cluster: {name}
    user: {user}
current-context: {name}
"""


def refuse_foreign(kubeconfig: Path, context: str) -> None:
    """Raises ClusterError: the file is there and holds something else than this one context."""
    if not kubeconfig.exists():
        return
    try:
        names = context_names(kubeconfig.read_text())
    except (OSError, UnicodeDecodeError):
        names = None
    if names != [context]:
        holds = "is not a kubeconfig" if names is None else f"holds the contexts {', '.join(names) or '(none)'}"
        raise ClusterError(
            f"{kubeconfig} {holds} and is not overwritten; name another file, "
            f"or use `export KUBECONFIG={kubeconfig}:<the new file>` to have both"
        )


def context_names(text: str) -> list[str] | None:
    """Return the names of the contexts in a kubeconfig; None if the text is not a kubeconfig at all."""
    import yaml

    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    if not isinstance(document, dict) or document.get("kind") != "Config":
        return None
    contexts = document.get("contexts")
    if not isinstance(contexts, list):
        return []
    return [str(context.get("name")) for context in contexts if isinstance(context, dict)]


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
