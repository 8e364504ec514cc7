"""Defaults belong to Go types and are found wherever a type stands."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from base_objects import BASES as WORKLOADS
from differential import decoded
from more_objects import BASES as OTHERS

Object = dict[str, Any]
BASES = {**WORKLOADS, **OTHERS}


@pytest.mark.parametrize("name", sorted(BASES))
def test_what_has_its_defaults_gets_no_more(name: str) -> None:
    once = decoded(BASES[name])
    assert decoded(copy.deepcopy(once)) == once


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("pod", ("spec",)),
        ("deployment", ("spec", "template", "spec")),
        ("statefulset", ("spec", "template", "spec")),
        ("job", ("spec", "template", "spec")),
        ("cronjob", ("spec", "jobTemplate", "spec", "template", "spec")),
        ("controller", ("spec", "template", "spec")),
        ("podtemplate", ("template", "spec")),
    ],
)
def test_a_container_has_its_defaults_wherever_it_is(name: str, path: tuple[str, ...]) -> None:
    found: Any = decoded(BASES[name])
    for each in path:
        found = found[each]
    container = found["containers"][0]
    assert container["terminationMessagePath"] == "/dev/termination-log"
    assert container["imagePullPolicy"] in ("Always", "IfNotPresent")
    assert (found["dnsPolicy"], found["schedulerName"]) == ("ClusterFirst", "default-scheduler")


def test_a_webhook_has_its_defaults_and_so_have_its_rules() -> None:
    operation = {"operations": ["CREATE"], "apiGroups": ["a"], "apiVersions": ["v1"], "resources": ["x"]}
    made = decoded(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "v"},
            "webhooks": [{"name": "a.example.com", "clientConfig": {}, "rules": [operation]}],
        }
    )
    hook = made["webhooks"][0]
    assert (hook["failurePolicy"], hook["matchPolicy"], hook["timeoutSeconds"]) == ("Fail", "Equivalent", 10)
    assert hook["rules"][0]["scope"] == "*"


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1", "IfNotPresent"),
        ("localhost:5000/nginx", "Always"),
        ("nginx@sha256:" + "a" * 64, "IfNotPresent"),
    ],
)
def test_the_latest_image_is_always_pulled(image: str, policy: str) -> None:
    pod = copy.deepcopy(BASES["pod"])
    pod["spec"]["containers"][0]["image"] = image
    assert decoded(pod)["spec"]["containers"][0]["imagePullPolicy"] == policy
