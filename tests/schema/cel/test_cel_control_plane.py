"""The tables of rules on a real API server: the same verdicts, texts, paths, reasons and values as here.

Many rules go into one CRD: each is a field `r<n>` whose schema has it, so that one create or update of an object
answers for all of them.
"""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from cel_families import FAMILIES, Family
from cel_random import Generator
from cel_rules import CHANGES, PROPERTIES, as_rule

from kubewright.schema.cel.rule_checks import check_schema_rules
from kubewright.schema.cel.rules import Rules
from kubewright.testing.access import ClusterAccess
from kubewright.testing.errors import RequestFailed
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PATIENCE_SECONDS = 60.0
BATCH = 40
RANDOM = int(os.environ.get("KUBEWRIGHT_CEL_SERVER_RANDOM", "120"))
SEED = int(os.environ.get("KUBEWRIGHT_CEL_SEED", "1"))
NAMES = {
    "int": ["self.min", "self.inner.size", "self.numbers[0]", "self.limits['a']"],
    "string": ["self.name", "self.inner.kind", "self.labels.k", "self.names[0]", "self.port"],
    "bool": ["self.autoScale", "has(self.name)"],
    "list": ["self.numbers", "self.ports.map(p, p.port)"],
    "strings": ["self.names", "self.tags"],
    "double": ["self.ratio"],
    "map": ["self.limits"],
}
VALUE = {
    "min": 1,
    "ratio": 1.5,
    "autoScale": True,
    "name": "hello",
    "port": "b1",
    "numbers": [1, 2, 3],
    "names": ["a", "b1"],
    "tags": ["x"],
    "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}],
    "labels": {"k": "a"},
    "limits": {"a": 1},
    "inner": {"kind": "a"},
}
_TYPE_NAME = re.compile(r"selfType\d*")


@pytest.fixture(scope="module")
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    connection = control_plane.rest()
    yield connection
    connection.close()


def crd_of(schema: dict[str, Any]) -> dict[str, Any]:
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "rules", "singular": "rule", "kind": "Rule", "listKind": "RuleList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"rules.{group}"},
        "spec": {"group": group, "names": names, "scope": "Cluster", "versions": [version]},
    }


def differences(errors: list[Any], refused: RequestFailed) -> list[str]:
    """What the server's message has beside our errors, and which of ours it has not."""
    said = _TYPE_NAME.sub("selfType", refused.message.partition(" is invalid: ")[2])
    missing = []
    for text in sorted(map(str, errors), key=len, reverse=True):
        if text not in said:
            missing.append(f"only here: {text}")
        said = said.replace(text, "", 1)
    left = said.strip("[], ")
    return missing + ([f"only there: {said}"] if left else [])


def causes(rest: Rest, path: str, body: dict[str, Any]) -> list[tuple[str, str]]:
    """Field and reason of each cause that the server refuses a body for."""
    # The face of Rest keeps the message alone.
    code, answer = rest._exchange("POST", path, json.dumps(body).encode(), "application/json")
    assert code == 422
    return sorted((cause["field"], cause["reason"]) for cause in json.loads(answer)["details"]["causes"])


def batches(rows: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]


def schema_of(rules: list[Any], properties: dict[str, Any] = PROPERTIES) -> dict[str, Any]:
    fields = {
        f"r{number}": {"type": "object", "properties": properties, "x-kubernetes-validations": [as_rule(rule)]}
        for number, rule in enumerate(rules)
    }
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}


def served(rest: Rest, schema: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The path of the objects of a new kind, and the start of one."""
    crd = crd_of(schema)
    rest.request("POST", CRDS, crd)
    path = f"/apis/{crd['spec']['group']}/v1/rules"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while rest.status(path) != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return path, {"apiVersion": f"{crd['spec']['group']}/v1", "kind": "Rule", "metadata": {"name": "a"}}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_wrong_rules_are_refused_in_the_same_words(rest: Rest, family: Family) -> None:
    for rules in batches(list(family.wrong)):
        schema = schema_of(rules, family.properties)
        with pytest.raises(RequestFailed) as refused:
            rest.request("POST", CRDS, crd_of(schema))
        errors = check_schema_rules(schema, "spec.validation.openAPIV3Schema")
        assert differences(errors, refused.value) == []


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_objects_keep_and_break_rules_as_here(rest: Rest, family: Family) -> None:
    for rows in batches(list(family.rows)):
        schema = schema_of([row.rule for row in rows], family.properties)
        path, start = served(rest, schema)
        rules = Rules(schema)
        good = {**start, "spec": {f"r{number}": row.good for number, row in enumerate(rows)}}
        assert rules.evaluate(good) == []
        rest.request("POST", f"{path}?dryRun=All", good)
        bad = {**start, "spec": {f"r{number}": row.bad for number, row in enumerate(rows)}}
        with pytest.raises(RequestFailed) as refused:
            rest.request("POST", f"{path}?dryRun=All", bad)
        errors = rules.evaluate(bad)
        assert differences(errors, refused.value) == []
        assert causes(rest, f"{path}?dryRun=All", bad) == sorted((error.field, error.reason) for error in errors)


def test_changes_keep_and_break_transition_rules_as_here(rest: Rest) -> None:
    schema = schema_of([row[0] for row in CHANGES])
    path, start = served(rest, schema)
    rules = Rules(schema)
    old = {**start, "spec": {f"r{number}": row[1] for number, row in enumerate(CHANGES)}}
    stored = rest.request("POST", path, old)
    good = {**stored, "spec": {f"r{number}": row[2] for number, row in enumerate(CHANGES)}}
    assert rules.evaluate(good, old) == []
    rest.request("PUT", f"{path}/a?dryRun=All", good)
    bad = {**stored, "spec": {f"r{number}": row[3] for number, row in enumerate(CHANGES)}}
    with pytest.raises(RequestFailed) as refused:
        rest.request("PUT", f"{path}/a?dryRun=All", bad)
    assert differences(rules.evaluate(bad, old), refused.value) == []


def test_random_rules_fare_as_here(rest: Rest) -> None:
    generator = Generator(SEED, NAMES, wrong=0.05)
    wrong: list[str] = []
    right: list[str] = []
    while len(wrong) + len(right) < RANDOM:
        rule = generator.pick("bool", 3)
        errors = check_schema_rules(schema_of([rule]))
        if not errors:
            # An error in what these work on is an internal error of the server, whose text is Go's.
            if not any(name in rule for name in (".sort", ".distinct")):
                right.append(rule)
        elif "compilation failed" in str(errors[0]) or "instantiation failed" in str(errors[0]):
            wrong.append(rule)
    for rules in batches(wrong):
        schema = schema_of(rules)
        with pytest.raises(RequestFailed) as refused:
            rest.request("POST", CRDS, crd_of(schema))
        errors = check_schema_rules(schema, "spec.validation.openAPIV3Schema")
        assert differences(errors, refused.value) == []
    for rules in batches(right):
        # Each rule alone is cheap enough; all in one CRD may not be.
        while check_schema_rules(schema_of(rules)):
            rules = rules[:-5]
        schema = schema_of(rules)
        path, start = served(rest, schema)
        subject = {**start, "spec": {f"r{number}": VALUE for number in range(len(rules))}}
        errors = Rules(schema).evaluate(subject)
        if not errors:
            rest.request("POST", f"{path}?dryRun=All", subject)
            continue
        with pytest.raises(RequestFailed) as refused:
            rest.request("POST", f"{path}?dryRun=All", subject)
        assert differences(errors, refused.value) == []
