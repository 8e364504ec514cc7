"""What is made of the golden table, byte for byte.

After a change on purpose, write the files anew and review the difference:

    KUBEWRIGHT_WRITE_GOLDEN=1 pytest tests/schema/test_schema_golden.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import schema_kinds
import yaml

from kubewright.schema import crd_of, to_yaml

GOLDEN = Path(__file__).with_name("golden")


@pytest.mark.parametrize("name", schema_kinds.KINDS)
def test_a_crd_is_what_it_was(name: str) -> None:
    made = to_yaml(crd_of(*schema_kinds.KINDS[name]))
    path = GOLDEN / f"{name}.yaml"
    if os.environ.get("KUBEWRIGHT_WRITE_GOLDEN"):
        path.write_text(made)
    assert made == path.read_text()


def test_every_golden_file_belongs_to_a_kind() -> None:
    assert {path.stem for path in GOLDEN.glob("*.yaml")} == set(schema_kinds.KINDS)


@pytest.mark.parametrize("name", schema_kinds.KINDS)
def test_yaml_says_what_the_dictionary_says(name: str) -> None:
    crd = crd_of(*schema_kinds.KINDS[name])
    assert yaml.safe_load(to_yaml(crd)) == crd


@pytest.mark.parametrize("name", schema_kinds.KINDS)
def test_the_order_of_versions_does_not_matter(name: str) -> None:
    versions = schema_kinds.KINDS[name]
    assert crd_of(*versions) == crd_of(*reversed(versions))
