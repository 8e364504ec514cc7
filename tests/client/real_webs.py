"""The kinds that the tests on a real API server speak about: one with status and scale, and built-in ones."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from kubewright.client import Client
from kubewright.model import Model, ObjectMeta, Resource, field, resource, unstructured

# Each process has its own kinds: test processes share the server.
GROUP = f"verbs-{uuid.uuid4().hex[:8]}.example.com"
API_VERSION = f"{GROUP}/v1"


class WebSpec(Model):
    image: str
    replicas: int = 1


class WebStatus(Model):
    ready: int = 0


@resource(group=GROUP, version="v1")
class Web(Resource[WebSpec, WebStatus]):
    """A custom resource with status and scale."""


class NewWebSpec(Model):
    image: str
    replicas: int = 1
    tracing: dict[str, int] = field(default_factory=dict)


@resource(group=GROUP, version="v1", kind="Web", plural="webs")
class NewWeb(Resource[NewWebSpec, WebStatus]):
    """The same, as a newer program knows it."""


AnyWeb = unstructured(API_VERSION, "Web")
Deployment = unstructured("apps/v1", "Deployment", plural="deployments")
Pod = unstructured("v1", "Pod", plural="pods")
ServiceAccount = unstructured("v1", "ServiceAccount", plural="serviceaccounts")
TokenRequest = unstructured("authentication.k8s.io/v1", "TokenRequest", plural="tokenrequests")
Eviction = unstructured("policy/v1", "Eviction", plural="evictions")
Binding = unstructured("v1", "Binding", plural="bindings")


def crd(
    plural: str = "webs", kind: str = "Web", versions: tuple[str, ...] = ("v1",), storage: str = "v1"
) -> dict[str, Any]:
    spec = {
        "type": "object",
        "required": ["image"],
        "properties": {
            "image": {"type": "string", "minLength": 1},
            "replicas": {"type": "integer", "minimum": 0},
            "tracing": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
    }
    status = {"type": "object", "properties": {"ready": {"type": "integer"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}}
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.ready"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == storage,
                    "schema": schema,
                    "subresources": {"status": {}, "scale": scale},
                }
                for version in versions
            ],
        },
    }


def web(name: str = "a", image: str = "nginx", **metadata: Any) -> Web:
    return Web(metadata=ObjectMeta(name=name, **metadata), spec=WebSpec(image=image))


Body = Callable[[Client], Awaitable[None]]
Run = Callable[[Body], None]
