"""`kubewright apiserver`, as a process: ready, killed, started again, refused."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kubewright.client import Client, ClientConfig, NotFound
from kubewright.model import ObjectMeta
from kubewright.models.core.v1 import ConfigMap, Container, Node, Pod, PodSpec

_SECONDS = 60.0
_ENV = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
"""Of the test's environment: nothing that says where a cluster is."""


@contextmanager
def running(*arguments: str, home: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """The command once it is ready, and its kubeconfig."""
    env = {**os.environ, "TMPDIR": str(home), "KUBEWRIGHT_CACHE_DIR": str(home), "HOME": str(home)}
    command = [sys.executable, "-m", "kubewright", "apiserver", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            line = process.stdout.readline()
            assert line.startswith("export KUBECONFIG="), process.stderr.read()
            yield process, Path(line.removeprefix("export KUBECONFIG=").strip())
        finally:
            process.kill()


def failed(*arguments: str, home: Path) -> tuple[int, str]:
    env = {**os.environ, "KUBEWRIGHT_CACHE_DIR": str(home), "HOME": str(home)}
    command = [sys.executable, "-m", "kubewright", "apiserver", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=_SECONDS)
    return done.returncode, done.stderr


def maps(kubeconfig: Path, *, create: int = 0) -> list[str]:
    """Names of the config maps, after some were created."""

    async def main() -> list[str]:
        async with Client.connect(ClientConfig.from_kubeconfig(kubeconfig)) as client:
            for number in range(create):
                await client.create(ConfigMap(metadata=ObjectMeta(name=f"m{number}", namespace="default")))
            return sorted(each.metadata.name for each in await client.list(ConfigMap, namespace="default"))

    return asyncio.run(main())


def test_it_is_ready_when_it_says_so_and_ends_by_sigterm(tmp_path: Path) -> None:
    with running("--nodes", "2", home=tmp_path) as (process, kubeconfig):
        assert kubeconfig.stat().st_mode & 0o077 == 0

        async def nodes() -> list[Any]:
            async with Client.connect(ClientConfig.from_kubeconfig(kubeconfig)) as client:
                return list(await client.list(Node))

        found = asyncio.run(nodes())
        assert [each.metadata.name for each in found] == ["node-0", "node-1"]
        assert all(("Ready", "True") in [(one.type, one.status) for one in each.status.conditions] for each in found)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=_SECONDS) == 0
        assert not kubeconfig.exists()


def test_nothing_that_was_answered_is_lost_by_sigkill(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running("--data-dir", str(data), home=tmp_path) as (process, kubeconfig):
        assert kubeconfig == data / "kubeconfig"
        before = maps(kubeconfig, create=50)
        process.kill()
        process.wait(timeout=_SECONDS)
    assert len(before) == 50
    with running("--data-dir", str(data), home=tmp_path) as (_, kubeconfig):
        assert maps(kubeconfig) == before


def test_it_refuses_in_one_line_what_cannot_be(tmp_path: Path) -> None:
    data = tmp_path / "data"
    foreign = tmp_path / "kubeconfig"
    foreign.write_text(json.dumps({"kind": "Config", "contexts": [{"name": "production"}]}))
    with running("--data-dir", str(data), home=tmp_path):
        code, said = failed("--data-dir", str(data), home=tmp_path)
        assert (code, said.count("\n")) == (1, 1)
        assert "another server uses it" in said
    code, said = failed("--kubeconfig", str(foreign), home=tmp_path)
    assert (code, said.count("\n")) == (1, 1)
    assert "holds the contexts production and is not overwritten" in said
    assert "production" in foreign.read_text()


def test_a_shell_that_reads_its_output_goes_on_while_it_serves(tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path), "KUBEWRIGHT_CACHE_DIR": str(tmp_path), "HOME": str(tmp_path)}
    script = f'eval "$({sys.executable} -m kubewright apiserver & echo kill $! >stop)"; cat $KUBECONFIG; sh stop'
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=_SECONDS
    )
    assert 'server: "https://127.0.0.1:' in done.stdout, done.stderr


