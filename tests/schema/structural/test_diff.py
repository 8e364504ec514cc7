"""`diff`: every pair has the changes that it should have, and every break that an object can show is shown by one."""
# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from broken_crds import GROUP, Change, good, names, spec, version
from diff_pairs import ABSENT, PAIRS, Pair
from generator import Generator

from kubewright.schema import to_yaml
from kubewright.schema.cel.rules import Rules
from kubewright.schema.compat import DiffError, DiffReport, diff, diff_crds, diff_files
from kubewright.schema.structural import Kind, Outcome, Structural
from kubewright.schema.structural.crdcheck import check_crd

NAME = f"widgets.{GROUP}"


def crd_with(schema: Any) -> dict[str, Any]:
    crd = good()
    properties = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    if schema is not None:
        properties["x"] = copy.deepcopy(schema)
    return crd


def object_with(value: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"x": value}}


def rules_of(report: DiffReport) -> list[str]:
    return [change.rule for change in report.changes]


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_has_its_changes(name: str) -> None:
    pair = PAIRS[name]
    report = diff(crd_with(pair.old), crd_with(pair.new))
    assert sorted(rules_of(report)) == sorted(pair.rules)
    assert report.is_breaking is pair.breaks
    for change in report.changes:
        assert change.path.startswith(".spec.x")
        assert bool(change.who and change.how) is change.is_breaking


@pytest.mark.parametrize("name", PAIRS)
def test_both_crds_of_a_pair_are_accepted(name: str) -> None:
    pair = PAIRS[name]
    for schema in (pair.old, pair.new):
        outcome = check_crd(crd_with(schema))
        assert outcome.is_valid, outcome.message


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if pair.witness is not ABSENT])
def test_an_object_shows_the_break(name: str) -> None:
    pair = PAIRS[name]
    before, after = _fares(pair, pair.old), _fares(pair, pair.new)
    assert before.is_valid
    assert before.object is not None
    assert before.object["spec"]["x"] == pair.witness
    # Refused, or not what was sent.
    assert not after.is_valid or (after.object or {}).get("spec") != before.object["spec"]


def _fares(pair: Pair, schema: Any) -> Outcome:
    return Kind(crd_with(schema), rules=Rules).version("v1").create(object_with(pair.witness))


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if not pair.breaks and pair.old is not None])
def test_no_object_shows_a_break_where_there_is_none(name: str) -> None:
    pair, make = PAIRS[name], Generator(7)
    old, new = (Kind(crd_with(schema), rules=Rules).version("v1") for schema in (pair.old, pair.new))
    for _ in range(200):
        value = make.value(pair.old)
        obj = object_with(value)
        before, after = old.create(obj), new.create(obj)
        # An unknown field may get another meaning, and a server looks past the type where there is a format.
        if before.is_valid and not before.unknown and is_of_its_type(value, pair.old):
            assert after.is_valid, after.message
            assert added(before.object or {}, after.object or {}), obj


def is_of_its_type(value: Any, schema: Any) -> bool:
    return "type" not in schema or Structural({"type": schema["type"]}).is_valid(value)


