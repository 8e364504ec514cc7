"""CRDs that a server refuses: each is the good one with a change, and the field that is blamed."""
# ruff: noqa: E501 - a table is read by its lines

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

GROUP = "broken.example.com"


def good(plural: str = "widgets") -> dict[str, Any]:
    """A CRD with two versions that a server takes."""
    singular = plural.removesuffix("s")
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "size": {"type": "integer"},
                    "name": {"type": "string"},
                    "on": {"type": "boolean"},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "ports": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["port"],
                            "properties": {"port": {"type": "integer"}, "name": {"type": "string"}},
                        },
                    },
                },
            },
            "status": {"type": "object", "properties": {"ready": {"type": "integer"}}},
        },
    }
    other = copy.deepcopy(schema)
    other["properties"]["spec"]["properties"]["extra"] = {"type": "string"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": singular, "kind": singular.title(), "listKind": singular.title() + "List"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}},
                {"name": "v1beta1", "served": True, "storage": False, "schema": {"openAPIV3Schema": other}},
            ],
        },
    }  # fmt: skip


Change = Callable[[dict[str, Any]], Any]


def spec_of(crd: dict[str, Any]) -> dict[str, Any]:
    """The properties of the spec of the first version."""
    return root_of(crd)["properties"]["spec"]["properties"]


def root_of(crd: dict[str, Any]) -> dict[str, Any]:
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def at_root(**keywords: Any) -> Change:
    return lambda crd: root_of(crd).update({name.replace("__", "-"): each for name, each in keywords.items()})


def field(schema: Any) -> Change:
    return lambda crd: spec_of(crd).update({"field": schema})


def version(**keywords: Any) -> Change:
    return lambda crd: crd["spec"]["versions"][0].update(keywords)


def names(**keywords: Any) -> Change:
    return lambda crd: crd["spec"]["names"].update(keywords)


def spec(**keywords: Any) -> Change:
    return lambda crd: crd["spec"].update(keywords)


def column(**keywords: Any) -> Change:
    return version(additionalPrinterColumns=[{"name": "A", "type": "string", "jsonPath": ".spec.name"} | keywords])


def scale(**keywords: Any) -> Change:
    paths = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.ready"}
    return version(subresources={"scale": paths | keywords})


def selectable(*paths: str) -> Change:
    return version(selectableFields=[{"jsonPath": path} for path in paths])


def webhook(client: Any, reviews: Any = ("v1",)) -> Change:
    made = {"conversionReviewVersions": list(reviews)} | ({} if client is None else {"clientConfig": client})
    return spec(conversion={"strategy": "Webhook", "webhook": made})


def rule(**keywords: Any) -> Change:
    return field({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [keywords]})


def together(*changes: Change) -> Change:
    def change(crd: dict[str, Any]) -> None:
        for each in changes:
            each(crd)

    return change


def alone(change: Change) -> Change:
    """With one version, whose schema and columns a server moves above it."""

    def made(crd: dict[str, Any]) -> None:
        crd["spec"]["versions"].pop()
        change(crd)

    return made


SET, MAP = {"x-kubernetes-list-type": "set"}, {"x-kubernetes-list-type": "map"}
LIST = {"type": "array", "items": {"type": "string"}}
ITEMS = {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "o": {"type": "object"}}}
KEYED = {"type": "array", "items": ITEMS, **MAP, "x-kubernetes-list-map-keys": ["k"]}
INT_OR_STRING = {"x-kubernetes-int-or-string": True}
EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True}
OPEN = {"x-kubernetes-preserve-unknown-fields": True}
SERVICE = {"name": "a", "namespace": "b"}

