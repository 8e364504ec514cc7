"""The standard collectors."""

from __future__ import annotations

import os
import sys
import time

import pytest
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from kubewright.observe import Metric, Registry, process_metrics, python_metrics


def collected(collector) -> dict[str, Metric]:
    registry = Registry()
    registry.register(collector)
    return {metric.name: metric for metric in registry.collect()}


def their_names(*collectors) -> set[str]:
    registry = CollectorRegistry()
    for collector in collectors:
        collector(registry=registry)
    return {f"{each.name}_total" if each.type == "counter" else each.name for each in registry.collect()}


@pytest.mark.skipif(sys.platform != "linux", reason="what there is depends on /proc")
def test_the_process_has_the_names_that_prometheus_client_gives_it() -> None:
    assert collected(process_metrics).keys() == their_names(ProcessCollector)


def test_the_interpreter_has_the_names_that_prometheus_client_gives_it() -> None:
    assert collected(python_metrics).keys() == their_names(GCCollector, PlatformCollector)


@pytest.mark.skipif(sys.platform != "linux", reason="what there is depends on /proc")
def test_the_numbers_are_those_of_this_process() -> None:
    found = {name: metric.points[0].value for name, metric in collected(process_metrics).items()}
    started = os.stat(f"/proc/{os.getpid()}").st_ctime
    # The entry of a process in /proc is as old as the first look at it.
    assert -5 < started - found["process_start_time_seconds"] < 3600
    assert found["process_start_time_seconds"] < time.time() + 1
    assert 5e6 < found["process_resident_memory_bytes"] < found["process_virtual_memory_bytes"]
    assert 3 <= found["process_open_fds"] <= found["process_max_fds"]


def test_an_open_file_is_one_more_descriptor(tmp_path) -> None:
    before = collected(process_metrics)["process_open_fds"].points[0].value
    with open(tmp_path / "file", "w"):
        assert collected(process_metrics)["process_open_fds"].points[0].value == before + 1


def test_a_process_without_proc_shows_what_it_can(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr("kubewright.observe.process._PROC", tmp_path)
    assert list(collected(process_metrics)) == ["process_cpu_seconds_total"]


def test_the_python_is_named() -> None:
    labels = dict(collected(python_metrics)["python_info"].points[0].labels)
    assert labels["version"].startswith(f"{labels['major']}.{labels['minor']}.{labels['patchlevel']}")
    assert int(labels["minor"]) == sys.version_info.minor
