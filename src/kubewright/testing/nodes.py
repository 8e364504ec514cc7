"""The nodes of a control plane, which kwok plays.

Owns the Node and StorageClass objects that make kwok do so, and the question whether it has. A Node is a plain object
with kwok's annotation and *no* status: kwok gives addresses and a port only to a Node that has no capacity yet, and
without them `kubectl logs` could not find its way. The StorageClass is the default one, and the class whose claims
kwok's volume stages bind, so that a StatefulSet with claim templates runs.
"""

from __future__ import annotations

import http.client

from kubewright.testing.errors import RequestFailed
from kubewright.testing.rest import Rest


def add_nodes(rest: Rest, count: int) -> None:
    """Make the Nodes node-0, node-1, ... up to `count` and kwok's StorageClass, where they do not exist yet."""
    wanted = [("/api/v1/nodes", _node(f"node-{number}")) for number in range(count)]
    wanted.append(("/apis/storage.k8s.io/v1/storageclasses", _storage_class()))
    for path, document in wanted:
        try:
            rest.request("POST", path, document)
        except RequestFailed as error:
            if error.code != http.client.CONFLICT:
                raise


def ready_nodes(rest: Rest, *, untainted: bool) -> int:
    """Return how many nodes are Ready and, with `untainted`, known to be so by the controller manager.

    It takes the taint node.kubernetes.io/not-ready, with which a Node is made, away: before that no Pod goes there.
    """
    count = 0
    for node in rest.get("/api/v1/nodes")["items"]:
        conditions = node.get("status", {}).get("conditions", [])
        ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
        taints = [one["key"] for one in node.get("spec", {}).get("taints", [])]
        count += ready and not (untainted and "node.kubernetes.io/not-ready" in taints)
    return count


def _node(name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "node-role.kubernetes.io/worker": "",
            },
        },
    }


def _storage_class() -> dict[str, object]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": "kwok-volume",
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": "kwok.x-k8s.io/volume",
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
    }
