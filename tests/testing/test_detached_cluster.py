from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kubewright.testing import ClusterError, cluster
from kubewright.testing.binaries import find_binaries
from kubewright.testing.identity import Process
from kubewright.testing.programs import PROGRAMS, variable_of

Eventually = Callable[..., None]


@pytest.fixture
def own_env(tmp_path: Path) -> dict[str, str]:
    """An environment whose cache is a folder of the test; no cluster of a person can be touched."""
    return {**os.environ, "KUBEWRIGHT_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)}


@pytest.fixture
def cluster_env(own_env: dict[str, str]) -> Iterator[dict[str, str]]:
    """The same, with the real programs, and every cluster ended at the end of the test."""
    found = find_binaries(PROGRAMS)
    own_env |= {variable_of(name): str(path) for name, path in found.paths.items()}
    yield own_env
    for one in cluster.status(env=own_env):
        cluster.down(one.name, env=own_env)


# -- without a server


def test_there_is_no_cluster_at_first(own_env: dict[str, str]) -> None:
    assert cluster.status(env=own_env) == []
    assert cluster.status("default", env=own_env) == []
    assert cluster.down(env=own_env) is False


@pytest.mark.parametrize("name", ["", "-x", "x-", "Up", "a/b", "..", "x" * 41])
def test_a_name_that_is_no_folder_name_is_refused_with_the_rule(name: str, own_env: dict[str, str]) -> None:
    for call in (cluster.up, cluster.status, cluster.down):
        with pytest.raises(ValueError, match="use 1 to 40 lower-case letters, digits and dashes"):
            call(name, env=own_env)


def test_a_negative_number_of_nodes_is_refused_by_up(own_env: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="nodes=-2: use 0 or more"):
        cluster.up(nodes=-2, env=own_env)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("dear diary", "is not a kubeconfig"),
        ("kind: Config\ncontexts: [{name: production}]", "holds the contexts production"),
        ("kind: Config\ncontexts: [{name: kubewright-default}, {name: x}]", "the contexts kubewright-default, x"),
        ("kind: Config\ncontexts: [{name: kubewright-other}]", "holds the contexts kubewright-other"),
    ],
)
def test_a_kubeconfig_of_something_else_is_not_overwritten(
    text: str, holds: str, own_env: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(ClusterError, match=f"{holds} and is not overwritten; name another file"):
        cluster.up(kubeconfig=file, env=own_env)
    assert file.read_text() == text


def test_processes_that_only_share_a_number_with_the_recorded_ones_are_not_ended(
    own_env: dict[str, str], tmp_path: Path
) -> None:
    with subprocess.Popen(["/bin/sleep", "600"], start_new_session=True) as stranger:
        folder = tmp_path / "cache" / "clusters" / "old"
        folder.mkdir(parents=True)
        access = {
            "name": "kubewright-old", "url": "https://127.0.0.1:1", "kubeconfig_path": str(folder / "k"),
            "pki": str(folder), "kubectl_path": "kubectl", "controllers": True, "nodes": 1,
        }  # fmt: skip
        state = {
            "access": access,
            "supervisor": [stranger.pid, "before the reboot"],
            "components": {"etcd": [stranger.pid, "before the reboot"]},
            "kubeconfig": str(folder / "k"),
            "started_at": "2026-01-01T00:00:00+00:00",
        }
        (folder / "state.json").write_text(json.dumps(state))
        (shown,) = cluster.status(env=own_env)
        assert (shown.name, shown.state) == ("old", "dead")
        assert cluster.down("old", env=own_env) is True
        assert stranger.poll() is None
        stranger.kill()
    assert cluster.status(env=own_env) == []
    assert list((tmp_path / "cache" / "clusters").iterdir()) == []


# -- with a server

UP = """
import sys
from pathlib import Path
from kubewright.testing import cluster
shown = cluster.up(nodes=1, kubeconfig=Path(sys.argv[1]), progress=lambda line: None)
print(shown.state, shown.created)
"""


@pytest.mark.control_plane
def test_a_cluster_outlives_the_command_that_brings_it_up_and_down_ends_it(
    cluster_env: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "config"
    up = subprocess.run(
        [sys.executable, "-c", UP, str(file)], env=cluster_env, capture_output=True, text=True, timeout=120, check=True
    )
    assert up.stdout == "running True\n"
    assert file.stat().st_mode & 0o777 == 0o600

    (shown,) = cluster.status(env=cluster_env)
    assert (shown.name, shown.state, shown.ready_nodes) == ("default", "running", 1)
    assert shown.kubeconfig == file
    assert [component.name for component in shown.components if component.running] == [
        "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok",
    ]  # fmt: skip
    kubectl = [cluster_env["TEST_ASSET_KUBECTL"], f"--kubeconfig={file}", "get", "nodes", "-o", "name"]
    assert subprocess.run(kubectl, capture_output=True, text=True, check=True).stdout == "node/node-0\n"

    # Up again: the same cluster, with the nodes that it lacks.
    again = cluster.up(nodes=2, env=cluster_env)
    assert not again.created
    assert again.components == shown.components
    assert again.ready_nodes == 2
    assert cluster.up(nodes=1, env=cluster_env).ready_nodes == 2

    # A second one is another one.
    other = cluster.up("other", nodes=0, env=cluster_env)
    assert other.created
    assert other.url != shown.url
    assert [one.name for one in cluster.status(env=cluster_env)] == ["default", "other"]

    assert cluster.down(env=cluster_env) is True
    assert not any(Process.of(component.pid) for component in shown.components)
    assert not file.exists()
    assert [one.state for one in cluster.status(env=cluster_env)] == ["running"]
    assert cluster.down(env=cluster_env) is False


@pytest.mark.control_plane
def test_a_cluster_with_a_dead_program_is_degraded_and_one_without_a_supervisor_dead(
    cluster_env: dict[str, str], eventually: Eventually
) -> None:
    shown = cluster.up(nodes=0, env=cluster_env)
    scheduler = next(component for component in shown.components if component.name == "kube-scheduler")
    os.kill(scheduler.pid, signal.SIGKILL)
    eventually(lambda: cluster.status(env=cluster_env)[0].state == "degraded")

    api_server = next(component for component in shown.components if component.name == "kube-apiserver")
    os.kill(api_server.pid, signal.SIGKILL)
    eventually(lambda: not cluster.status(env=cluster_env)[0].version)
    with pytest.raises(ClusterError, match=r"runs but does not answer .* take it down and up again"):
        cluster.up(env=cluster_env)

    record = json.loads((shown.kubeconfig.parent.parent / "state.json").read_text())
    os.kill(record["supervisor"][0], signal.SIGKILL)
    eventually(lambda: cluster.status(env=cluster_env)[0].state == "dead")
    anew = cluster.up(nodes=0, env=cluster_env)
    assert (anew.created, anew.state) == (True, "running")
    assert not any(component.running for component in shown.components if Process.of(component.pid))


@pytest.mark.control_plane
def test_an_up_that_is_interrupted_leaves_nothing(cluster_env: dict[str, str], eventually: Eventually) -> None:
    folder = Path(cluster_env["KUBEWRIGHT_CACHE_DIR"]) / "clusters" / "default"
    record = folder / "data" / "record.json"
    with subprocess.Popen(
        [sys.executable, "-c", UP, str(folder.parent.parent / "config")],
        env=cluster_env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as up:
        eventually(lambda: record.exists() and "kube-apiserver" in record.read_text())
        processes = [Process(**child) for child in json.loads(record.read_text())["children"].values()]
        up.send_signal(signal.SIGINT)
        up.wait(30)
    eventually(lambda: not any(process.is_alive() for process in processes), 60.0)  # a busy server takes its time
    assert cluster.status(env=cluster_env) == []
    assert not folder.exists()
