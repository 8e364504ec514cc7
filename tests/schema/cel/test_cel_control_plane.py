"""Rules on a real API server: the same verdicts, texts, paths, reasons and values as here, by table and by chance."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from cel_differential import compare_costs, compare_random_rules
from cel_families import FAMILIES, Family
from cel_rules import CHANGES
from cel_server import CRDS, batches, causes, crd_of, differences, said_of, schema_of, serve
from cel_syntax import differing, texts

from kubewright.schema.cel.rule_checks import check_schema_rules
from kubewright.schema.cel.rules import Rules
from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

RANDOM = int(os.environ.get("KUBEWRIGHT_CEL_SERVER_RANDOM", "1000"))
SEED = int(os.environ.get("KUBEWRIGHT_CEL_SEED", "1"))


@pytest.fixture(scope="module")
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    connection = control_plane.rest()
    yield connection
    connection.close()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_wrong_rules_are_refused_in_the_same_words(rest: Rest, family: Family) -> None:
    for rules in batches(family.wrong):
        schema = schema_of(rules, family.properties)
        said = said_of(rest, "POST", f"{CRDS}?dryRun=All", crd_of(schema))
        assert differences(check_schema_rules(schema, "spec.validation.openAPIV3Schema"), said) == []


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_objects_keep_and_break_rules_as_here(rest: Rest, family: Family) -> None:
    parts = list(batches(family.rows))
    schemas = [
        schema_of([row.rule for row in rows], family.properties, [(row.good, row.bad) for row in rows])
        for rows in parts
    ]
    for rows, schema, (path, start) in zip(parts, schemas, serve(rest, schemas), strict=True):
        rules = Rules(schema)
        good = {**start, "spec": {f"r{number}": row.good for number, row in enumerate(rows)}}
        assert rules.evaluate(good) == []
        assert said_of(rest, "POST", f"{path}?dryRun=All", good) == ""
        bad = {**start, "spec": {f"r{number}": row.bad for number, row in enumerate(rows)}}
        errors = rules.evaluate(bad)
        assert differences(errors, said_of(rest, "POST", f"{path}?dryRun=All", bad)) == []
        assert causes(rest, f"{path}?dryRun=All", bad) == sorted((error.field, error.reason) for error in errors)


def test_changes_keep_and_break_transition_rules_as_here(rest: Rest) -> None:
    schema = schema_of([row[0] for row in CHANGES], objects=CHANGES)
    ((path, start),) = serve(rest, [schema])
    rules = Rules(schema)
    old = {**start, "spec": {f"r{number}": row[1] for number, row in enumerate(CHANGES)}}
    stored = rest.request("POST", path, old)
    good = {**stored, "spec": {f"r{number}": row[2] for number, row in enumerate(CHANGES)}}
    assert rules.evaluate(good, old) == []
    rest.request("PUT", f"{path}/a?dryRun=All", good)
    bad = {**stored, "spec": {f"r{number}": row[3] for number, row in enumerate(CHANGES)}}
    said = said_of(rest, "PUT", f"{path}/a?dryRun=All", bad)
    assert differences(rules.evaluate(bad, old), said) == []


def test_random_rules_fare_as_here(rest: Rest) -> None:
    assert compare_random_rules(rest, SEED, RANDOM).found == []


def test_texts_that_are_no_expression_are_refused_in_the_same_words(rest: Rest) -> None:
    assert differing(rest, list(texts(SEED, RANDOM // 2))) == []


def test_rules_get_too_expensive_where_they_do_here(rest: Rest) -> None:
    assert compare_costs(rest).found == []
