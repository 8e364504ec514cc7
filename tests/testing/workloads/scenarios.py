"""What is done on both sides. Each scenario ends at rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from kubewright.testing.workloads import kinds as k
from kubewright.testing.workloads.kinds import Obj

from .comparing import Cluster, State, create, delete, listed, patch, until

Scenario = Callable[[Cluster], Awaitable[None]]
SCENARIOS: list[Scenario] = []


def scenario(function: Scenario) -> Scenario:
    SCENARIOS.append(function)
    return function


def template(app: str = "web", image: str = "nginx:1", **spec: Any) -> Obj:
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "c", "image": image}], **spec}}


def deployment(name: str = "web", replicas: int = 3, pods: Obj | None = None, **spec: Any) -> Obj:
    selector = {"matchLabels": {"app": name}}
    return {
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": selector, "template": pods or template(name), **spec},
    }


def status(found: State, plural: str, name: str = "web") -> Obj:
    for each in found[plural]:
        if each["metadata"]["name"] == name:
            return {"generation": each["metadata"].get("generation"), **each["spec"], **(each.get("status") or {})}
    return {}


def rolled_out(name: str = "web", replicas: int | None = None) -> Callable[[State], bool]:
    def seen(found: State) -> bool:
        made = status(found, "deployments", name)
        wanted = made.get("replicas") if replicas is None else replicas
        return (
            made.get("observedGeneration") == made.get("generation")
            and made.get("updatedReplicas", 0) == made.get("availableReplicas", 0) == made.get("replicas", 0) == wanted
            and len([each for each in found["pods"] if not each["metadata"].get("deletionTimestamp")]) >= (wanted or 0)
            and not made.get("terminatingReplicas")
        )

    return seen


def condition(found: State, plural: str, type_: str, reason: str, name: str = "web") -> bool:
    return any(
        each["type"] == type_ and each.get("reason") == reason
        for each in status(found, plural, name).get("conditions") or ()
    )


def image(name: str) -> Obj:
    return {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": name}]}}}}


# -- Deployments ------------------------------------------------------------------------------------------------------


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


# -- ReplicaSets ------------------------------------------------------------------------------------------------------


@scenario
async def a_replica_set_adopts_and_releases_by_labels(cluster: Cluster) -> None:
    pod = {"metadata": {"name": "alone", "labels": {"app": "web"}}, "spec": template()["spec"]}
    await create(cluster, k.PODS, pod)
    await create(cluster, k.REPLICA_SETS, deployment(replicas=2))
    await until(cluster, lambda found: status(found, "replicasets").get("readyReplicas") == 2)
    await patch(cluster, k.PODS, "alone", {"metadata": {"labels": {"app": "other"}}})
    await until(
        cluster, lambda found: len(found["pods"]) == 3 and status(found, "replicasets").get("readyReplicas") == 2
    )


@scenario
async def a_replication_controller_keeps_its_pods(cluster: Cluster) -> None:
    manifest = {
        "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"app": "web"}, "template": template()},
    }
    await create(cluster, k.REPLICATION_CONTROLLERS, manifest)
    await until(cluster, lambda found: status(found, "replicationcontrollers").get("readyReplicas") == 2)
    pods = await listed(cluster, k.PODS)
    await delete(cluster, k.PODS, pods[0]["metadata"]["name"])
    await until(
        cluster,
        lambda found: (
            status(found, "replicationcontrollers").get("readyReplicas") == 2
            and pods[0]["metadata"]["uid"] not in [each["metadata"]["uid"] for each in found["pods"]]
        ),
    )


@scenario
async def pods_that_fit_nowhere_are_pending(cluster: Cluster) -> None:
    greedy = template()
    greedy["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1000000"}}
    await create(cluster, k.REPLICA_SETS, deployment(replicas=1, pods=greedy))
    picky = template("picky", nodeSelector={"no": "where"})
    await create(cluster, k.REPLICA_SETS, deployment("picky", replicas=1, pods=picky))
    await until(
        cluster,
        lambda found: (
            sum(
                any(
                    c["type"] == "PodScheduled" and c["status"] == "False"
                    for c in (each["status"].get("conditions") or ())
                )
                for each in found["pods"]
            )
            == 2
        ),
    )


@scenario
async def min_ready_seconds_are_waited_for(cluster: Cluster) -> None:
    await create(cluster, k.DEPLOYMENTS, deployment(replicas=2, minReadySeconds=2))
    await until(cluster, rolled_out())


@scenario
async def init_containers_and_sidecars_come_first(cluster: Cluster) -> None:
    pods = template(
        initContainers=[{"name": "first", "image": "i"}, {"name": "side", "image": "s", "restartPolicy": "Always"}]
    )
    await create(cluster, k.REPLICA_SETS, deployment(replicas=1, pods=pods))
    await until(cluster, lambda found: status(found, "replicasets").get("readyReplicas") == 1)


# -- StatefulSets -----------------------------------------------------------------------------------------------------


def stateful_set(replicas: int = 3, claims: bool = False, **spec: Any) -> Obj:
    made = deployment(replicas=replicas, serviceName="web", **spec)
    if claims:
        wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        made["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": wanted}]
        made["spec"]["template"] = template()
    return made


def set_ready(replicas: int, name: str = "web") -> Callable[[State], bool]:
    def seen(found: State) -> bool:
        made = status(found, "statefulsets", name)
        return (
            made.get("observedGeneration") == made.get("generation")
            and made.get("availableReplicas", 0) == made.get("updatedReplicas", 0) == replicas
            and made.get("currentRevision") == made.get("updateRevision")
            and made.get("status", {}) is not None
            and len(found["pods"]) == replicas
        )

    return seen


@scenario
async def a_stateful_set_is_made_in_order_with_claims(cluster: Cluster) -> None:
    await create(cluster, k.STATEFUL_SETS, stateful_set(claims=True))
    await until(cluster, set_ready(3))


@scenario
async def a_stateful_set_is_rolled_out_and_scaled(cluster: Cluster) -> None:
    await create(cluster, k.STATEFUL_SETS, stateful_set())
    await until(cluster, set_ready(3))
    await patch(cluster, k.STATEFUL_SETS, "web", image("nginx:2"))
    await until(cluster, set_ready(3))
    await patch(cluster, k.STATEFUL_SETS, "web", {"spec": {"replicas": 1}})
    await until(cluster, set_ready(1))


@scenario
async def a_parallel_stateful_set_with_a_partition_is_updated_in_part(cluster: Cluster) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    spec: Obj = {"podManagementPolicy": "Parallel", "updateStrategy": strategy, "ordinals": {"start": 5}}
    await create(cluster, k.STATEFUL_SETS, stateful_set(**spec))
    await until(cluster, set_ready(3))
    await patch(cluster, k.STATEFUL_SETS, "web", image("nginx:2"))
    await until(
        cluster,
        lambda found: (
            status(found, "statefulsets").get("updatedReplicas") == 1
            and status(found, "statefulsets").get("availableReplicas") == 3
            and len(found["pods"]) == 3
        ),
    )


@scenario
async def a_stateful_set_on_delete_waits_for_deletions(cluster: Cluster) -> None:
    await create(cluster, k.STATEFUL_SETS, stateful_set(2, updateStrategy={"type": "OnDelete"}))
    await until(cluster, set_ready(2))
    await patch(cluster, k.STATEFUL_SETS, "web", image("nginx:2"))
    await until(cluster, lambda found: len(found["controllerrevisions"]) == 2)
    await delete(cluster, k.PODS, "web-0")
    await until(
        cluster,
        lambda found: (
            status(found, "statefulsets").get("updatedReplicas") == 1
            and status(found, "statefulsets").get("availableReplicas") == 2
        ),
    )


@scenario
async def a_pod_of_a_stateful_set_comes_back_with_its_claim(cluster: Cluster) -> None:
    await create(cluster, k.STATEFUL_SETS, stateful_set(2, claims=True))
    await until(cluster, set_ready(2))
    before = {each["metadata"]["uid"] for each in await listed(cluster, k.PODS)}
    await delete(cluster, k.PODS, "web-0")
    await until(
        cluster, lambda found: set_ready(2)(found) and len(before & {e["metadata"]["uid"] for e in found["pods"]}) == 1
    )


@scenario
async def claims_go_with_a_stateful_set_that_says_so(cluster: Cluster) -> None:
    policy = {"whenDeleted": "Retain", "whenScaled": "Delete"}
    await create(cluster, k.STATEFUL_SETS, stateful_set(2, claims=True, persistentVolumeClaimRetentionPolicy=policy))
    await until(cluster, set_ready(2))
    await patch(cluster, k.STATEFUL_SETS, "web", {"spec": {"replicas": 1}})
    await until(cluster, lambda found: set_ready(1)(found) and len(found["persistentvolumeclaims"]) == 1)


# -- Services ---------------------------------------------------------------------------------------------------------


def endpoints_seen(number: int, name: str = "web") -> Callable[[State], bool]:
    def seen(found: State) -> bool:
        slices = [
            each for each in found["endpointslices"] if each["metadata"]["labels"]["kubernetes.io/service-name"] == name
        ]
        ready = [one for each in slices for one in each.get("endpoints") or () if one["conditions"]["ready"]]
        kept = [each for each in found["endpoints"] if each["metadata"]["name"] == name]
        addresses = [
            one for each in kept for subset in each.get("subsets") or () for one in subset.get("addresses") or ()
        ]
        return len(ready) == len(addresses) == number and bool(slices) and bool(kept)

    return seen


@scenario
async def a_service_has_the_endpoints_of_its_ready_pods(cluster: Cluster) -> None:
    ports = [
        {"name": "http", "port": 80, "targetPort": "http", "appProtocol": "http"},
        {"name": "raw", "port": 81, "targetPort": 9},
    ]
    service = {"metadata": {"name": "web", "labels": {"a": "b"}}, "spec": {"selector": {"app": "web"}, "ports": ports}}
    await create(cluster, k.SERVICES, service)
    await until(cluster, lambda found: any(each["metadata"]["name"] == "web" for each in found["endpoints"]))
    pods = template()
    pods["spec"]["containers"][0]["ports"] = [{"name": "http", "containerPort": 8080}]
    await create(cluster, k.DEPLOYMENTS, deployment(pods=pods))
    await until(cluster, endpoints_seen(3))
    await patch(cluster, k.DEPLOYMENTS, "web", {"spec": {"replicas": 2}})
    await until(cluster, lambda found: endpoints_seen(2)(found) and rolled_out(replicas=2)(found))
    await patch(cluster, k.SERVICES, "web", {"metadata": {"labels": {"c": "d"}}})
    await until(
        cluster,
        lambda found: all(
            "c" in each["metadata"]["labels"]
            for each in found["endpointslices"]
            if each["metadata"]["labels"]["kubernetes.io/service-name"] == "web"
        ),
    )


@scenario
async def a_headless_service_names_the_pods_of_a_stateful_set(cluster: Cluster) -> None:
    spec = {"clusterIP": "None", "selector": {"app": "web"}, "ports": [{"port": 80}], "publishNotReadyAddresses": True}
    await create(cluster, k.SERVICES, {"metadata": {"name": "web"}, "spec": spec})
    await create(cluster, k.STATEFUL_SETS, stateful_set(2))
    await until(cluster, lambda found: endpoints_seen(2)(found) and set_ready(2)(found))


# -- Jobs -------------------------------------------------------------------------------------------------------------


def job(name: str = "work", restart: str = "Never", **spec: Any) -> Obj:
    pods = {"spec": {"restartPolicy": restart, "containers": [{"name": "c", "image": "worker"}]}}
    return {"metadata": {"name": name}, "spec": {"template": pods, **spec}}


def job_ended(type_: str, name: str = "work") -> Callable[[State], bool]:
    def seen(found: State) -> bool:
        conditions = status(found, "jobs", name).get("conditions") or ()
        return any(each["type"] == type_ and each["status"] == "True" for each in conditions)

    return seen


@scenario
async def a_job_completes(cluster: Cluster) -> None:
    await create(cluster, k.JOBS, job(completions=3, parallelism=2))
    await until(cluster, job_ended("Complete"))


@scenario
async def an_indexed_job_completes(cluster: Cluster) -> None:
    await create(cluster, k.JOBS, job(completions=3, parallelism=3, completionMode="Indexed"))
    await until(cluster, job_ended("Complete"))


@scenario
async def a_suspended_job_starts_when_it_is_resumed(cluster: Cluster) -> None:
    await create(cluster, k.JOBS, job(suspend=True))
    await until(cluster, job_ended("Suspended"))
    await patch(cluster, k.JOBS, "work", {"spec": {"suspend": False}})
    await until(cluster, job_ended("Complete"))


@scenario
async def a_job_that_is_active_too_long_fails(cluster: Cluster) -> None:
    manifest = job(activeDeadlineSeconds=1)
    manifest["spec"]["template"]["spec"]["nodeSelector"] = {"no": "where"}
    await create(cluster, k.JOBS, manifest)
    await until(cluster, job_ended("Failed"))


@scenario
async def a_job_that_has_finished_goes_after_its_time(cluster: Cluster) -> None:
    await create(cluster, k.JOBS, job(ttlSecondsAfterFinished=0))
    await until(cluster, lambda found: not found["jobs"] and not found["pods"])


async def fail_pods(cluster: Cluster, code: int) -> None:
    """Say of all Pods, which wait for a node, that they have failed."""
    for pod in await listed(cluster, k.PODS):
        ended = {"exitCode": code, "finishedAt": "2030-01-01T00:00:00Z", "reason": "Error"}
        one = {"name": "c", "image": "worker", "imageID": "", "ready": False, "restartCount": 0}
        containers = [{**one, "state": {"terminated": ended}}]
        change = {"status": {"phase": "Failed", "containerStatuses": containers}}
        await patch(cluster, k.PODS, pod["metadata"]["name"], change, "status")


def waiting_job(**spec: Any) -> Obj:
    manifest = job(**spec)
    manifest["spec"]["template"]["spec"]["nodeSelector"] = {"no": "where"}
    return manifest


@scenario
async def a_job_fails_with_its_pods(cluster: Cluster) -> None:
    await create(cluster, k.JOBS, waiting_job(backoffLimit=1, parallelism=2, completions=2))
    await until(cluster, lambda found: len(found["pods"]) == 2)
    await fail_pods(cluster, 1)
    await until(cluster, job_ended("Failed"))


@scenario
async def a_job_fails_by_its_policy(cluster: Cluster) -> None:
    rules = [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
        {"action": "FailJob", "onExitCodes": {"containerName": "c", "operator": "In", "values": [41, 42]}},
    ]
    await create(cluster, k.JOBS, waiting_job(podFailurePolicy={"rules": rules}))
    await until(cluster, lambda found: len(found["pods"]) == 1)
    await fail_pods(cluster, 42)
    await until(cluster, job_ended("Failed"))


@scenario
async def an_index_that_fails_does_not_end_the_others(cluster: Cluster) -> None:
    spec: Obj = {"completions": 2, "parallelism": 1, "completionMode": "Indexed", "backoffLimitPerIndex": 0}
    await create(cluster, k.JOBS, waiting_job(**spec))
    await until(cluster, lambda found: len(found["pods"]) == 1)
    await fail_pods(cluster, 1)
    await until(cluster, lambda found: len(found["pods"]) == 2 and status(found, "jobs", "work").get("failed") == 1)


@scenario
async def a_jobs_parallelism_is_lowered(cluster: Cluster) -> None:
    await create(cluster, k.JOBS, waiting_job(parallelism=3))
    await until(cluster, lambda found: status(found, "jobs", "work").get("active") == 3)
    await patch(cluster, k.JOBS, "work", {"spec": {"parallelism": 1}})
    await until(cluster, lambda found: status(found, "jobs", "work").get("active") == 1 and len(found["pods"]) == 1)


@scenario
async def a_suspended_cron_job_does_nothing(cluster: Cluster) -> None:
    template_ = {"spec": job()["spec"]}
    spec = {"schedule": "* * * * *", "suspend": True, "jobTemplate": template_}
    await create(cluster, k.CRON_JOBS, {"metadata": {"name": "often"}, "spec": spec})
    await until(cluster, lambda found: bool(found["cronjobs"]))


# -- DaemonSets -------------------------------------------------------------------------------------------------------


def daemon_set(pods: Obj | None = None, **spec: Any) -> Obj:
    made = deployment(pods=pods, **spec)
    del made["spec"]["replicas"]
    return made


def daemons_ready(number: int) -> Callable[[State], bool]:
    def seen(found: State) -> bool:
        made = status(found, "daemonsets")
        counts = [made.get(each, 0) for each in ("desiredNumberScheduled", "numberAvailable", "updatedNumberScheduled")]
        return (
            counts == [number] * 3 and made["observedGeneration"] == made["generation"] and len(found["pods"]) == number
        )

    return seen


@scenario
async def a_daemon_set_has_a_pod_on_each_node_and_is_rolled_out(cluster: Cluster) -> None:
    await create(cluster, k.DAEMON_SETS, daemon_set())
    await until(cluster, daemons_ready(3))
    await patch(cluster, k.DAEMON_SETS, "web", image("nginx:2"))
    await until(cluster, daemons_ready(3))


@scenario
async def a_daemon_set_with_a_selector_is_on_some_nodes(cluster: Cluster) -> None:
    pods = template(nodeSelector={"kubernetes.io/hostname": "node-1"})
    await create(cluster, k.DAEMON_SETS, daemon_set(pods))
    await until(cluster, daemons_ready(1))


@scenario
async def a_daemon_set_with_surge_is_rolled_out(cluster: Cluster) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    await create(cluster, k.DAEMON_SETS, daemon_set(updateStrategy=strategy))
    await until(cluster, daemons_ready(3))
    await patch(cluster, k.DAEMON_SETS, "web", image("nginx:2"))
    await until(cluster, daemons_ready(3))


# -- budgets ----------------------------------------------------------------------------------------------------------


@scenario
async def a_budget_counts_the_pods_that_may_go(cluster: Cluster) -> None:
    await create(cluster, k.DEPLOYMENTS, deployment())
    await until(cluster, rolled_out())
    for name, spec in (
        ("some", {"maxUnavailable": "40%"}),
        ("one", {"minAvailable": 3}),
        ("most", {"minAvailable": "50%"}),
    ):
        selector = {"matchLabels": {"app": "web"}}
        await create(
            cluster, k.DISRUPTION_BUDGETS, {"metadata": {"name": name}, "spec": {"selector": selector, **spec}}
        )
    await until(
        cluster,
        lambda found: (
            all((each.get("status") or {}).get("currentHealthy") == 3 for each in found["poddisruptionbudgets"])
            and rolled_out()(found)
        ),
    )


@scenario
async def a_quota_stops_a_deployment(cluster: Cluster) -> None:
    hard = {"pods": "2", "count/deployments.apps": "5", "requests.cpu": "2"}
    await create(cluster, k.QUOTAS, {"metadata": {"name": "small"}, "spec": {"hard": hard}})
    await until(cluster, lambda found: all("used" in (each.get("status") or {}) for each in found["resourcequotas"]))
    pods = template()
    pods["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
    await create(cluster, k.DEPLOYMENTS, deployment(pods=pods))
    await until(
        cluster,
        lambda found: (
            status(found, "deployments").get("readyReplicas") == 2
            and condition(found, "deployments", "ReplicaFailure", "FailedCreate")
        ),
    )
