"""Helm installs, upgrades, rolls back and removes a chart on the embedded server, and prints the same as on a real one.

The chart has all that charts have: a definition and a resource of it, hooks that are Jobs, `lookup`, capabilities,
roles. Deployments become ready by the real controllers.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hack.peers import build as peers
from real_controllers import Cluster, embedded_cluster, real_cluster

from kubectl.session import Said

pytestmark = [pytest.mark.slow, pytest.mark.control_plane]

CHART = Path(__file__).parent / "chart"
SECONDS = 120.0
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.shop.example.com"


@pytest.fixture(scope="module")
def embedded() -> Iterator[Cluster]:
    with embedded_cluster() as made:
        yield made


@pytest.fixture(scope="module")
def real(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with real_cluster(request.getfixturevalue("control_plane_with_nodes")) as made:
        yield made


class Helm:
    """One release of Helm with a home of its own, in a namespace of its own."""

    def __init__(self, major: str, cluster: Cluster, folder: Path) -> None:
        self._program, self.cluster = peers.helm(major), cluster
        self.namespace = f"helm-{uuid.uuid4().hex[:8]}"
        folder.mkdir()
        self._env = {"PATH": os.environ["PATH"], "HOME": str(folder), "KUBECONFIG": str(cluster.access.kubeconfig_path)}
        self._folder = folder

    def run(self, *words: str) -> Said:
        command = [str(self._program), "--namespace", self.namespace, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=self._env, cwd=self._folder)
        out, err = (text.replace(self.namespace, "NS") for text in (done.stdout, done.stderr))
        return Said(done.returncode, out, err)

    def transcript(self, commands: Sequence[str]) -> str:
        """What a row of commands printed, each under its own line, then what there is of the release."""
        said = []
        for line in commands:
            found = self.run(*line.replace("CHART", str(CHART)).split())
            said.append(f"$ helm {line}\n{masked(found)}\n{self._objects()}")
        return "\n".join(said)

    def _objects(self) -> str:
        """The names of what is there, and the contents of the settings."""
        core = f"/api/v1/namespaces/{self.namespace}"
        if self.cluster.found(core) is None:
            return ""
        paths = (
            f"{core}/configmaps",
            f"{core}/secrets",
            f"/apis/apps/v1/namespaces/{self.namespace}/deployments",
            f"/apis/batch/v1/namespaces/{self.namespace}/jobs",
            f"/apis/rbac.authorization.k8s.io/v1/namespaces/{self.namespace}/roles",
        )
        names = [each["metadata"]["name"] for path in paths for each in self.cluster.items(path)]
        gadget = self.cluster.found(f"/apis/shop.example.com/v1/namespaces/{self.namespace}/gadgets/shop")
        settings = self.cluster.found(f"{core}/configmaps/shop-settings")
        return f"{names}\n{(settings or {}).get('data')}\n{(gadget or {}).get('spec')}"


_STOPPED = re.compile(r".*context canceled.*\n?")
"""What Helm's client library logs, at times, of a watch or a request that Helm itself has stopped."""


def masked(said: Said) -> str:
    said = replace(said, err=_STOPPED.sub("", said.err))
    text = re.sub(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3}\s+\d+ [\d:]+ \d{4}", "TIME", said.masked())
    text = re.sub(r"\d{4}-\d\d-\d\d [\d:.]+ [+-]\d{4} \w+", "TIME", text)
    # Log lines have the time of day.
    return re.sub(
        r"^time=\S+ ", "", re.sub(r"^(stderr: )?\w\d{4} [\d:.]+\s+\d+ ", r"\1LOG ", text, flags=re.M), flags=re.M
    )


LIFE = (
    "install shop CHART --create-namespace --wait --timeout 90s",
    "list",
    "get manifest shop",
    "install shop CHART",
    "install other CHART",
    "test shop",
    "upgrade shop CHART --set replicas=3,color=red --wait --timeout 90s",
    "get values shop",
    "upgrade shop CHART --set color=mauve",
    "upgrade shop CHART --set replicas=many",
    "history shop --max 20",
    "rollback shop 1 --wait --timeout 90s",
    "upgrade --install shop CHART --set color=blue --reuse-values --wait --timeout 90s",
    "upgrade shop CHART --set image=nginx:2 --reset-values --wait --timeout 90s --cleanup-on-fail",
    "get hooks shop",
    "uninstall shop --wait --timeout 90s",
    "list --all",
    "uninstall shop",
)


@pytest.mark.parametrize("major", peers.HELMS)
def test_a_release_lives_and_ends_as_on_a_real_cluster(
    major: str, embedded: Cluster, real: Cluster, tmp_path: Path
) -> None:
    found = []
    for name, cluster in (("real", real), ("embedded", embedded)):
        helm = Helm(major, cluster, tmp_path / name)
        found.append(helm.transcript(LIFE))
        assert cluster.found(CRD) is not None, "Helm leaves definitions of a chart's crds folder where they are"
        cluster.rest.request("DELETE", CRD)
        cluster.until("the definition is gone", lambda cluster=cluster: cluster.found(CRD) is None)
    lines = list(difflib.unified_diff(*(each.splitlines() for each in found), "real", "embedded", lineterm="", n=8))
    assert not lines, "\n".join(lines)
    assert "STATUS: deployed" in found[0]