def added(before: Any, after: Any) -> bool:
    """Whether `after` is `before`, but for fields that it has besides."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(name in after and added(value, after[name]) for name, value in before.items())
    return bool(before == after)


def without_version(name: str) -> Change:
    def change(crd: dict[str, Any]) -> None:
        crd["spec"]["versions"] = [each for each in crd["spec"]["versions"] if each["name"] != name]

    return change


def store_in_beta(crd: dict[str, Any]) -> None:
    for each in crd["spec"]["versions"]:
        each["storage"] = each["name"] == "v1beta1"


SCALE = {"scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.ready"}}
COLUMN = {"name": "A", "type": "string", "jsonPath": ".spec.name"}
WEBHOOK = {
    "strategy": "Webhook",
    "webhook": {"clientConfig": {"url": "https://a/b"}, "conversionReviewVersions": ["v1"]},
}

NOTHING: Change = lambda crd: None  # noqa: E731
CRDS: dict[str, tuple[Change, Change, tuple[str, ...], bool]] = {
    "scope": (NOTHING, spec(scope="Cluster"), ("scope-changed",), True),
    "kind": (NOTHING, names(kind="Gadget"), ("kind-changed",), True),
    "singular": (NOTHING, names(singular="w"), ("singular-changed",), True),
    "list kind": (NOTHING, names(listKind="Widgets"), ("listKind-changed",), True),
    "a short name is removed": (names(shortNames=["w"]), NOTHING, ("short-name-removed",), True),
    "a short name is added": (NOTHING, names(shortNames=["w"]), ("short-name-added",), False),
    "a category is removed": (names(categories=["all"]), NOTHING, ("category-removed",), True),
    "a served version is removed": (NOTHING, without_version("v1beta1"), ("served-version-removed",), True),
    "the storage version is removed": (store_in_beta, without_version("v1beta1"), ("stored-version-removed", "served-version-removed"), True),
    "a stored version is removed": (lambda crd: crd.update(status={"storedVersions": ["v1beta1", "v1"]}), without_version("v1beta1"), ("stored-version-removed", "served-version-removed"), True),
    "another version stores": (NOTHING, store_in_beta, ("storage-version-changed",), False),
    "a version is added": (without_version("v1beta1"), NOTHING, ("version-added",), False),
    "a version is not served": (NOTHING, version(served=False), ("version-unserved",), True),
    "a version is served": (version(served=False), NOTHING, ("version-served",), False),
    "a version is deprecated": (NOTHING, version(deprecated=True), ("version-deprecated",), False),
    "the status subresource is removed": (version(subresources={"status": {}}), NOTHING, ("status-subresource-removed",), True),
    "the status subresource is added": (NOTHING, version(subresources={"status": {}}), ("status-subresource-added",), True),
    "scale is removed": (version(subresources=SCALE), NOTHING, ("scale-removed",), True),
    "scale is added": (NOTHING, version(subresources=SCALE), ("scale-added",), False),
    "scale is another": (version(subresources=SCALE), version(subresources={"scale": SCALE["scale"] | {"specReplicasPath": ".spec.other"}}), ("scale-changed",), True),
    "a column is removed": (version(additionalPrinterColumns=[COLUMN]), NOTHING, ("column-removed",), False),
    "a column is another": (version(additionalPrinterColumns=[COLUMN]), version(additionalPrinterColumns=[COLUMN | {"priority": 1}]), ("column-changed",), False),
    "a selectable field is removed": (version(selectableFields=[{"jsonPath": ".spec.name"}]), NOTHING, ("selectable-field-removed",), True),
    "a selectable field is added": (NOTHING, version(selectableFields=[{"jsonPath": ".spec.name"}]), ("selectable-field-added",), False),
    "conversion is removed": (spec(conversion=WEBHOOK), NOTHING, ("conversion-removed",), True),
    "conversion is added": (NOTHING, spec(conversion=WEBHOOK), ("conversion-added",), False),
    "unknown fields are pruned everywhere": (spec(preserveUnknownFields=True), NOTHING, ("unknown-fields-pruned",), True),
}  # fmt: skip


@pytest.mark.parametrize("name", CRDS)
def test_a_change_of_a_crd_is_told(name: str) -> None:
    before, after, rules, breaks = CRDS[name]
    old, new = good(), good()
    before(old)
    after(new)
    report = diff(old, new)
    assert tuple(rules_of(report)) == rules
    assert report.is_breaking is breaks


def test_another_name_is_another_api() -> None:
    report = diff_crds([good()], [good("gadgets")])
    assert "name-changed" in rules_of(report)


def test_a_crd_that_is_gone_takes_its_objects_with_it() -> None:
    report = diff_crds([good(), good("gadgets")], [good()])
    assert [(change.crd, change.rule, change.is_breaking) for change in report.changes] == [
        (f"gadgets.{GROUP}", "crd-removed", True)
    ]
    assert rules_of(diff_crds([good()], [good(), good("gadgets")])) == ["crd-added"]


def test_a_line_says_where_what_who_and_how() -> None:
    report = diff(crd_with({"type": "integer", "maximum": 10}), crd_with({"type": "integer", "maximum": 5}))
    assert list(report.lines()) == [
        f"BREAKS: {NAME} v1 .spec.x: maximum 10 became 5; who creates or changes objects: a value that was fine is refused;"
        " a stored one stays until it is changed [maximum-lowered]",
        "1 breaking, 0 other changes",
    ]


def test_breaking_changes_come_first() -> None:
    report = diff(crd_with({"type": "string", "enum": ["a", "b"]}), crd_with({"type": "string", "enum": ["c", "a"]}))
    assert [change.is_breaking for change in report.changes] == [True, False]


def test_files_are_compared(tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new"
    new.mkdir()
    old.write_text(to_yaml(good(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}))
    (new / "a.yaml").write_text(to_yaml(good()))
    report = diff_files(old, new)
    assert not report.is_breaking
    assert list(report.lines()) == ["no changes"]
    assert json.dumps(report.as_json()) == '{"breaking": false, "changes": []}'


def test_what_cannot_be_compared_says_so(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(to_yaml(good() | {"apiVersion": "apiextensions.k8s.io/v1beta1"}))
    with pytest.raises(DiffError, match="kubewright convert crd"):
        diff_files(file, file)
    file.write_text("a: b\n")
    with pytest.raises(DiffError, match="has no apiVersion and no kind"):
        diff_files(file, file)
    file.write_text("apiVersion: v1\nkind: ConfigMap\n")
    with pytest.raises(DiffError, match="has no CustomResourceDefinition"):
        diff_files(file, file)
