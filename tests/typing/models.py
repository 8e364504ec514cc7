"""What mypy and pyright (strict) see of models. Read by them, not run; each comment says what is to be an error."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, assert_type

from annotated_types import Ge

from kubewright.model import (
    UNSET,
    Column,
    Condition,
    Duration,
    FieldSelector,
    GroupVersionKind,
    IntOrString,
    Key,
    LabelSelector,
    MicroTime,
    Model,
    Object,
    ObjectMeta,
    OwnerReference,
    Quantity,
    Resource,
    Scheme,
    Selector,
    UnsetType,
    Unstructured,
    clone,
    controller_of,
    decode,
    field,
    find_condition,
    from_dict,
    is_true,
    json_diff,
    key_of,
    merge_conditions,
    merge_diff,
    origin_of,
    overlaid,
    resolve_percent,
    resource,
    set_condition,
    unstructured,
)


class WebSpec(Model):
    image: str
    replicas: Annotated[int, Ge(0)] = 1
    surge: IntOrString = "25%"
    cluster_ip: str | None = field(default=None, name="clusterIP")
    sizes: dict[str, Quantity] = {}
    note: str | UnsetType | None = UNSET


class WebStatus(Model):
    ready: int = 0
    conditions: list[Condition] = []


@resource(group="example.com", version="v1", short_names=["wb"], columns=[Column("Ready", ".status.ready")])
class Web(Resource[WebSpec, WebStatus]):
    """With a status."""


@resource(group="example.com", version="v1", namespaced=False)
class Fleet(Resource[WebSpec]):
    """Without one."""


# -- construction: keyword-only, typed, required arguments required ---------------------------------------------------

spec = WebSpec(image="x", replicas=3)
assert_type(spec.image, str)
assert_type(spec.replicas, int)
assert_type(spec.surge, int | str)
assert_type(spec.cluster_ip, str | None)
assert_type(spec.sizes, dict[str, Quantity])
assert_type(spec.note, str | UnsetType | None)

WebSpec()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
WebSpec("x")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
WebSpec(image=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
WebSpec(image="x", replica=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
spec.replica = 1  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
spec.replicas = "3"  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]

# -- resources --------------------------------------------------------------------------------------------------------

web = Web(spec=spec, metadata=ObjectMeta(name="a", namespace="ns"))
assert_type(web, Web)
assert_type(web.spec, WebSpec)
assert_type(web.status, WebStatus)
assert_type(web.status.ready, int)
assert_type(web.status.conditions, list[Condition])
assert_type(web.metadata.labels, dict[str, str])
assert_type(web.metadata.creation_timestamp, datetime | None)
assert_type(web.metadata.owner_references, list[OwnerReference])
assert_type(Web.kind, str)
assert_type(web.api_version, str)
web.status.ready += 1
Web(spec=spec, status=WebStatus(ready=1))

Web()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
Web(spec=WebStatus())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
web.statsu = WebStatus()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
web.status.redy = 1  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]

fleet = Fleet(spec=spec)
assert_type(fleet.spec.image, str)
assert_type(fleet.status, None)


def parts(obj: Resource[WebSpec, WebStatus]) -> int:
    return obj.status.ready


parts(web)
parts(fleet)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# -- codec ------------------------------------------------------------------------------------------------------------

assert_type(decode(Web, b"{}"), Web)
assert_type(decode(Web, b"{}").status.ready, int)
assert_type(from_dict(WebSpec, {}), WebSpec)
assert_type(clone(web), Web)
assert_type(origin_of(web), bytes | None)
assert_type(key_of(web), Key)
assert_type(overlaid(web), dict[str, Any])
assert_type(unstructured("v1", "Thing"), type[Unstructured])

scheme = Scheme(Web, Fleet)
assert_type(scheme.decode(b"{}"), Object)
assert_type(scheme.class_of(GroupVersionKind("", "v1", "Pod")), type[Object])
assert_type(scheme.decode_all("a: 1"), list[Object])

# -- scalars ----------------------------------------------------------------------------------------------------------

total = Quantity("1Gi") + Quantity("512Mi") * 2
assert_type(total, Quantity)
assert_type(-total, Quantity)
assert_type(1 + total, Quantity)
assert_type(2 * total, Quantity)
assert_type(sum(spec.sizes.values(), Quantity(0)), Quantity)
assert_type(sum(spec.sizes.values()), Quantity | Literal[0])
assert_type(total.to_int(), int)
assert_type(total < 5, bool)
assert_type(total >= Quantity("1"), bool)
Quantity(0.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

assert_type(MicroTime.now(), MicroTime)
assert_type(MicroTime.now().datetime, datetime)
assert_type(MicroTime.now() - MicroTime.now(), timedelta)
assert_type(Duration("5m").timedelta, timedelta)
assert_type(Duration("5m") + Duration("1s"), Duration)
assert_type(resolve_percent(spec.surge, 3, round_up=True), int)

# -- conditions -------------------------------------------------------------------------------------------------------


class OtherCondition(Model):
    """As Deployments have it: other fields, the status a plain text."""

    type: str = ""
    status: str = ""
    last_update_time: datetime | None = None


others: Sequence[OtherCondition] | None = [OtherCondition()]

assert_type(set_condition(web.status.conditions, Condition(type="Ready", status="True", reason="Up")), bool)
assert_type(find_condition(web.status.conditions, "Ready"), Condition | None)
assert_type(find_condition(others, "Available"), OtherCondition | None)
assert_type(is_true(others, "Available"), bool)
assert_type(merge_conditions([], web.status.conditions, []), list[Condition])
Condition(type="Ready", status="true", reason="Up")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# -- selectors, owners, patches ---------------------------------------------------------------------------------------

assert_type(Selector.of({"a": "b"}) & Selector.parse("a"), Selector)
assert_type(Selector.of(LabelSelector()).matches(web.metadata.labels), bool)
assert_type(FieldSelector.of("a=b"), FieldSelector)
assert_type(controller_of(web), OwnerReference | None)
assert_type(merge_diff({}, {}), dict[str, Any] | None)
assert_type(json_diff([], []), list[dict[str, Any]])
