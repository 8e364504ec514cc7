"""Admission policies on a real API server: decisions, messages, compile errors, mutations and type checks as here."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from cel_policies import CLUSTER, COMPILE, CONFIG_MAP, GROUPS, VARIABLES
from cel_server import said_of

from kubewright.schema.cel.admission import (
    AdmissionInputs,
    AdmissionRequest,
    GroupVersionKind,
    GroupVersionResource,
    MutatingPolicy,
    UserInfo,
    ValidatingPolicy,
    check_types,
)
from kubewright.schema.cel.k8s_authz import Decision, PathRequest, ResourceRequest
from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

API = "/apis/admissionregistration.k8s.io/v1"
PATIENCE_SECONDS = 60.0


@pytest.fixture(scope="module")
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    connection = control_plane.rest()
    yield connection
    connection.close()


class Admin:
    """What the cluster's administrator may do, and its service accounts may not."""

    def authorize(self, request: PathRequest | ResourceRequest) -> Decision:
        return Decision(not request.service_account)


def as_validation(row: str | dict[str, Any]) -> dict[str, Any]:
    return {"expression": row} if isinstance(row, str) else row


def policy_spec(validations: list[Any], name: str, resource: str = "configmaps", group: str = "") -> dict[str, Any]:
    """A policy about objects of one name, so that it concerns nobody else."""
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["*"], "resources": [resource]}
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [{"name": "mine", "expression": f"object != null && object.metadata.name == '{name}'"}],
        "variables": VARIABLES if resource == "configmaps" else [],
        "validations": list(map(as_validation, validations)),
    }


