"""Kinds that the tests of this room share."""

from __future__ import annotations

from kubewright.model import Condition, Model, Object, Resource, resource


class Port(Model):
    name: str = ""
    number: int
    tags: list[str] = []


class Resources(Model):
    limits: dict[str, str] = {}


class Container(Model):
    name: str
    image: str | None = None
    ports: list[Port] = []
    resources: Resources | None = None


class WebSpec(Model):
    __list_map_keys__ = {"containers": ("name",)}

    image: str
    replicas: int = 1
    containers: list[Container] = []
    ports: list[Port] = []
    settings: dict[str, Port] = {}


class WebStatus(Model):
    ready: int = 0
    phase: str | None = None
    conditions: list[Condition] = []


@resource(group="example.com", version="v1")
class Web(Resource[WebSpec, WebStatus]):
    """A namespaced kind with a status."""


@resource(group="example.com", version="v1", namespaced=False)
class Fleet(Object):
    """A cluster-scoped kind without a spec."""


@resource(group="", version="v1", kind="ConfigMap")
class ConfigMap(Object):
    """Shaped like the built-in one."""

    data: dict[str, str] = {}
    immutable: bool | None = None
