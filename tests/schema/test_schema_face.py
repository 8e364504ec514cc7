"""The room's face, and rules that concern all of its modules."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kubewright.schema
from kubewright.schema import markers
from kubewright.schema.names import version_order
from kubewright.schema.node import cel_name, cel_text, mentions_old_self


def test_every_public_marker_is_in_the_face() -> None:
    hidden = {"Marker", "Reason", "class_markers", "flatten", "spell"}
    assert set(markers.__all__) - hidden <= set(kubewright.schema.__all__)
    assert all(hasattr(kubewright.schema, name) for name in kubewright.schema.__all__)


def test_importing_the_room_loads_no_yaml_no_rules_and_no_pydantic() -> None:
    code = "import sys, kubewright.schema; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    for heavy in ("yaml", "pydantic", "kubewright.schema.cel", "kubewright.schema.re2", "kubewright.schema.structural"):
        assert heavy not in loaded


def test_versions_are_ordered_as_kubernetes_prefers_them() -> None:
    given = ["v10", "v1alpha1", "foo", "v2", "v1beta2", "v1", "v1beta10", "v2alpha1"]
    assert sorted(given, key=version_order) == [
        "foo", "v1alpha1", "v2alpha1", "v1beta2", "v1beta10", "v1", "v2", "v10",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wire", "cel"),
    [("name", "name"), ("namespace", "__namespace__"), ("x-y", "x__dash__y"), ("a.b/c", "a__dot__b__slash__c"),
     ("a__b", "a__underscores__b"), ("in", "__in__"), ("inside", "inside")],
)  # fmt: skip
def test_a_field_is_selected_in_cel_by_its_escaped_name(wire: str, cel: str) -> None:
    assert cel_name(wire) == cel


def test_a_text_is_quoted_for_cel() -> None:
    assert cel_text("it's a \\d\n") == "'it\\'s a \\\\d\\n'"


@pytest.mark.parametrize(
    ("rule", "looks_back"),
    [
        ("self == oldSelf", True),
        ("!oldSelf.hasValue()", True),
        ("self != 'oldSelf'", False),
        ('self != "a \\" oldSelf"', False),
        ("self != r'oldSelf' && oldSelf", True),
        ("self.oldSelfish", False),
        ('self != """oldSelf"""', False),
    ],
)
def test_a_transition_rule_is_known_by_old_self(rule: str, looks_back: bool) -> None:
    assert mentions_old_self(rule) is looks_back
