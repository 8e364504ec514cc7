"""Every metric of an operator, by exact name, labels and buckets; and the whole page, byte for byte.

`KUBERNETES` is the contract: what dashboards and alerts for Go operators ask for. The golden file is the page of an
operator that has seen a few things, but for what its process is like. After a change on purpose, write it anew and
review the difference:

    KUBEWRIGHT_WRITE_GOLDEN=1 pytest tests/manager/test_exposition_golden.py
"""

from __future__ import annotations

import asyncio
import os
import re
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

import virtual
from fakeapi import FakeApi
from kubewright import Context, Operator, Result, Retry, Terminal, after, controller
from kubewright.client import Client, ClientConfig, HttpClient
from kubewright.httpd import Request
from kubewright.manager.servers import metrics_page
from kubewright.models.core.v1 import ConfigMap
from kubewright.models.events.v1 import Event
from kubewright.observe import Registry
from kubewright.observe.instruments import CertificateMetrics, RequestMetrics
from kubewright.queue import ExponentialBackoff
from running import until
from webs import Web, config, web

GOLDEN = Path(__file__).with_name("golden") / "exposition.txt"
DOCUMENTATION = Path(__file__).parents[2] / "docs" / "observability.md"

# fmt: off
R = (.005, .01, .025, .05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .6, .7, .8, .9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5,
     4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60)
W = ("1e-08", "1e-07", "1e-06", "9.999999999999999e-06", "9.999999999999999e-05", "0.001", "0.01", "0.1", "1", "10",
     "100", "1000")
L = (.005, .025, .1, .25, .5, 1, 2, 4, 8, 15, 30, 60)
B = ("64", "256", "512", "1024", "4096", "16384", "65536", "262144", "1.048576e+06", "4.194304e+06", "1.6777216e+07")

KUBERNETES: dict[str, tuple[str, set[str], tuple[Any, ...]]] = {
    "controller_runtime_reconcile_total": ("counter", {"controller", "result"}, ()),
    "controller_runtime_reconcile_errors_total": ("counter", {"controller"}, ()),
    "controller_runtime_terminal_reconcile_errors_total": ("counter", {"controller"}, ()),
    "controller_runtime_reconcile_panics_total": ("counter", {"controller"}, ()),
    "controller_runtime_reconcile_timeouts_total": ("counter", {"controller"}, ()),
    "controller_runtime_reconcile_time_seconds": ("histogram", {"controller"}, R),
    "controller_runtime_max_concurrent_reconciles": ("gauge", {"controller"}, ()),
    "controller_runtime_active_workers": ("gauge", {"controller"}, ()),
    "kubewright_controller_hot_loops_total": ("counter", {"controller"}, ()),
    "kubewright_controller_blocked_seconds_total": ("counter", {"controller"}, ()),
    "kubewright_controller_slowed_objects": ("gauge", {"controller"}, ()),
    "workqueue_depth": ("gauge", {"name", "controller", "priority"}, ()),
    "workqueue_adds_total": ("counter", {"name", "controller"}, ()),
    "workqueue_retries_total": ("counter", {"name", "controller"}, ()),
    "workqueue_queue_duration_seconds": ("histogram", {"name", "controller"}, W),
    "workqueue_work_duration_seconds": ("histogram", {"name", "controller"}, W),
    "workqueue_unfinished_work_seconds": ("gauge", {"name", "controller"}, ()),
    "workqueue_longest_running_processor_seconds": ("gauge", {"name", "controller"}, ()),
    "rest_client_requests_total": ("counter", {"code", "method", "host"}, ()),
    "rest_client_request_duration_seconds": ("histogram", {"verb", "host"}, L),
    "rest_client_dns_resolution_duration_seconds": ("histogram", {"host"}, L),
    "rest_client_request_size_bytes": ("histogram", {"verb", "host"}, B),
    "rest_client_response_size_bytes": ("histogram", {"verb", "host"}, B),
    "rest_client_request_retries_total": ("counter", {"code", "verb", "host"}, ()),
    "leader_election_master_status": ("gauge", {"name"}, ()),
    "leader_election_slowpath_total": ("counter", {"name"}, ()),
    "certwatcher_read_certificate_total": ("counter", set(), ()),
    "certwatcher_read_certificate_errors_total": ("counter", set(), ()),
}

ABSENT = {
    # A histogram of which a program without a limiter on its own side has no sample: as in controller-runtime, whose
    # default is none too. Fairness is the API server's.
    "rest_client_rate_limiter_duration_seconds",
}
"""What a Go operator may show and this one does not."""

OURS = {
    "kubewright_cache_objects": ("gauge", {"resource"}, ()),
    "kubewright_cache_bytes": ("gauge", {"resource"}, ()),
    "kubewright_cache_synced": ("gauge", {"resource"}, ()),
    "kubewright_cache_last_event_age_seconds": ("gauge", {"resource"}, ()),
    "kubewright_cache_unreadable_objects": ("gauge", {"resource"}, ()),
    "kubewright_cache_lists_total": ("counter", {"resource"}, ()),
    "kubewright_cache_watches_total": ("counter", {"resource"}, ()),
    "kubewright_cache_watch_restarts_total": ("counter", {"resource"}, ()),
    "kubewright_events_recorded_total": ("counter", set(), ()),
    "kubewright_events_sent_total": ("counter", set(), ()),
    "kubewright_events_dropped_total": ("counter", {"why"}, ()),
}

PROCESS = {
    "process_cpu_seconds_total", "process_virtual_memory_bytes", "process_resident_memory_bytes",
    "process_start_time_seconds", "process_open_fds", "process_max_fds", "python_info",
    "python_gc_objects_collected_total", "python_gc_objects_uncollectable_total", "python_gc_collections_total",
}
# fmt: on


