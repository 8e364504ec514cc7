from __future__ import annotations

import asyncio
import base64
import contextlib
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubewright.testing import ClusterAccess, CommandFailed, ControlPlane, StartFailed, programs
from kubewright.testing.binaries import Binaries, find_binaries
from kubewright.testing.certs import Authority, KeyPair
from kubewright.testing.identity import Process
from kubewright.testing.paths import cache_dir
from kubewright.testing.rest import Rest

Eventually = Callable[..., None]
StartPrivate = Callable[..., ControlPlane]


def rest_as(access: ClusterAccess, folder: Path, user: str, *groups: str) -> Rest:
    """Return a client that uses what a kubeconfig for the user says, and nothing else."""
    config = yaml.safe_load(access.kubeconfig(user, groups))
    cluster, credentials = config["clusters"][0]["cluster"], config["users"][0]["user"]
    files = {
        "ca": cluster["certificate-authority-data"],
        "crt": credentials["client-certificate-data"],
        "key": credentials["client-key-data"],
    }
    for name, data in files.items():
        (folder / name).write_bytes(base64.b64decode(data))
    return Rest(cluster["server"], folder / "ca", folder / "crt", folder / "key")


def processes_of(control_plane: ControlPlane) -> list[Process]:
    supervised = control_plane.supervised
    return [supervised.supervisor, *supervised.children.values()]


def kept_logs(env: dict[str, str]) -> list[Path]:
    folder = cache_dir(env) / "logs"
    return sorted(folder.iterdir()) if folder.exists() else []


