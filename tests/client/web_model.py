"""A custom resource, a cluster-scoped one, and kinds by name: what the tests of the verbs speak about."""

from __future__ import annotations

from typing import Any

from kubewright.model import Model, Object, ObjectMeta, Resource, resource, unstructured


class WebSpec(Model):
    image: str
    replicas: int = 1


class WebStatus(Model):
    ready: int = 0
    note: str | None = None


@resource(group="example.com", version="v1")
class Web(Resource[WebSpec, WebStatus]):
    """A web application."""


class ZoneSpec(Model):
    region: str = "eu"


@resource(group="example.com", version="v1beta1", namespaced=False)
class Zone(Resource[ZoneSpec]):
    """Without a namespace, and without a status."""


@resource(group="", version="v1", status=False)
class ConfigMap(Object, dict=True):
    """As the built-in one."""

    data: dict[str, str] = {}


Pod = unstructured("v1", "Pod", plural="pods")
Deployment = unstructured("apps/v1", "Deployment", plural="deployments")
Node = unstructured("v1", "Node", plural="nodes", namespaced=False)


def web(name: str = "a", image: str = "nginx", **metadata: Any) -> Web:
    return Web(metadata=ObjectMeta(name=name, **metadata), spec=WebSpec(image=image))


def config_map(name: str = "a", data: dict[str, str] | None = None, **metadata: Any) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, **metadata), data=data or {})
