"""Rules on a real API server: many in one CRD, each in the schema of a field `r<n>`; what it says of them."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from cel_rules import PROPERTIES, as_rule

from kubewright.schema.cel.schema_meta import escape
from kubewright.testing.errors import RequestFailed
from kubewright.testing.rest import Rest

__all__ = ["CRDS", "batches", "causes", "crd_of", "differences", "said_of", "schema_of", "serve"]

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PATIENCE_SECONDS = 60.0
BATCH = 60
_TYPE_NAME = re.compile(r"selfType\d*")


def crd_of(schema: dict[str, Any]) -> dict[str, Any]:
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "rules", "singular": "rule", "kind": "Rule", "listKind": "RuleList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"rules.{group}"},
        "spec": {"group": group, "names": names, "scope": "Cluster", "versions": [version]},
    }


def differences(errors: Sequence[Any], said: str) -> list[str]:
    """What the server's message has beside our errors, and which of ours it has not."""
    said = _TYPE_NAME.sub("selfType", said.partition(" is invalid: ")[2])
    missing = []
    for text in sorted(map(str, errors), key=len, reverse=True):
        if text not in said:
            missing.append(f"only here: {text}")
        said = said.replace(text, "", 1)
    left = said.strip("[], ").replace(" ,", "")
    return missing + ([f"only there: {said}"] if left else [])


def said_of(rest: Rest, method: str, path: str, body: dict[str, Any]) -> str:
    """The server's message; empty where it has nothing to say."""
    try:
        rest.request(method, path, body)
    except RequestFailed as refused:
        if refused.code != 422:
            raise
        return refused.message
    return ""


def causes(rest: Rest, path: str, body: dict[str, Any]) -> list[tuple[str, str]]:
    """Field and reason of each cause that the server refuses a body for."""
    # The face of Rest keeps the message alone.
    code, answer = rest._exchange("POST", path, json.dumps(body).encode(), "application/json")
    assert code == 422
    return sorted((cause["field"], cause["reason"]) for cause in json.loads(answer)["details"]["causes"])


def batches(rows: Sequence[Any], size: int = BATCH) -> Iterator[list[Any]]:
    for start in range(0, len(rows), size):
        yield list(rows[start : start + size])


def schema_of(
    rules: Sequence[Any], properties: dict[str, Any] = PROPERTIES, objects: Sequence[Any] | None = None
) -> dict[str, Any]:
    """The schema of all rules; each field has what its rule, or its objects, name of the properties.

    A server takes seconds for a CRD of many large schemas.
    """
    fields = {}
    for number, rule in enumerate(map(as_rule, rules)):
        text = json.dumps([rule, objects[number] if objects else None])
        whole = text.replace("oldSelf", "self").count("self") > text.count("self.") + text.count("Self.")
        used = {
            name: each for name, each in properties.items() if whole or name in text or (escape(name) or name) in text
        }
        fields[f"r{number}"] = {"type": "object", "properties": used, "x-kubernetes-validations": [rule]}
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}


def serve(rest: Rest, schemas: Sequence[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """By schema: the path of the objects of a new kind, and the start of one. All are waited for together."""
    found = []
    for schema in schemas:
        crd = crd_of(schema)
        rest.request("POST", CRDS, crd)
        group = crd["spec"]["group"]
        start = {"apiVersion": f"{group}/v1", "kind": "Rule", "metadata": {"name": "a"}}
        found.append((f"/apis/{group}/v1/rules", start))
    deadline = time.monotonic() + PATIENCE_SECONDS
    for path, _ in found:
        while rest.status(path) != 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    return found
