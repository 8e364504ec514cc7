"""The RedisCluster kind: a primary, its replicas and, on request, a Sentinel that watches over them.

Everything that users see of it is here: the CustomResourceDefinition is made from these classes, and `kubectl explain`
shows their docstrings.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from annotated_types import Ge, Le

from kubewright.model import Column, Condition, Model, Quantity, Resource, ScaleInfo, resource
from kubewright.schema import Immutable, Pattern, Rule

__all__ = ["ComputeResources", "Phase", "RedisCluster", "RedisClusterSpec", "RedisClusterStatus", "Sentinel"]

Phase: TypeAlias = Literal["Pending", "Creating", "Ready", "Scaling", "Updating", "Degraded", "Deleting"]


class ComputeResources(Model):
    """Compute resources of one Redis container."""

    requests: dict[str, Quantity] = {}
    """What the container is sure to get, by name: `cpu`, `memory`."""

    limits: dict[str, Quantity] = {}
    """What the container cannot exceed, by name: `cpu`, `memory`."""


class Sentinel(Model):
    """Sentinels watch the servers and promote a replica when the primary is gone."""

    enabled: bool = False
    """Whether Sentinels run beside the cluster."""

    replicas: Annotated[
        int, Ge(1), Le(7), Rule("self % 2 == 1", message="must be odd: an even number of Sentinels can split in half")
    ] = 3
    """How many Sentinels run. More than half of them have to agree that the primary is gone."""


class RedisClusterSpec(Model):
    """What the cluster should be."""

    replicas: Annotated[int, Ge(1), Le(9)] = 3
    """How many Redis servers run, the primary among them."""

    version: Annotated[str, Pattern(r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$")]
    """The Redis release to run: a semantic version such as `8.2.1`. A change is rolled out server by server."""

    storage: Annotated[Quantity, Immutable()] = Quantity("1Gi")
    """Size of the volume of each server, such as `10Gi`. Fixed once the cluster exists."""

    resources: ComputeResources = ComputeResources()
    """Compute resources of each server."""

    sentinel: Sentinel = Sentinel()
    """Whether the cluster heals itself when its primary is lost."""


class RedisClusterStatus(Model):
    """What the cluster is, as the operator last saw it."""

    phase: Phase = "Pending"
    """Where the cluster is in its life, in one word. The conditions say more."""

    replicas: int = 0
    """How many servers exist."""

    ready_replicas: int = 0
    """How many servers are ready to serve."""

    primary: str = ""
    """The Pod that takes writes; empty while there is none."""

    selector: str = ""
    """The label selector of the servers, as text, for autoscalers."""

    observed_generation: int = 0
    """The `metadata.generation` that this status is about."""

    conditions: list[Condition] = []
    """Statements about the cluster, one for each type: `Ready`, `Progressing`, `Degraded`."""


@resource(
    group="cache.example.com",
    version="v1alpha1",
    short_names=["rdc"],
    categories=["all"],
    columns=[
        Column("Replicas", ".spec.replicas"),
        Column("Ready", ".status.readyReplicas"),
        Column("Version", ".spec.version"),
        Column("Primary", ".status.primary"),
        Column("Phase", ".status.phase"),
        Column("Age", ".metadata.creationTimestamp"),
    ],
    scale=ScaleInfo(label_selector_path=".status.selector"),
)
class RedisCluster(Resource[RedisClusterSpec, RedisClusterStatus]):
    """A group of Redis servers with one primary, kept in shape by an operator."""