@pytest.mark.parametrize("arguments", [["--port", "x"], ["--port", "70000"], ["--nodes", "-1"], ["--nonsense"]])
def test_arguments_that_say_nothing_are_a_usage_error(arguments: list[str], tmp_path: Path) -> None:
    code, said = failed(*arguments, home=tmp_path)
    assert code == 2
    assert "usage: kubewright apiserver" in said
    assert "Traceback" not in said


def test_a_port_that_is_taken_is_said_to_be(tmp_path: Path) -> None:
    with running(home=tmp_path) as (_, kubeconfig):
        port = ClientConfig.from_kubeconfig(kubeconfig).server.rpartition(":")[2]
        code, said = failed("--port", port, home=tmp_path)
        assert (code, said.count("\n")) == (1, 1)
        assert f"127.0.0.1:{port}: the port is in use by another process" in said


_OPERATOR = """
from kubewright import Context, Model, Operator, Resource, controller, resource
from kubewright.model import ObjectMeta
from kubewright.models.core.v1 import ConfigMap

class WebSpec(Model):
    text: str

class WebStatus(Model):
    seen: str = ""

@resource(group="example.com", version="v1")
class Web(Resource[WebSpec, WebStatus]):
    "A web."

@controller(Web, owns=[ConfigMap])
async def reconcile(web: Web, ctx: Context) -> None:
    child = await ctx.apply(ConfigMap(metadata=ObjectMeta(name=web.metadata.name), data={"text": web.spec.text}))
    web.status.seen = child.data["text"]

operator = Operator("web", controllers=[reconcile])
"""
_WEB = {
    "apiVersion": "example.com/v1",
    "kind": "Web",
    "metadata": {"name": "w", "namespace": "default"},
    "spec": {"text": "x"},
}


_JSON = (("content-type", "application/json"),)


async def _until_served(client: Client, path: str) -> None:
    while True:
        try:
            await client.http.request("GET", path)
        except NotFound:
            await asyncio.sleep(0.1)
        else:
            return


@contextmanager
def operator_at_work(home: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str, Path]]:
    """`kubewright run` of the operator, the line it said, and the kubeconfig in that line."""
    (home / "web.py").write_text(_OPERATOR)
    env = {**_ENV, "TMPDIR": str(home), "KUBEWRIGHT_CACHE_DIR": str(home), "HOME": str(home)}
    command = [sys.executable, "-m", "kubewright", "run", "web.py", "--metrics-bind-address=0"]
    command += ["--health-probe-bind-address=0", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env, cwd=home) as process:
        assert process.stderr is not None
        try:
            said = process.stderr.readline()
            assert "--kubeconfig " in said, said + process.stderr.read()
            yield process, said, Path(said.partition("--kubeconfig ")[2].split()[0])
        finally:
            process.kill()


def web_seen(kubeconfig: Path, *, create: bool) -> str:
    """What the operator has written to the status of the one Web."""

    async def main() -> str:
        async with Client.connect(ClientConfig.from_kubeconfig(kubeconfig)) as client, asyncio.timeout(_SECONDS):
            path = "/apis/example.com/v1/namespaces/default/webs"
            await _until_served(client, path)
            if create:
                await client.http.request("POST", path, headers=_JSON, body=json.dumps(_WEB).encode())
            while True:
                found = json.loads((await client.http.request("GET", f"{path}/w")).body)
                if found.get("status"):
                    return str(found["status"]["seen"])
                await asyncio.sleep(0.1)

    return asyncio.run(main())


def test_run_without_a_cluster_runs_on_the_embedded_server_and_says_so(tmp_path: Path) -> None:
    with operator_at_work(tmp_path) as (process, said, kubeconfig):
        assert said.startswith("no cluster is configured: running on the embedded API server, in memory")
        assert web_seen(kubeconfig, create=True) == "x"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=_SECONDS) == 0
        assert not kubeconfig.exists()


