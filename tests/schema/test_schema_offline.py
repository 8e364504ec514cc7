"""The CRDs that types make, judged without a cluster: a server would take them, and constraints do what they say."""

from __future__ import annotations

from typing import Any

import pytest
import schema_kinds

from kubewright.schema import crd_of
from kubewright.schema.cel.rule_checks import check_schema_rules
from kubewright.schema.cel.rules import Rules
from kubewright.schema.structural import Kind, Outcome
from kubewright.schema.structural.crdcheck import check_crd


@pytest.mark.parametrize("name", schema_kinds.KINDS)
def test_a_server_would_take_the_crd(name: str) -> None:
    outcome = check_crd(crd_of(*schema_kinds.KINDS[name]), rules=check_schema_rules)
    assert outcome.is_valid, outcome.message
    assert outcome.unknown == outcome.unseen == ()


@pytest.fixture(scope="module")
def family() -> Kind:
    return Kind(crd_of(schema_kinds.Family), rules=Rules)


def created(family: Kind, spec: dict[str, Any]) -> Outcome:
    (version,) = family.versions.values()
    return version.create(
        {"apiVersion": version.api_version, "kind": family.kind, "metadata": {"name": "a"}, "spec": spec}
    )


@pytest.mark.parametrize("name", schema_kinds.FAMILIES)
def test_a_constraint_accepts_and_refuses(family: Kind, name: str) -> None:
    accepted, refused = schema_kinds.FAMILIES[name]
    for value in accepted:
        outcome = created(family, {name: value})
        assert outcome.is_valid, outcome.message
        assert outcome.unknown == ()
        assert outcome.object is not None
        assert outcome.object["spec"][name] == value
    for value in refused:
        outcome = created(family, {name: value})
        assert not outcome.is_valid or outcome.unknown
        assert f"spec.{name}" in outcome.message + outcome.strict_message