@pytest.fixture
def own_cache(tmp_path: Path) -> dict[str, str]:
    """The environment with a cache folder of its own, so that kept logs can be told."""
    return {**os.environ, "KUBEWRIGHT_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture(scope="module")
def binaries() -> Binaries:
    return find_binaries(programs.PROGRAMS)


# -- without a server


def test_what_needs_a_started_control_plane_says_so() -> None:
    control_plane = ControlPlane()
    with pytest.raises(RuntimeError, match="not started; use `with ControlPlane"):
        _ = control_plane.url
    control_plane.stop()


def test_a_negative_number_of_nodes_is_refused() -> None:
    with pytest.raises(ValueError, match="nodes=-1: use 0 or more"):
        ControlPlane(nodes=-1)


def test_a_user_name_that_no_certificate_holds_is_refused_with_the_rule() -> None:
    authority = Authority.create("test")
    assert isinstance(authority.client("x" * 64), KeyPair)
    with pytest.raises(ValueError, match=r"65 bytes; a client certificate's common name holds 1 to 64 \(X\.520\)"):
        authority.client("x" * 65)
    with pytest.raises(ValueError, match="0 bytes"):
        authority.client("")


def fake_binaries(folder: Path, **scripts: str) -> Binaries:
    paths = {}
    for name in programs.PROGRAMS:
        path = folder / name
        path.write_text("#!/bin/sh\n" + scripts.get(name.replace("-", "_"), "exec sleep 600\n"))
        path.chmod(0o755)
        paths[name] = path
    return Binaries(paths, {})


def test_a_program_that_ends_fails_the_start_with_its_last_words_and_where_the_logs_are(
    tmp_path: Path, own_cache: dict[str, str]
) -> None:
    broken = fake_binaries(tmp_path, etcd="echo no space left on device >&2; exit 3\n")
    with pytest.raises(StartFailed) as caught:
        ControlPlane(binaries=broken, env=own_cache).start()
    error = caught.value
    assert error.component == "etcd"
    assert "etcd ended with exit code 3" in str(error)
    assert "no space left on device" in str(error)
    assert error.log_dir is not None
    assert (error.log_dir / "etcd.log").read_text() == "no space left on device\n"
    assert str(error.log_dir) in str(error)
    assert kept_logs(own_cache) == [error.log_dir]


def test_a_program_that_is_never_ready_fails_the_start_at_the_timeout(
    tmp_path: Path, own_cache: dict[str, str]
) -> None:
    control_plane = ControlPlane(
        binaries=fake_binaries(tmp_path), env=own_cache, keep_logs=False, start_timeout_seconds=0.3
    )
    with pytest.raises(StartFailed, match=r"etcd was not ready within 0\.3 s \(http://127\.0\.0\.1:\d+/health\)"):
        control_plane.start()
    assert kept_logs(own_cache) == []
    with pytest.raises(RuntimeError):
        _ = control_plane.supervised


def test_only_the_newest_ten_logs_are_kept(tmp_path: Path, own_cache: dict[str, str]) -> None:
    broken = fake_binaries(tmp_path, etcd="exit 3\n")
    for number in range(12):
        (cache_dir(own_cache) / "logs" / f"20200101-{number:02}").mkdir(parents=True)
    with pytest.raises(StartFailed):
        ControlPlane(binaries=broken, env=own_cache).start()
    assert len(kept_logs(own_cache)) == 10
    assert kept_logs(own_cache)[0].name == "20200101-03"


def test_a_cancelled_start_ends_what_it_had_started(tmp_path: Path, eventually: Eventually) -> None:
    control_plane = ControlPlane(binaries=fake_binaries(tmp_path, etcd=f"touch {tmp_path}/started; exec sleep 600\n"))

    async def cancel_while_starting() -> list[Process]:
        starting = asyncio.create_task(control_plane.astart())
        await asyncio.to_thread(eventually, (tmp_path / "started").exists)
        processes = processes_of(control_plane)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        return processes

    processes = asyncio.run(cancel_while_starting())
    assert processes
    assert not any(process.is_alive() for process in processes)


# -- with a server


@pytest.mark.control_plane
def test_a_control_plane_starts_answers_and_leaves_nothing(
    private_control_plane: StartPrivate, own_cache: dict[str, str]
) -> None:
    control_plane = private_control_plane()
    assert control_plane.url.startswith("https://127.0.0.1:")
    assert "BEGIN CERTIFICATE" in control_plane.ca
    assert json.loads(control_plane.kubectl("get", "--raw", "/version"))["gitVersion"].startswith("v1.")
    processes, data_dir = processes_of(control_plane), control_plane.supervised.data_dir
    assert all(process.is_alive() for process in processes)
    with pytest.raises(RuntimeError, match="already started"):
        control_plane.start()
    control_plane.stop()
    assert not any(process.is_alive() for process in processes)
    assert not data_dir.exists()
    control_plane.start()
    assert control_plane.kubectl("get", "namespaces", "-o", "name").startswith("namespace/")


@pytest.mark.control_plane
def test_two_run_side_by_side_and_know_nothing_of_each_other() -> None:
    async def run() -> None:
        async with ControlPlane() as one, ControlPlane() as two:
            await asyncio.to_thread(one.kubectl, "create", "namespace", "only-here")
            assert "only-here" not in await asyncio.to_thread(two.kubectl, "get", "namespaces")
            processes = processes_of(one) + processes_of(two)
        assert not any(process.is_alive() for process in processes)

    asyncio.run(run())


@pytest.mark.control_plane
def test_a_failing_with_block_keeps_the_logs_and_says_where_on_the_error(own_cache: dict[str, str]) -> None:
    own_binaries = find_binaries()
    with pytest.raises(ZeroDivisionError) as caught, ControlPlane(env=own_cache, binaries=own_binaries):
        _ = 1 / 0
    (kept,) = kept_logs(own_cache)
    assert caught.value.__notes__ == [f"the logs of the control plane are kept in {kept}"]
    assert "kube-apiserver.log" in {path.name for path in kept.iterdir()}


@pytest.mark.control_plane
def test_a_flag_that_kube_apiserver_refuses_is_shown_with_its_reason(own_cache: dict[str, str]) -> None:
    control_plane = ControlPlane(
        env=own_cache, binaries=find_binaries(), api_server_args=["--authorization-mode=Astrology"]
    )
    with pytest.raises(StartFailed, match=r"kube-apiserver ended with exit code 1[\s\S]*Astrology"):
        control_plane.start()


@pytest.mark.control_plane
def test_a_user_without_rights_gets_403_and_a_master_200(control_plane: ClusterAccess, tmp_path: Path) -> None:
    with contextlib.closing(rest_as(control_plane, tmp_path, "jane")) as jane:
        assert jane.status("/api/v1/namespaces") == http.client.FORBIDDEN
    with contextlib.closing(rest_as(control_plane, tmp_path, "root", "system:masters")) as root:
        assert root.status("/api/v1/namespaces") == http.client.OK


@pytest.mark.control_plane
def test_the_server_sees_user_and_groups_of_a_kubeconfig(control_plane: ClusterAccess, tmp_path: Path) -> None:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    user, groups = "dev:jäne@example.org", ("a group", "x" * 100)
    with contextlib.closing(rest_as(control_plane, tmp_path, user, *groups)) as rest:
        seen = rest.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review)["status"]["userInfo"]
    assert seen["username"] == user
    assert {*groups, "system:authenticated"} == set(seen["groups"])