BROKEN: dict[str, Change] = {
    # structure
    "a field without a type": field({}),
    "a field without a type in one version": alone(field({"description": "x"})),
    "a field that is null": field(None),
    "a rule that is null": field({"type": "string", "x-kubernetes-validations": [None]}),
    "a column that is null": version(additionalPrinterColumns=[None]),
    "an alternative that is null": field({"type": "string", "anyOf": [None, {"type": "string"}]}),
    "items without a type": field({"type": "array", "items": {}}),
    "an array without items": field({"type": "array"}),
    "a root without a type": lambda crd: root_of(crd).pop("type"),
    "a root that is a string": lambda crd: root_of(crd).update({"type": "string"}),
    "a type that is none": field({"type": "text"}),
    "the type null": field({"type": "null"}),
    "a type inside allOf": field({"type": "string", "allOf": [{"type": "string"}]}),
    "a type inside not": field({"type": "string", "not": {"type": "integer"}}),
    "a default inside anyOf": field({"type": "string", "anyOf": [{"default": "a"}]}),
    "words inside oneOf": field({"type": "string", "oneOf": [{"description": "a", "title": "b", "nullable": True}]}),
    "extensions inside allOf": field({"type": "string", "allOf": [OPEN, INT_OR_STRING, EMBEDDED, SET, {"x-kubernetes-map-type": "atomic"}]}),
    "additionalProperties inside allOf": field({"type": "object", "allOf": [{"additionalProperties": {"minLength": 1}}]}),
    "a rule inside allOf": field({"type": "string", "allOf": [{"x-kubernetes-validations": [{"rule": "true"}]}]}),
    "allOf with a field that is nowhere": at_root(allOf=[{"properties": {"a": {"minimum": 1}}}]),
    "not with items that are nowhere": at_root(**{"not": {"items": {"minimum": 1}}}),
    "anyOf with a deep field that is nowhere": at_root(anyOf=[{"properties": {"spec": {"properties": {"b": {"minimum": 1}}}}}]),
    "int-or-string with types of its own": field({**INT_OR_STRING, "anyOf": [{"type": "integer"}, {"type": "boolean"}]}),
    "int-or-string that keeps unknown fields": field({**INT_OR_STRING, **OPEN}),
    "int-or-string embedded": field({**INT_OR_STRING, **EMBEDDED}),
    "an embedded string": field({"type": "string", "x-kubernetes-embedded-resource": True}),
    "an embedded resource without a type": field({"x-kubernetes-embedded-resource": True, **OPEN}),
    "an embedded resource that says nothing": field(EMBEDDED),
    "an embedded map": field({**EMBEDDED, "additionalProperties": {"type": "string"}}),
    "embedded metadata that is a string": field({**EMBEDDED, "properties": {"metadata": {"type": "string"}, "kind": {"type": "integer"}}}),
    "root metadata that is described": at_root(properties={"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}),
    "root metadata with a rule": at_root(properties={"metadata": {"type": "object", "properties": {"name": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "true"}]}}),
    "a root kind that is an integer": at_root(properties={"kind": {"type": "integer"}}),
    "metadata inside allOf": at_root(allOf=[{"properties": {"metadata": {"properties": {"name": {"maxLength": 3}}}}}]),
    "a map at the root": at_root(additionalProperties={"type": "string"}, properties={}),
    "a pattern that looks ahead": field({"type": "string", "pattern": "^(?=a)"}),
    "a pattern with a back reference": field({"type": "string", "pattern": "(a)\\1"}),
    "a pattern that does not close": field({"type": "string", "allOf": [{"pattern": "(a"}]}),
    # keywords
    "unique items": field({**LIST, "uniqueItems": True}),
    "a reference": field({"$ref": "#/a"}),
    "an id": field({"type": "string", "id": "a"}),
    "a schema url": field({"type": "string", "$schema": "http://json-schema.org/draft-07/schema#"}),
    "definitions": field({"type": "string", "definitions": {"a": {"type": "string"}}}),
    "dependencies": field({"type": "object", "dependencies": {"a": ["b"]}}),
    "pattern properties": field({"type": "object", "patternProperties": {"a": {"type": "string"}}}),
    "additional items": field({**LIST, "additionalItems": {"type": "string"}}),
    "a tuple": field({"type": "array", "items": [{"type": "string"}]}),
    "properties and additionalProperties": field({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
    "properties and no others": field({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}),
    "preserve false": field({"type": "object", "x-kubernetes-preserve-unknown-fields": False}),
    # lists and maps
    "a list type on an object": field({"type": "object", **SET}),
    "a list type without a type": field({**OPEN, **SET}),
    "an unknown list type": field({**LIST, "x-kubernetes-list-type": "bag"}),
    "a set of objects": field({"type": "array", "items": {"type": "object"}, **SET}),
    "a set of sets": field({"type": "array", "items": {**LIST, **SET}, **SET}),
    "a set of nullable items": field({"type": "array", "items": {"type": "string", "nullable": True}, **SET}),
    "keys of a list without a type": field({"type": "array", "items": ITEMS, "x-kubernetes-list-map-keys": ["k"]}),
    "keys of a set": field({**LIST, **SET, "x-kubernetes-list-map-keys": ["k"]}),
    "a list map without keys": field({"type": "array", "items": ITEMS, **MAP}),
    "a list map of strings": field({**LIST, **MAP, "x-kubernetes-list-map-keys": ["k"]}),
    "a key that is no field": field({**KEYED, "x-kubernetes-list-map-keys": ["z"]}),
    "a key that is an object": field({**KEYED, "x-kubernetes-list-map-keys": ["k", "o"]}),
    "a key that is there twice": field({**KEYED, "x-kubernetes-list-map-keys": ["k", "k"]}),
    "a key that may be absent": field({**KEYED, "items": {**ITEMS, "required": []}}),
    "a key that may be null": field({**KEYED, "items": {**ITEMS, "properties": {"k": {"type": "string", "nullable": True}}}}),
    "list map items that may be null": field({**KEYED, "items": {**ITEMS, "nullable": True}}),
    "a map type on a list": field({**LIST, "x-kubernetes-map-type": "atomic"}),
    "an unknown map type": field({"type": "object", "x-kubernetes-map-type": "loose"}),
    # defaults
    "a default of a wrong type": field({"type": "integer", "default": "a"}),
    "a default out of bounds": field({"type": "integer", "maximum": 3, "default": 4}),
    "a default that is none of the enum": field({"type": "string", "enum": ["a", "b"], "default": "c"}),
    "a default with an unknown field": field({"type": "object", "properties": {"a": {"type": "string"}}, "default": {"b": 1}}),
    "a default without a required field": field({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "default": {}}),
    "a default in root metadata": at_root(properties={"metadata": {"type": "object", "properties": {"name": {"type": "string", "default": "a"}}}}),
    "a default that is no resource": field({**EMBEDDED, **OPEN, "default": {"kind": "A"}}),
    "a default of items": field({"type": "array", "items": {"type": "integer", "default": "x"}}),
    # rules
    "an empty rule": rule(rule=" "),
    "a message of spaces": rule(rule="true", message=" "),
    "a message of two lines": rule(rule="true", message="a\nb"),
    "a rule of two lines without a message": rule(rule="true &&\ntrue"),
    "an unknown reason": rule(rule="true", reason="Bad"),
    "a field path that leads nowhere": rule(rule="true", fieldPath=".b"),
    "a field path of spaces": rule(rule="true", fieldPath=" "),
    "an empty message expression": rule(rule="true", messageExpression=" "),
    # names, versions
    "a name that is not plural.group": lambda crd: crd["metadata"].update({"name": "other." + GROUP}),
    "a plural with a capital": names(plural="Widgets"),
    "a kind with a dash at the end": names(kind="Widget-"),
    "a list kind that is the kind": names(listKind="W1", kind="W1"),
    "a short name with a capital": names(shortNames=["ok", "No"]),
    "a category with a dot": names(categories=["a.b"]),
    "no kind": lambda crd: crd["spec"]["names"].pop("kind") and crd["spec"]["names"].pop("listKind"),
    "no plural": lambda crd: crd["spec"]["names"].pop("plural"),
    "a group without a dot": together(spec(group="example"), lambda crd: crd["metadata"].update({"name": "widgets.example"})),
    "a group with a capital": spec(group="Example.com"),
    "no group": lambda crd: crd["spec"].pop("group"),
    "a group of Kubernetes": together(spec(group="x.k8s.io"), lambda crd: crd["metadata"].update({"name": "widgets.x.k8s.io"})),
    "a group of Kubernetes with a wrong approval": together(spec(group="x.k8s.io"), lambda crd: crd["metadata"].update({"name": "widgets.x.k8s.io", "annotations": {"api-approved.kubernetes.io": "me"}})),
    "no scope": lambda crd: crd["spec"].pop("scope"),
    "an unknown scope": spec(scope="World"),
    "a version with a dot": version(name="v1.0"),
    "no schema": lambda crd: crd["spec"]["versions"][0].pop("schema"),
    "no schema at all": alone(lambda crd: crd["spec"]["versions"][0].pop("schema")),
    "a warning that is not deprecated": version(deprecationWarning="old"),
    "an empty warning": version(deprecated=True, deprecationWarning=""),
    "a warning of two lines": version(deprecated=True, deprecationWarning="aé\nb"),
    "a long warning": version(deprecated=True, deprecationWarning="a" * 257),
    "keeping unknown fields everywhere": spec(preserveUnknownFields=True),
    "a nullable root": at_root(nullable=True),
    "minProperties at the root with a status": together(at_root(minProperties=1), version(subresources={"status": {}})),
    "a map type at the root with a status": alone(together(at_root(**{"x-kubernetes-map-type": "atomic"}), version(subresources={"status": {}}))),
    # columns, subresources, selectable fields
    "a column without a name": column(name=""),
    "a column of an unknown type": column(type="text"),
    "a column without a type": column(type=""),
    "a column of an unknown format": column(format="money"),
    "a column without a path": column(jsonPath=""),
    "a column without a dot": column(jsonPath="spec.name"),
    "a column in one version": alone(column(type="text", jsonPath="spec.name")),
    "replicas outside of spec": scale(specReplicasPath=".size"),
    "replicas without a dot": scale(specReplicasPath="spec.size"),
    "no replicas path": scale(specReplicasPath=""),
    "status replicas outside of status": scale(statusReplicasPath=".spec.size"),
    "a selector in metadata": scale(labelSelectorPath=".metadata.labels"),
    "replicas in one version": alone(scale(specReplicasPath=".size", statusReplicasPath="")),
    "a selectable list": selectable(".spec.ports"),
    "a selectable field that is nowhere": selectable(".spec.zz"),
    "a selectable item": selectable(".spec.ports[0].port"),
    "a selectable field twice": selectable(".spec.name", ".spec.name"),
    "an empty selectable field": selectable(""),
    "a selectable map value": selectable(".spec.labels.a.b"),
    "a selectable field without a dot": selectable("spec.name"),
    "a selectable object in one version": alone(selectable(".spec")),
    "nine selectable fields": together(lambda crd: spec_of(crd).update({f"s{i}": {"type": "string"} for i in range(9)}), selectable(*(f".spec.s{i}" for i in range(9)))),
    # conversion
    "an unknown strategy": spec(conversion={"strategy": "Magic"}),
    "a webhook without Webhook": spec(conversion={"strategy": "None", "webhook": {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v1"]}}),
    "Webhook without a client": webhook(None),
    "Webhook without reviews": webhook({"url": "https://a/b"}, ()),
    "reviews that are none": webhook({"url": "https://a/b"}, ("v7", "v7", "V8")),
    "url and service": webhook({"url": "https://a/b", "service": SERVICE}),
    "a url without https": webhook({"url": "http://a/b?c#d"}),
    "a url with a user": webhook({"url": "https://u:p@a"}),
    "a url without a host": webhook({"url": "https:///b"}),
    "a service without a name": webhook({"service": {"name": "", "namespace": "b"}}),
    "a service with a port": webhook({"service": {**SERVICE, "port": 70000}}),
    "a service with a path": webhook({"service": {**SERVICE, "path": "a//B"}}),
}  # fmt: skip

FINE: dict[str, Change] = {
    "allOf below the root with a field that is nowhere": field({"type": "object", "allOf": [{"properties": {"a": {"minimum": 1}}}]}),
    "nothing changed": lambda crd: None,
    "one version": alone(lambda crd: None),
    "an approved group": together(spec(group="x.k8s.io"), lambda crd: crd["metadata"].update({"name": "widgets.x.k8s.io", "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1"}})),
    "an unapproved group": together(spec(group="x.k8s.io"), lambda crd: crd["metadata"].update({"name": "widgets.x.k8s.io", "annotations": {"api-approved.kubernetes.io": "unapproved, experimental"}})),
    "int-or-string with its anyOf": field({**INT_OR_STRING, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
    "int-or-string with allOf": field({**INT_OR_STRING, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"pattern": "a"}]}),
    "a set of atomic objects": field({"type": "array", "items": {"type": "object", "x-kubernetes-map-type": "atomic"}, **SET}),
    "a list map": field(KEYED),
    "a key with a default": field({**KEYED, "items": {"type": "object", "properties": {"k": {"type": "string", "default": "a"}}}}),
    "an embedded resource": field({**EMBEDDED, **OPEN}),
    "root metadata with a pattern of names": at_root(properties={"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}}),
    "properties and any others": field({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True}),
    "no others at all": field({"type": "object", "additionalProperties": False}),
    "a rule": rule(rule="self.a != 'x'", message="no x", fieldPath=".a", reason="FieldValueForbidden"),
    "selectable fields": selectable(".spec.name", ".spec.on", ".spec.labels.a"),
    "a webhook": webhook({"service": {**SERVICE, "path": "/convert", "port": 8443}}),
    "a webhook with a url": webhook({"url": "https://example.com/convert"}),
    "scale": scale(labelSelectorPath=".status.selector"),
    "a status": version(subresources={"status": {}}),
    "an age column": column(name="Age", type="date", jsonPath=".metadata.creationTimestamp"),
    "a default": field({"type": "object", "default": {}, "properties": {"a": {"type": "string", "default": "b"}}}),
    "no singular and no list kind": lambda crd: crd["spec"]["names"].pop("singular") and crd["spec"]["names"].pop("listKind"),
}  # fmt: skip


def made(change: Change) -> dict[str, Any]:
    """The good CRD, changed."""
    crd = good()
    change(crd)
    return copy.deepcopy(crd)  # the parts of changes are shared
