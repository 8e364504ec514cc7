"""Whole kinds for golden files: names, versions, defaults, columns, scale, descriptions, embedded types.

`golden/*.yaml` has what is made of them. Types and constraints one by one are in `table/`.
"""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar
from uuid import UUID

from annotated_types import Ge, Le, MaxLen

from kubewright.model import (
    UNSET,
    Column,
    Duration,
    IntOrString,
    MicroTime,
    Model,
    Quantity,
    Resource,
    ScaleInfo,
    UnsetType,
    field,
    resource,
)
from kubewright.model.condition import Condition
from kubewright.model.selector import LabelSelector
from kubewright.models.core.v1 import PersistentVolumeClaim, PodTemplateSpec
from kubewright.schema import (
    Default,
    Doc,
    Immutable,
    ListMap,
    MaxProperties,
    Rule,
)

GROUP = "golden.example.com"
GOOD_UUID = "123e4567-e89b-12d3-a456-426614174000"
T = TypeVar("T")

# -- the smallest -----------------------------------------------------------------------------------------------------


class PlainSpec(Model):
    image: str
    replicas: Annotated[int, Ge(0), Le(100)] = 1


class PlainStatus(Model):
    ready: int = 0


@resource(group=GROUP, version="v1", short_names=["pln"], columns=[Column("Ready", ".status.ready")])
class Plain(Resource[PlainSpec, PlainStatus]):
    """A web application."""


# -- scalars and their defaults ---------------------------------------------------------------------------------------


class Color(enum.StrEnum):
    """A color of the traffic light."""

    RED = "red"
    GREEN = "green"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 10


UserId = NewType("UserId", int)
Port = Annotated[int, Ge(1), Le(65535)]


class ScalarsSpec(Model):
    """Every scalar: required, optional and with a default."""

    text: str
    number: int
    ratio: float
    flag: bool
    data: bytes
    at: datetime
    at_micro: MicroTime
    day: date
    every: Duration
    size: Quantity
    target: IntOrString
    uid: UUID
    color: Color
    magnitude: Size
    letter: Literal["y", "n", "on", "1e3", "~"]
    digit: Literal[1, 2, 3]
    user: UserId
    port: Port
    anything: Any
    maybe_text: str | None = None
    maybe_size: Quantity | None = None
    maybe_unset: int | UnsetType = UNSET
    default_text: str = "1e3"
    default_empty: str = ""
    default_number: int = 0
    default_ratio: float = 0.5
    default_flag: bool = False
    default_data: bytes = b"\x00\xff"
    default_at: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    default_every: Duration = Duration("1h30m")
    default_size: Quantity = Quantity("500m")
    default_target: IntOrString = "25%"
    default_color: Color = Color.GREEN
    default_magnitude: Size = Size.LARGE
    default_letter: Literal["y", "n"] = "n"
    default_port: Port = 8080
    cluster_ip: str | None = field(default=None, name="clusterIP")


@resource(group=GROUP, version="v1")
class Scalar(Resource[ScalarsSpec]):
    pass


# -- objects, lists, maps, and defaults of all three ------------------------------------------------------------------


class Leaf(Model):
    """The innermost object."""

    name: str = "leaf"
    weight: int | None = None


class Bare(Model):
    note: str | None = None


class Branch(Model):
    leaf: Leaf = Leaf()
    other: Leaf = Leaf(name="other", weight=3)
    bare: Bare = Bare()
    maybe: Leaf | None = None


class Box(Model, Generic[T]):
    """A thing in a box."""

    content: T
    spare: list[T] = []


class NestedSpec(Model):
    """All fields have a default, so the spec may be left out."""

    branch: Branch = Branch()
    branches: list[Branch] = []
    by_name: dict[str, Leaf] = {}
    words: list[str] = field(default_factory=lambda: ["a", "b"])
    ports: dict[str, int] = field(default_factory=lambda: {"http": 80})
    leaves: list[Leaf] = field(default_factory=lambda: [Leaf(), Leaf(name="x")])
    matrix: list[list[float]] = []
    free: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    untyped: list[Any] = []
    numbers: Box[int] | None = None
    boxes: Box[Box[str]] | None = None
    server_side: Annotated[str | None, Default("set by the server")] = None


@resource(group=GROUP, version="v1", namespaced=False, categories=["golden"])
class Nested(Resource[NestedSpec]):
    """A cluster-scoped kind."""


