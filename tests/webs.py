"""Kinds for tests of whole operators, and what is asked of them again and again."""

from __future__ import annotations

from kubewright.model import Model, ObjectMeta, Resource, resource
from kubewright.model.condition import Condition
from kubewright.models.core.v1 import ConfigMap

__all__ = ["Web", "WebSpec", "WebStatus", "config", "web"]


class WebSpec(Model):
    image: str = "nginx"
    replicas: int = 1


class WebStatus(Model):
    ready: int = 0
    seen: str = ""
    conditions: list[Condition] = []


@resource(group="example.com", version="v1")
class Web(Resource[WebSpec, WebStatus]):
    """A web application."""


def web(name: str = "a", *, finalizers: tuple[str, ...] = (), namespace: str = "default", **spec: object) -> Web:
    meta = ObjectMeta(name=name, namespace=namespace, finalizers=list(finalizers))
    return Web(metadata=meta, spec=WebSpec(**spec))  # type: ignore[arg-type]


def config(name: str = "a", namespace: str = "", **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace), data=data)
