"""Binding a Pod to a node: what a scheduler does. Rules: `kubernetes/pkg/registry/core/pod/storage/storage.go`."""

from __future__ import annotations

from typing import Any

from kubewright.schema.structural.fielderrors import summary

from ..errors import StatusError, bad_request, unexplained
from ..registry.call import Call
from ..registry.storing import guaranteed, precondition
from ..store import Entry
from .conditions import SUCCESS, with_pod_condition

__all__ = ["bind", "bind_by_name"]


async def bind(call: Call, binding: dict[str, Any], is_dry_run: bool) -> dict[str, Any]:
    """POST pods/NAME/binding. Raises StatusError."""
    if (binding["metadata"].get("name") or "") != call.route.name:
        raise bad_request("name in URL does not match name in Binding object")
    return await _bind(call, call.route.name, binding, is_dry_run)


async def bind_by_name(call: Call, binding: dict[str, Any], is_dry_run: bool) -> dict[str, Any]:
    """POST bindings: the Pod is the one of the binding's name. Raises StatusError."""
    pods = call.backend.catalog.find("", "v1", "pods")
    assert pods is not None, "Bindings are served where Pods are"
    name = str(binding["metadata"].get("name") or "")
    route = call.route._replace(plural="pods", name=name)
    of_pods = Call(call.backend, call.request, pods, route, call.verb, call.representation, warnings=call.warnings)
    return await _bind(of_pods, name, binding, is_dry_run)


async def _bind(call: Call, name: str, binding: dict[str, Any], is_dry_run: bool) -> dict[str, Any]:
    target: dict[str, Any] = binding.get("target") or {}
    if problem := _problem(target):
        raise unexplained(problem)
    meta = binding["metadata"]
    now = call.backend.timestamp()

    async def step(stored: Entry, served: Entry, is_first: bool) -> dict[str, Any]:
        pod = served.object
        if why := _obstacle(pod):
            raise _conflict(name, why)
        metadata = dict(pod["metadata"])
        for field in ("annotations", "labels"):
            if added := meta.get(field):
                metadata[field] = {**(metadata.get(field) or {}), **added}
        status = with_pod_condition(pod.get("status") or {}, {"type": "PodScheduled", "status": "True"}, now)
        status.pop("nominatedNodeName", None)
        spec = {**pod["spec"], "nodeName": target["name"]}
        return {**pod, "metadata": metadata, "spec": spec, "status": status}

    check = precondition(call, name, meta.get("uid") or None, meta.get("resourceVersion") or None)
    await guaranteed(call, name, step, is_dry_run=is_dry_run, check=check)
    return SUCCESS


def _problem(target: dict[str, Any]) -> str:
    said = []
    if target.get("kind") not in (None, "", "Node"):
        said.append(f'target.kind: Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"')
    if not target.get("name"):
        said.append("target.name: Required value")
    return summary(said)


def _obstacle(pod: dict[str, Any]) -> str:
    name, spec = pod["metadata"]["name"], pod["spec"]
    if pod["metadata"].get("deletionTimestamp"):
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if spec.get("nodeName"):
        return f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    if spec.get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""


def _conflict(name: str, why: str) -> StatusError:
    said = f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
    return StatusError(409, "Conflict", said, {"name": name, "kind": "pods/binding"})