@controller(Web, owns=[ConfigMap], workers=2, deadline_seconds=2, rate_limiter=partial(ExponentialBackoff, jitter=0))
async def reconcile(web: Web, ctx: Context) -> Result | None:
    name = web.metadata.name
    await asyncio.sleep(0.25)
    if name == "slow":
        await asyncio.sleep(100)
    if name == "later":
        return after(3600)
    if ctx.attempt == 1 and name == "retry":
        raise Retry("not yet")
    if name == "terminal":
        raise Terminal("never")
    if ctx.attempt == 1 and name == "bug":
        raise TypeError("a mistake")
    await ctx.apply(config(f"{name}-config", image=web.spec.image))
    ctx.event("Normal", "Applied", "The configuration is in place.")
    web.status.ready = 1
    return None


@cache
def page(accept: str = "") -> bytes:
    """The page of an operator that has seen each outcome, a cut watch, and a server that was away."""

    async def main() -> bytes:
        registry = Registry()
        api = FakeApi(Web, ConfigMap, Event)
        loop = asyncio.get_running_loop()
        counts = RequestMetrics(registry, "fake.example", detailed=True)
        counts.looked_up("fake.example", 0.002)
        http = HttpClient(
            ClientConfig(server="http://fake.example"), api, metrics=counts, clock=loop.time, rand=lambda: 0
        )
        CertificateMetrics(registry).reads.inc()
        for name in ("good", "later", "retry", "terminal", "bug", "slow"):
            api.put(web(name))
        api.fault("apply", "good-config", status=503, retry_after=1)
        api.fault("list", "/configmaps", lost="answer")
        operator = Operator("test", controllers=[reconcile], metrics=registry)
        async with operator.start(Client(http, field_manager="test")) as manager:
            manager.telemetry.of_election("test", "default").started_leading(1)
            manager.telemetry.of_election("other", "default")
            await asyncio.sleep(2.125)
            api.cut("end")
            await until(lambda: registry.value("kubewright_cache_watch_restarts_total", "webs.example.com") == 1)
            await asyncio.sleep(0.5)
            api.change(Web, "good", {"spec": {"image": "other"}})
            api.change(ConfigMap, "retry-config", {"data": {"image": "by hand"}})
            await asyncio.sleep(0.125)
            api.put(web("last"))
            api.put(config("last", "default"))
            await virtual.settle()
            answer = await metrics_page(registry)(Request("GET", "/metrics", "", {"accept": accept}))
            return answer.body

    with patch("socket.gethostname", return_value="host"):  # a part of Events, and so of the sizes
        return virtual.run(main())


def families(text: bytes) -> dict[str, tuple[str, set[str], tuple[Any, ...]]]:
    found = {}
    for family in parse_text(text.decode()):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        bounds = [sample.labels["le"] for sample in family.samples if sample.name.endswith("_bucket")]
        found[name] = (family.type, labels, tuple(dict.fromkeys(bounds)))
    return found


def test_every_metric_has_its_name_its_type_its_labels_and_its_buckets() -> None:
    wanted = {
        name: (kind, labels, (*(f"{bound:g}" if isinstance(bound, float | int) else bound for bound in bounds), "+Inf"))
        if bounds
        else (kind, labels, ())
        for name, (kind, labels, bounds) in {**KUBERNETES, **OURS}.items()
    }
    found = families(page())
    assert found.keys() >= PROCESS
    assert {name: found[name] for name in found if name not in PROCESS} == wanted


def test_there_is_no_metric_of_what_is_not_there() -> None:
    assert not ABSENT & families(page()).keys()
    assert not ABSENT & KUBERNETES.keys()


def test_the_documentation_names_every_metric_and_its_labels_and_no_other() -> None:
    text = DOCUMENTATION.read_text()
    rows = {
        row[1]: {label.strip() for label in row[2].split(",") if label.strip()}
        for row in re.finditer(r"^\| `(\w+)` \|([^|]*)\|", text, re.MULTILINE)
    }
    assert rows == {name: labels for name, (_, labels, _) in {**KUBERNETES, **OURS}.items()}
    assert all(f"`{name}`" in text for name in PROCESS)


def test_each_outcome_is_there_from_the_start() -> None:
    results = re.findall(rb'controller_runtime_reconcile_total\{controller="web",result="(\w+)"\}', page())
    assert results == [b"error", b"requeue", b"requeue_after", b"success"]


def test_the_page_is_what_it_was() -> None:
    made = "".join(_steady(line) for line in page().decode().splitlines() if not _of_process(line))
    if os.environ.get("KUBEWRIGHT_WRITE_GOLDEN"):
        GOLDEN.write_text(made)
    assert made == GOLDEN.read_text()


def test_openmetrics_is_what_the_specification_says_and_has_the_same_families() -> None:
    text = page("application/openmetrics-text").decode()
    parsed = {each.name if each.type != "counter" else f"{each.name}_total" for each in parse_openmetrics(text)}
    assert parsed == families(page()).keys()


@pytest.mark.parametrize("name", ["exposition.txt"])
def test_every_golden_file_belongs_to_a_test(name: str) -> None:
    assert {path.name for path in GOLDEN.parent.iterdir()} == {name}


def _of_process(line: str) -> bool:
    return any(f" {name}" in f" {line}" or line.startswith(name) for name in PROCESS)


def _steady(line: str) -> str:
    """Sums of times, without the rounding errors of virtual time."""
    if line.startswith("#"):
        return f"{line}\n"
    sample, _, value = line.rpartition(" ")
    return f"{sample} {round(float(value), 3) + 0.0:g}\n"