@pytest.mark.control_plane
def test_the_servers_certificate_satisfies_strict_verification(control_plane: ClusterAccess) -> None:
    context = ssl.create_default_context(cadata=control_plane.ca)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    host = control_plane.url.removeprefix("https://")
    connection = http.client.HTTPSConnection(host, context=context, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", "/livez")
        assert connection.getresponse().read() == b"ok"


@pytest.mark.control_plane
def test_a_failing_kubectl_is_an_error_with_its_words(control_plane: ClusterAccess) -> None:
    with pytest.raises(CommandFailed, match=r"kubectl get unicorns ended with exit code 1: .*unicorns") as caught:
        control_plane.kubectl("get", "unicorns")
    assert caught.value.returncode == 1


@pytest.mark.control_plane
def test_kubectl_takes_standard_input(control_plane: ClusterAccess, namespace: str) -> None:
    manifest = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}})
    assert control_plane.kubectl("apply", "-n", namespace, "-f", "-", stdin=manifest) == "configmap/one created\n"


@pytest.mark.control_plane
def test_a_kept_data_dir_survives_a_stop_with_its_objects_and_tokens(tmp_path: Path) -> None:
    control_plane = ControlPlane(data_dir=tmp_path / "data")
    with control_plane:
        control_plane.kubectl("create", "serviceaccount", "robot")
        token = control_plane.kubectl("create", "token", "robot").strip()
    with control_plane:
        assert "robot" in control_plane.kubectl("get", "serviceaccounts")
        headers = {"Authorization": f"Bearer {token}"}
        context = ssl.create_default_context(cadata=control_plane.ca)
        connection = http.client.HTTPSConnection(control_plane.url.removeprefix("https://"), context=context)
        with contextlib.closing(connection):
            connection.request("GET", "/api", headers=headers)
            assert connection.getresponse().status == http.client.OK
    assert (tmp_path / "data" / "etcd").is_dir()


@pytest.mark.control_plane
def test_the_api_server_can_be_restarted_on_its_port_and_data(private_control_plane: StartPrivate) -> None:
    control_plane = private_control_plane(scheduler=True)
    control_plane.kubectl("create", "configmap", "kept")
    before = control_plane.supervised.children
    control_plane.supervised.stop("kube-scheduler", 0.0)
    control_plane.restart_api_server()
    after = control_plane.supervised.children
    assert before["etcd"] == after["etcd"]
    assert before["kube-apiserver"] != after["kube-apiserver"]
    assert "kept" in control_plane.kubectl("get", "configmaps")


