"""The table of types: what each is in a CRD, byte for byte. After a change on purpose, write the files anew:

KUBEWRIGHT_WRITE_GOLDEN=1 pytest tests/schema/table/test_type_table.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from table import FAMILIES, spec_schema_of

from kubewright.schema import to_yaml

GOLDEN = Path(__file__).with_name("golden")
ROWS = [(family, name) for family, rows in FAMILIES.items() for name in rows]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_types_of_a_family_are_what_they_were(family: str) -> None:
    made = to_yaml(spec_schema_of(family))
    path = GOLDEN / f"{family}.yaml"
    if os.environ.get("KUBEWRIGHT_WRITE_GOLDEN"):
        path.write_text(made)
    assert made == path.read_text()


def test_the_table_has_at_least_150_types() -> None:
    assert len(ROWS) >= 150


@pytest.mark.parametrize(("family", "name"), ROWS)
def test_a_constraint_has_a_value_that_it_takes_and_one_that_it_does_not(family: str, name: str) -> None:
    row = FAMILIES[family][name]
    assert row.good
    assert row.bad or (family, name) == ("objects", "anything")
