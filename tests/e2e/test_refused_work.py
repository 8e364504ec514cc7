"""What is refused to a running operator, or to its users, is told in one line with the cure, and never ends it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from examples.rediscluster.types import RedisCluster, RedisClusterSpec, Sentinel
from operator_process import REDIS_OPERATOR, ROOT, OperatorProcess, kubewright, until, until_running

from kubewright import Client, ClientConfig, ObjectMeta
from kubewright.client import Invalid
from kubewright.testing import CommandFailed
from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane


@pytest.fixture(scope="module")
def installed(control_plane: ClusterAccess) -> ClusterAccess:
    """The API server, knowing RedisClusters."""
    crd = kubewright("manifests", "crd", REDIS_OPERATOR.with_name("types.py")).stdout
    control_plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=crd)
    control_plane.kubectl("wait", "--for=condition=Established", "crd/redisclusters.cache.example.com")
    return control_plane


def role(name: str, user: str, namespace: str, *rules: str) -> str:
    """A Role with these rules, and the user bound to it, as YAML."""
    return f"""
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: {name}, namespace: {namespace}}}
rules: [{", ".join(rules)}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: {name}, namespace: {namespace}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {name}}}
subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: {user}}}]
"""


@pytest.mark.slow
def test_rights_that_are_missing_at_run_time_are_named_in_the_log_and_granting_them_is_enough(
    installed: ClusterAccess, namespace: str, tmp_path: Path
) -> None:
    """Two that only show when the operator works: applying StatefulSets, and watching Pods, a kind that it reads."""
    everything = 'verbs: ["*"]'
    granted = [
        f'{{apiGroups: [cache.example.com], resources: ["*"], {everything}}}',
        f'{{apiGroups: [""], resources: [configmaps, services], {everything}}}',
        f"{{apiGroups: [apps], resources: [deployments], {everything}}}",
        "{apiGroups: [apps], resources: [statefulsets], verbs: [get, list, watch, create]}",
    ]
    apply_right = '{apiGroups: ["apps"], resources: ["statefulsets"], verbs: ["patch"]}'
    watch_right = '{apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"]}'
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(installed.kubeconfig("eve"))

    async def grant(*rules: str) -> None:
        text = role("operator", "eve", namespace, *rules)
        await asyncio.to_thread(installed.kubectl, "apply", "-f", "-", stdin=text)

    async def main() -> None:
        async with Client.connect(ClientConfig.load(installed.kubeconfig_path), namespace=namespace) as client:
            await grant(*granted)
            options = ("--no-install-crds", "--namespace", namespace)
            with OperatorProcess(REDIS_OPERATOR, kubeconfig, tmp_path / "log", *options) as operator:
                await until_running(operator)
                name = "a"
                await client.create(
                    RedisCluster(metadata=ObjectMeta(name=name), spec=RedisClusterSpec(version="7.2.4", replicas=1))
                )

                async def said(rule: str) -> str:
                    lines = [line for line in operator.text.splitlines() if "WARNING" in line and rule in line]
                    return "" if lines else f"the log is: {operator.text}"

                bind = f"bind User eve to a Role in namespace {namespace} with the rule "
                await until("the right to apply is asked for", lambda: said(bind + apply_right))
                await grant(*granted, apply_right)
                await until("the right to watch is asked for", lambda: said(bind + watch_right))
                await grant(*granted, apply_right, watch_right)

                async def missing() -> str:
                    found = await client.get(RedisCluster, name)
                    return "" if found.status.observed_generation == 1 else f"the log is: {operator.text}"

                await until("it is reconciled", missing)
                assert "Traceback" not in operator.text
                assert operator.code is None

    asyncio.run(main())


def test_an_invalid_object_is_refused_with_field_value_rule_and_cure(installed: ClusterAccess, namespace: str) -> None:
    async def main() -> None:
        async with Client.connect(ClientConfig.load(installed.kubeconfig_path), namespace=namespace) as client:
            spec = RedisClusterSpec(version="seven", replicas=99, sentinel=Sentinel(enabled=True, replicas=2))
            with pytest.raises(Invalid) as refused:
                await client.create(RedisCluster(metadata=ObjectMeta(name="a"), spec=spec))
            said = str(refused.value)
            assert "\n" not in said
            for field, value, rule in (
                ("spec.replicas", "99", "should be less than or equal to 9"),
                ("spec.version", '"seven"', "should match"),
                ("spec.sentinel.replicas", "2", "must be odd"),
            ):
                assert f"{field}: Invalid value: {value}" in said
                assert rule in said
                assert field in said.rpartition("; correct ")[2]

    asyncio.run(main())


def test_kubectl_refuses_an_invalid_object_in_one_line(installed: ClusterAccess, namespace: str) -> None:
    invalid = yaml.safe_dump(
        {
            "apiVersion": "cache.example.com/v1alpha1",
            "kind": "RedisCluster",
            "metadata": {"name": "a", "namespace": namespace},
            "spec": {"version": "7.2.4", "replicas": 99},
        }
    )
    with pytest.raises(CommandFailed) as refused:
        installed.kubectl("apply", "-f", "-", stdin=invalid)
    assert refused.value.stderr.splitlines() == [
        'The RedisCluster "a" is invalid: spec.replicas: Invalid value: 99: '
        "spec.replicas in body should be less than or equal to 9"
    ]


PROGRAM = """
import asyncio, sys
from examples.rediscluster.types import RedisCluster, RedisClusterSpec
from kubewright import Client, ClientConfig, ObjectMeta
from kubewright.client import ApiError

async def main():
    async with Client.connect(ClientConfig.load(sys.argv[1])) as client:
        await client.create(RedisCluster(metadata=ObjectMeta(name="a"), spec=RedisClusterSpec(version="7", replicas=0)))

try:
    asyncio.run(main())
except ApiError as error:
    sys.exit(f"error: {error}")
"""


def test_a_program_of_three_lines_tells_it_as_the_command_would(installed: ClusterAccess) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(installed.kubeconfig_path)],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=ROOT,
        check=False,
    )
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stderr.startswith(
        "error: POST /apis/cache.example.com/v1alpha1/namespaces/default/redisclusters: 422 "
    )
    assert set(ended.stderr.rstrip().rpartition("; correct ")[2].split(", ")) == {"spec.replicas", "spec.version"}


@pytest.mark.slow
def test_a_watch_that_is_forbidden_while_the_list_is_not_is_named_in_the_log(
    installed: ClusterAccess, namespace: str, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(installed.kubeconfig("ann"))
    everything = '{apiGroups: ["*"], resources: [redisclusters, services, statefulsets, deployments], verbs: ["*"]}'
    only_list = '{apiGroups: [""], resources: [configmaps], verbs: [list]}'
    installed.kubectl("apply", "-f", "-", stdin=role("operator", "ann", namespace, everything, only_list))
    options = ("--no-install-crds", "--namespace", namespace)
    with OperatorProcess(REDIS_OPERATOR, kubeconfig, tmp_path / "log", *options) as operator:

        async def missing() -> str:
            rule = '{apiGroups: [""], resources: ["configmaps"], verbs: ["watch"]}; trying again'
            return "" if rule in operator.text else f"the log is: {operator.text}"

        asyncio.run(until("the rule is in the log", missing))
        assert operator.code is None
        assert len([line for line in operator.text.splitlines() if "WARNING" in line]) == 1, operator.text