OWNER = """
import sys, time
from kubewright.testing import ControlPlane
control_plane = ControlPlane(controllers=True, scheduler=True, nodes=1).start()
supervised = control_plane.supervised
pids = [supervised.supervisor.pid, *(child.pid for child in supervised.children.values())]
print(supervised.data_dir, *pids, flush=True)
time.sleep(600)
"""


@pytest.mark.control_plane
@pytest.mark.parametrize("death", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_a_control_plane_whose_owner_dies(death: signal.Signals, eventually: Eventually) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as owner:
        assert owner.stdout is not None
        data_dir, *pids = owner.stdout.readline().split()
        processes = [process for pid in pids if (process := Process.of(int(pid)))]
        assert len(processes) == 6
        owner.send_signal(death)
        eventually(lambda: not any(process.is_alive() for process in processes))
        eventually(lambda: not Path(data_dir).exists())


# -- with nodes

STATEFUL_SET: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "web"},
    "spec": {
        "serviceName": "web",
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "redis", "image": "redis:7"}]},
        },
        "volumeClaimTemplates": [
            {
                "metadata": {"name": "data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }
        ],
    },
}


@pytest.mark.control_plane
def test_a_stateful_set_of_three_becomes_ready_with_its_claims_bound(
    control_plane_with_nodes: ClusterAccess, namespace_with_nodes: str
) -> None:
    def kubectl(*args: str, **options: Any) -> str:
        return control_plane_with_nodes.kubectl("-n", namespace_with_nodes, *args, **options)

    kubectl("apply", "-f", "-", stdin=json.dumps(STATEFUL_SET))
    kubectl("wait", "statefulset/web", "--for=jsonpath={.status.readyReplicas}=3", "--timeout=30s")
    assert kubectl("get", "pods", "-o", "jsonpath={.items[*].status.phase}") == "Running Running Running"
    assert kubectl("get", "pvc", "-o", "jsonpath={.items[*].status.phase}") == "Bound Bound Bound"


@pytest.mark.control_plane
def test_the_nodes_are_ready_and_have_an_address(control_plane_with_nodes: ClusterAccess) -> None:
    nodes = json.loads(control_plane_with_nodes.kubectl("get", "nodes", "-o", "json"))["items"]
    assert [node["metadata"]["name"] for node in nodes] == ["node-0", "node-1", "node-2"]
    for node in nodes:
        assert {"type": "InternalIP", "address": "127.0.0.1"} in node["status"]["addresses"]
        assert node["spec"].get("taints") is None


@pytest.mark.control_plane
def test_the_controllers_collect_garbage(control_plane_with_nodes: ClusterAccess, namespace_with_nodes: str) -> None:
    def kubectl(*args: str, **options: Any) -> str:
        return control_plane_with_nodes.kubectl("-n", namespace_with_nodes, *args, **options)

    kubectl("create", "configmap", "owner")
    uid = kubectl("get", "configmap", "owner", "-o", "jsonpath={.metadata.uid}")
    owned = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "owned",
            "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}],
        },
    }
    kubectl("create", "-f", "-", stdin=json.dumps(owned))
    kubectl("delete", "configmap", "owner")
    kubectl("wait", "configmap/owned", "--for=delete", "--timeout=30s")


@pytest.mark.control_plane
def test_own_stages_script_the_life_of_a_pod(
    private_control_plane: StartPrivate, tmp_path: Path, binaries: Binaries
) -> None:
    stage = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": "mark"},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "ConfigMap"},
            "selector": {"matchExpressions": [{"key": ".data.marked", "operator": "DoesNotExist"}]},
            "next": {"patches": [{"root": "data", "template": "marked: 'yes'"}]},
        },
    }
    (tmp_path / "stage.yaml").write_text(yaml.safe_dump(stage))
    control_plane = private_control_plane(stages=[tmp_path / "stage.yaml"], kwok=True, binaries=binaries)
    control_plane.kubectl("create", "configmap", "one")
    control_plane.kubectl("wait", "configmap/one", "--for=jsonpath={.data.marked}=yes", "--timeout=20s")
