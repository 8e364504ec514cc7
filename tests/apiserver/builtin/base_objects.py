"""Objects of the kinds that make Pods, and how cases change objects.

A change is `path -> value`; numbers in a path are places in a list, `REMOVED` takes a field away.
"""

from __future__ import annotations

import copy
from typing import Any

Object = dict[str, Any]


class _Removed:
    pass


REMOVED = _Removed()


def changed(obj: Object, **changes: Any) -> Object:
    """A copy with changes; `__` in a name is a dot."""
    made = copy.deepcopy(obj)
    for name, value in changes.items():
        put(made, name.replace("__", "."), value)
    return made


def put(obj: Any, path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for each in parents:
        obj = obj[int(each)] if isinstance(obj, list) else obj.setdefault(each, {})
    if isinstance(obj, list):
        if int(last) == len(obj):
            obj.append(value)
        else:
            obj[int(last)] = value
    elif isinstance(value, _Removed):
        obj.pop(last, None)
    else:
        obj[last] = value


def named(kind: str, name: str, api_version: str = "v1", **fields: Any) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


CONTAINER: Object = {"name": "main", "image": "example.com/app:1"}
LABELS = {"app": "web"}
TEMPLATE: Object = {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER]}}
SELECTOR: Object = {"matchLabels": LABELS}

POD = named("Pod", "pod", spec={"containers": [CONTAINER]})
DEPLOYMENT = named("Deployment", "web", "apps/v1", spec={"selector": SELECTOR, "template": TEMPLATE})
REPLICA_SET = named("ReplicaSet", "web", "apps/v1", spec={"selector": SELECTOR, "template": TEMPLATE})
STATEFUL_SET = named(
    "StatefulSet", "db", "apps/v1", spec={"serviceName": "db", "selector": SELECTOR, "template": TEMPLATE}
)
DAEMON_SET = named("DaemonSet", "agent", "apps/v1", spec={"selector": SELECTOR, "template": TEMPLATE})
CONTROLLER = named("ReplicationController", "old", spec={"selector": LABELS, "template": TEMPLATE})
ONCE = {"metadata": {}, "spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}
JOB = named("Job", "once", "batch/v1", spec={"template": ONCE})
CRON_JOB = named(
    "CronJob", "nightly", "batch/v1", spec={"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": ONCE}}}
)
SERVICE = named("Service", "web", spec={"selector": LABELS, "ports": [{"port": 80}]})
CLAIM = named(
    "PersistentVolumeClaim",
    "data",
    spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
)
CLAIM_TEMPLATE: Object = {"metadata": {"name": "data"}, "spec": CLAIM["spec"]}

BASES: dict[str, Object] = {
    "pod": POD,
    "deployment": DEPLOYMENT,
    "replicaset": REPLICA_SET,
    "statefulset": STATEFUL_SET,
    "daemonset": DAEMON_SET,
    "controller": CONTROLLER,
    "job": JOB,
    "cronjob": CRON_JOB,
    "service": SERVICE,
}
