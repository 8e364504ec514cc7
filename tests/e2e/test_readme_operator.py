"""The operator in the README, taken from there word by word, does what the README says it does."""

from __future__ import annotations

import asyncio
import re
import textwrap
from pathlib import Path

import pytest
import yaml
from operator_process import ROOT, OperatorProcess, kubewright, until, until_running

from kubewright import Client, ClientConfig, unstructured
from kubewright.models.apps.v1 import Deployment
from kubewright.models.core.v1 import Pod
from kubewright.testing.access import ClusterAccess

pytestmark = [pytest.mark.control_plane, pytest.mark.slow]

Web = unstructured("example.com/v1", "Web", plural="webs", namespaced=True)
WEB = """
apiVersion: example.com/v1
kind: Web
metadata: {name: shop}
spec: {image: "nginx:1.27", replicas: 2}
"""


def code_of_the_readme() -> str:
    found = re.search(r"^```python\n(# web\.py\n.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert found, "the README has no python block that begins with '# web.py'"
    return found[1]


def without_its_operator(code: str) -> str:
    """The same file with controllers only: `kubewright run` makes an operator of them."""
    kept = [line for line in code.splitlines() if not line.startswith("operator = ")]
    assert len(kept) == len(code.splitlines()) - 1
    return "\n".join(kept)


@pytest.mark.parametrize("edit", [str, without_its_operator], ids=["as it is", "its controllers only"])
def test_the_operator_of_the_readme(
    control_plane_with_nodes: ClusterAccess, namespace_with_nodes: str, tmp_path: Path, edit: type[str]
) -> None:
    namespace = namespace_with_nodes
    file = tmp_path / "web.py"
    file.write_text(textwrap.dedent(edit(code_of_the_readme())))

    async def kubectl(*args: str, stdin: str | None = None) -> str:
        return await asyncio.to_thread(
            control_plane_with_nodes.kubectl, "--namespace", namespace, *args, stdin=stdin, timeout_seconds=30
        )

    async def main() -> None:
        kubeconfig = control_plane_with_nodes.kubeconfig_path
        config = ClientConfig.load(kubeconfig)
        with OperatorProcess(file, kubeconfig, tmp_path / "log", "--namespace", namespace) as operator:
            async with Client.connect(config, namespace=namespace) as client:
                await until_running(operator)
                await kubectl("apply", "-f", "-", stdin=WEB)

                async def not_ready(count: int) -> str:
                    web = await client.get(Web, "shop")
                    ready = web.get("status", "ready", default=None)
                    return "" if ready == count else f"status.ready is {ready}; the log is: {operator.text}"

                await until("two are ready", lambda: not_ready(2))
                child = await client.get(Deployment, "shop")
                web = await client.get(Web, "shop")
                (owner,) = child.metadata.owner_references
                assert (owner.kind, owner.name, owner.uid, owner.controller) == ("Web", "shop", web.metadata.uid, True)
                assert child.spec.replicas == 2
                shown = (await kubectl("get", "web")).splitlines()
                assert [line.split()[:2] for line in shown] == [["NAME", "READY"], ["shop", "2"]]

                await kubectl("patch", "web", "shop", "--type=merge", "-p", '{"spec": {"replicas": 3}}')
                await until("three are ready", lambda: not_ready(3))

                await kubectl("delete", "web", "shop")

                async def left() -> list[str]:
                    found = [await client.list(kind, namespace=namespace) for kind in (Web, Deployment, Pod)]
                    return [f"{each.kind} {each.metadata.name}" for each in (*found[0], *found[1], *found[2])]

                # It takes the garbage collector up to 30 s to learn of a new kind.
                await until("nothing is left", left, 60.0)
                operator.signal(15)
                assert await asyncio.to_thread(operator.wait, 10.0) == 0
        assert not [line for line in operator.text.splitlines() if " ERROR " in line or "Traceback" in line]

    asyncio.run(main())


def test_the_readme_promises_a_crd_from_the_same_file(tmp_path: Path) -> None:
    file = tmp_path / "web.py"
    file.write_text(code_of_the_readme())
    ended = kubewright("manifests", "crd", file)
    assert ended.code == 0
    crd = yaml.safe_load(ended.stdout)
    assert crd["metadata"]["name"] == "webs.example.com"
    assert crd["spec"]["names"]["shortNames"] == ["wb"]
