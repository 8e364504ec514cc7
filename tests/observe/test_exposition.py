"""The two text formats: by example, and by the parsers and the numbers of prometheus_client."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from kubewright.observe import OPENMETRICS, TEXT, Registry, negotiate
from kubewright.observe.exposition import number

PARSERS = [(TEXT, parse_text), (OPENMETRICS, parse_openmetrics)]
label_values = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=30)


def samples(families) -> set[tuple[str, tuple[tuple[str, str], ...], float]]:
    """All samples of parsed families, with `le` as a number."""
    found = set()
    for family in families:
        for sample in family.samples:
            labels = dict(sample.labels)
            if "le" in labels:
                labels["le"] = repr(float(labels["le"]))
            if not sample.name.endswith("_created"):
                found.add((sample.name, tuple(sorted(labels.items())), sample.value))
    return found


def test_text_by_example() -> None:
    registry = Registry()
    registry.counter("backups_total", 'Backups of "all"\nkinds \\o/.', ["tier"]).labels('a"b\\c\nd').inc(2)
    registry.gauge("ratio", "A ratio.").labels().set(0.5)
    registry.histogram("size_bytes", "Sizes.", ["of"], buckets=[64, 1048576]).labels("x").observe(65)
    assert TEXT.render(registry.collect()).decode() == (
        '# HELP backups_total Backups of "all"\\nkinds \\\\o/.\n'
        "# TYPE backups_total counter\n"
        'backups_total{tier="a\\"b\\\\c\\nd"} 2\n'
        "# HELP ratio A ratio.\n"
        "# TYPE ratio gauge\n"
        "ratio 0.5\n"
        "# HELP size_bytes Sizes.\n"
        "# TYPE size_bytes histogram\n"
        'size_bytes_bucket{of="x",le="64"} 0\n'
        'size_bytes_bucket{of="x",le="1.048576e+06"} 1\n'
        'size_bytes_bucket{of="x",le="+Inf"} 1\n'
        'size_bytes_sum{of="x"} 65\n'
        'size_bytes_count{of="x"} 1\n'
    )


def test_openmetrics_by_example() -> None:
    registry = Registry()
    registry.counter("backups_total", 'Backups of "all".', ["tier"]).labels("gold").inc(2)
    registry.histogram("size_bytes", "Sizes.", buckets=[64]).labels().observe(65)
    assert OPENMETRICS.render(registry.collect()).decode() == (
        '# HELP backups Backups of \\"all\\".\n'
        "# TYPE backups counter\n"
        'backups_total{tier="gold"} 2.0\n'
        "# HELP size_bytes Sizes.\n"
        "# TYPE size_bytes histogram\n"
        'size_bytes_bucket{le="64.0"} 0\n'
        'size_bytes_bucket{le="+Inf"} 1\n'
        "size_bytes_sum 65.0\n"
        "size_bytes_count 1\n"
        "# EOF\n"
    )


def test_nothing_is_a_valid_exposition() -> None:
    assert TEXT.render([]) == b""
    assert OPENMETRICS.render([]) == b"# EOF\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        # Printed by Go's strconv.FormatFloat(value, 'g', -1, 64).
        (0, "0"),
        (1, "1"),
        (10, "10"),
        (100000, "100000"),
        (999999, "999999"),
        (1e6, "1e+06"),
        (1048576, "1.048576e+06"),
        (1234567, "1.234567e+06"),
        (16777216, "1.6777216e+07"),
        (123456789, "1.23456789e+08"),
        (12345678.9, "1.23456789e+07"),
        (1764549000.25, "1.76454900025e+09"),
        (1e20, "1e+20"),
        (1e21, "1e+21"),
        (1e300, "1e+300"),
        (-1234567.5, "-1.2345675e+06"),
        (0.0001, "0.0001"),
        (0.00012, "0.00012"),
        (1e-5, "1e-05"),
        (1e-8, "1e-08"),
        (9.999999999999999e-06, "9.999999999999999e-06"),
        (math.inf, "+Inf"),
        (-math.inf, "-Inf"),
        (math.nan, "NaN"),
        (True, "1"),
    ],
)
def test_numbers_are_written_as_go_writes_them(value: float, text: str) -> None:
    assert number(value) == text


@given(st.floats(allow_nan=False))
def test_numbers_are_read_back_as_what_they_were(value: float) -> None:
    assert float(number(value)) == value


@pytest.mark.parametrize(("form", "parse"), PARSERS)
@given(help_text=label_values.filter(lambda text: text.strip() == text and text), value=label_values)
def test_any_text_survives_in_labels_and_in_help(form, parse, help_text: str, value: str) -> None:
    registry = Registry()
    registry.counter("backups_total", help_text, ["tier"]).labels(value).inc()
    registry.gauge("level", "A level.", ["tier"]).labels(value).set(-1.5)
    families = list(parse(form.render(registry.collect()).decode()))
    assert [family.documentation for family in families] == [help_text, "A level."]
    assert samples(families) == {
        ("backups_total", (("tier", value),), 1.0),
        ("level", (("tier", value),), -1.5),
    }


def test_what_is_no_unicode_is_shown_all_the_same() -> None:
    registry = Registry()
    registry.gauge("level", "A level.", ["tier"]).labels("\udc80").set(1)
    assert b'level{tier="?"} 1' in TEXT.render(registry.collect())


@pytest.mark.parametrize(
    ("form", "parse", "theirs"),
    [(TEXT, parse_text, generate_latest), (OPENMETRICS, parse_openmetrics, generate_openmetrics)],
)
@given(
    bounds=st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=8, unique=True).map(sorted),
    values=st.lists(st.floats(0, 1e9), max_size=20),  # negative ones are not allowed by OpenMetrics
)
def test_a_scrape_reads_the_same_as_one_of_prometheus_client(form, parse, theirs, bounds, values) -> None:
    registry, their_registry = Registry(), CollectorRegistry()
    ours = (
        registry.histogram("size", "Sizes.", ["of"], buckets=bounds).labels("x"),
        registry.counter("seen_total", "Seen.", ["of"]).labels("x"),
        registry.gauge("last", "The last.", ["of"]).labels("x"),
    )
    peers = (
        Histogram("size", "Sizes.", ["of"], buckets=bounds, registry=their_registry).labels("x"),
        Counter("seen", "Seen.", ["of"], registry=their_registry).labels("x"),
        Gauge("last", "The last.", ["of"], registry=their_registry).labels("x"),
    )
    for value in values:
        for size, seen, last in (ours, peers):
            size.observe(value)
            seen.inc()
            last.set(value)
    assert samples(parse(form.render(registry.collect()).decode())) == samples(parse(theirs(their_registry).decode()))


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", TEXT),
        ("*/*", TEXT),
        ("text/html", TEXT),
        ("text/plain; version=0.0.4", TEXT),
        ("application/openmetrics-text", OPENMETRICS),
        ("application/openmetrics-text; version=1.0.0; charset=utf-8", OPENMETRICS),
        ("application/openmetrics-text; version=9.0.0", TEXT),
        ("text/plain;q=0.3, application/openmetrics-text;q=0.7", OPENMETRICS),
        ("text/plain;q=0.7, application/openmetrics-text;q=0.3", TEXT),
        ("application/openmetrics-text;q=0", TEXT),
        ("application/openmetrics-text;q=nonsense", TEXT),
        # Prometheus 2.50 and 3.0 by default
        (
            "application/openmetrics-text;version=1.0.0;q=0.75,application/openmetrics-text;version=0.0.1;q=0.5,"
            "text/plain;version=0.0.4;q=0.25,*/*;q=0.1",
            OPENMETRICS,
        ),
        (
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
            "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
            "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
            OPENMETRICS,
        ),
    ],
)
def test_the_format_is_the_one_that_is_liked_best(accept: str, form) -> None:
    assert negotiate(accept) is form
