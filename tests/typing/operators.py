# pyright: reportUnnecessaryTypeIgnoreComment=true
"""What type checkers see of operators: what they infer, and what they refuse. Checked, not run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from typing import Annotated, assert_type

from annotated_types import Ge, Le

from kubewright import (
    Client,
    Column,
    Condition,
    Context,
    Key,
    Lookup,
    MergePatch,
    Model,
    ObjectMeta,
    Operator,
    Resource,
    Result,
    Retry,
    SourceContext,
    SyncContext,
    Terminal,
    after,
    changed,
    controller,
    every,
    generation_changed,
    has_label,
    label_changed,
    owned,
    resource,
    set_condition,
    source,
    unstructured,
    watches,
)
from kubewright.controller import FunctionController
from kubewright.model import LabelSelector, Unstructured
from kubewright.models.apps.v1 import Deployment, DeploymentSpec
from kubewright.models.core.v1 import ConfigMap, Container, PodSpec, PodTemplateSpec
from kubewright.queue import ExponentialBackoff, Longest, TokenBucket
from kubewright.testing import FakeContext


class WebSpec(Model):
    image: str
    replicas: Annotated[int, Ge(0), Le(100)] = 1


class WebStatus(Model):
    ready: int = 0
    conditions: list[Condition] = []


@resource(group="example.com", version="v1", short_names=["wb"], columns=[Column("Ready", ".status.ready")])
class Web(Resource[WebSpec, WebStatus]):
    """A web application."""


def deployment(web: Web) -> Deployment:
    labels = {"app": web.metadata.name}
    container = Container(name="web", image=web.spec.image)
    return Deployment(
        metadata=ObjectMeta(name=web.metadata.name),
        spec=DeploymentSpec(
            replicas=web.spec.replicas,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[container])),
        ),
    )


# Functions


@controller(Web, owns=[Deployment])
async def smallest(web: Web, ctx: Context) -> None:
    child = await ctx.apply(deployment(web))
    web.status.ready = child.status.ready_replicas or 0


@controller(Web, workers=8, deadline_seconds=60)
async def with_a_result(web: Web, ctx: Context) -> Result | None:
    if web.spec.replicas == 0:
        raise Terminal("spec.replicas: 0")
    if ctx.attempt > 3:
        raise Retry("not yet", after_seconds=5)
    return after(30)


@controller(Web)
def blocking(web: Web, ctx: SyncContext) -> Result | None:
    assert_type(ctx.apply(deployment(web)), Deployment)
    assert_type(ctx.get(Web, "a").status.ready, int)
    assert_type(ctx.list(ConfigMap, labels={"a": "b"}), Sequence[ConfigMap])
    return None


async def clean(web: Web, ctx: Context) -> None:
    await ctx.delete(ConfigMap(metadata=ObjectMeta(name=web.metadata.name)))


def clean_blocking(web: Web, ctx: SyncContext) -> None:
    ctx.delete(ConfigMap(metadata=ObjectMeta(name=web.metadata.name)))


@controller(Web, finalize=clean, finalizer="example.com/clean")
async def with_finalize(web: Web, ctx: Context) -> None: ...


@controller(Web, finalize=clean_blocking)
def blocking_with_finalize(web: Web, ctx: SyncContext) -> None: ...


Crontab = unstructured("batch.example.com/v1", "Crontab", plural="crontabs")


@controller(Crontab)
async def without_a_class(obj: Unstructured, ctx: Context) -> None:
    obj["status"] = {"seen": obj.get("spec", "schedule")}


@controller(Web, by="key", owns=[owned(Deployment, any_owner=True)])
async def by_key(key: Key, ctx: Context) -> None:
    assert_type(key.namespace, str)
    assert_type(ctx.causes[0].changed, frozenset[str])


@controller(
    Web,
    predicate=generation_changed | (label_changed & ~changed(lambda web: web.spec.replicas)),
    sources=[every(300)],
    rate_limiter=lambda: Longest(ExponentialBackoff(), TokenBucket(10, 100)),
)
async def with_more(web: Web, ctx: Context) -> Result | None:
    made, outcome = await ctx.create_or_patch(deployment(web), lambda found: None)
    assert_type(made, Deployment)
    assert outcome in ("created", "patched", "unchanged")
    return after(30, priority=5)


@with_more.watches(ConfigMap, predicate=generation_changed & has_label("example.com/web"), reads=[Deployment])
def webs_of(config: ConfigMap, cache: Lookup) -> Iterable[Key]:
    assert_type(cache.list(Web), Sequence[Web])
    assert_type(cache.find(Web, "a"), Web | None)
    return cache.keys(Web)


@with_more.source
async def orders(ctx: SourceContext) -> AsyncIterator[Key]:
    yield Key("default", "a")


# Classes


@controller(Web, owns=[Deployment], workers=4)
class Webs:
    def __init__(self, url: str) -> None:
        self.url = url

    async def reconcile(self, web: Web, ctx: Context) -> Result | None:
        return None

    async def finalize(self, web: Web, ctx: Context) -> None: ...

    @watches(ConfigMap)
    async def webs_of(self, config: ConfigMap, cache: Lookup) -> Iterable[Key]:
        return [Key(config.metadata.namespace, self.url)]

    @source
    async def orders(self, ctx: SourceContext) -> AsyncIterator[Key]:
        yield Key("default", "a")


@controller(Web)
class BlockingWebs:
    def reconcile(self, web: Web, ctx: SyncContext) -> None: ...


operator = Operator(
    "web-operator",
    controllers=[smallest, with_a_result, blocking, with_finalize, without_a_class, Webs("http://a"), BlockingWebs()],
)


# What is inferred


async def context(web: Web, ctx: Context) -> None:
    assert_type(await ctx.apply(deployment(web)), Deployment)
    assert_type(await ctx.get(Web, "a", namespace="b"), Web)
    assert_type(await ctx.find(Web, "a"), Web | None)
    assert_type(await ctx.list(Deployment, labels="a=b", all_namespaces=True), Sequence[Deployment])
    assert_type(await ctx.owned(Deployment), Sequence[Deployment])
    assert_type(await ctx.create(ConfigMap(), owned=False), ConfigMap)
    assert_type(await ctx.patch(web, MergePatch({"spec": {"replicas": 3}})), Web)
    assert_type(await ctx.delete(web), bool)
    assert_type(await ctx.find(Crontab, "a"), Unstructured | None)
    assert_type(ctx.client, Client)
    assert_type(ctx.now(), datetime)
    assert_type(ctx.deadline_at, float | None)
    ctx.event("Normal", "Scaled", "to 3 replicas")
    assert_type(web.spec.image, str)
    assert_type(web.status.conditions, list[Condition])
    set_condition(web.status.conditions, Condition(type="Ready", status="True", reason="Up"))


async def what_is_decorated_stays_what_it_is(web: Web, ctx: Context, sync: SyncContext) -> None:
    await smallest(web, ctx)
    assert_type(await with_a_result(web, ctx), Result | None)
    assert_type(blocking(web, sync), Result | None)
    assert_type(blocking, FunctionController[Web, SyncContext, Result | None])
    assert_type(Webs("http://a").url, str)
    await by_key(Key("default", "a"), ctx)
    assert_type(list(webs_of(ConfigMap(), Lookup(lambda kind: None))), list[Key])
    assert_type(await Webs("http://a").reconcile(web, ctx), Result | None)


async def running(client: Client) -> None:
    async with operator.start(client) as manager:
        await manager.ready.wait()


def test_pure() -> None:
    web = Web(metadata=ObjectMeta(name="a"), spec=WebSpec(image="nginx"))
    ctx = FakeContext(web, objects=[deployment(web)])
    accepted: Context = ctx
    asyncio.run(smallest(web, ctx))
    asyncio.run(smallest(web, accepted))
    asyncio.run(Webs("http://a").reconcile(web, ctx))
    assert_type(blocking(web, ctx.sync()), Result | None)
    assert ctx.applied == [deployment(web)]
    assert_type(ctx.applied_of(Deployment), list[Deployment])
    assert ctx.patched[0].patch == MergePatch({})


# What is refused


@controller(Web)  # type: ignore[arg-type]
async def of_another_kind(config: ConfigMap, ctx: Context) -> None: ...


@controller(Web)  # type: ignore[arg-type]
async def without_a_context(web: Web) -> None: ...


@controller(Web)  # type: ignore[type-var]
async def with_a_wrong_result(web: Web, ctx: Context) -> int:
    return 5


@controller(Web)  # type: ignore[type-var]
async def with_a_wrong_context(web: Web, ctx: int) -> None: ...


async def without_context(web: Web) -> None: ...


@controller(Web, finalize=without_context)  # type: ignore[arg-type]
async def with_a_wrong_finalize(web: Web, ctx: Context) -> None: ...


@controller(Web, by="key")  # type: ignore[arg-type]
async def of_an_object_by_key(web: Web, ctx: Context) -> None: ...


@controller(Web, owns=[Webs])  # type: ignore[list-item]
async def that_owns_no_kind(web: Web, ctx: Context) -> None: ...


@controller(Webs)  # type: ignore[type-var]
async def of_no_kind(obj: Webs, ctx: Context) -> None: ...


async def refused(web: Web, ctx: Context, sync: SyncContext) -> None:
    await ctx.apply(Webs("http://a"))  # type: ignore[type-var]
    await ctx.get("Web", "a")  # type: ignore[arg-type]
    await ctx.list(Web, labels=["a"])  # type: ignore[arg-type]
    await smallest(web, sync)  # type: ignore[arg-type]
    blocking(web, ctx)  # type: ignore[arg-type]
    web.spec.replica = 3  # type: ignore[attr-defined]
    web.status.ready = "3"  # type: ignore[assignment]
    WebSpec(replicas=3)  # type: ignore[call-arg]
    ctx.event("Bad", "Scaled", "to 3 replicas")  # type: ignore[arg-type]
    after("30")  # type: ignore[arg-type]
    Operator(controllers=[smallest])  # type: ignore[call-arg]
