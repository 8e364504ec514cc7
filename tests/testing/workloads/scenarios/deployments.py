"""What happens to Deployments: scaled, rolled out, stuck, paused, deleted, adopted from."""

from __future__ import annotations

from kubewright.testing.workloads import kinds as k

from ..comparing import Cluster, create, delete, patch, until
from ..manifests import deployment, image, template
from ..states import condition, rolled_out, status
from .registered import scenario


@scenario
async def a_deployment_becomes_ready(cluster: Cluster) -> None:
    rich = template(
        "web",
        terminationGracePeriodSeconds=5,
        securityContext={"runAsNonRoot": True, "fsGroup": 2000},
        volumes=[
            {"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}},
            {"name": "cfg", "configMap": {"name": "c", "optional": True}},
        ],
        affinity={
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 5,
                        "podAffinityTerm": {
                            "labelSelector": {"matchLabels": {"app": "web"}},
                            "topologyKey": "kubernetes.io/hostname",
                        },
                    }
                ]
            }
        },
        topologySpreadConstraints=[
            {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}
        ],
    )
    container = rich["spec"]["containers"][0]
    container |= {
        "args": ["--a=<b>", "ü"],
        "env": [
            {"name": "A", "value": "1"},
            {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": True}}},
        ],
        "ports": [{"name": "http", "containerPort": 80}],
        "resources": {
            "requests": {"cpu": "100m", "memory": "64Mi"},
            "limits": {"cpu": "1500m", "memory": "1.5Gi", "hugepages-2Mi": "0"},
        },
        "readinessProbe": {"httpGet": {"path": "/", "port": "http"}},
        "livenessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 7},
        "lifecycle": {"preStop": {"exec": {"command": ["sleep", "1"]}}},
        "securityContext": {"capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True},
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }
    rich["metadata"]["annotations"] = {"a": "b", "Z": "c"}
    await create(
        cluster,
        k.DEPLOYMENTS,
        {**deployment(pods=rich), "metadata": {"name": "web", "labels": {"x": "y"}, "annotations": {"note": "1"}}},
    )
    await until(cluster, rolled_out())


@scenario
async def a_deployment_is_scaled_up_and_down(cluster: Cluster) -> None:
    await create(cluster, k.DEPLOYMENTS, deployment())
    await until(cluster, rolled_out())
    await patch(cluster, k.DEPLOYMENTS, "web", {"spec": {"replicas": 5}}, "scale")
    await until(cluster, rolled_out(replicas=5))
    await patch(cluster, k.DEPLOYMENTS, "web", {"spec": {"replicas": 2}})
    await until(cluster, rolled_out(replicas=2))


@scenario
async def a_new_image_is_rolled_out(cluster: Cluster) -> None:
    await create(cluster, k.DEPLOYMENTS, deployment())
    await until(cluster, rolled_out())
    await patch(cluster, k.DEPLOYMENTS, "web", image("nginx:2"))
    await until(cluster, rolled_out())


@scenario
async def a_rollout_is_undone_by_the_old_template(cluster: Cluster) -> None:
    await a_new_image_is_rolled_out(cluster)
    await patch(cluster, k.DEPLOYMENTS, "web", image("nginx:1"))
    await until(cluster, rolled_out())


@scenario
async def old_replica_sets_are_kept_up_to_the_limit(cluster: Cluster) -> None:
    await create(cluster, k.DEPLOYMENTS, deployment(replicas=1, revisionHistoryLimit=1))
    await until(cluster, rolled_out())
    for number in (2, 3, 4):
        await patch(cluster, k.DEPLOYMENTS, "web", image(f"nginx:{number}"))
        await until(cluster, rolled_out())
    await until(cluster, lambda found: len(found["replicasets"]) == 2)


@scenario
async def a_rollout_that_cannot_start_is_stuck_and_times_out(cluster: Cluster) -> None:
    await create(cluster, k.DEPLOYMENTS, deployment(replicas=4, progressDeadlineSeconds=2))
    await until(cluster, rolled_out())
    await patch(cluster, k.DEPLOYMENTS, "web", {"spec": {"template": {"spec": {"nodeSelector": {"no": "where"}}}}})
    await until(cluster, lambda found: condition(found, "deployments", "Progressing", "ProgressDeadlineExceeded"))


@scenario
async def a_stuck_rollout_is_scaled_in_proportion(cluster: Cluster) -> None:
    strategy = {"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
    await create(cluster, k.DEPLOYMENTS, deployment(replicas=10, strategy=strategy))
    await until(cluster, rolled_out())
    await patch(cluster, k.DEPLOYMENTS, "web", {"spec": {"template": {"spec": {"nodeSelector": {"no": "where"}}}}})
    await until(cluster, lambda found: status(found, "deployments").get("updatedReplicas") == 5)
    await patch(cluster, k.DEPLOYMENTS, "web", {"spec": {"replicas": 15}})
    await until(
        cluster,
        lambda found: (
            status(found, "deployments").get("availableReplicas") == 11
            and sum(each["spec"]["replicas"] for each in found["replicasets"]) == 18
        ),
    )


@scenario
async def a_paused_deployment_is_scaled_and_not_rolled_out(cluster: Cluster) -> None:
    await create(cluster, k.DEPLOYMENTS, deployment(replicas=2))
    await until(cluster, rolled_out())
    await patch(cluster, k.DEPLOYMENTS, "web", {"spec": {"paused": True}})
    await patch(cluster, k.DEPLOYMENTS, "web", image("nginx:2"))
    await patch(cluster, k.DEPLOYMENTS, "web", {"spec": {"replicas": 3}})
    await until(
        cluster,
        lambda found: (
            condition(found, "deployments", "Progressing", "DeploymentPaused")
            and status(found, "deployments").get("readyReplicas") == 3
        ),
    )


@scenario
async def a_resumed_deployment_is_rolled_out(cluster: Cluster) -> None:
    await a_paused_deployment_is_scaled_and_not_rolled_out(cluster)
    await patch(cluster, k.DEPLOYMENTS, "web", {"spec": {"paused": False}})
    await until(cluster, rolled_out(replicas=3))


@scenario
async def a_deployment_is_recreated(cluster: Cluster) -> None:
    await create(cluster, k.DEPLOYMENTS, deployment(strategy={"type": "Recreate"}))
    await until(cluster, rolled_out())
    await patch(cluster, k.DEPLOYMENTS, "web", image("nginx:2"))
    await until(cluster, rolled_out())


@scenario
async def a_deployment_is_deleted_with_its_pods(cluster: Cluster) -> None:
    await create(cluster, k.DEPLOYMENTS, deployment())
    await until(cluster, rolled_out())
    await delete(cluster, k.DEPLOYMENTS, "web", "Foreground")
    await until(cluster, lambda found: not found["deployments"] and not found["pods"] and not found["replicasets"])


@scenario
async def an_orphaned_replica_set_is_adopted_by_the_next_deployment(cluster: Cluster) -> None:
    await create(cluster, k.DEPLOYMENTS, deployment())
    await until(cluster, rolled_out())
    await delete(cluster, k.DEPLOYMENTS, "web", "Orphan")
    await until(cluster, lambda found: not found["deployments"])
    await create(cluster, k.DEPLOYMENTS, deployment(replicas=4))
    await until(cluster, rolled_out(replicas=4))