def policy(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def enforce(rest: Rest, name: str, spec: dict[str, Any]) -> None:
    rest.request("POST", f"{API}/validatingadmissionpolicies", policy("ValidatingAdmissionPolicy", name, spec))
    binding = {"policyName": name, "validationActions": ["Warn"]}
    body = policy("ValidatingAdmissionPolicyBinding", name, binding)
    rest.request("POST", f"{API}/validatingadmissionpolicybindings", body)


def warnings_of(rest: Rest, path: str, body: dict[str, Any]) -> list[str]:
    """The texts of the Warning headers of an answer."""
    connection = rest._connection
    connection.request("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with connection.getresponse() as response:
        headers = response.headers.get_all("Warning") or []
        response.read()
    found = [re.fullmatch(r'299 - "(.*)"', header, re.DOTALL) for header in headers]
    return [re.sub(r"\\(.)", r"\1", each[1]) for each in found if each is not None]


def warned(rest: Rest, path: str, body: dict[str, Any], count: int) -> list[str]:
    """The warnings, once the policy is at work."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(found := warnings_of(rest, path, body)) < count and time.monotonic() < deadline:
        time.sleep(0.2)
    return found


def inputs_of(rest: Rest, subject: dict[str, Any], resource: GroupVersionResource) -> AdmissionInputs:
    namespace = subject["metadata"].get("namespace", "")
    request = AdmissionRequest(
        GroupVersionKind(resource.group, resource.version, subject["kind"]),
        resource,
        "CREATE",
        subject["metadata"]["name"],
        namespace,
        user=UserInfo("admin", groups=("system:masters", "system:authenticated")),
        dry_run=True,
        options={"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "dryRun": ["All"]},
    )
    found = rest.get(f"/api/v1/namespaces/{namespace}") if namespace else None
    return AdmissionInputs(request, subject, namespace_object=found, authorizer=Admin())


def said_here(spec: dict[str, Any], inputs: AdmissionInputs, name: str) -> list[str]:
    result = ValidatingPolicy(spec).validate(inputs)
    start = f"Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{name}': "
    return [start + decision.message for decision in result.decisions if not decision.admitted]


@pytest.mark.parametrize("group", GROUPS)
def test_validations_say_what_a_server_says(rest: Rest, group: str) -> None:
    name = f"{group}-{uuid.uuid4().hex[:6]}"
    subject = {**CONFIG_MAP, "metadata": {**CONFIG_MAP["metadata"], "name": name}}
    spec = policy_spec(GROUPS[group], name)
    # Stored as they are: a server lets nothing in that does not compile.
    spec["validations"] = [each for each in spec["validations"] if "params" not in each["expression"]]
    inputs = inputs_of(rest, subject, GroupVersionResource("", "v1", "configmaps"))
    here = said_here(spec, inputs, name)
    assert len(here) == len(spec["validations"])
    enforce(rest, name, spec)
    there = warned(rest, "/api/v1/namespaces/default/configmaps?dryRun=All", subject, len(set(here)))
    assert there == list(dict.fromkeys(here))


def test_validations_of_an_object_without_a_namespace_say_what_a_server_says(rest: Rest) -> None:
    name = f"cluster-{uuid.uuid4().hex[:6]}"
    subject = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}}
    spec = policy_spec(CLUSTER, name, "clusterroles", "rbac.authorization.k8s.io")
    inputs = inputs_of(rest, subject, GroupVersionResource("rbac.authorization.k8s.io", "v1", "clusterroles"))
    here = said_here(spec, inputs, name)
    enforce(rest, name, spec)
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles?dryRun=All"
    assert warned(rest, path, subject, len(here)) == here


def test_a_policy_that_does_not_compile_is_refused_in_the_same_words(rest: Rest) -> None:
    spec = policy_spec(list(COMPILE), "nobody")
    body = policy("ValidatingAdmissionPolicy", "wrong", spec)
    said = said_of(rest, "POST", f"{API}/validatingadmissionpolicies?dryRun=All", body)
    compiled = ValidatingPolicy(spec, is_new=True)
    missing = []
    for place, (validation, message) in enumerate(zip(compiled.validations, compiled.messages, strict=True)):
        for field, each in (("expression", validation), ("messageExpression", message)):
            if each is not None and each.error:
                start = "Internal error" if each.is_internal else f"Invalid value: {json.dumps(each.source)}"
                text = f"spec.validations[{place}].{field}: {start}: {each.error}"
                if text not in said:
                    missing.append(text)
                said = said.replace(text, "")
    assert missing == []
    assert "spec.validations" not in said


def test_mutations_patch_as_a_server_does(rest: Rest) -> None:
    name = f"mutate-{uuid.uuid4().hex[:6]}"
    spec: dict[str, Any] = {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "matchConstraints": policy_spec([], name)["matchConstraints"],
        "matchConditions": [{"name": "mine", "expression": f"object.metadata.name == '{name}'"}],
        "variables": VARIABLES,
        "mutations": [
            {
                "patchType": "JSONPatch",
                "jsonPatch": {
                    "expression": "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('x/y'),"
                    " value: variables.app + '1'}, JSONPatch{op: 'move', from: '/data/a', path: '/data/moved'},"
                    " JSONPatch{op: 'add', path: '/metadata/annotations', value: {'k': 'v'}}]"
                },
            },
            {
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {
                    "expression": "Object{data: {'keys': variables.keys.join(',')},"
                    " metadata: Object.metadata{labels: {'app': 'changed'}}}"
                },
            },
        ],
    }
    rest.request("POST", f"{API}/mutatingadmissionpolicies", policy("MutatingAdmissionPolicy", name, spec))
    binding = policy("MutatingAdmissionPolicyBinding", name, {"policyName": name})
    rest.request("POST", f"{API}/mutatingadmissionpolicybindings", binding)
    subject = {**CONFIG_MAP, "metadata": {**CONFIG_MAP["metadata"], "name": name}}
    path = "/api/v1/namespaces/default/configmaps?dryRun=All"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while "keys" not in (made := rest.request("POST", path, subject))["data"] and time.monotonic() < deadline:
        time.sleep(0.2)
    inputs = inputs_of(rest, subject, GroupVersionResource("", "v1", "configmaps"))
    patch_mutation, apply_mutation = MutatingPolicy(spec).mutations
    patch = patch_mutation.evaluate(inputs)
    assert patch == [
        {"op": "add", "path": "/metadata/labels/x~1y", "value": "x1"},
        {"op": "move", "path": "/data/moved", "from": "/data/a"},
        {"op": "add", "path": "/metadata/annotations", "value": {"k": "v"}},
    ]
    patched = {
        **subject,
        "metadata": {**subject["metadata"], "labels": {**subject["metadata"]["labels"], "x/y": "x1"}},
        "data": {"b": "2", "moved": "1"},
    }
    seen = AdmissionInputs(inputs.request, patched, authorizer=Admin())
    applied = apply_mutation.evaluate(seen)
    assert applied == {"data": {"keys": "b,moved"}, "metadata": {"labels": {"app": "changed"}}}
    assert made["data"] == {"b": "2", "moved": "1", "keys": "b,moved"}
    assert made["metadata"]["labels"] == {"app": "changed", "a.b/c": "d", "x/y": "x1"}
    assert made["metadata"]["annotations"] == {"k": "v"}


TYPED = [
    {"expression": "object.data.a > 5", "messageExpression": "string(object.nope)"},
    {"expression": "object.data.size() > 5"},
    {"expression": "variables.labels.x == 1 && object.metadata.name.nope == 1"},
    {"expression": "object.immutable && oldObject.immutable == 'a'"},
]


def test_types_are_checked_as_a_server_does(control_plane_with_nodes: ClusterAccess) -> None:
    rest = control_plane_with_nodes.rest()
    name = f"typed-{uuid.uuid4().hex[:6]}"
    spec = policy_spec(TYPED, name)
    spec["variables"] = [{"name": "labels", "expression": "object.metadata.labels"}]
    path = f"{API}/validatingadmissionpolicies"
    rest.request("POST", path, policy("ValidatingAdmissionPolicy", name, spec))
    deadline = time.monotonic() + PATIENCE_SECONDS
    status: dict[str, Any] = {}
    while "typeChecking" not in status and time.monotonic() < deadline:
        time.sleep(0.2)
        status = rest.get(f"{path}/{name}").get("status") or {}
    rest.close()
    text = {"type": "string"}
    labels = {"type": "object", "additionalProperties": text}
    meta = {"type": "object", "properties": {"name": text, "generateName": text, "labels": labels}}
    properties = {"kind": text, "apiVersion": text, "metadata": meta, "data": labels, "immutable": {"type": "boolean"}}
    config_map = {"type": "object", "properties": properties}
    here = check_types(spec, {GroupVersionKind("", "v1", "ConfigMap"): config_map})
    there = [(each["fieldRef"], each["warning"]) for each in status["typeChecking"]["expressionWarnings"]]
    assert there == [(each.field_ref, each.warning) for each in here]
