"""What the cache costs per object, and what its options save: python -m bench.memory [--objects 20000]

Each way of keeping Pods in a process of its own: memory per object (RSS beside an empty cache, and the bytes of the
objects themselves), and CPU microseconds per watch event and per read. Pods are like those of a real cluster: two
containers with environments, volumes, conditions, container statuses, a third of managedFields; names, addresses, image
digests and times differ.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from kubewright.cache.entry import Entry
from kubewright.cache.frame import read_line
from kubewright.cache.packing import Packer
from kubewright.cache.store import Store
from kubewright.cache.transform import intake_of, keep

EVENTS = 5000


def pod(number: int, version: int) -> bytes:
    """A Pod of about 6 KB."""
    chance = Random(number * 1000 + version)  # noqa: S311 - not for secrets
    digest = f"{chance.getrandbits(256):064x}"
    app = f"app-{number % 50}"
    at = f"2026-01-{1 + number % 28:02d}T{number % 24:02d}:{chance.randrange(60):02d}:{chance.randrange(60):02d}Z"
    container = {
        "image": f"registry.example.com/{app}@sha256:{digest}",
        "imagePullPolicy": "IfNotPresent",
        "resources": {"limits": {"memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "256Mi"}},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "env": [{"name": f"{app.upper()}_SETTING_{k}", "value": f"value-{k}"} for k in range(12)],
        "volumeMounts": [
            {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "kube-api-access", "readOnly": True}
        ],
    }
    ready = {"lastProbeTime": None, "lastTransitionTime": at, "status": "True"}
    value = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": f"{app}-{chance.getrandbits(40):010x}",
            "generateName": f"{app}-",
            "namespace": f"team-{number % 20}",
            "uid": f"{chance.getrandbits(128):032x}",
            "resourceVersion": str(version),
            "creationTimestamp": at,
            "labels": {"app.kubernetes.io/name": app, "pod-template-hash": f"{number % 300:x}"},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": digest[:32], "controller": True}
            ],
            "managedFields": [
                {
                    "manager": manager,
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": at,
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:spec": {f"f:field{k}": {".": {}, "f:name": {}} for k in range(20)}},
                }
                for manager in ("kube-controller-manager", "kubelet")
            ],
        },
        "spec": {
            "nodeName": f"node-{chance.randrange(500)}",
            "serviceAccountName": app,
            "containers": [{**container, "name": "main"}, {**container, "name": "sidecar"}],
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
            "volumes": [{"name": "kube-api-access", "projected": {"defaultMode": 420, "sources": []}}],
        },
        "status": {
            "phase": "Running",
            "podIP": f"10.{number % 250}.{chance.randrange(250)}.{chance.randrange(250)}",
            "startTime": at,
            "conditions": [{**ready, "type": kind} for kind in ("Initialized", "Ready", "ContainersReady")],
            "containerStatuses": [
                {
                    "name": name,
                    "ready": True,
                    "restartCount": chance.randrange(5),
                    "imageID": f"sha256:{digest}",
                    "containerID": f"containerd://{chance.getrandbits(256):064x}",
                    "state": {"running": {"startedAt": at}},
                }
                for name in ("main", "sidecar")
            ],
        },
    }
    return json.dumps(value, separators=(",", ":")).encode()


def line(number: int, version: int) -> bytes:
    return b'{"type":"MODIFIED","object":%b}\n' % pod(number, version)


def as_it_is() -> Callable[[Entry], Entry] | None:
    return None


def compressed() -> Callable[[Entry], Entry]:
    return Packer().pack


def projected() -> Callable[[Entry], Entry] | None:
    return intake_of(keep("spec.nodeName", "status.phase"))


WAYS = {"as it is": as_it_is, "compress=True": compressed, 'keep("spec.nodeName", "status.phase")': projected}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description="What the cache costs per object.")
    parser.add_argument("--objects", type=int, default=20_000)
    given = parser.parse_args()
    plain = pod(1, 1)
    print(f"{given.objects} Pods of {len(plain)} bytes; {len(read_line(line(1, 1)).entry.data)} without managedFields")  # type: ignore[union-attr]
    print(f"{'':40}{'RSS/object':>12}{'bytes/object':>14}{'us/event':>10}{'us/read':>9}")
    for name in WAYS:
        rss, stored, event, read = _in_a_process(name, given.objects)
        print(f"{name:40}{rss:12.0f}{stored:14.0f}{event:10.1f}{read:9.1f}")


def _in_a_process(name: str, objects: int) -> tuple[float, float, float, float]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found: tuple[float, float, float, float] = pool.apply(_measure, (name, objects))
        return found


def _measure(name: str, objects: int) -> tuple[float, float, float, float]:
    intake = WAYS[name]()
    store = Store()
    before = _rss()
    for number in range(objects):
        _apply(store, intake, line(number, 1))
    gc.collect()
    rss = (_rss() - before) / objects
    lines = [line(number % objects, 2 + number) for number in range(EVENTS)]
    event = _cpu(lambda: [_apply(store, intake, each) for each in lines])
    entries = store.list()[-EVENTS:]
    read = _cpu(lambda: [entry.data for entry in entries])
    return rss, store.size_bytes / len(store), event / EVENTS * 1e6, read / len(entries) * 1e6


def _apply(store: Store, intake: Callable[[Entry], Entry] | None, data: bytes) -> Any:
    entry = read_line(data).entry  # type: ignore[union-attr]
    return store.upsert(entry if intake is None else intake(entry))


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _rss() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


if __name__ == "__main__":
    main()
