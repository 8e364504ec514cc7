"""What a row of the table of requests is: a call, and the request that goes out for it, to the letter."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from recording_http import answer
from web_model import Web

from kubewright.client.client import Client
from kubewright.model import decode

WEBS = "/apis/example.com/v1/namespaces/prod/webs"
ZONES = "/apis/example.com/v1beta1/zones"
JSON = "application/json"

WEB_BODY = {
    "apiVersion": "example.com/v1",
    "kind": "Web",
    "metadata": {"name": "a"},
    "spec": {"image": "nginx", "replicas": 1},
    "status": {"ready": 0},
}


def read_web() -> Web:
    """As it came from a newer server, which knows a field that the class does not."""
    stored = {
        **WEB_BODY,
        "metadata": {"name": "a", "namespace": "prod", "uid": "u", "resourceVersion": "7", "generation": 3},
        "spec": {"image": "nginx", "replicas": 1, "tracing": {"rate": 5}},
    }
    return decode(Web, json.dumps(stored).encode())


OPTIONS = {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions"}

Call = Callable[[Client], Awaitable[Any]]


def row(name: str, call: Call, method: str, target: str, content_type: str | None = None, body: Any = None) -> Any:
    return pytest.param(call, method, target, content_type, body, id=name)


def reply(request: Any) -> Any:
    if request.method == "GET" and ("limit=" in request.target or "continue=" in request.target):
        return answer({"metadata": {"resourceVersion": "1"}, "items": None})
    return answer({"metadata": {"name": "a"}, "spec": {"image": "x"}})
