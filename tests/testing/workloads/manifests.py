"""The objects that are made here: each as small as a real API server takes it, the rest by keyword."""

from __future__ import annotations

from typing import Any

from kubewright.testing.workloads.kinds import Obj


def template(app: str = "web", image: str = "nginx:1", **spec: Any) -> Obj:
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "c", "image": image}], **spec}}


def deployment(name: str = "web", replicas: int = 3, pods: Obj | None = None, **spec: Any) -> Obj:
    selector = {"matchLabels": {"app": name}}
    return {
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": selector, "template": pods or template(name), **spec},
    }


def image(name: str) -> Obj:
    return {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": name}]}}}}


def stateful_set(replicas: int = 3, claims: bool = False, **spec: Any) -> Obj:
    made = deployment(replicas=replicas, serviceName="web", **spec)
    if claims:
        wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        made["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": wanted}]
        made["spec"]["template"] = template()
    return made


def job(name: str = "work", restart: str = "Never", **spec: Any) -> Obj:
    pods = {"spec": {"restartPolicy": restart, "containers": [{"name": "c", "image": "worker"}]}}
    return {"metadata": {"name": name}, "spec": {"template": pods, **spec}}


def waiting_job(**spec: Any) -> Obj:
    manifest = job(**spec)
    manifest["spec"]["template"]["spec"]["nodeSelector"] = {"no": "where"}
    return manifest


def daemon_set(pods: Obj | None = None, **spec: Any) -> Obj:
    made = deployment(pods=pods, **spec)
    del made["spec"]["replicas"]
    return made
