"""CRDs as they are found: what is generated is typed and documented, and an object goes through it unchanged."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest
from sample_values import Samples

from kubewright.generate import generate_models
from kubewright.model import decode, encode
from kubewright.model.documents import read_documents
from kubewright.model.overlay import overlaid
from kubewright.schema import schema_of

DATA = Path(__file__).with_name("testdata")
ROUNDS = 200


def crds() -> dict[tuple[str, str, str], dict[str, Any]]:
    """Group, version and kind to the schema, of all CRDs of the test data."""
    found = {}
    for path in (DATA / "traps.crd.yaml",):
        for document in read_documents(path.read_bytes()):
            spec = document.value.get("spec", {})
            for version in spec.get("versions", ()):
                key = (spec["group"], version["name"], spec["names"]["kind"])
                found[key] = version["schema"]["openAPIV3Schema"]
    return found


CRDS = crds()
ANY = ("traps.example.com", "v1", "Any")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("traps")
    generate_models(DATA / "traps.crd.yaml", made / "made_of_traps", field_docs=True)
    sys.path.insert(0, str(made))
    yield made
    sys.path.remove(str(made))
    for name in [name for name in sys.modules if name.partition(".")[0] == "made_of_traps"]:
        del sys.modules[name]


def class_of(key: tuple[str, str, str]) -> Any:
    group, version, kind = key
    return getattr(importlib.import_module(f"made_of_traps.{group.partition('.')[0]}.{version}"), kind)


def objects(key: tuple[str, str, str]) -> Iterator[dict[str, Any]]:
    for seed in range(ROUNDS):
        # An absent spec is read as one of zero values, as `kubewright.model.lenient` says.
        made = Samples(seed).value({"type": "object", **CRDS[key], "required": [*CRDS[key].get("properties", ())]})
        yield {**made, "apiVersion": f"{key[0]}/{key[1]}", "kind": key[2], "metadata": {"name": "a"}}


@pytest.mark.parametrize("key", CRDS, ids=str)
def test_an_object_is_written_as_it_was_read(folder: Path, key: tuple[str, str, str]) -> None:
    for given in objects(key):
        if given.get("spec", {}).get("free", 0) is None:
            del given["spec"]["free"]  # of any JSON, null is absent; an update keeps it all the same
        back = orjson.loads(encode(decode(class_of(key), orjson.dumps(given))))
        assert back == given


def test_unknown_fields_that_the_server_keeps_are_a_field(folder: Path) -> None:
    known = {"a": "x", "more": [1, None], "n": 2**63, "unknownFields": {}}
    spec = from_spec({"known": known}).known
    assert (spec.a, spec.unknown_fields) == ("x", {"more": [1, None], "n": 2**63, "unknownFields": {}})
    assert spec_again({"known": known}) == {"known": known}
    whole = {
        "apiVersion": "traps.example.com/v2alpha1",
        "kind": "Any",
        "metadata": {"name": "a"},
        "data": {"b": [None]},
    }
    made = decode(class_of(("traps.example.com", "v2alpha1", "Any")), orjson.dumps(whole))
    assert made.unknown_fields == {"data": {"b": [None]}}
    assert orjson.loads(encode(made)) == whole


@pytest.mark.parametrize("value", [0, 1, 1.0, -0.5, 1e21, 2**53 + 1])
def test_a_number_keeps_its_form(folder: Path, value: float) -> None:
    back = spec_again({"rate": value})["rate"]
    assert (back, type(back)) == (value, type(value))


def test_an_embedded_resource_keeps_what_every_object_has(folder: Path) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "labels": {"a": "b"}}, "spec": {"b": 1}}
    assert spec_again({"pod": pod}) == {"pod": pod}
    assert from_spec({"pod": pod}).pod.metadata.labels == {"a": "b"}


@pytest.mark.parametrize("spec", [{}, {"class": "x"}, {"source": {"git": {}}}])
def test_what_is_required_and_absent_can_be_read_and_comes_back_absent(folder: Path, spec: dict[str, Any]) -> None:
    given = {"apiVersion": "traps.example.com/v1", "kind": "Any", "metadata": {"name": "a"}, "spec": spec}
    made = decode(class_of(ANY), orjson.dumps(given))
    assert isinstance(made.spec.class_, str)
    assert orjson.loads(encode(made)) == given
    del given["spec"]
    assert orjson.loads(encode(decode(class_of(ANY), orjson.dumps(given)))) == given


EMPTY = {
    "list": [], "dict": {}, "nothing": None, "nullableList": None, "byName": {"a": {}}, "matrix": [[], [[]]],
    "known": {}, "bare": {}, "fooBar": {},
}  # fmt: skip


def test_empty_and_absent_are_told_apart_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate_models(DATA / "traps.crd.yaml", tmp_path / "made_exactly", keep_empty=True)
    monkeypatch.syspath_prepend(tmp_path)
    exact = importlib.import_module("made_exactly.traps.v1").Any
    for spec in (EMPTY, {}, {"list": ["a"], "nullableList": []}):
        whole = {"apiVersion": "traps.example.com/v1", "kind": "Any", "spec": {**required_values(), **spec}}
        assert orjson.loads(encode(decode(exact, orjson.dumps(whole)))) == whole
    lost = {"list", "dict", "nothing", "nullableList"}
    assert spec_again(EMPTY) == {name: value for name, value in EMPTY.items() if name not in lost}


def test_crds_of_generated_classes_say_what_is_kept(folder: Path) -> None:
    schema = schema_of(type(from_spec({})))
    assert schema["properties"]["known"]["x-kubernetes-preserve-unknown-fields"] is True
    assert "unknownFields" not in schema["properties"]["known"]["properties"]
    assert schema["properties"]["rate"]["type"] == "number"


@pytest.mark.parametrize("value", [None, "y"])
@pytest.mark.parametrize("name", ["nullWithDefault", "null-objects", "nullAny", "nullList"])
def test_null_is_written_where_absent_means_the_default(folder: Path, name: str, value: Any) -> None:
    given = {name: {"null-objects": {"n": 2}, "nullList": []}.get(name, value) if value else None}
    assert spec_again(given) == given


@pytest.mark.parametrize("value", [{"listWithDefault": []}, {"mapWithDefault": {}}])
def test_an_empty_list_is_written_where_absent_means_the_default(folder: Path, value: dict[str, Any]) -> None:
    assert spec_again(value) == value


def test_a_value_with_a_default_is_absent_when_it_was(folder: Path) -> None:
    assert spec_again({"rate": 1.5}) == {"rate": 1.5}


def spec_again(given: dict[str, Any]) -> Any:
    """A spec as it is written after it was read, without what is required."""
    required = {name: value for name, value in required_values().items() if name not in given}
    back = orjson.loads(encode(decode(class_of(ANY), orjson.dumps({"spec": {**required, **given}}))))["spec"]
    return {name: value for name, value in back.items() if name not in required}


def from_spec(given: dict[str, Any]) -> Any:
    return decode(class_of(ANY), orjson.dumps({"spec": {**required_values(), **given}})).spec


def required_values() -> dict[str, Any]:
    schema = CRDS[ANY]["properties"]["spec"]
    return {name: Samples(1).value(schema["properties"][name]) for name in schema.get("required", ())}


@pytest.mark.parametrize("key", CRDS, ids=str)
def test_an_update_changes_nothing_that_was_not_changed(folder: Path, key: tuple[str, str, str]) -> None:
    for given in objects(key):
        odd = {**given, "unknown": {"x": None}}
        if isinstance(given.get("spec"), dict):
            odd["spec"] = {**given["spec"], "unknown": [None, {}], "known": {"a": "x", "more": [1]}, "nothing": None}
        assert overlaid(decode(class_of(key), orjson.dumps(odd))) == odd


def test_names_that_come_to_one_are_all_there(folder: Path) -> None:
    spec = importlib.import_module("made_of_traps.traps.v1").AnySpec
    wires = {field.encode_name for field in msgspec.structs.fields(spec)}
    assert {"fooBar", "foo-bar", "foo_bar", "FooBar", "foo.bar", "class", "from", "", "1st", "$ref", "ünï"} <= wires


def test_what_is_generated_is_typed_in_strict_mode(folder: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "made_of_traps"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_generated_is_documented(folder: Path) -> None:
    module = importlib.import_module("made_of_traps.traps.v1")
    assert module.Any.__doc__ == "Any says '''any''' and a backslash \\n at its end \\"
