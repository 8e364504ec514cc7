"""SIGTERM lets reconciles end within the grace; a second one, or one that will not end, does not hold the process."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from pathlib import Path

import pytest
import yaml
from operator_process import OperatorProcess, kubewright, until

from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane

OPERATOR = """
import asyncio
import time
from kubewright import Context, Model, Operator, Resource, SyncContext, controller, resource

class Spec(Model):
    seconds: float = 0

class Status(Model):
    done: bool = False

@resource(group="stopping.example.com", version="v1")
class Task(Resource[Spec, Status]):
    pass

@controller(Task)
async def coroutine(task: Task, ctx: Context) -> None:
    ctx.log.info("begins")
    await asyncio.sleep(task.spec.seconds)
    task.status.done = True
    ctx.log.info("ends")

@controller(Task)
def thread(task: Task, ctx: SyncContext) -> None:
    ctx.log.info("begins")
    time.sleep(task.spec.seconds)

@controller(Task)
async def blocking(task: Task, ctx: Context) -> None:
    ctx.log.info("begins")
    time.sleep(task.spec.seconds)

patient = Operator("patient", controllers=[coroutine])
blocked = Operator("blocked", controllers=[blocking])
hasty = Operator("hasty", controllers=[coroutine], grace_seconds=1)
hasty_thread = Operator("hasty-thread", controllers=[thread], grace_seconds=1)
"""


def operator_file(folder: Path) -> Path:
    path = folder / "tasks.py"
    path.write_text(OPERATOR)
    return path


class Tasks:
    """Operators of Tasks in one namespace, and Tasks for them."""

    def __init__(self, control_plane: ClusterAccess, namespace: str, folder: Path) -> None:
        self.control_plane = control_plane
        self.namespace = namespace
        self.file = operator_file(folder)
        self.log = folder / "log"

    def run(self, name: str) -> OperatorProcess:
        target = Path(f"{self.file}:{name}")
        return OperatorProcess(target, self.control_plane.kubeconfig_path, self.log, "--namespace", self.namespace)

    def create(self, name: str, seconds: float) -> None:
        task = {
            "apiVersion": "stopping.example.com/v1",
            "kind": "Task",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"seconds": seconds},
        }
        self.control_plane.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(task))

    def done(self) -> dict[str, bool]:
        listed = self.control_plane.kubectl("get", "tasks.stopping.example.com", "-n", self.namespace, "-o", "yaml")
        return {
            item["metadata"]["name"]: item.get("status", {}).get("done", False)
            for item in yaml.safe_load(listed)["items"]
        }


@pytest.fixture(scope="module")
def installed(control_plane: ClusterAccess, tmp_path_factory: pytest.TempPathFactory) -> ClusterAccess:
    """The API server, knowing Tasks."""
    crd = kubewright("manifests", "crd", operator_file(tmp_path_factory.mktemp("crd"))).stdout
    control_plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=crd)
    control_plane.kubectl("wait", "--for=condition=Established", "crd/tasks.stopping.example.com")
    return control_plane


@pytest.fixture
def tasks(installed: ClusterAccess, namespace: str, tmp_path: Path) -> Tasks:
    return Tasks(installed, namespace, tmp_path)


def until_logged(operator: OperatorProcess, line: str) -> None:
    async def missing() -> str:
        assert operator.code is None, operator.text
        return "" if line in operator.text else f"the log is: {operator.text}"

    asyncio.run(until(f"{line!r} is logged", missing))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_a_running_reconcile_end_and_begins_no_other(tasks: Tasks, number: signal.Signals) -> None:
    tasks.create("a", 2.0)
    with tasks.run("patient") as operator:
        until_logged(operator, "begins")
        tasks.create("b", 0.0)
        operator.signal(number)
        assert operator.wait(10.0) == 0
        assert operator.text.count("begins") == operator.text.count("ends") == 1
        assert f"{number.name}: stopping; once more to end at once" in operator.text
        assert "Traceback" not in operator.text
    assert tasks.done() == {"a": True, "b": False}


def test_a_reconcile_that_outlasts_the_grace_is_cancelled_and_writes_nothing(tasks: Tasks) -> None:
    tasks.create("a", 60.0)
    with tasks.run("hasty") as operator:
        until_logged(operator, "begins")
        operator.signal(signal.SIGTERM)
        stopped_at = time.monotonic()
        assert operator.wait(10.0) == 0
        assert 1.0 <= time.monotonic() - stopped_at < 4.0
        assert "still reconcile after a grace of 1 s and are cancelled" in operator.text
        assert "Traceback" not in operator.text
    assert tasks.done() == {"a": False}


def test_a_second_signal_ends_the_process_at_once(tasks: Tasks) -> None:
    tasks.create("a", 60.0)
    with tasks.run("patient") as operator:
        until_logged(operator, "begins")
        operator.signal(signal.SIGTERM)
        until_logged(operator, "SIGTERM: stopping")
        operator.signal(signal.SIGTERM)
        stopped_at = time.monotonic()
        assert operator.wait(10.0) == 128 + signal.SIGTERM
        assert time.monotonic() - stopped_at < 3.0


def test_a_second_signal_ends_a_process_whose_event_loop_is_blocked(tasks: Tasks) -> None:
    tasks.create("a", 60.0)
    with tasks.run("blocked") as operator:
        until_logged(operator, "begins")
        operator.signal(signal.SIGINT)
        stopped_at = time.monotonic()
        while operator.code is None and time.monotonic() < stopped_at + 10.0:
            operator.signal(signal.SIGINT)
        assert operator.wait(1.0) == 128 + signal.SIGINT


@pytest.mark.slow
def test_a_thread_that_will_not_end_does_not_hold_the_process(tasks: Tasks) -> None:
    tasks.create("a", 60.0)
    with tasks.run("hasty_thread") as operator:
        until_logged(operator, "begins")
        operator.signal(signal.SIGTERM)
        stopped_at = time.monotonic()
        assert operator.wait(15.0) == 1
        assert time.monotonic() - stopped_at < 9.0
        assert operator.text.splitlines()[-1].endswith(
            "a reconcile does not end, 5 s after the grace of 1 s; ending without it"
        )


@pytest.mark.parametrize("option", ["--install-crds", "--no-install-crds"])
def test_a_signal_ends_a_start_that_waits_for_the_server(tasks: Tasks, tmp_path: Path, option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        content = yaml.safe_load(tasks.control_plane.kubeconfig())
        content["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{silent.getsockname()[1]}"
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(content))
        with OperatorProcess(Path(f"{tasks.file}:patient"), kubeconfig, tasks.log, option) as operator:
            silent.settimeout(10.0)
            connection, _ = silent.accept()
            with connection:
                operator.signal(signal.SIGTERM)
                assert operator.wait(5.0) == 0
                assert "error" not in operator.text.lower()
