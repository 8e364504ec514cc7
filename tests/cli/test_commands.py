"""What commands print, and where: standard output is for the shell, standard error for people."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kubewright import __version__
from kubewright.cli.app import app
from kubewright.cli.failure import one_line_errors
from kubewright.testing import cluster


def status(nodes: int, kubeconfig: str = "/tmp/kubeconfig", version: str = "v1.37.2") -> cluster.ClusterStatus:
    return cluster.ClusterStatus(
        name="default",
        state="running",
        url="https://127.0.0.1:6443",
        kubeconfig=Path(kubeconfig),
        context="kubewright-default",
        logs=Path("/tmp/logs"),
        kubectl=Path("/opt/kubectl"),
        version=version,
        ready_nodes=nodes,
        components=(),
        started_at=datetime.datetime.now(datetime.UTC),
    )


def test_the_version_is_an_option_and_a_command() -> None:
    for name in ("--version", "version"):
        ended = CliRunner().invoke(app, [name])
        assert (ended.exit_code, ended.stdout) == (0, f"{__version__}\n")


@pytest.mark.parametrize(
    ("nodes", "kubeconfig", "shown", "exported"),
    [
        (1, "/tmp/kubeconfig", "1 node", "/tmp/kubeconfig"),
        (0, "/tmp/kubeconfig", "0 nodes", "/tmp/kubeconfig"),
        (3, "/tmp/a b", "3 nodes", "'/tmp/a b'"),
    ],
)
def test_cluster_up_has_one_line_for_the_shell_and_the_rest_for_people(
    nodes: int, kubeconfig: str, shown: str, exported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def up(*_: Any, **__: Any) -> cluster.ClusterStatus:
        return status(nodes, kubeconfig)

    monkeypatch.setattr(cluster, "up", up)
    ended = CliRunner().invoke(app, ["cluster", "up"])
    assert ended.stdout == f"export KUBECONFIG={exported}\n"
    assert ended.stderr.splitlines() == [
        f"default: running, Kubernetes v1.37.2, {shown}, https://127.0.0.1:6443",
        "kubectl: /opt/kubectl",
    ]


def test_cluster_status_counts_one_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "status", lambda name: [status(1, version="")])
    ended = CliRunner().invoke(app, ["cluster", "status"])
    assert ended.stdout.startswith("default: running, Kubernetes -, 1 node, https://")


@pytest.mark.parametrize("command", [("validate", "nope"), ("diff", "nope", "nope"), ("convert", "crd", "nope")])
def test_a_file_that_is_not_there_is_told_in_one_line_without_a_number(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended, one_line_errors():
        app(list(command), standalone_mode=False)
    assert ended.value.code == 1
    assert capsys.readouterr().err == "error: nope: No such file or directory\n"
