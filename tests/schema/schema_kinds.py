"""The kinds of the golden table: every type, default, marker and option that a CRD can be made from, once.

`golden/*.yaml` has what is made of them. `FAMILIES` names, for fields of `Family`, values that a server accepts and
values that it refuses.
"""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar
from uuid import UUID

import msgspec
from annotated_types import Ge, Gt, Interval, Le, Len, Lt, MaxLen, MinLen, MultipleOf

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
    EmbeddedResource,
    Example,
    Format,
    Immutable,
    ListAtomic,
    ListMap,
    ListSet,
    MapAtomic,
    MaxProperties,
    MinProperties,
    Nullable,
    Pattern,
    PreserveUnknown,
    Rule,
    Schemaless,
    Title,
)

GROUP = "golden.example.com"
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


# -- constraints: one family per field --------------------------------------------------------------------------------


class Item(Model):
    name: Annotated[str, MaxLen(20)]
    protocol: str = "TCP"
    value: Annotated[str | None, MaxLen(20), Immutable()] = None


@MapAtomic()
class Pair(Model):
    a: int
    b: int


@Rule("self.min <= self.max", message="min must not be above max", reason="FieldValueForbidden", field_path=".max")
@Title("A range")
class Range(Model):
    min: int
    max: int


@MinProperties(1)
@MaxProperties(2)
class SomeOf(Model):
    a: str | None = None
    b: str | None = None
    c: str | None = None


@PreserveUnknown()
class Open(Model):
    known: int | None = None


class FamilySpec(Model):
    """One field for each family of constraints; all are optional."""

    ge: Annotated[int | None, Ge(3)] = None
    gt: Annotated[float | None, Gt(0)] = None
    le: Annotated[int | None, Le(3)] = None
    lt: Annotated[float | None, Lt(1)] = None
    interval: Annotated[int | None, Interval(gt=0, le=10)] = None
    multiple: Annotated[int | None, MultipleOf(5)] = None
    int32: Annotated[int | None, Format("int32")] = None
    int64: int | None = None
    min_len: Annotated[str | None, MinLen(2)] = None
    max_len: Annotated[str | None, MaxLen(3)] = None
    length: Annotated[list[int] | None, Len(1, 2)] = None
    pattern: Annotated[str | None, Pattern(r"^v\d+\.\d+\.\d+$")] = None
    ipv4: Annotated[str | None, Format("ipv4")] = None
    cidr: Annotated[str | None, Format("cidr")] = None
    email: Annotated[str | None, Format("email")] = None
    hostname: Annotated[str | None, Format("hostname")] = None
    uri: Annotated[str | None, Format("uri")] = None
    short_name: Annotated[str | None, Format("k8s-short-name")] = None
    uuid: UUID | None = None
    enum: Color | None = None
    literal: Literal["a", "b"] | None = None
    int_enum: Size | None = None
    data: bytes | None = None
    at: datetime | None = None
    day: date | None = None
    every: Duration | None = None
    every_long: Annotated[Duration | None, Rule("self >= duration('1s')")] = None
    quantity: Quantity | None = None
    quantity_big: Annotated[Quantity | None, Rule("quantity(string(self)).compareTo(quantity('1Gi')) >= 0")] = None
    target: Annotated[IntOrString | None, Ge(1), Pattern(r"^\d+%$")] = None
    items: Annotated[list[Annotated[str, MaxLen(2)]], MaxLen(3)] = []
    keys: dict[Annotated[str, Pattern("^[a-z']+$"), MaxLen(3)], int] = {}
    key_choice: dict[Literal["cpu", "memory"], Quantity] = {}
    values: dict[str, Annotated[int, Le(3)]] = {}
    properties: Annotated[dict[str, int] | None, MinProperties(1), MaxProperties(2)] = None
    some_of: SomeOf | None = None
    list_map: Annotated[list[Item], ListMap("name", "protocol"), MaxLen(8)] = []
    list_set: Annotated[list[str], ListSet()] = []
    pair: Pair | None = None
    list_atomic: Annotated[list[str], ListAtomic()] = []
    map_atomic: Annotated[dict[str, str], MapAtomic()] = {}
    range: Range | None = None
    field_rule: Annotated[str | None, Rule("self.startsWith('a')", message="must begin with a")] = None
    message_expression: Annotated[int | None, Rule("self < 5", message_expression="'must be below ' + '5'")] = None
    on_creation: Annotated[
        int | None,
        Rule("!oldSelf.hasValue() || self >= oldSelf.value()", message="only up", optional_old_self=True),
    ] = None
    nullable: int | UnsetType | None = UNSET
    nullable_marked: Annotated[str | None, Nullable(), MaxLen(3)] = None
    nullable_choice: Annotated[Literal["a", "b"] | None, Nullable()] = None
    nullable_items: list[str | None] = []
    nullable_values: dict[str, int | None] = {}
    open: Open | None = None
    closed: Leaf | None = None
    embedded: Annotated[dict[str, Any] | None, EmbeddedResource()] = None
    schemaless: Annotated[Range | None, Schemaless()] = None
    anything: Any = None
    titled: Annotated[int | None, Title("A title"), Example(3), Doc("From a marker.")] = None
    from_meta: Annotated[int | None, msgspec.Meta(ge=1, le=3, title="By msgspec", examples=[2])] = None


