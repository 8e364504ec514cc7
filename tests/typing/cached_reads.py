"""What type checkers know of the cache: its options, indexes and lists. Checked, not run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, assert_type

from kubewright import CacheOptions, Context, KindCache, Operator, index
from kubewright.cache import Index, NamespaceCache, drop, field_index, keep
from kubewright.models.core.v1 import ConfigMap, Pod


@index(Pod)
def by_node(pod: Pod) -> Iterable[str]:
    yield pod.spec.node_name or ""


@index(Pod)  # type: ignore[arg-type]
def wrong(config: ConfigMap) -> Iterable[str]:  # pyright: ignore[reportArgumentType]
    return list(config.data)


by_image = field_index(Pod, "spec.containers.image")


def upper(obj: dict[str, Any]) -> dict[str, Any]:
    return obj


options = CacheOptions(
    namespaces={"a": NamespaceCache(labels="app=web"), "b": NamespaceCache()},
    transform=upper,
    by_kind={
        Pod: KindCache(labels={"app": "web"}, transform=keep("spec.nodeName")),
        ConfigMap: KindCache(namespaces=["a"], transform=drop("binaryData"), live=True),
    },
)
operator = Operator("any", controllers=[], cache=options)
CacheOptions(page_size="many")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def reading(ctx: Context) -> None:
    assert_type(by_node, Index[Pod])
    assert_type(by_image, Index[Pod])
    assert_type(await ctx.list(Pod, index={by_node: "n"}), Sequence[Pod])
    assert_type(await ctx.list(Pod, index={by_node: "n", by_image: "i"}, labels="a=b"), Sequence[Pod])
    assert_type(await ctx.list(ConfigMap, fields={"data.tier": "db"}), Sequence[ConfigMap])
    by_node(ConfigMap())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
