"""kubectl's own waiting and rolling back, on an embedded server whose nodes are simulated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hack.kubectls import NEWEST, kubectl_of

from kubewright.testing.access import ClusterAccess
from kubewright.testing.embedded_access import embedded_access

MANIFEST = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: "nginx:1"}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: worker}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: c, image: db}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[ClusterAccess]:
    with embedded_access(nodes=2) as access:
        yield replace(access, kubectl_path=kubectl_of(NEWEST))


def test_kubectl_waits_for_rollouts_lists_them_and_takes_them_back(cluster: ClusterAccess) -> None:
    run = cluster.kubectl
    run("apply", "-f", "-", stdin=MANIFEST)
    assert "successfully rolled out" in run("rollout", "status", "deployment/web", "--timeout=60s")
    assert "BEGIN CERTIFICATE" in run("get", "configmap", "kube-root-ca.crt", "-o", "jsonpath={.data}")
    run("wait", "--for=condition=complete", "job/once", "--timeout=60s")
    run("wait", "--for=condition=Available", "deployment/web", "--timeout=60s")
    assert "roll out complete: 2 new pods" in run("rollout", "status", "statefulset/db", "--timeout=60s")
    assert run("get", "pvc", "-o", "jsonpath={.items[*].status.phase}") == "Bound Bound"

    run("set", "image", "deployment/web", "c=nginx:2")
    assert "successfully rolled out" in run("rollout", "status", "deployment/web", "--timeout=60s")
    history = run("rollout", "history", "deployment/web")
    assert [line.split()[0] for line in history.strip().splitlines()[2:]] == ["1", "2"]
    assert "nginx:1" in run("rollout", "history", "deployment/web", "--revision=1")

    run("rollout", "undo", "deployment/web")
    run("rollout", "status", "deployment/web", "--timeout=60s")
    assert run("get", "deployment", "web", "-o", "jsonpath={..image}") == "nginx:1"
    history = run("rollout", "history", "deployment/web")
    assert [line.split()[0] for line in history.strip().splitlines()[2:]] == ["2", "3"]

    run("set", "image", "statefulset/db", "c=db:2")
    run("rollout", "status", "statefulset/db", "--timeout=60s")
    run("rollout", "undo", "statefulset/db")
    run("rollout", "status", "statefulset/db", "--timeout=60s")
    assert run("get", "pods", "-l", "app=db", "-o", "jsonpath={.items[*].spec.containers[0].image}") == "db db"

    run("rollout", "restart", "deployment/web")
    run("rollout", "status", "deployment/web", "--timeout=60s")
    run("rollout", "pause", "deployment/web")
    run("set", "image", "deployment/web", "c=nginx:3")
    assert "Running" in run("get", "pods", "-l", "app=web")
    assert run("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.containers[0].image}") == " ".join(
        ["nginx:1"] * 3
    )
    run("rollout", "resume", "deployment/web")
    run("rollout", "status", "deployment/web", "--timeout=60s")

    run("scale", "deployment/web", "--replicas=1")
    run("wait", "--for=jsonpath={.status.availableReplicas}=1", "deployment/web", "--timeout=60s")
    run("drain", "node-0", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=60s")
    assert run("get", "pods", "--field-selector=spec.nodeName=node-0", "-o", "name") == ""
    run("delete", "deployment/web", "--cascade=foreground", "--timeout=60s")
    assert not run("get", "pods,replicasets", "-l", "app=web", "-o", "name")
