"""From a Python type to kubectl's error text: the rules that operators start from, on a real API server.

Replicas unless scaling is automatic, and not both; a bound that depends on another field; immutable fields; a union.
"""

from __future__ import annotations

import json
import time
import uuid
from typing import Annotated, Any

import pytest
from annotated_types import Ge, MaxLen

from kubewright.model import Model, Resource, resource
from kubewright.schema import Immutable, Rule, crd_of
from kubewright.schema.cel.rules import check_rules
from kubewright.testing.access import ClusterAccess
from kubewright.testing.errors import CommandFailed

pytestmark = pytest.mark.control_plane

PATIENCE_SECONDS = 60.0
GROUP = f"seed{uuid.uuid4().hex[:6]}.example.com"


class S3(Model):
    """A bucket."""

    bucket: Annotated[str, MaxLen(63)]


class Disk(Model):
    """A disk."""

    size: int


@Rule("has(self.s3) != has(self.disk)", message="exactly one of s3 and disk is to be set")
class Storage(Model):
    """A union: where it is kept."""

    s3: S3 | None = None
    disk: Disk | None = None


@Rule(
    "has(self.replicas) || self.autoScale",
    message="replicas is required unless autoScale is true",
    reason="FieldValueRequired",
    field_path=".replicas",
)
@Rule(
    "!(self.autoScale && has(self.replicas) && self.replicas > 0)",
    message="replicas has to be 0 when autoScale is true",
    reason="FieldValueForbidden",
    field_path=".replicas",
)
@Rule(
    "!has(self.replicas) || !self.production || self.replicas >= 3",
    message_expression="'production needs 3 replicas, not %d'.format([self.replicas])",
)
@Rule(
    "!has(oldSelf.image) || self.image.split(':')[0] == oldSelf.image.split(':')[0]",
    message="image may change its tag only",
)
class ScaledSpec(Model):
    """What to run."""

    image: Annotated[str, MaxLen(100)]
    zone: Annotated[str, MaxLen(10), Immutable()] = "a"
    replicas: Annotated[int, Ge(0)] | None = None
    auto_scale: bool = False
    production: bool = False
    storage: Storage | None = None


@resource(group=GROUP, version="v1", plural="scaleds")
class Scaled(Resource[ScaledSpec]):
    """Scales."""


GOOD: dict[str, Any] = {"image": "web:1", "replicas": 1, "zone": "a"}
CREATED: dict[str, tuple[dict[str, Any], str]] = {
    "neither": ({"image": "web:1"}, "spec.replicas: Required value: replicas is required unless autoScale is true"),
    "both": (
        {"image": "web:1", "replicas": 2, "autoScale": True},
        "spec.replicas: Forbidden: replicas has to be 0 when autoScale is true",
    ),
    "too few": ({**GOOD, "production": True}, "spec: Invalid value: production needs 3 replicas, not 1"),
    "no place": (
        {**GOOD, "storage": {}},
        "spec.storage: Invalid value: exactly one of s3 and disk is to be set",
    ),
    "two places": (
        {**GOOD, "storage": {"s3": {"bucket": "b"}, "disk": {"size": 1}}},
        "spec.storage: Invalid value: exactly one of s3 and disk is to be set",
    ),
}
CHANGED: dict[str, tuple[dict[str, Any], str]] = {
    "another zone": ({**GOOD, "zone": "b"}, 'spec.zone: Invalid value: "b": is immutable'),
    "another image": ({**GOOD, "image": "db:1"}, "spec: Invalid value: image may change its tag only"),
}


@pytest.fixture(scope="module")
def cluster(control_plane: ClusterAccess) -> ClusterAccess:
    control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(crd_of(Scaled)))
    control_plane.kubectl("wait", "--for=condition=Established", f"crd/scaleds.{GROUP}")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            control_plane.kubectl("apply", "-f", "-", stdin=manifest("good", GOOD))
            return control_plane
        except CommandFailed:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def manifest(name: str, spec: dict[str, Any]) -> str:
    meta = {"name": name, "namespace": "default"}
    return json.dumps({"apiVersion": f"{GROUP}/v1", "kind": "Scaled", "metadata": meta, "spec": spec})


def refused(cluster: ClusterAccess, name: str, spec: dict[str, Any]) -> str:
    with pytest.raises(CommandFailed) as failed:
        cluster.kubectl("apply", "-f", "-", stdin=manifest(name, spec))
    return failed.value.stderr.strip()


def here(new: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    schema = crd_of(Scaled)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    defaults = {"autoScale": False, "production": False, "zone": "a"}
    seen = [None if spec is None else {"spec": {**defaults, **spec}} for spec in (new, old)]
    return [str(error) for error in check_rules(schema, seen[0], seen[1])]


@pytest.mark.parametrize("case", CREATED)
def test_kubectl_says_what_the_rule_of_the_type_says(cluster: ClusterAccess, case: str) -> None:
    spec, said = CREATED[case]
    assert here(spec) == [said]
    assert refused(cluster, "new", spec) == f'The Scaled "new" is invalid: {said}'


@pytest.mark.parametrize("case", CHANGED)
def test_kubectl_says_what_the_rule_says_of_a_change(cluster: ClusterAccess, case: str) -> None:
    spec, said = CHANGED[case]
    assert here(spec, GOOD) == [said]
    assert refused(cluster, "good", spec) == f'The Scaled "good" is invalid: {said}'


def test_what_keeps_the_rules_is_applied(cluster: ClusterAccess) -> None:
    for spec in (
        {"image": "web:1", "autoScale": True},
        {**GOOD, "replicas": 3, "production": True},
        {**GOOD, "storage": {"disk": {"size": 1}}},
    ):
        assert here(spec) == []
        cluster.kubectl("apply", "-f", "-", stdin=manifest(f"kept-{uuid.uuid4().hex[:6]}", spec))
    assert here({**GOOD, "image": "web:2"}, GOOD) == []
    cluster.kubectl("apply", "-f", "-", stdin=manifest("good", {**GOOD, "image": "web:2"}))
    cluster.kubectl("apply", "-f", "-", stdin=manifest("good", GOOD))
