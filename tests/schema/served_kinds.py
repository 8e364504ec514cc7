"""A kind on a real API server and compiled here, and what differs between the two: verdict, causes, message, object.

A kind has two versions: v1 keeps everything and stores, v2 has the schemas. An update goes to v2 over an object made
through v1, which v2 may find invalid: that is ratcheting.
"""

from __future__ import annotations

import copy
import json
import time
import uuid
from collections import Counter
from typing import Any, NamedTuple

from kubewright.schema.structural import Kind, Outcome, RuleCompiler, json_value
from kubewright.testing.rest import Rest

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "differential.example.com"
PATIENCE_SECONDS = 30.0


class Served:
    """A kind with random schemas, on the server and compiled here."""

    def __init__(
        self,
        rest: Rest,
        schemas: dict[str, Any],
        *,
        status: bool = False,
        whole: bool = False,
        rules: RuleCompiler | None = None,
    ) -> None:
        """`schemas` are those of the fields of the spec or, with `whole`, the spec's own."""
        self.rest = rest
        self.plural = f"w{uuid.uuid4().hex[:8]}s"
        self.crd = _crd(self.plural, schemas if whole else {"type": "object", "properties": schemas}, status=status)
        code, answer = self.send("POST", CRDS, self.crd)
        assert code == 201, (answer.get("message"), json.dumps(schemas))
        self.loose = f"/apis/{GROUP}/v1/namespaces/default/{self.plural}"
        self._serve("v2", rules)

    def _serve(self, name: str, rules: RuleCompiler | None) -> None:
        self.name = name
        self.path = f"/apis/{GROUP}/{name}/namespaces/default/{self.plural}"
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.send("GET", self.path)[0] != 200 or self.send("GET", self.loose)[0] != 200:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        self.version = Kind(self.crd, rules=rules).version(name)

    def replace(self, schemas: dict[str, Any], *, rules: RuleCompiler | None = None) -> None:
        """Serve other schemas, as a version of another name in the place of v2.

        A server lets the first creates of a kind that is new wait for two seconds; those of a version it does not.
        """
        name = f"v{int(self.name[1:]) + 1}"
        schema = {"type": "object", "properties": schemas}
        self.crd = _crd(self.plural, schema, status=False, name=name)
        path = f"{CRDS}/{self.plural}.{GROUP}"
        code, answer = 409, {}
        while code == 409:  # its controllers write too
            stored = self.send("GET", path)[1]
            code, answer = self.send("PUT", path, {**stored, "spec": self.crd["spec"]})
        assert code == 200, (answer, json.dumps(schemas))
        self._serve(name, rules)

    def through(self, rest: Rest) -> Served:
        """The same kind over another connection, for another thread."""
        other = copy.copy(self)
        other.rest = rest
        return other

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        data = None if body is None else json.dumps(body).encode()
        code, answer = self.rest._exchange(method, path, data, "application/json")
        return code, json.loads(answer) if answer.startswith(b"{") else {"message": answer.decode()}

    def object(self, spec: Any, version: str | None = None) -> dict[str, Any]:
        return {
            "apiVersion": f"{GROUP}/{version or self.name}",
            "kind": self.crd["spec"]["names"]["kind"],
            "metadata": {"name": "a"},
            "spec": spec,
        }

    def remove(self) -> None:
        self.send("DELETE", f"{CRDS}/{self.plural}.{GROUP}")


def _crd(plural: str, schema: dict[str, Any], *, status: bool, name: str = "v2") -> dict[str, Any]:
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    strict = {"type": "object", "properties": {"spec": schema}}
    versions = [("v1", True, loose), (name, False, strict)]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "plural": plural,
                "singular": plural,
                "kind": plural.title(),
                "listKind": f"{plural.title()}List",
            },
            "versions": [
                {"name": each, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}}
                for each, storage, schema in versions
            ],
        },
    }


class Difference(NamedTuple):
    """What is not the same."""

    what: str
    ours: Any
    theirs: Any


def parts_of(message: str) -> list[str]:
    head, _, tail = message.partition(" is invalid: ")
    tail = tail.removeprefix("[").removesuffix("]")
    return sorted([head, *tail.split(", ")])


def causes_of(answer: dict[str, Any]) -> Counter[tuple[str, str, str]]:
    found = answer["details"].get("causes") or []
    return Counter((each["reason"], each["message"], each["field"]) for each in found)


def compare(ours: Outcome, code: int, answer: dict[str, Any]) -> Difference | None:
    """The first thing that differs."""
    if code == 400:
        return None if ours.undecodable == answer["message"] else Difference("undecodable", ours, answer["message"])
    if ours.undecodable:
        return Difference("undecodable", ours.undecodable, answer)
    if code == 422:
        causes = Counter((each.reason, each.body, each.field) for each in ours.errors)
        if causes != causes_of(answer):
            return Difference(
                "causes", sorted((causes - causes_of(answer)).items()), sorted((causes_of(answer) - causes).items())
            )
        if parts_of(ours.message) != parts_of(answer["message"]):
            return Difference("message", ours.message, answer["message"])
        return None
    if code not in (200, 201) or not ours.is_valid:
        return Difference("verdict", [str(each) for each in ours.errors], (code, answer.get("message")))
    assert ours.object is not None
    if ours.object.get("spec") != answer.get("spec") or str(ours.object.get("spec")) != str(
        json_value(answer.get("spec"))
    ):
        mine, theirs = ours.object.get("spec"), answer.get("spec")
        if _numbers(mine) != _numbers(theirs):
            return Difference("object", mine, theirs)
    return None


def _numbers(value: Any) -> Any:
    """With 1 for 1.0, which is how a server writes it, and True told from 1."""
    if isinstance(value, dict):
        return {name: _numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    return f"bool {value}" if isinstance(value, bool) else value


def create(served: Served, spec: Any) -> Difference | None:
    """A create of one object."""
    body = served.object(spec)
    ours = served.version.create(body)
    code, answer = served.send("POST", f"{served.path}?dryRun=All&fieldValidation=Ignore", body)
    difference = compare(ours, code, answer)
    if difference is None and (ours.unknown or ours.undecodable):
        code, answer = served.send("POST", f"{served.path}?dryRun=All&fieldValidation=Strict", body)
        said = answer["message"].partition("strict decoding error")
        if ours.unknown and sorted((said[1] + said[2]).split(", ")) != sorted(ours.strict_message.split(", ")):
            return Difference("strict", ours.strict_message, answer["message"])
    return difference


def update(served: Served, old: Any, new: Any) -> Difference | None:
    """An update of an object that was made through the version that keeps everything."""
    first = served.object(old, "v1")
    first["metadata"]["name"] = f"o{uuid.uuid4().hex[:10]}"
    code, answer = served.send("POST", served.loose, first)
    assert code == 201, answer
    path = f"{served.path}/{first['metadata']['name']}"
    code, stored = served.send("GET", path)
    assert code == 200, stored
    body = {**stored, "spec": new}
    ours = served.version.update(body, stored)
    code, answer = served.send("PUT", f"{path}?dryRun=All&fieldValidation=Ignore", body)
    served.send("DELETE", path)
    return compare(ours, code, answer)
