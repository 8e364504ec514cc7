"""Ours inside a registry of prometheus_client."""

from __future__ import annotations

import sys

import pytest
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from kubewright.observe import TEXT, Registry, process_metrics
from kubewright.observe.prometheus import export


def filled() -> Registry:
    registry = Registry()
    registry.counter("backups_total", "Backups.", ["tier"]).labels("gold").inc(2)
    registry.gauge("level", "A level.").labels().set(3)
    sizes = registry.histogram("size", "Sizes.", ["of"], buckets=[1e-8, 1, 2000000]).labels("x")
    for value in (0.5, 5, 5e6):
        sizes.observe(value)
    return registry


def parsed(data: bytes) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    families = text_string_to_metric_families(data.decode())
    return {(each.name, frozenset(each.labels.items())): each.value for family in families for each in family.samples}


def test_what_is_exported_is_what_we_would_show() -> None:
    registry, theirs = filled(), CollectorRegistry()
    export(registry, into=theirs)
    assert parsed(generate_latest(theirs)) == parsed(TEXT.render(registry.collect()))


def test_their_own_process_collector_stays_the_only_one() -> None:
    registry, theirs = filled(), CollectorRegistry()
    registry.register(process_metrics)
    ProcessCollector(registry=theirs)
    export(registry, into=theirs)
    assert generate_latest(theirs).count(b"# TYPE process_cpu_seconds_total") == 1


def test_an_export_can_be_ended() -> None:
    theirs = CollectorRegistry()
    theirs.unregister(export(filled(), into=theirs))
    assert generate_latest(theirs) == b""


def test_without_prometheus_client_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(ImportError, match=r"kubewright\[metrics\]"):
        export(Registry(), into=CollectorRegistry())
