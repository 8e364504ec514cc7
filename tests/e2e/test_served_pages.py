"""`kubewright run` with probes and metrics, on a real API server: as a Deployment would have it."""

from __future__ import annotations

import asyncio
import re
import signal
import urllib.request
import uuid
from pathlib import Path

import pytest
from operator_process import OperatorProcess, kubewright, until, until_running
from prometheus_client.parser import text_string_to_metric_families

from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane

OPERATOR = """
from kubewright import Context, Model, ObjectMeta, Resource, controller, resource
from kubewright.models.core.v1 import ConfigMap

class Spec(Model):
    text: str = ""

class Status(Model):
    pass

@resource(group="GROUP", version="v1")
class Page(Resource[Spec, Status]):
    pass

@controller(Page, owns=[ConfigMap])
async def reconcile(page: Page, ctx: Context) -> None:
    await ctx.apply(ConfigMap(metadata=ObjectMeta(name=page.metadata.name), data={"text": page.spec.text}))
    ctx.event("Normal", "Printed", "The page is there.")
"""


def port(operator: OperatorProcess, what: str) -> int:
    found = re.search(rf"{what} on 127\.0\.0\.1:(\d+)", operator.text)
    assert found is not None, operator.text
    return int(found[1])


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return str(answer.read().decode())


def test_an_operator_serves_probes_metrics_and_events(
    control_plane: ClusterAccess, namespace: str, tmp_path: Path
) -> None:
    group = f"pages-{uuid.uuid4().hex[:8]}.example.com"
    file = tmp_path / "pages.py"
    file.write_text(OPERATOR.replace("GROUP", group))
    options = tmp_path / "options.yaml"
    options.write_text("health-probe-bind-address: 127.0.0.1:0\nmetrics-secure: false\nprofiling: true\n")
    page = f"apiVersion: {group}/v1\nkind: Page\nmetadata: {{name: a, namespace: {namespace}}}\nspec: {{text: hello}}\n"

    async def main() -> None:
        flags = ("--namespace", namespace, "--config", str(options), "--metrics-bind-address=127.0.0.1:0")
        with OperatorProcess(file, control_plane.kubeconfig_path, tmp_path / "log", *flags) as operator:
            await until_running(operator)
            probes, metrics = f"http://127.0.0.1:{port(operator, 'health probes')}", port(operator, "metrics")
            assert get(f"{probes}/healthz") == "ok"
            assert get(f"{probes}/readyz?verbose") == "[+]caches ok\nhealthz check passed\n"
            await asyncio.to_thread(control_plane.kubectl, "apply", "-f", "-", stdin=page)

            async def no_event() -> str:
                described = await asyncio.to_thread(
                    control_plane.kubectl, "describe", f"pages.{group}", "a", "--namespace", namespace
                )
                return "" if "The page is there." in described else described

            await until("kubectl describe shows the event", no_event)
            text = get(f"http://127.0.0.1:{metrics}/metrics")
            found = {
                (each.name, *sorted(each.labels.items())): each.value
                for family in text_string_to_metric_families(text)
                for each in family.samples
            }
            success = ("controller_runtime_reconcile_total", ("controller", "page"), ("result", "success"))
            assert found[success] >= 1
            assert found["kubewright_cache_objects", ("resource", f"pages.{group}")] == 1
            assert found["kubewright_events_sent_total",] >= 1
            assert any(key[0] == "rest_client_requests_total" and ("code", "201") in key for key in found)
            assert "page worker" in get(f"http://127.0.0.1:{metrics}/debug/tasks")
            assert re.match(r"\S+ \d+\n", get(f"http://127.0.0.1:{metrics}/debug/profile?seconds=0.5"))
            operator.signal(signal.SIGTERM)
            assert operator.wait(15) == 0

    try:
        asyncio.run(main())
    finally:
        control_plane.kubectl("delete", "crd", f"pages.{group}", "--ignore-not-found", "--wait=false")


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--metrics-bind-address", "8080"), "--metrics-bind-address: '8080' is not an address; write :8080"),
        (
            ("--metrics-bind-address", "127.0.0.1:0", "--metrics-cert-path", "/no/such"),
            "/no/such/tls.crt does not exist",
        ),
        (("--health-probe-bind-address", "203.0.113.1:80"), "--health-probe-bind-address 203.0.113.1:80: cannot be"),
    ],
)
def test_what_cannot_be_served_is_one_line_with_the_option_and_the_cure(
    control_plane: ClusterAccess, tmp_path: Path, flags: tuple[str, ...], says: str
) -> None:
    file = tmp_path / "pages.py"
    file.write_text(OPERATOR.replace("GROUP", "pages.example.com"))
    kubeconfig = ("--kubeconfig", control_plane.kubeconfig_path)
    ended = kubewright("run", file, *kubeconfig, "--no-install-crds", *flags)
    assert ended.code in (1, 2)
    assert says in ended.stderr
    assert "Traceback" not in ended.stderr
