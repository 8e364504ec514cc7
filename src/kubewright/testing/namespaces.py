"""A fresh namespace per test on a shared server.

Owns making namespaces and getting rid of them afterwards, on a thread of its own, so that no test waits for the
clean-up of another. Refuses to know whose tests they are for.

With a controller manager a deleted namespace is emptied by it. Without one nobody would: the namespace would stay
Terminating for ever and its objects would be seen by every later test that watches all namespaces. So `Namespaces`
does then what the namespace controller does: deletes every namespaced collection, then takes the finalizer away.

Guarantees: G1 a namespace is new: its name was never used on this server. G2 with controllers its default service
account exists, so Pods can be made. Caveats: deletion is best effort, and an object with a finalizer stays, with its
namespace, if whoever should handle it is gone.
"""

from __future__ import annotations

import contextlib
import queue
import re
import secrets
import threading
import time
from typing import Any

from kubewright.testing.access import ClusterAccess
from kubewright.testing.errors import RequestFailed
from kubewright.testing.rest import Rest

_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_ACCOUNT_SECONDS = 30.0
_POLL_SECONDS = 0.005
_CLOSE_SECONDS = 10.0


class Namespaces:
    """Makes and deletes namespaces on one server. For one thread; `close` it at the end."""

    def __init__(self, access: ClusterAccess) -> None:
        self._controllers = access.controllers
        self._rest = access.rest()
        self._doomed: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(
            target=self._delete_all, args=(access.rest(),), name="kubewright-namespaces", daemon=True
        )
        self._thread.start()

    def create(self, label: str = "test") -> str:
        """Make a namespace whose name begins with `label` (made fit for DNS) and return its name.

        Raises RequestFailed.
        """
        prefix = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:40].strip("-") or "test"
        name = f"{prefix}-{secrets.token_hex(4)}"
        document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        self._rest.request("POST", "/api/v1/namespaces", document)
        if self._controllers:
            deadline = time.monotonic() + _ACCOUNT_SECONDS
            path = f"/api/v1/namespaces/{name}/serviceaccounts/default"
            while self._rest.status(path) != 200:
                if time.monotonic() >= deadline:
                    raise RequestFailed("GET", path, 404, f"was not made within {_ACCOUNT_SECONDS:g} s")
                time.sleep(_POLL_SECONDS)
        return name

    def delete_later(self, name: str) -> None:
        """Have the namespace deleted; returns at once."""
        self._doomed.put(name)

    def close(self) -> None:
        """Delete what is left to delete, for at most 10 seconds."""
        self._doomed.put(None)
        self._thread.join(_CLOSE_SECONDS)
        self._rest.close()

    def _delete_all(self, rest: Rest) -> None:
        with contextlib.closing(rest):
            while (name := self._doomed.get()) is not None:
                # Best effort: the server may be gone already, with everything on it.
                with contextlib.suppress(RequestFailed):
                    document = rest.request("DELETE", f"/api/v1/namespaces/{name}")
                    if not self._controllers:
                        _empty(rest, name)
                        document["spec"] = {"finalizers": []}
                        rest.request("PUT", f"/api/v1/namespaces/{name}/finalize", document)


def _empty(rest: Rest, namespace: str) -> None:
    for path in _collections(rest):
        with contextlib.suppress(RequestFailed):
            rest.request("DELETE", path.format(namespace=namespace))


def _collections(rest: Rest) -> list[str]:
    """Return the path of every namespaced resource whose collection can be deleted, in one version each."""
    paths = []
    for root in ("/api", "/apis"):
        for group in rest.get(root, accept=_DISCOVERY)["items"]:
            name = group["metadata"].get("name", "")
            prefix = f"/apis/{name}" if name else "/api"
            seen: set[str] = set()
            for version in group["versions"]:
                for resource in _deletable(version):
                    if resource not in seen:
                        seen.add(resource)
                        paths.append(f"{prefix}/{version['version']}/namespaces/{{namespace}}/{resource}")
    return paths


def _deletable(version: dict[str, Any]) -> list[str]:
    return [
        str(resource["resource"])
        for resource in version.get("resources", [])
        if resource["scope"] == "Namespaced" and "deletecollection" in resource["verbs"]
    ]
