"""Webhooks of this process for tests: configurations, and handlers that keep what they were asked."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from kubewright.apiserver import ApiServer, new_server
from kubewright.apiserver.webhooks import HttpWebhooks

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
ALL_RULES = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]


def rule(resource: str, *operations: str, group: str = "", version: str = "v1", **more: Any) -> dict[str, Any]:
    """A rule for one resource."""
    wanted = list(operations) or ["*"]
    return {"apiGroups": [group], "apiVersions": [version], "operations": wanted, "resources": [resource], **more}


def url(name: str) -> str:
    """Where a handler is."""
    return f"https://{name}.example.com/"


def webhook(name: str, rules: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    """One webhook of a configuration, about ConfigMaps unless told otherwise."""
    return {
        "name": f"{name}.example.com",
        "clientConfig": {"url": url(name)},
        "rules": [rule("configmaps")] if rules is None else rules,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }


def configuration(kind: str, name: str, *webhooks: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The path to post to, and the configuration. `kind` is mutating or validating."""
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind.title()}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": list(webhooks),
    }
    return f"{CONFIGURATIONS}/{kind}webhookconfigurations", body


Answer = Callable[[dict[str, Any]], dict[str, Any]]


class Hooks:
    """A server whose webhooks are functions: `on` says what one answers to a request, `asked` what came, in order."""

    def __init__(self, **arguments: Any) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.webhooks = HttpWebhooks()
        self.server: ApiServer = new_server(seed=1, webhooks=self.webhooks, **arguments)

    def on(self, name: str, answer: Answer | dict[str, Any] | None = None) -> None:
        """What the webhook of a name answers: parts of a response, or a function from request to them."""

        async def handle(review: dict[str, Any]) -> dict[str, Any]:
            request = review["request"]
            self.asked.append((name, request))
            said = answer(request) if callable(answer) else answer
            response = {"uid": request["uid"], "allowed": True, **(said or {})}
            return {"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}

        self.webhooks.handlers[url(name)] = handle

    @property
    def names(self) -> list[str]:
        """Which webhooks were asked, in order."""
        return [name for name, _ in self.asked]


def patching(*operations: dict[str, Any]) -> dict[str, Any]:
    """The parts of a response that patch."""
    return {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(operations).encode()).decode()}


def labelling(name: str, value: str = "yes") -> Answer:
    """Adds a label, unless it is there."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        meta = request["object"]["metadata"]
        if "labels" not in meta:
            return patching({"op": "add", "path": "/metadata/labels", "value": {name: value}})
        return patching({"op": "add", "path": f"/metadata/labels/{name}", "value": value})

    return answer