class FamilyStatus(Model):
    conditions: list[Condition] = []


@resource(group=GROUP, version="v1", plural="families")
class Family(Resource[FamilySpec, FamilyStatus]):
    pass


GOOD_UUID = "123e4567-e89b-12d3-a456-426614174000"
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "labels": {"a": "b"}}, "spec": {"free": 1}}

FAMILIES: dict[str, tuple[list[Any], list[Any]]] = {
    "ge": ([3], [2, "3", 3.5]),
    "gt": ([0.1], [0]),
    "le": ([3], [4]),
    "lt": ([0.9], [1]),
    "interval": ([1, 10], [0, 11]),
    "multiple": ([10], [11]),
    "int32": ([2**31 - 1], [2**31]),
    "int64": ([2**63 - 1], [2**64]),
    "minLen": (["ab"], ["a"]),
    "maxLen": (["abc"], ["abcd"]),
    "length": ([[1], [1, 2]], [[], [1, 2, 3]]),
    "pattern": (["v1.2.3"], ["1.2.3"]),
    "ipv4": (["10.0.0.1"], ["10.0.0"]),
    "cidr": (["10.0.0.0/8"], ["10.0.0.0"]),
    "email": (["a@example.com"], ["a"]),
    "hostname": (["a.example.com"], ["-a-"]),
    "uri": (["https://example.com/x"], ["x"]),
    "shortName": (["web-1"], ["Web"]),
    "uuid": ([GOOD_UUID], ["1234"]),
    "enum": (["red"], ["blue"]),
    "literal": (["a"], ["c"]),
    "intEnum": ([10], [2]),
    "data": (["AP8="], ["!"]),
    "at": (["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456Z"], ["yesterday", "2026-01-02"]),
    "day": (["2026-01-02"], ["02.01.2026"]),
    "every": (["1h30m", "0", "-1.5s", "3µs"], ["3 days", "1", "h"]),
    "everyLong": (["1m"], ["1ms"]),
    "quantity": (["1Gi", 3, "0.5", "1e3"], ["1gi", 1.5, ""]),
    "quantityBig": (["2Gi", 2**31], ["1Mi", 3]),
    "target": ([1, "10%"], [0, "ten", 1.5]),
    "items": ([["ab"]], [["abc"], ["a", "b", "c", "d"], [1]]),
    "keys": ([{"ab": 1}, {"a'": 1}], [{"AB": 1}, {"abcd": 1}, {"ab": "1"}]),
    "keyChoice": ([{"cpu": "1"}], [{"gpu": "1"}]),
    "values": ([{"a": 3}], [{"a": 4}]),
    "properties": ([{"a": 1}], [{}, {"a": 1, "b": 1, "c": 1}]),
    "someOf": ([{"a": "x"}], [{}, {"a": "x", "b": "x", "c": "x"}]),
    "listMap": (
        [[{"name": "a", "protocol": "TCP"}, {"name": "b", "protocol": "TCP"}, {"name": "a", "protocol": "UDP"}]],
        [[{"name": "a"}, {"name": "a"}], [{"protocol": "TCP"}]],
    ),
    "listSet": ([["a", "b"]], [["a", "a"]]),
    "pair": ([{"a": 1, "b": 2}], [{"a": 1}]),
    "listAtomic": ([["a", "a"]], ["a"]),
    "mapAtomic": ([{"a": "b"}], [{"a": 1}]),
    "range": ([{"min": 1, "max": 2}], [{"min": 3, "max": 2}, {"min": 1}]),
    "fieldRule": (["ab"], ["b"]),
    "messageExpression": ([4], [5]),
    "onCreation": ([1], ["1"]),
    "nullable": ([None, 1], ["1"]),
    "nullableMarked": ([None, "abc"], ["abcd"]),
    "nullableChoice": ([None, "a"], ["c"]),
    "nullableItems": ([["a", None]], [[1]]),
    "nullableValues": ([{"a": None}], [{"a": "1"}]),
    "open": ([{"known": 1, "more": 2}], [{"known": "1"}]),
    "closed": ([{"name": "a"}], [{"name": "a", "more": 2}]),
    "embedded": ([POD], [{"kind": "Pod"}, {**POD, "metadata": {"labels": {"-": "b"}}}]),
    "schemaless": ([{"min": 3, "max": "x"}], ["x"]),
    "anything": ([1, "a", [None, {}], {"a": None}], []),
    "titled": ([1], ["1"]),
    "fromMeta": ([1], [4]),
}

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
    "family": (Family,),
    "change": (Change,),
    "scaled": (ScaledV1Beta1, Scaled),
    "docs": (Docs,),
    "workload": (Workload,),
}
