"""The access of a real cluster beside ours: what is there from the start, and what its controllers make of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import time
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from kubewright.apiserver import Request, Response, new_server
from kubewright.apiserver.access import make
from kubewright.apiserver.access.bootstrap import BOOTSTRAP_PATH
from kubewright.apiserver.registry.call import resource_key
from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

GROUP = "rbac.authorization.k8s.io"


def test_the_recorded_roles_are_those_of_a_real_cluster(control_plane: ClusterAccess) -> None:
    with contextlib.closing(control_plane.rest()) as rest:
        bootstrapped = "?labelSelector=kubernetes.io/bootstrapping%3Drbac-defaults"
        made = make.build(lambda path: rest.get(path + bootstrapped))
    found, recorded = orjson.loads(made), orjson.loads(BOOTSTRAP_PATH.read_bytes())
    for plural, objects in recorded.items():
        assert found[plural] == [each for each in objects if "labels" in each["metadata"]], plural


def test_aggregated_roles_are_those_of_a_real_controller(control_plane_with_nodes: ClusterAccess) -> None:
    store = new_server(garbage=True).store
    with contextlib.closing(control_plane_with_nodes.rest()) as rest:
        for name in ("admin", "edit", "view"):
            real: dict[str, Any] = rest.get(f"/apis/{GROUP}/v1/clusterroles/{name}")
            entry = store.get(resource_key(GROUP, "clusterroles"), name)
            assert entry is not None
            assert entry.object["rules"] == real["rules"], name


_SEEDS = range(3)
_USERS = ("jane", "john", "system:serviceaccount:default:a", "system:serviceaccount:NS:a")
_GROUPS = ("team", "system:serviceaccounts:NS", "system:authenticated")
_RULES_EACH = 2
_QUESTIONS = 150


@pytest.mark.parametrize("seed", _SEEDS)
def test_random_roles_allow_the_same(control_plane: ClusterAccess, seed: int) -> None:
    chance = random.Random(seed)
    namespace = f"access-{seed}-{os.getpid()}"
    made = list(_objects(chance, namespace))
    asked = [_review(chance, namespace) for _ in range(_QUESTIONS)]
    server, allowed = new_server(), 0
    with contextlib.closing(control_plane.rest()) as rest:
        try:
            for path, body in made:
                rest.request("POST", path, body)
                answer = asyncio.run(server.handle(Request.of("POST", path, body=body)))
                assert answer.status == 201
            _wait_for_the_last(rest, namespace)
            for review in asked:
                real = rest.request("POST", _REVIEWS, review)["status"]
                answer = asyncio.run(server.handle(Request.of("POST", _REVIEWS, body=review)))
                assert isinstance(answer, Response)
                ours = answer.json["status"]
                assert ours["allowed"] == real["allowed"], (review, ours, real)
                allowed += real["allowed"]
                if not real["allowed"]:
                    assert _said(ours) == _said(real), review
            assert _QUESTIONS > allowed > 0
        finally:
            for path, body in reversed(made):
                rest.request("DELETE", f"{path}/{body['metadata']['name']}")


_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_RBAC = f"/apis/{GROUP}/v1"


def _said(status: dict[str, Any]) -> list[str]:
    """Why, in no order: the real server reads its bindings in the order of a Go map."""
    return sorted(status.get("reason", "").removeprefix("rbac: RBAC: ").strip("[]").split(", "))


def _wait_for_the_last(rest: Rest, namespace: str) -> None:
    attributes = {"verb": "last", "resource": "last", "namespace": namespace}
    body = {"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1"}
    for _ in range(200):
        review = {**body, "spec": {"user": "last", "resourceAttributes": attributes}}
        if rest.request("POST", _REVIEWS, review)["status"]["allowed"]:
            return
        time.sleep(0.05)
    raise AssertionError("the real server has not seen the last binding")


def _objects(chance: random.Random, namespace: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Collections and what is put into them."""
    yield "/api/v1/namespaces", {"metadata": {"name": namespace}}
    inside = f"{_RBAC}/namespaces/{namespace}"
    for number in range(4):
        rules = [_rule(chance) for _ in range(_RULES_EACH)]
        yield f"{inside}/roles", {"metadata": {"name": f"r{number}"}, "rules": rules}
        yield f"{_RBAC}/clusterroles", {"metadata": {"name": f"{namespace}-{number}"}, "rules": [_rule(chance)]}
    for number in range(5):
        subjects = [_subject(chance, namespace) for _ in range(2)]
        kind, name = chance.choice((("Role", "r"), ("ClusterRole", f"{namespace}-")))
        role = {"apiGroup": GROUP, "kind": kind, "name": f"{name}{chance.randrange(5)}"}
        yield f"{inside}/rolebindings", {"metadata": {"name": f"b{number}"}, "subjects": subjects, "roleRef": role}
    role = {"apiGroup": GROUP, "kind": "ClusterRole", "name": f"{namespace}-{chance.randrange(5)}"}
    subjects = [{"kind": "Group", "apiGroup": GROUP, "name": f"{namespace}-team"}]
    yield f"{_RBAC}/clusterrolebindings", {"metadata": {"name": namespace}, "subjects": subjects, "roleRef": role}
    last = {"apiGroups": [""], "resources": ["last"], "verbs": ["last"]}
    yield f"{inside}/roles", {"metadata": {"name": "last"}, "rules": [last]}
    subjects = [{"kind": "User", "apiGroup": GROUP, "name": "last"}]
    role = {"apiGroup": GROUP, "kind": "Role", "name": "last"}
    yield f"{inside}/rolebindings", {"metadata": {"name": "last"}, "subjects": subjects, "roleRef": role}


def _rule(chance: random.Random) -> dict[str, Any]:
    resources = ("pods", "pods/log", "*/log", "*", "deployments", "*/scale", "pods/*")
    rule = {
        "apiGroups": chance.sample(("", "apps", "*"), chance.randint(1, 2)),
        "resources": chance.sample(resources, chance.randint(1, 2)),
        "verbs": chance.sample(("get", "list", "create", "*"), chance.randint(1, 2)),
    }
    if chance.random() < 0.3:
        rule["resourceNames"] = chance.sample(("a", "b", "c"), 2)
    return rule


def _subject(chance: random.Random, namespace: str) -> dict[str, str]:
    kind = chance.choice(("User", "Group", "ServiceAccount"))
    if kind == "ServiceAccount":
        return {"kind": kind, "name": "a", "namespace": chance.choice(("default", namespace))}
    names = _USERS if kind == "User" else _GROUPS[:2]
    return {"kind": kind, "apiGroup": GROUP, "name": chance.choice(names).replace("NS", namespace)}


def _review(chance: random.Random, namespace: str) -> dict[str, Any]:
    resource, _, part = chance.choice(("pods", "pods/log", "deployments", "deployments/scale", "nodes/log")).partition(
        "/"
    )
    attributes = {
        "verb": chance.choice(("get", "list", "create", "delete")),
        "group": chance.choice(("", "apps", "batch")),
        "resource": resource,
        "subresource": part,
        "namespace": chance.choice(("", namespace, namespace, "default")),
        "name": chance.choice(("", "a", "d")),
    }
    groups = [each.replace("NS", namespace) for each in chance.sample(_GROUPS, 2)]
    if chance.random() < 0.3:
        groups.append(f"{namespace}-team")
    user = chance.choice(_USERS).replace("NS", namespace)
    spec = {"user": user, "groups": groups, "resourceAttributes": attributes}
    return {"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": spec}
