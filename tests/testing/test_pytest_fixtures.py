"""The fixtures as a project of somebody else would use them: in a pytest run of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kubewright.testing import ClusterAccess
from kubewright.testing.identity import Process
from kubewright.testing.namespaces import Namespaces
from kubewright.testing.programs import PROGRAMS, variable_of

Eventually = Callable[..., None]


def run_pytest(folder: Path, text: str, *args: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (folder / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args, "test_it.py"]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, timeout=300, check=False
    )


SHARED = """
import os, time, pathlib, pytest
FOLDER = pathlib.Path(os.environ["FOLDER"])

@pytest.mark.parametrize("number", range(4))
def test_shared(number, control_plane, namespace):
    control_plane.kubectl("-n", namespace, "create", "configmap", "one")
    assert control_plane.kubeconfig("jane", ["readers"]).startswith("apiVersion: v1")
    assert control_plane.kubeconfig_path.exists()
    worker = os.environ["PYTEST_XDIST_WORKER"]
    (FOLDER / f"{number}-{worker}").write_text(f"{control_plane.url} {control_plane.pki} {namespace}")
    # No worker is done before both have begun: both have to have joined.
    deadline = time.monotonic() + 60
    while len({path.name.partition("-")[2] for path in FOLDER.iterdir()}) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
"""


@pytest.mark.control_plane
def test_two_workers_share_one_server_and_nothing_is_left_after_the_run(tmp_path: Path, eventually: Eventually) -> None:
    (tmp_path / "seen").mkdir()
    (tmp_path / "tmp").mkdir()
    env = {"FOLDER": str(tmp_path / "seen"), "TMPDIR": str(tmp_path / "tmp")}
    done = run_pytest(tmp_path, SHARED, "-n2", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = [path.read_text().split() for path in (tmp_path / "seen").iterdir()]
    assert len(seen) == 4
    assert len({url for url, _, _ in seen}) == 1
    assert len({namespace for _, _, namespace in seen}) == 4
    runtime = tmp_path / "tmp" / f"kubewright-{os.getuid()}"
    eventually(lambda: not Path(seen[0][1]).exists())
    eventually(lambda: not list((runtime / "shared").iterdir()))


KILLED = """
import os, pathlib, time
def test_it(control_plane):
    data_dir = control_plane.pki.parent
    pathlib.Path(os.environ["SAID"]).write_text((data_dir / "record.json").read_text())
    time.sleep(600)
"""


@pytest.mark.control_plane
def test_a_killed_test_run_leaves_nothing(tmp_path: Path, eventually: Eventually) -> None:
    said = tmp_path / "said"
    (tmp_path / "test_it.py").write_text(KILLED)
    env = {**os.environ, "SAID": str(said)}
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=tmp_path,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as run:
        eventually(lambda: said.exists() and said.read_text(), 60)
        record = json.loads(said.read_text())
        processes = [Process(**record["owner"]), *(Process(**child) for child in record["children"].values())]
        assert all(process.is_alive() for process in processes)
        run.kill()
    eventually(lambda: not any(process.is_alive() for process in processes))


USES = """
def test_one(control_plane): pass
def test_two(namespace): pass
def test_three(private_control_plane): private_control_plane()
"""


@pytest.mark.parametrize("ci", ["", "true"])
def test_a_control_plane_that_cannot_be_had_fails_with_the_cure_and_never_skips(
    ci: str, tmp_path: Path, env: dict[str, str]
) -> None:
    env |= {variable_of(name): "" for name in PROGRAMS}
    env |= {"ENVTEST_INSTALLED_ONLY": "true", "KUBEBUILDER_ASSETS": "", "CI": ci}
    done = run_pytest(tmp_path, USES, env=env)
    assert done.returncode == 1
    # A fixture that fails is an error, a factory that fails a failure, in pytest's words.
    assert "1 failed, 2 errors" in done.stdout
    assert "a real control plane is needed: no etcd, kube-apiserver, kubectl found" in done.stdout
    assert "run `make controlplane`" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_run_that_does_not_use_the_fixtures_pays_nothing_for_them(tmp_path: Path) -> None:
    done = run_pytest(
        tmp_path,
        "import sys\ndef test_it():\n"
        "    loaded = sorted(name for name in sys.modules if name.startswith('kubewright.'))\n"
        "    ours = ['kubewright._lazy', 'kubewright._version', 'kubewright.testing', 'kubewright.testing.plugin']\n"
        "    assert loaded == ours\n"
        "    assert 'cryptography' not in sys.modules\n",
        env={},
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.control_plane
def test_a_namespace_is_made_in_milliseconds(control_plane: ClusterAccess) -> None:
    took = []
    with contextlib.closing(Namespaces(control_plane)) as namespaces:
        for _ in range(5):
            started = time.perf_counter()
            namespaces.delete_later(namespaces.create("quick"))
            took.append(time.perf_counter() - started)
    # 5 ms on a quiet machine; the best of five, as the machine may be busy.
    assert min(took) < 0.1


@pytest.mark.control_plane
def test_a_namespace_is_emptied_and_gone_afterwards_even_without_controllers(
    control_plane: ClusterAccess, eventually: Eventually
) -> None:
    with contextlib.closing(Namespaces(control_plane)) as namespaces:
        name = namespaces.create("Emptied [in full]")
        assert name.startswith("emptied-in-full-")
        control_plane.kubectl("-n", name, "create", "configmap", "one")
        namespaces.delete_later(name)
    with contextlib.closing(control_plane.rest()) as rest:
        assert rest.status(f"/api/v1/namespaces/{name}") == 404
        assert rest.status(f"/api/v1/namespaces/{name}/configmaps/one") == 404


@pytest.mark.control_plane
def test_a_namespace_with_nodes_has_its_service_account(
    control_plane_with_nodes: ClusterAccess, namespace_with_nodes: str
) -> None:
    control_plane_with_nodes.kubectl("-n", namespace_with_nodes, "get", "serviceaccount", "default")
