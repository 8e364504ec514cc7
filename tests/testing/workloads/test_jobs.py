"""Jobs and CronJobs on virtual time: back-offs, limits, policies, schedules."""

from __future__ import annotations

from typing import Any

from kubewright.testing.workloads import CrashLoop, RunsFor
from kubewright.testing.workloads import kinds as k
from kubewright.testing.workloads.kinds import Obj

from .manifests import job
from .sim import Sim, condition, run


def test_a_job_whose_pods_fail_some_times_completes_after_its_back_offs() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail("work", CrashLoop(times=2))
        await sim.create(k.JOBS, job())
        await sim.settle()
        assert (await sim.get(k.JOBS, "work"))["status"]["failed"] == 1
        await sim.advance(10)
        assert (await sim.get(k.JOBS, "work"))["status"]["failed"] == 2
        await sim.advance(19)
        assert not condition(await sim.get(k.JOBS, "work"), "Complete")
        await sim.advance(1)
        made = await sim.get(k.JOBS, "work")
        assert (made["status"]["succeeded"], condition(made, "Complete")["reason"]) == (1, "CompletionsReached")
        assert [each["metadata"].get("finalizers") for each in await sim.list(k.PODS)] == [None] * 3

    run(main)


def test_a_job_that_fails_too_often_has_failed() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail("work", CrashLoop(exit_code=7))
        await sim.create(k.JOBS, job(backoffLimit=1))
        await sim.advance(60)
        made = await sim.get(k.JOBS, "work")
        assert (
            condition(made, "FailureTarget")["reason"] == condition(made, "Failed")["reason"] == "BackoffLimitExceeded"
        )
        assert made["status"]["failed"] == 2

    run(main)


def test_an_exit_code_can_end_a_job_at_once() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail("work", CrashLoop(exit_code=42))
        rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
        await sim.create(k.JOBS, job(podFailurePolicy={"rules": [rule]}))
        await sim.settle()
        failed = condition(await sim.get(k.JOBS, "work"), "Failed")
        assert failed["reason"] == "PodFailurePolicy"
        assert failed["message"].endswith("failed with exit code 42 matching FailJob rule at index 0")

    run(main)


def test_indexes_fail_by_themselves() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail({"batch.kubernetes.io/job-completion-index": "1"}, CrashLoop())
        spec: dict[str, Any] = {
            "completions": 3,
            "parallelism": 3,
            "completionMode": "Indexed",
            "backoffLimitPerIndex": 1,
        }
        await sim.create(k.JOBS, job(**spec))
        await sim.advance(60)
        made = (await sim.get(k.JOBS, "work"))["status"]
        assert (made["completedIndexes"], made["failedIndexes"]) == ("0,2", "1")
        assert condition(await sim.get(k.JOBS, "work"), "Failed")["reason"] == "FailedIndexes"

    run(main)


def test_a_job_is_done_when_its_success_policy_says_so() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail({"batch.kubernetes.io/job-completion-index": "1"}, RunsFor(seconds=1000))
        policy = {"rules": [{"succeededIndexes": "0"}]}
        spec: dict[str, Any] = {
            "completions": 2,
            "parallelism": 2,
            "completionMode": "Indexed",
            "successPolicy": policy,
        }
        await sim.create(k.JOBS, job(**spec))
        await sim.advance(1)
        assert condition(await sim.get(k.JOBS, "work"), "Complete")["reason"] == "SuccessPolicy"

    run(main)


def test_a_job_goes_when_its_time_after_the_end_is_over() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail("work", RunsFor(seconds=30))
        await sim.create(k.JOBS, job(ttlSecondsAfterFinished=100))
        await sim.advance(30)
        assert condition(await sim.get(k.JOBS, "work"), "Complete")
        await sim.advance(99)
        assert len(await sim.list(k.JOBS)) == 1
        await sim.advance(1)
        assert not await sim.list(k.JOBS)
        assert not await sim.list(k.PODS)

    run(main)


def cron_job(schedule: str, **spec: Any) -> Obj:
    return {
        "metadata": {"name": "often"},
        "spec": {"schedule": schedule, "jobTemplate": {"spec": job()["spec"]}, **spec},
    }


def test_a_cron_job_makes_a_job_at_each_time_and_keeps_the_last_ones() -> None:
    async def main(sim: Sim) -> None:
        await sim.create(k.CRON_JOBS, cron_job("*/5 * * * *", successfulJobsHistoryLimit=2))
        await sim.advance(299)
        assert not await sim.list(k.JOBS)
        await sim.advance(1)
        (made,) = await sim.list(k.JOBS)
        assert (
            made["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"] == "2030-01-01T00:05:00Z"
        )
        await sim.advance(3600)
        jobs = await sim.list(k.JOBS)
        assert [each["metadata"]["creationTimestamp"][11:16] for each in jobs] == ["01:00", "01:05"]
        status = (await sim.get(k.CRON_JOBS, "often"))["status"]
        assert (status["lastScheduleTime"], status["lastSuccessfulTime"]) == ("2030-01-01T01:05:00Z",) * 2
        assert "active" not in status

    run(main)


def test_a_cron_job_waits_replaces_or_runs_beside_the_one_before() -> None:
    async def main(sim: Sim) -> None:
        sim.workloads.fail("often", RunsFor(seconds=90))
        for policy, alive in (("Allow", 2), ("Forbid", 1), ("Replace", 1)):
            await sim.create(k.CRON_JOBS, cron_job("* * * * *", concurrencyPolicy=policy))
            await sim.advance(121)
            assert len((await sim.get(k.CRON_JOBS, "often"))["status"]["active"]) == alive
            first = min(each["metadata"]["creationTimestamp"] for each in await sim.list(k.JOBS))
            since = sim.workloads.clock().timestamp() - sim.workloads.clock().fromisoformat(first).timestamp()
            assert (since < 60) is (policy == "Replace")
            await sim.delete(k.CRON_JOBS, "often")
            await sim.settle()

    run(main)


def test_a_cron_job_that_is_late_may_be_too_late() -> None:
    async def main(sim: Sim) -> None:
        await sim.create(k.CRON_JOBS, cron_job("0 * * * *", startingDeadlineSeconds=60, suspend=True))
        await sim.advance(3700)
        await sim.patch(k.CRON_JOBS, "often", {"spec": {"suspend": False}})
        await sim.settle()
        assert not await sim.list(k.JOBS)
        await sim.patch(k.CRON_JOBS, "often", {"spec": {"startingDeadlineSeconds": 600}})
        await sim.settle()
        assert len(await sim.list(k.JOBS)) == 1

    run(main)
