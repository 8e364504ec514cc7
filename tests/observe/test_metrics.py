"""Instruments and their registry."""

from __future__ import annotations

import pytest

from kubewright.observe import TEXT, Metric, Point, Registry


def exposed(registry: Registry) -> list[str]:
    return [line for line in TEXT.render(registry.collect()).decode().splitlines() if not line.startswith("#")]


def test_a_counter_without_labels_is_there_from_the_start_at_zero() -> None:
    registry = Registry()
    registry.counter("backups_total", "Backups.")
    assert exposed(registry) == ["backups_total 0"]


def test_a_child_is_shown_from_when_it_is_made() -> None:
    registry = Registry()
    family = registry.counter("backups_total", "Backups.", ["tier"])
    assert exposed(registry) == []
    family.labels("gold")
    family.labels("silver").inc(3)
    assert exposed(registry) == ['backups_total{tier="gold"} 0', 'backups_total{tier="silver"} 3']


def test_a_counter_only_grows() -> None:
    counter = Registry().counter("backups_total", "Backups.").labels()
    with pytest.raises(ValueError, match="only grows"):
        counter.inc(-1)
    assert counter.value == 0


def test_a_gauge_goes_up_and_down() -> None:
    gauge = Registry().gauge("workers", "Workers.").labels()
    gauge.set(5)
    gauge.inc()
    gauge.dec(2)
    assert gauge.value == 4


def test_a_histogram_counts_a_value_on_a_bound_below_it() -> None:
    registry = Registry()
    histogram = registry.histogram("size", "Sizes.", buckets=[1, 10]).labels()
    for value in (0.5, 1, 1.5, 10, 11):
        histogram.observe(value)
    assert exposed(registry) == [
        'size_bucket{le="1"} 2',
        'size_bucket{le="10"} 4',
        'size_bucket{le="+Inf"} 5',
        "size_sum 24",
        "size_count 5",
    ]


def test_a_reading_is_asked_for_when_it_is_read() -> None:
    registry = Registry()
    size = [1, 2]
    registry.gauge("length", "A length.", ["of"]).read(lambda: len(size), "size")
    size.append(3)
    assert exposed(registry) == ['length{of="size"} 3']


def test_what_is_read_from_a_function_cannot_be_counted_as_well() -> None:
    family = Registry().gauge("length", "A length.", ["of"])
    family.read(lambda: 1.0, "a")
    with pytest.raises(ValueError, match="read from a function"):
        family.labels("a")


def test_a_histogram_cannot_be_read_from_a_function() -> None:
    family = Registry().histogram("size", "Sizes.", buckets=[1])
    with pytest.raises(ValueError, match="register a collector"):
        family.read(lambda: 1.0)


def test_a_removed_child_is_shown_no_more() -> None:
    registry = Registry()
    family = registry.gauge("length", "A length.", ["of"])
    family.labels("a").set(1)
    family.remove("a")
    family.remove("b")
    assert exposed(registry) == []


def test_families_and_children_are_in_order_whatever_the_order_they_were_made_in() -> None:
    registry = Registry()
    late = registry.gauge("zeta", "Z.", ["b", "a"])
    late.labels("1", "2")
    late.labels("0", "3")
    registry.gauge("alpha", "A.")
    assert exposed(registry) == ["alpha 0", 'zeta{a="2",b="1"} 0', 'zeta{a="3",b="0"} 0']


def test_asking_for_a_family_that_is_there_gives_that_one() -> None:
    registry = Registry()
    first = registry.histogram("size", "Sizes.", ["of"], buckets=[1, 2])
    assert registry.histogram("size", "Sizes.", ["of"], buckets=[1, 2]) is first


@pytest.mark.parametrize(
    "again",
    [
        lambda registry: registry.gauge("size", "Sizes.", ["of"]),
        lambda registry: registry.histogram("size", "Sizes.", ["in"], buckets=[1, 2]),
        lambda registry: registry.histogram("size", "Sizes.", ["of"], buckets=[1, 3]),
        lambda registry: registry.histogram("size", "Others.", ["of"], buckets=[1, 2]),
    ],
)
def test_another_family_of_the_same_name_is_an_error_that_names_the_first(again) -> None:
    registry = Registry()
    registry.histogram("size", "Sizes.", ["of"], buckets=[1, 2])
    with pytest.raises(ValueError, match="taken by <histogram size"):
        again(registry)


@pytest.mark.parametrize("name", ["size_bucket", "size_sum", "size_count"])
def test_no_name_is_that_of_a_histograms_samples(name: str) -> None:
    registry = Registry()
    registry.histogram("size", "Sizes.", buckets=[1])
    with pytest.raises(ValueError, match="cannot be told from <histogram size"):
        registry.gauge(name, "Clashes.")


def test_a_gauge_has_not_the_name_of_a_counter_without_its_total() -> None:
    registry = Registry()
    registry.counter("size_total", "Sizes.")
    with pytest.raises(ValueError, match="cannot be told from <counter size_total"):
        registry.gauge("size", "Clashes.")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda registry: registry.counter("backups", "Backups."), "_total"),
        (lambda registry: registry.gauge("a-b", "Backups."), "'a-b'"),
        (lambda registry: registry.gauge("1a", "Backups."), "'1a'"),
        (lambda registry: registry.gauge("a", ""), "help"),
        (lambda registry: registry.gauge("a", "A.", ["__x"]), "'__x'"),
        (lambda registry: registry.gauge("a", "A.", ["x", "x"]), "differ"),
        (lambda registry: registry.histogram("a", "A.", ["le"], buckets=[1]), "'le'"),
        (lambda registry: registry.histogram("a", "A.", buckets=[]), "ascending"),
        (lambda registry: registry.histogram("a", "A.", buckets=[2, 1]), "ascending"),
    ],
)
def test_a_family_that_breaks_a_rule_is_refused_by_name(make, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make(Registry())


def test_each_label_needs_a_value() -> None:
    family = Registry().counter("backups_total", "Backups.", ["tier", "zone"])
    with pytest.raises(ValueError, match=r"\(tier, zone\)"):
        family.labels("gold")


def test_a_collector_is_asked_once_however_often_it_is_registered() -> None:
    registry = Registry()

    def collect() -> list[Metric]:
        return [Metric("load", "gauge", "Load.", [Point((), 2.5)])]

    registry.register(collect)
    registry.register(collect)
    assert exposed(registry) == ["load 2.5"]
    registry.unregister(collect)
    assert exposed(registry) == []


def test_two_collectors_with_one_name_are_an_error() -> None:
    registry = Registry()
    registry.gauge("load", "Load.")
    registry.register(lambda: [Metric("load", "gauge", "Load.", [Point((), 2.5)])])
    with pytest.raises(ValueError, match="load: given by two"):
        registry.collect()


def test_values_can_be_read_without_making_a_child() -> None:
    registry = Registry()
    registry.counter("backups_total", "Backups.", ["tier"]).labels("gold").inc()
    registry.histogram("size", "Sizes.", buckets=[1]).labels().observe(3)
    assert registry.value("backups_total", "gold") == 1
    assert registry.value("backups_total", "silver") is None
    assert registry.value("size") == 1
    assert registry.value("no_such_name") is None


def test_two_registries_know_nothing_of_each_other() -> None:
    one, other = Registry(), Registry()
    one.counter("backups_total", "Backups.").labels().inc()
    other.counter("backups_total", "Other backups.", ["tier"])
    assert exposed(other) == []