# -- rules over changes -----------------------------------------------------------------------------------------------


class FrozenPart(Model):
    name: str
    size: Annotated[int | None, Immutable()] = None


@Immutable()
class FrozenWhole(Model):
    a: int


class ChangeSpec(Model):
    storage: Annotated[Quantity, Immutable()] = Quantity("1Gi")
    namespace: Annotated[str | None, Immutable()] = None
    whole: FrozenWhole | None = None
    only_up: Annotated[int, Rule("self >= oldSelf", message="must not go down", reason="FieldValueForbidden")] = 0
    parts: Annotated[list[FrozenPart], ListMap("name"), MaxLen(10)] = []
    by_name: Annotated[dict[str, Annotated[int, Immutable()]], MaxProperties(10)] = {}


@Rule("self.metadata.name.size() <= 10", message="the name must have at most 10 characters")
@resource(group=GROUP, version="v1")
class Change(Resource[ChangeSpec]):
    pass


# -- versions, names, columns, scale ----------------------------------------------------------------------------------


class ScaledSpecOld(Model):
    size: int = 1


class ScaledSpec(Model):
    replicas: int = 1
    at: datetime | None = None
    ratio: float | None = None
    paused: bool = False
    size: Quantity | None = None
    hosts: list[str] = []


class ScaledStatus(Model):
    replicas: int = 0
    selector: str = ""
    conditions: list[Condition] = []


@resource(
    group=GROUP,
    version="v1beta1",
    kind="Scaled",
    plural="scaleds",
    short_names=["scl"],
    storage=False,
    deprecated=True,
    deprecation_warning="use v1",
)
class ScaledV1Beta1(Resource[ScaledSpecOld]):
    """The old version."""


@resource(
    group=GROUP,
    version="v1",
    plural="scaleds",
    short_names=["scl"],
    scale=ScaleInfo(label_selector_path=".status.selector"),
    selectable_fields=[".spec.paused", ".spec.replicas", ".status.selector"],
    labels={"app.kubernetes.io/part-of": "golden"},
    annotations={"example.com/owner": "the golden team"},
    columns=[
        Column("Replicas", ".spec.replicas"),
        Column("At", ".spec.at"),
        Column("Ratio", ".spec.ratio", description="How much."),
        Column("Paused", ".spec.paused"),
        Column("Size", ".spec.size", priority=1),
        Column("First", ".spec.hosts[0]"),
        Column("Hosts", ".spec.hosts"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Generation", ".metadata.generation", type="string", format="int64"),
        Column("App", r".metadata.labels.app\.kubernetes\.io/name"),
        Column("Born", ".metadata.creationTimestamp"),
    ],
)
class Scaled(Resource[ScaledSpec, ScaledStatus]):
    """The new version."""


# -- descriptions -----------------------------------------------------------------------------------------------------


class Documented(Model):
    """A part with a docstring of its own."""

    inner: str = ""
    """Said of the inner field."""


class DocsBase(Model):
    inherited: str = ""
    """Said in the base class."""


class DocsSpec(DocsBase):
    """The first line is wrapped
    and goes on here.

    A second paragraph, then a list:
    - one
    - two
      that goes on

    ```yaml
    kept:
      as: it is
    ```

    ---
    For developers only.
    """

    field: str = ""
    """What stands under a field
    is its description: with a colon, 'quotes' and "more".
    """

    part: Documented = Documented()
    own: Documented = Documented()
    """Said where it is used."""
    marked: Annotated[str, Doc("Said by a marker.")] = ""
    """Not this."""
    silent: str = ""
    color: Color | None = None
    parts: list[Documented] = []


@resource(group=GROUP, version="v1")
class Docs(Resource[DocsSpec]):
    """Descriptions come from docstrings."""


# -- other people's types ---------------------------------------------------------------------------------------------


class WorkloadSpec(Model):
    template: PodTemplateSpec
    selector: LabelSelector
    volume_claim_templates: Annotated[list[PersistentVolumeClaim], MaxLen(4)] = []


@resource(group=GROUP, version="v1")
class Workload(Resource[WorkloadSpec]):
    """A kind that embeds a Pod template."""


KINDS: dict[str, tuple[Any, ...]] = {
    "plain": (Plain,),
    "scalar": (Scalar,),
    "nested": (Nested,),
    "change": (Change,),
    "scaled": (ScaledV1Beta1, Scaled),
    "docs": (Docs,),
    "workload": (Workload,),
}
