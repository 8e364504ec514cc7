"""An API to make a reference of: a union, rules, nested lists and maps, a deprecated version, somebody else's types."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, MaxLen

from kubewright.model import Column, Condition, Duration, IntOrString, Model, Quantity, Resource, resource
from kubewright.schema import (
    EmbeddedResource,
    Example,
    ExternalDocs,
    Immutable,
    ListMap,
    ListSet,
    Nullable,
    Pattern,
    PreserveUnknown,
    Rule,
    Title,
)

GROUP = "reference.example.com"


class S3(Model, tag="s3"):
    """A bucket of S3."""

    bucket: Annotated[str, MaxLen(63)]
    """Its name."""
    region: str | None = None


class Disk(Model, tag="disk"):
    """A disk of the node."""

    size: Quantity


@Rule("self.min <= self.max", message="min must not be above max")
class Range(Model):
    """How many there may be."""

    min: Annotated[int, Ge(0)] = 1
    """At least."""
    max: Annotated[int, Le(100)] = 3


@ExternalDocs("https://example.com/ports")
class Port(Model):
    """A port that is opened.

    Two things to know:
    - it is opened on the Service
    - `name` is what an Ingress
      refers to

    ```yaml
    name: http  # <b>not bold</b>
    ```
    """

    name: Annotated[str, Pattern("^[a-z|]+$"), MaxLen(15)]
    number: Annotated[int, Ge(1), Le(65535)]


@PreserveUnknown()
class Labels(Model):
    """Known labels, and others."""

    app: str = ""


class WebSpec(Model):
    """What to run."""

    image: Annotated[str, Example("nginx:1.29"), Immutable()]
    """The image, with its tag."""
    replicas: Range = Range()
    mode: Literal["fast", "safe"] = "safe"
    """How a new version is rolled out: fast | safe."""
    ports: Annotated[list[Port], ListMap("name"), MaxLen(16)] = []
    by_zone: dict[str, Range] = {}
    storage: S3 | Disk | None = None
    """Where uploads go. More on https://example.com/storage."""
    every: Duration = Duration("1h")
    surge: IntOrString = "25%"
    hosts: Annotated[list[Annotated[str, MaxLen(253)]], ListSet()] = []
    weight: Annotated[float | None, Nullable(), Title("A weight")] = None
    labels: Labels = Labels()
    raw: Annotated[dict[str, Any] | None, EmbeddedResource()] = None
    extra: dict[str, Any] = {}


class WebStatus(Model):
    ready: int = 0
    since: datetime | None = None
    conditions: list[Condition] = []


@resource(
    group=GROUP,
    version="v1",
    short_names=["wb"],
    categories=["all"],
    columns=[Column("Ready", ".status.ready", description="How many.")],
    selectable_fields=[".spec.mode"],
)
class Web(Resource[WebSpec, WebStatus]):
    """A web application."""


class OldSpec(Model):
    picture: str = ""


@resource(
    group=GROUP,
    version="v1beta1",
    kind="Web",
    short_names=["wb"],
    categories=["all"],
    storage=False,
    deprecated=True,
    deprecation_warning="use v1",
)
class WebV1Beta1(Resource[OldSpec, WebStatus]):
    """A web application <of old>."""


@Rule("self.a != 'x'")
@resource(group=GROUP, version="v1", namespaced=False)
class Flat(Resource[OldSpec]):
    """A kind with a field beside its spec."""

    a: Annotated[str | None, MaxLen(5)] = None
