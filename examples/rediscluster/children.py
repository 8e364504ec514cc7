"""The objects that make a RedisCluster, as pure functions of it: what `ctx.apply` is given.

Each says only what this operator decides. What the API server defaults, and what others add (labels, annotations), is
not named and therefore left alone.
"""

from __future__ import annotations

from kubewright.model import ObjectMeta
from kubewright.model.selector import LabelSelector
from kubewright.models.apps.v1 import (
    Deployment,
    DeploymentSpec,
    StatefulSet,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
    StatefulSetSpec,
)
from kubewright.models.core.v1 import (
    ConfigMap,
    ConfigMapVolumeSource,
    Container,
    ContainerPort,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PodSpec,
    PodTemplateSpec,
    ResourceRequirements,
    Service,
    ServicePort,
    ServiceSpec,
    Volume,
    VolumeMount,
    VolumeResourceRequirements,
)

from .types import RedisCluster

__all__ = ["client_service", "config", "headless_service", "labels", "sentinel", "statefulset"]

REDIS_PORT = 6379
SENTINEL_PORT = 26379


def labels(rc: RedisCluster, component: str) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": "redis",
        "app.kubernetes.io/instance": rc.metadata.name,
        "app.kubernetes.io/component": component,
        "app.kubernetes.io/managed-by": "rediscluster-operator",
    }


def config(rc: RedisCluster) -> ConfigMap:
    name = rc.metadata.name
    lines = ["appendonly yes", "dir /data", f"replica-announce-port {REDIS_PORT}", "protected-mode no"]
    files = {"redis.conf": "\n".join(lines) + "\n"}
    if rc.spec.sentinel.enabled:
        quorum = rc.spec.sentinel.replicas // 2 + 1
        files["sentinel.conf"] = f"sentinel monitor {name} {name} {REDIS_PORT} {quorum}\n"
    return ConfigMap(metadata=ObjectMeta(name=f"{name}-config", labels=labels(rc, "config")), data=files)


def headless_service(rc: RedisCluster) -> Service:
    return Service(
        metadata=ObjectMeta(name=f"{rc.metadata.name}-nodes", labels=labels(rc, "redis")),
        spec=ServiceSpec(
            cluster_ip="None",
            publish_not_ready_addresses=True,
            selector=labels(rc, "redis"),
            ports=[ServicePort(name="redis", port=REDIS_PORT)],
        ),
    )


def client_service(rc: RedisCluster, primary: str) -> Service:
    """The Service that clients use: it leads to the primary, once there is one."""
    selector = labels(rc, "redis")
    if primary:
        selector["statefulset.kubernetes.io/pod-name"] = primary
    return Service(
        metadata=ObjectMeta(name=rc.metadata.name, labels=labels(rc, "redis")),
        spec=ServiceSpec(selector=selector, ports=[ServicePort(name="redis", port=REDIS_PORT)]),
    )


def statefulset(rc: RedisCluster) -> StatefulSet:
    name, chosen = rc.metadata.name, labels(rc, "redis")
    redis = Container(
        name="redis",
        image=f"redis:{rc.spec.version}",
        command=["redis-server", "/etc/redis/redis.conf"],
        ports=[ContainerPort(name="redis", container_port=REDIS_PORT)],
        resources=ResourceRequirements(requests=rc.spec.resources.requests, limits=rc.spec.resources.limits),
        volume_mounts=[
            VolumeMount(name="data", mount_path="/data"),
            VolumeMount(name="config", mount_path="/etc/redis"),
        ],
    )
    data = PersistentVolumeClaim(
        metadata=ObjectMeta(name="data"),
        spec=PersistentVolumeClaimSpec(
            access_modes=["ReadWriteOnce"],
            resources=VolumeResourceRequirements(requests={"storage": rc.spec.storage}),
        ),
    )
    return StatefulSet(
        metadata=ObjectMeta(name=name, labels=chosen),
        spec=StatefulSetSpec(
            replicas=rc.spec.replicas,
            service_name=f"{name}-nodes",
            pod_management_policy="Parallel",
            persistent_volume_claim_retention_policy=StatefulSetPersistentVolumeClaimRetentionPolicy(
                when_deleted="Delete", when_scaled="Delete"
            ),
            selector=LabelSelector(match_labels=chosen),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=chosen),
                spec=PodSpec(
                    containers=[redis],
                    volumes=[Volume(name="config", config_map=ConfigMapVolumeSource(name=f"{name}-config"))],
                ),
            ),
            volume_claim_templates=[data],
        ),
    )


def sentinel(rc: RedisCluster) -> Deployment:
    chosen = labels(rc, "sentinel")
    watcher = Container(
        name="sentinel",
        image=f"redis:{rc.spec.version}",
        command=["redis-sentinel", "/etc/redis/sentinel.conf"],
        ports=[ContainerPort(name="sentinel", container_port=SENTINEL_PORT)],
        volume_mounts=[VolumeMount(name="config", mount_path="/etc/redis")],
    )
    return Deployment(
        metadata=ObjectMeta(name=f"{rc.metadata.name}-sentinel", labels=chosen),
        spec=DeploymentSpec(
            replicas=rc.spec.sentinel.replicas,
            selector=LabelSelector(match_labels=chosen),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=chosen),
                spec=PodSpec(
                    containers=[watcher],
                    volumes=[
                        Volume(name="config", config_map=ConfigMapVolumeSource(name=f"{rc.metadata.name}-config"))
                    ],
                ),
            ),
        ),
    )
