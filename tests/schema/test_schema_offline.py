"""The CRDs that types make, judged without a cluster: a server would take them, and constraints do what they say."""

from __future__ import annotations

import pytest
import schema_kinds

from kubewright.schema import crd_of
from kubewright.schema.cel.rule_checks import check_schema_rules
from kubewright.schema.structural.crdcheck import check_crd


@pytest.mark.parametrize("name", schema_kinds.KINDS)
def test_a_server_would_take_the_crd(name: str) -> None:
    outcome = check_crd(crd_of(*schema_kinds.KINDS[name]), rules=check_schema_rules)
    assert outcome.is_valid, outcome.message
    assert outcome.unknown == outcome.unseen == ()
