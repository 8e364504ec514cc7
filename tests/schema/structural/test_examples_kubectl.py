"""Examples as people write them, with what kubectl says of them: the same, word for word, as `validate` offline.

The first three schemas are as they stand in tutorials. As they are, no server takes them; what is wrong is told.
"""
# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

import copy
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from broken_crds import GROUP, good

from kubewright.schema import to_yaml
from kubewright.schema.cel.rules import Rules
from kubewright.schema.checking import validate
from kubewright.schema.structural.crdcheck import check_crd
from kubewright.testing.access import ClusterAccess

PORTS = {
    "type": "array",
    "minItems": 1,
    "items": {"type": "object", "properties": {"port": {"type": "string", "pattern": r"^(\d+|\d+\-\d+)$"}}},
}
FROM = {
    "type": "array",
    "x-kubernetes-validations": [{"rule": 'self.all(x, x.namespace != "default")', "message": "not from default"}],
}
CONTAINERS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["name", "image"],
        "properties": {"name": {"type": "string"}, "image": {"type": "string"}, "ports": {"type": "array", "items": {"$ref": "#/components/schemas/ContainerPort"}}},
    },
}  # fmt: skip
SEMVER = {"type": "string", "pattern": r"^v\d+\.\d+\.\d+$"}
LIMITS = {"type": "integer", "minimum": 1, "maximum": 10}


def mended(schema: dict[str, Any]) -> dict[str, Any]:
    """The examples with what they lack."""
    made = copy.deepcopy(schema)
    if schema is FROM:
        made["x-kubernetes-validations"][0]["rule"] = 'self.all(x, x.__namespace__ != "default")'
        made["maxItems"] = 10
        made["items"] = {
            "type": "object",
            "required": ["namespace"],
            "properties": {"namespace": {"type": "string", "maxLength": 63}},
        }
    if schema is CONTAINERS:
        made["minItems"] = 1
        made["items"]["properties"]["ports"]["items"] = {
            "type": "object",
            "properties": {"containerPort": {"type": "integer"}},
        }
    return made


FIELDS = {"ports": PORTS, "from": FROM, "containers": CONTAINERS, "version": SEMVER, "replicas": LIMITS}
OBJECTS: dict[str, dict[str, Any]] = {
    "no port": {"ports": []},
    "a port that is no number": {"ports": [{"port": "80"}, {"port": "8000-"}, {"port": "http"}]},
    "a port that is not quoted": {"ports": [{"port": 80}]},
    "from the default namespace": {"from": [{"namespace": "default"}]},
    "no containers": {"containers": []},
    "a container without an image": {"containers": [{"name": "a"}]},
    "a version without a v": {"version": "1.2.3"},
    "a version with a suffix": {"version": "v1.2.3-rc1"},
    "no replicas": {"replicas": 0},
    "many replicas": {"replicas": 11},
    "half a replica": {"replicas": 1.5},
    "an unknown field": {"replica": 1},
    "all at once": {"ports": [], "version": "latest", "replicas": "three", "containers": [{"image": 1}]},
}  # fmt: skip


def crd_with(fields: dict[str, Any], plural: str = "rules") -> dict[str, Any]:
    crd = good(plural)
    crd["spec"]["versions"].pop()
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    return crd


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (
            FROM,
            "spec.validation.openAPIV3Schema.properties[spec].properties[x].items: Required value: must be specified",
        ),
        (CONTAINERS, "$ref: Forbidden: $ref is not supported"),
        (
            PORTS["items"]["properties"]["port"] | {"pattern": r"^(?=v)"},
            "must be a valid regular expression, but isn't",
        ),
    ],
)
def test_an_example_that_no_server_takes_says_why(schema: Any, said: str) -> None:
    outcome = check_crd(crd_with({"x": schema}))
    assert said in outcome.message


def test_the_mended_examples_are_fine() -> None:
    outcome = check_crd(crd_with({name: mended(schema) for name, schema in FIELDS.items()}))
    assert outcome.is_valid, outcome.message


@pytest.fixture(scope="module")
def crd(control_plane: ClusterAccess) -> Iterator[dict[str, Any]]:
    crd = crd_with({name: mended(schema) for name, schema in FIELDS.items()})
    control_plane.kubectl("create", "-f", "-", stdin=to_yaml(crd))
    control_plane.kubectl("wait", "--for=condition=Established", f"crd/{crd['metadata']['name']}")
    deadline = time.monotonic() + 30
    while "No resources" not in kubectl(control_plane, "get", f"rules.{GROUP}").stderr:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    yield crd
    control_plane.kubectl("delete", "crd", crd["metadata"]["name"])


def kubectl(access: ClusterAccess, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    cache = access.kubeconfig_path.parent / "kubectl-cache"
    command = [str(access.kubectl_path), f"--kubeconfig={access.kubeconfig_path}", f"--cache-dir={cache}", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.control_plane
@pytest.mark.parametrize("name", OBJECTS)
def test_kubectl_says_the_same(control_plane: ClusterAccess, crd: dict[str, Any], tmp_path: Path, name: str) -> None:
    made = {"apiVersion": f"{GROUP}/v1", "kind": "Rule", "metadata": {"name": "a"}, "spec": OBJECTS[name]}
    file = tmp_path / "a.yaml"
    file.write_text(to_yaml(made))
    (tmp_path / "crd.yaml").write_text(to_yaml(crd))
    report = validate([file], crds=[tmp_path / "crd.yaml"], strict=True, rules=Rules)
    (finding,) = report.findings
    assert finding.verdict == "invalid"
    answer = kubectl(control_plane, "create", "--dry-run=server", "-f", str(file))
    assert answer.returncode == 1
    said = [note.text for note in finding.notes if note.severity == "error"]
    if len(said) > 1:
        lines = sorted(line.removeprefix("* ") for line in answer.stderr.splitlines()[1:] if line)
        assert lines == sorted(said)
    else:
        assert said[0] in answer.stderr
