"""The table of types, by family."""

from __future__ import annotations

import table_lists
import table_numbers
import table_objects
import table_pydantic
import table_rules
import table_strings
from table_rows import Row, kind_of

from kubewright.schema import crd_of

__all__ = ["FAMILIES", "spec_schema_of"]

FAMILIES: dict[str, dict[str, Row]] = {
    "numbers": table_numbers.ROWS,
    "strings": table_strings.ROWS,
    "lists": table_lists.ROWS,
    "objects": table_objects.ROWS,
    "rules": table_rules.ROWS,
    "pydantic": table_pydantic.ROWS,
}


def spec_schema_of(family: str) -> dict:  # type: ignore[type-arg]
    """The schema of the spec of a family."""
    crd = crd_of(kind_of(family, FAMILIES[family]))
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]  # type: ignore[no-any-return]