def test_run_with_a_data_folder_goes_on_from_it_whatever_is_configured(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text("this is not read")
    data = tmp_path / "data"
    for is_first in (True, False):
        with operator_at_work(tmp_path, "--data-dir", str(data)) as (process, said, kubeconfig):
            assert said.startswith(f"running on the embedded API server, kept in {data}; ")
            assert kubeconfig == data / "kubeconfig"
            assert web_seen(kubeconfig, create=is_first) == "x"
            process.kill()
            process.wait(timeout=_SECONDS)


@pytest.mark.parametrize("option", [("--data-dir", "x"), ("--nodes", "2")])
def test_run_with_an_option_of_the_embedded_server_and_a_cluster_is_a_usage_error(
    option: tuple[str, str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "kubewright", "run", "web.py", *option, "--kubeconfig", "y"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=_SECONDS)
    assert done.returncode == 2
    assert f"{option[0]} is for the embedded API server" in done.stderr


def test_run_with_nodes_where_a_cluster_is_configured_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "web.py").write_text(_OPERATOR)
    user = {"name": "u", "user": {"token": "t"}}
    cluster = {"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}
    context = {"name": "a", "context": {"cluster": "c", "user": "u"}}
    config = {"kind": "Config", "current-context": "a", "contexts": [context], "clusters": [cluster], "users": [user]}
    (tmp_path / "configured").write_text(json.dumps(config))
    env = {**_ENV, "HOME": str(tmp_path), "KUBECONFIG": str(tmp_path / "configured"), "KUBEWRIGHT_NODES": "2"}
    command = [sys.executable, "-m", "kubewright", "run", "web.py"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path, timeout=_SECONDS)
    assert done.returncode == 2
    assert "--nodes is for the embedded API server" in done.stderr
    assert str(tmp_path / "configured") in done.stderr


@pytest.mark.parametrize(
    ("arguments", "nodes", "lives"),
    [
        ((), 1, "Pods run on 1 simulated node;"),
        (("--nodes", "2"), 2, "Pods run on 2 simulated nodes;"),
        (("--nodes", "0"), 0, "Pods run nowhere;"),
    ],
)
def test_pods_of_a_run_without_a_cluster_run_on_a_simulated_node_unless_none_is_asked_for(
    arguments: tuple[str, ...], nodes: int, lives: str, tmp_path: Path
) -> None:
    async def phase(kubeconfig: Path) -> tuple[int, str]:
        async with Client.connect(ClientConfig.from_kubeconfig(kubeconfig)) as client, asyncio.timeout(_SECONDS):
            spec = PodSpec(containers=[Container(name="main", image="a")])
            made = await client.create(Pod(metadata=ObjectMeta(name="a", namespace="default"), spec=spec))
            while nodes and made.status.phase == "Pending":
                await asyncio.sleep(0.05)
                made = await client.get(Pod, "a", namespace="default")
            return len((await client.list(Node)).items), made.status.phase

    with operator_at_work(tmp_path, *arguments) as (_, said, kubeconfig):
        assert lives in said
        assert asyncio.run(phase(kubeconfig)) == (nodes, "Running" if nodes else "Pending")


def test_the_kubeconfig_of_a_run_that_was_killed_goes_with_the_next_start(tmp_path: Path) -> None:
    with operator_at_work(tmp_path) as (process, _, left):
        process.kill()
        process.wait(timeout=_SECONDS)
        assert left.exists()
    with operator_at_work(tmp_path) as (_, _, kubeconfig):
        assert not left.exists()
        assert kubeconfig.exists()


def test_run_in_a_pod_without_a_service_account_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "web.py").write_text(_OPERATOR)
    env = {**_ENV, "HOME": str(tmp_path), "KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    command = [sys.executable, "-m", "kubewright", "run", "web.py"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path, timeout=_SECONDS)
    assert done.returncode == 1
    assert "no cluster is configured" in done.stderr
