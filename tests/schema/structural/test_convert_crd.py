"""`convert crd`: what moves, what is assumed, and that a server takes what comes out."""
# ruff: noqa: E501 - a table is read by its lines

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from kubewright.schema import to_yaml
from kubewright.schema.compat import Conversion, convert_crd, convert_files

OLD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1beta1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "crontabs.stable.example.com", "creationTimestamp": None},
    "spec": {
        "group": "stable.example.com",
        "version": "v1",
        "scope": "Namespaced",
        "preserveUnknownFields": False,
        "names": {"plural": "crontabs", "singular": "crontab", "kind": "CronTab", "shortNames": ["ct"]},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [{"name": "Spec", "type": "string", "JSONPath": ".spec.cron"}],
        "validation": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": {"type": "object", "properties": {"cron": {"type": "string"}}}},
            }
        },
    },
    "status": {"acceptedNames": {"kind": "", "plural": ""}, "conditions": [], "storedVersions": []},
}


def convert(**changes: Any) -> Conversion:
    old = copy.deepcopy(OLD)
    old["spec"].update(changes)
    return convert_crd(old)


def convert_field(schema: Any) -> tuple[Any, tuple[str, ...]]:
    properties = {"spec": {"type": "object", "properties": {"x": schema}}}
    conversion = convert(validation={"openAPIV3Schema": {"type": "object", "properties": properties}})
    assert conversion.remaining == ()
    root = conversion.crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return root["properties"]["spec"]["properties"]["x"], conversion.assumed


def test_what_stood_above_the_versions_is_in_each() -> None:
    conversion = convert(versions=[{"name": "v1", "served": True, "storage": True}, {"name": "v2", "served": True}])
    assert conversion.assumed == conversion.remaining == ()
    spec = conversion.crd["spec"]
    assert set(conversion.crd) == {"apiVersion", "kind", "metadata", "spec"}
    assert conversion.crd["apiVersion"] == "apiextensions.k8s.io/v1"
    assert conversion.crd["metadata"] == {"name": "crontabs.stable.example.com"}
    assert set(spec) == {"group", "names", "scope", "versions"}
    for version, storage in zip(spec["versions"], (True, False), strict=True):
        assert version["storage"] is storage
        assert version["subresources"] == {"status": {}}
        assert version["additionalPrinterColumns"] == [{"name": "Spec", "type": "string", "jsonPath": ".spec.cron"}]
        assert version["schema"] == OLD["spec"]["validation"]


@pytest.mark.parametrize(("said", "made"), [(None, {}), (True, {"status": {}}), ({}, {"status": {}}), (False, {})])
def test_the_status_subresource_is_an_object(said: Any, made: Any) -> None:
    conversion = convert(subresources={"status": said})
    assert conversion.crd["spec"]["versions"][0].get("subresources", {}) == made
    assert bool(conversion.assumed) is (said is True)
    assert conversion.remaining == ()


def test_a_single_version_is_a_list_of_one() -> None:
    (version,) = convert().crd["spec"]["versions"]
    assert (version["name"], version["served"], version["storage"]) == ("v1", True, True)


def test_unknown_fields_are_kept_where_they_were() -> None:
    conversion = convert(preserveUnknownFields=None)
    (version,) = conversion.crd["spec"]["versions"]
    assert version["schema"]["openAPIV3Schema"]["x-kubernetes-preserve-unknown-fields"] is True
    assert "unknown fields were kept" in conversion.assumed[0]


def test_no_schema_is_an_open_object() -> None:
    conversion = convert(validation=None)
    (version,) = conversion.crd["spec"]["versions"]
    assert version["schema"]["openAPIV3Schema"] == {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert conversion.assumed == ("v1 had no schema; it is an open object now",)


def test_no_scope_was_cluster() -> None:
    conversion = convert(scope=None)
    assert conversion.crd["spec"]["scope"] == "Cluster"
    assert conversion.assumed == ("scope was not said, which meant Cluster",)


def test_the_client_of_a_webhook_moves_one_level_down() -> None:
    client = {"service": {"name": "a", "namespace": "b", "path": "/convert"}}
    conversion = convert(conversion={"strategy": "Webhook", "webhookClientConfig": client})
    assert conversion.crd["spec"]["conversion"] == {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1beta1"]},
    }
    assert conversion.assumed == (
        "conversionReviewVersions was not said, which meant v1beta1; let the webhook understand v1",
    )


STRING, OPEN = {"type": "string"}, {"x-kubernetes-preserve-unknown-fields": True}
FIELDS: dict[str, tuple[Any, Any, str]] = {
    "fields without a type": ({"properties": {"a": STRING}}, {"type": "object", "properties": {"a": STRING}}, "it is an object"),
    "a map without a type": ({"additionalProperties": STRING}, {"type": "object", "additionalProperties": STRING}, "it is an object"),
    "items without a type": ({"items": STRING}, {"type": "array", "items": STRING}, "it is an array"),
    "nothing at all": ({}, OPEN, "anything is allowed now"),
    "an array without items": ({"type": "array"}, {"type": "array", "items": OPEN}, "may be anything"),
    "integer or string": ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, STRING]}, ""),
    "unique strings": ({"type": "array", "items": STRING, "uniqueItems": True}, {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"}, "list type set"),
    "unique objects": ({"type": "array", "items": {"type": "object"}, "uniqueItems": True}, {"type": "array", "items": {"type": "object"}}, "uniqueItems was dropped"),
    "nothing beside properties": ({"type": "object", "properties": {"a": STRING}, "additionalProperties": False}, {"type": "object", "properties": {"a": STRING}}, "further names were forbidden"),
    "types inside oneOf": ({"type": "string", "oneOf": [{"type": "string", "pattern": "a"}]}, {"type": "string", "oneOf": [{"pattern": "a"}]}, "oneOf[0]: type was dropped"),
    "words inside not": ({"type": "object", "properties": {"a": STRING}, "not": {"description": "x", "required": ["a"]}}, {"type": "object", "properties": {"a": STRING}, "not": {"required": ["a"]}}, "description was dropped"),
}  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
def test_a_schema_is_made_structural(name: str) -> None:
    old, new, assumed = FIELDS[name]
    made, said = convert_field(old)
    assert made == new
    assert assumed in " ".join(said)
    assert bool(said) is bool(assumed)


def test_what_cannot_be_converted_is_told() -> None:
    properties = {"spec": {"type": "object", "properties": {"x": {"$ref": "#/definitions/a"}}}}
    conversion = convert(validation={"openAPIV3Schema": {"type": "object", "properties": properties}})
    assert any("$ref is not supported" in each for each in conversion.remaining)


def test_a_crd_of_today_is_only_checked() -> None:
    converted = convert().crd
    assert convert_crd(converted) == Conversion(converted, (), ())


def test_files_keep_their_other_documents(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    other = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
    file.write_text(to_yaml(other, OLD))
    text, notes, is_complete = convert_files([file])
    assert is_complete
    assert notes == []
    assert text == to_yaml(other, convert().crd)
