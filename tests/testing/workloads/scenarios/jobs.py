"""What happens to Jobs: how they end, and what lets them wait."""

from __future__ import annotations

from kubewright.testing.workloads import kinds as k
from kubewright.testing.workloads.kinds import Obj

from ..comparing import Cluster, create, listed, patch, until
from ..manifests import job, waiting_job
from ..states import job_ended, status
from .registered import scenario


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
