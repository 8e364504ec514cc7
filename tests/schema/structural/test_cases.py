"""The table of objects, by itself. Regenerate with KUBEWRIGHT_REGENERATE=1, and have it judged by a real server:
`pytest tests/schema/structural/test_cases_control_plane.py`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from broken_crds import GROUP, good
from cases import ABSENT, CASES, Case

from kubewright.schema.cel.rules import Rules
from kubewright.schema.structural import Kind, Outcome

GOLDEN = Path(__file__).parent / "golden" / "objects.json"


def outcome_of(case: Case) -> Outcome:
    crd = good()
    root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["properties"]["spec"]["properties"] = {"x": case.schema}
    version = Kind(crd, rules=Rules).version("v1")
    made = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": "a"}}
    new = {**made, "spec": {"x": case.new}}
    if case.old is ABSENT:
        return version.create(new)
    return version.update(new, {**made, "spec": {"x": case.old}})


def shown(outcome: Outcome) -> dict[str, Any]:
    """An outcome as it stands in the golden file: what a server stores, or says."""
    if outcome.undecodable:
        return {"undecodable": outcome.undecodable}
    made: dict[str, Any] = {}
    if outcome.unknown:
        made["unknown"] = list(outcome.unknown)
    if outcome.errors:
        made["errors"] = [[error.reason, str(error)] for error in outcome.errors]
    else:
        assert outcome.object is not None
        made["stored"] = outcome.object["spec"]
    return made


def golden() -> dict[str, Any]:
    if os.environ.get("KUBEWRIGHT_REGENERATE"):
        text = json.dumps({name: shown(outcome_of(case)) for name, case in CASES.items()}, indent=1, ensure_ascii=False)
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text + "\n", encoding="utf-8")
    found: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


EXPECTED = golden()


def test_the_table_and_its_answers_are_of_one_length() -> None:
    assert list(CASES) == list(EXPECTED)


@pytest.mark.parametrize("name", CASES)
def test_an_object_fares_as_on_a_server(name: str) -> None:
    assert shown(outcome_of(CASES[name])) == EXPECTED[name]


@pytest.mark.parametrize("name", CASES)
def test_the_quick_answer_is_the_long_one(name: str) -> None:
    case = CASES[name]
    if case.old is not ABSENT:
        return
    crd = good()
    root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["properties"]["spec"]["properties"] = {"x": case.schema}
    schema = Kind(crd).version("v1").schema
    value = schema.defaulted({"spec": {"x": case.new}})
    assert schema.is_valid(value) is (schema.structure_errors(value) == [])
