"""Services: their EndpointSlices, and Endpoints for who still looks there. Addresses of Services are the API server's.

Rules: `k8s.io/endpointslice`, `kubernetes/pkg/controller/endpoint`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson

from kubewright.client import AlreadyExists

from .api import Api
from .engine import Engine
from .kinds import ENDPOINTS, NODES, PODS, SERVICES, SLICES, Kind, Obj, Ref, ref_of
from .owners import controller_ref, labels_of
from .podstates import is_ready, is_terminal, phase_of

__all__ = ["Services"]

_NAME: Final = "kubernetes.io/service-name"
_SLICES_BY: Final = "endpointslice.kubernetes.io/managed-by"
_SLICES_MANAGER: Final = "endpointslice-controller.k8s.io"
_BY: Final = "endpoints.kubernetes.io/managed-by"
_MANAGER: Final = "endpoint-controller"
_HEADLESS: Final = "service.kubernetes.io/headless"
_MOST: Final = 100
_ZONE: Final = "topology.kubernetes.io/zone"


class Services:
    """The controllers of EndpointSlices and of Endpoints."""

    name: str = SERVICES.plural

    def __init__(self, engine: Engine, api: Api) -> None:
        self._api, self._view = api, engine.view

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == SERVICES:
            yield ref_of(new or old or {})
        elif kind == ENDPOINTS and new is None and old is not None:
            yield ref_of(old)
        elif kind == SLICES:
            obj = new or old or {}
            if (name := labels_of(obj).get(_NAME)) and labels_of(obj).get(_SLICES_BY) == _SLICES_MANAGER:
                yield Ref(obj["metadata"]["namespace"], name)
        elif kind == PODS:
            pods = [each for each in (old, new) if each is not None]
            if len(pods) == 2 and _seen(pods[0]) == _seen(pods[1]):
                return
            for each in self._view.within(SERVICES, pods[0]["metadata"]["namespace"]):
                if any(_selects(each, pod) for pod in pods):
                    yield ref_of(each)

    async def sync(self, ref: Ref) -> None:
        service = self._view.get(SERVICES, *ref)
        if service is None:
            found = self._view.get(ENDPOINTS, *ref)
            if found is not None and labels_of(found).get(_BY) == _MANAGER:
                await self._api.delete(ENDPOINTS, found)
            return
        spec = service["spec"]
        if (
            spec.get("type") == "ExternalName"
            or not spec.get("selector")
            or service["metadata"].get("deletionTimestamp")
        ):
            return
        pods = [each for each in self._view.within(PODS, ref.namespace) if _selects(service, each)]
        pods = [each for each in pods if not is_terminal(each) and (each.get("status") or {}).get("podIP")]
        await self._slices(service, pods)
        await self._endpoints(service, pods)

    # -- EndpointSlices -----------------------------------------------------------------------------------------------

    async def _slices(self, service: Obj, pods: Sequence[Obj]) -> None:
        wanted: dict[bytes, tuple[list[Obj], dict[str, Obj]]] = {}
        for pod in pods:
            ports = _slice_ports(service, pod)
            found = wanted.setdefault(_key(ports), (ports, {}))
            found[1][pod["metadata"]["uid"]] = self._endpoint(service, pod)
        if not wanted:
            wanted[_key([])] = ([], {})
        existing: dict[bytes, list[Obj]] = {}
        for each in self._view.owned(SLICES, service["metadata"]["uid"]):
            if labels_of(each).get(_SLICES_BY) == _SLICES_MANAGER and not each["metadata"].get("deletionTimestamp"):
                existing.setdefault(_key(each.get("ports") or []), []).append(each)
        spare = [each for key, found in existing.items() if key not in wanted for each in found]
        for key, (ports, endpoints) in wanted.items():
            await self._fill(service, ports, endpoints, existing.get(key, []), spare)
        for each in spare:
            await self._api.delete(SLICES, each)

    async def _fill(
        self, service: Obj, ports: list[Obj], endpoints: dict[str, Obj], slices: list[Obj], spare: list[Obj]
    ) -> None:
        """Put the endpoints of one set of ports into slices: where they are, where there is room, then new ones."""
        left = dict(endpoints)
        contents: list[list[Obj]] = []
        for each in slices:
            kept = [left.pop(uid) for one in each.get("endpoints") or () if (uid := _uid(one)) in left]
            contents.append(kept)
        for content in contents:
            while left and len(content) < _MOST:
                content.append(left.pop(next(iter(left))))
        while left or (not slices and not contents):
            content = [left.pop(uid) for uid in list(left)[:_MOST]]
            contents.append(content)
        labels = _slice_labels(service)
        for place, content in enumerate(contents):
            old = slices[place] if place < len(slices) else spare.pop(0) if spare else None
            if old is None:
                await self._create_slice(service, ports, content, labels)
            elif not content and len(contents) > 1:
                await self._api.delete(SLICES, old)
            elif (old.get("endpoints") or [], old.get("ports") or [], labels_of(old)) != (content, ports, labels):
                meta = {**old["metadata"], "labels": labels}
                await self._api.update(SLICES, {**old, "metadata": meta, "endpoints": content, "ports": ports})

    async def _create_slice(self, service: Obj, ports: list[Obj], content: list[Obj], labels: dict[str, str]) -> None:
        meta = service["metadata"]
        made: Obj = {
            "metadata": {
                "generateName": f"{meta['name']}-",
                "namespace": meta["namespace"],
                "labels": labels,
                "ownerReferences": [controller_ref(SERVICES, service)],
            },
            "addressType": (service["spec"].get("ipFamilies") or ["IPv4"])[0],
            "endpoints": content,
            "ports": ports,
        }
        await self._api.create(SLICES, made)

    def _endpoint(self, service: Obj, pod: Obj) -> Obj:
        serving, going = is_ready(pod), bool(pod["metadata"].get("deletionTimestamp"))
        ready = bool(service["spec"].get("publishNotReadyAddresses")) or (serving and not going)
        made: Obj = {
            "addresses": [pod["status"]["podIP"]],
            "conditions": {"ready": ready, "serving": serving, "terminating": going},
            "targetRef": _target(pod),
        }
        if _has_hostname(service, pod):
            made["hostname"] = pod["spec"]["hostname"]
        if name := pod["spec"].get("nodeName"):
            made["nodeName"] = name
            node = self._view.get(NODES, "", name)
            if node is not None and labels_of(node).get(_ZONE):
                made["zone"] = labels_of(node)[_ZONE]
        return made

    # -- Endpoints ----------------------------------------------------------------------------------------------------

    async def _endpoints(self, service: Obj, pods: Sequence[Obj]) -> None:
        meta, early = service["metadata"], bool(service["spec"].get("publishNotReadyAddresses"))
        subsets: dict[bytes, Obj] = {}
        for pod in pods:
            if pod["metadata"].get("deletionTimestamp") and not early:
                continue
            ports = [
                {name: value for name, value in each.items() if value != ""} for each in _slice_ports(service, pod)
            ]
            if not ports and service["spec"].get("ports"):
                continue
            kind = "addresses" if early or is_ready(pod) else "notReadyAddresses"
            if kind == "notReadyAddresses" and not _may_become_ready(pod):
                continue
            subset = subsets.setdefault(_key(ports), {"ports": ports} if ports else {})
            subset.setdefault(kind, []).append(_address(service, pod))
        made = list(subsets.values())
        for subset in made:
            for kind in ("addresses", "notReadyAddresses"):
                if kind in subset:
                    subset[kind].sort(key=lambda each: each["ip"])
        labels = {**labels_of(service), _BY: _MANAGER}
        labels.pop(_HEADLESS, None)
        if not _has_address(service):
            labels[_HEADLESS] = ""
        old = self._view.get(ENDPOINTS, meta["namespace"], meta["name"])
        if old is None:
            new: Obj = {"metadata": {"name": meta["name"], "namespace": meta["namespace"], "labels": labels}}
            try:
                await self._api.create(ENDPOINTS, {**new, "subsets": made})
            except AlreadyExists:
                await self._api.read(ENDPOINTS, meta["namespace"], meta["name"])
        elif (old.get("subsets") or [], labels_of(old)) != (made, labels):
            whole = {**old, "metadata": {**old["metadata"], "labels": labels}, "subsets": made}
            await self._api.update(ENDPOINTS, whole)


def _selects(service: Obj, pod: Obj) -> bool:
    selector = service["spec"].get("selector")
    return bool(selector) and selector.items() <= labels_of(pod).items()


def _seen(pod: Obj) -> tuple[Any, ...]:
    """What Services look at of a Pod."""
    meta, status = pod["metadata"], pod.get("status") or {}
    where = pod["spec"].get("nodeName"), status.get("podIP"), phase_of(pod)
    return (meta["uid"], labels_of(pod), bool(meta.get("deletionTimestamp")), is_ready(pod), *where)


def _key(ports: list[Obj]) -> bytes:
    return orjson.dumps(ports, option=orjson.OPT_SORT_KEYS)


def _uid(endpoint: Obj) -> str:
    return str((endpoint.get("targetRef") or {}).get("uid", ""))


def _target(pod: Obj) -> dict[str, str]:
    meta = pod["metadata"]
    return {"kind": "Pod", "namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"]}


def _address(service: Obj, pod: Obj) -> Obj:
    made: Obj = {"ip": pod["status"]["podIP"], "targetRef": _target(pod)}
    if pod["spec"].get("nodeName"):
        made["nodeName"] = pod["spec"]["nodeName"]
    if _has_hostname(service, pod):
        made["hostname"] = pod["spec"]["hostname"]
    return made


def _has_hostname(service: Obj, pod: Obj) -> bool:
    return bool(pod["spec"].get("hostname")) and pod["spec"].get("subdomain") == service["metadata"]["name"]


def _has_address(service: Obj) -> bool:
    return service["spec"].get("clusterIP") not in (None, "", "None")


def _may_become_ready(pod: Obj) -> bool:
    policy = pod["spec"].get("restartPolicy", "Always")
    if policy == "Never":
        return phase_of(pod) not in ("Failed", "Succeeded")
    return policy != "OnFailure" or phase_of(pod) != "Succeeded"


def _slice_labels(service: Obj) -> dict[str, str]:
    reserved = (_NAME, _SLICES_BY, _HEADLESS)
    made = {name: value for name, value in labels_of(service).items() if name not in reserved}
    if not _has_address(service):
        made[_HEADLESS] = ""
    return {**made, _NAME: service["metadata"]["name"], _SLICES_BY: _SLICES_MANAGER}


def _slice_ports(service: Obj, pod: Obj) -> list[Obj]:
    made = []
    for port in service["spec"].get("ports") or ():
        number = _number(port, pod)
        if number is None:
            continue
        one = {"name": port.get("name", ""), "port": number, "protocol": port.get("protocol", "TCP")}
        if "appProtocol" in port:
            one["appProtocol"] = port["appProtocol"]
        made.append(one)
    return made


def _number(port: Obj, pod: Obj) -> int | None:
    """Which port of a Pod a Service's is."""
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target
    sidecars = [each for each in pod["spec"].get("initContainers") or () if each.get("restartPolicy") == "Always"]
    for container in [*pod["spec"]["containers"], *sidecars]:
        for each in container.get("ports") or ():
            if each.get("name") == target and each.get("protocol", "TCP") == port.get("protocol", "TCP"):
                return int(each["containerPort"])
    return None
