"""Makes `bootstrap.json`, the roles and bindings of a new cluster.

    python -m kubewright.apiserver.access.make SOURCE [--check]

`SOURCE` is a new server of the release, with its default settings and without controllers (they fill in aggregated
roles), such as `http://127.0.0.1:8001` behind `kubectl proxy`. `--check` writes nothing and fails where the file would
change. The file has one object a line, so that a difference can be read.
"""

from __future__ import annotations

import argparse
import sys
import urllib.request
from collections.abc import Callable
from typing import Any, Final

import orjson

from .bootstrap import BOOTSTRAP_PATH

__all__ = ["build", "main"]

_PLURALS: Final = {
    "clusterroles": "ClusterRole",
    "clusterrolebindings": "ClusterRoleBinding",
    "roles": "Role",
    "rolebindings": "RoleBinding",
}


def build(fetch: Callable[[str], Any]) -> bytes:
    """The content of the file. `fetch` gets a path, and gives the decoded answer."""
    parts = []
    for plural, kind in _PLURALS.items():
        found = fetch(f"/apis/rbac.authorization.k8s.io/v1/{plural}")
        lines = [orjson.dumps(_kept(each, kind)) for each in found["items"]]
        parts.append(orjson.dumps(plural) + b": [\n" + b",\n".join(lines) + b"\n]")
    return b"{" + b",\n".join(parts) + b"}\n"


def _kept(obj: dict[str, Any], kind: str) -> dict[str, Any]:
    """An object without what is another one in each cluster, with its kind and version as it is stored."""
    meta = {name: each for name, each in obj["metadata"].items() if name not in _OWN}
    meta["managedFields"] = [
        {name: each for name, each in one.items() if name != "time"} for one in meta.get("managedFields", ())
    ]
    rest = {name: each for name, each in obj.items() if name not in ("kind", "apiVersion", "metadata")}
    return {"kind": kind, "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": meta, **rest}


_OWN: Final = ("uid", "resourceVersion", "creationTimestamp")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m kubewright.apiserver.access.make", description=__doc__)
    parser.add_argument("source", metavar="SOURCE", help="URL of a server that asks for no credentials")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the file would change")
    options = parser.parse_args(arguments)

    def fetch(path: str) -> Any:
        with urllib.request.urlopen(options.source.rstrip("/") + path) as answer:  # noqa: S310 - the URL that was given
            return orjson.loads(answer.read())

    made = build(fetch)
    if options.check:
        return 0 if made == BOOTSTRAP_PATH.read_bytes() else 1
    BOOTSTRAP_PATH.write_bytes(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
