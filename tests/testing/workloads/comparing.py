"""The same steps on workloads of ours and on a real controller manager, scheduler and kwok; what is there at the end.

A `Cluster` is one of the two. Scenarios wait for what they want to see (`until`), then for rest. What is compared are
all objects of the namespace, with chance taken out (`plain`): names, uids, times, addresses, nodes. What differs for a
reason is in `differences.yaml`, and taken out of both.
"""

from __future__ import annotations

import asyncio
import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import orjson
import yaml

from kubewright.apiserver import ApiServer
from kubewright.client import ApiError, Client
from kubewright.testing.workloads import VirtualClock, Workloads
from kubewright.testing.workloads import kinds as k
from kubewright.testing.workloads.kinds import Kind, Obj

SHOWN = (
    k.DEPLOYMENTS,
    k.REPLICA_SETS,
    k.REPLICATION_CONTROLLERS,
    k.STATEFUL_SETS,
    k.DAEMON_SETS,
    k.REVISIONS,
    k.JOBS,
    k.CRON_JOBS,
    k.PODS,
    k.CLAIMS,
    k.SLICES,
    k.ENDPOINTS,
    k.DISRUPTION_BUDGETS,
    k.SERVICES,
    k.QUOTAS,
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_REFUSED = re.compile(r'(pods "[a-z0-9-]+-)[a-z0-9]{5}"')
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_MERGE = (("accept", "application/json"), ("content-type", "application/merge-patch+json"))
_DIFFERENCES: list[dict[str, str]] = yaml.safe_load(Path(__file__).with_name("differences.yaml").read_text())
_CONDITIONS = {(each["kind"], each["condition"]) for each in _DIFFERENCES if "condition" in each}
_PATHS = [each for each in _DIFFERENCES if "path" in each]
State = dict[str, list[Obj]]


class Cluster(Protocol):
    """One of the two."""

    client: Client
    namespace: str

    async def rest(self) -> None:
        """Until nothing changes any more by itself."""

    async def wait(self) -> None:
        """A moment, in which something may happen."""


class Simulated:
    """Ours, in process, on virtual time."""

    def __init__(self, client: Client, server: ApiServer, workloads: Workloads) -> None:
        self.client, self.namespace = client, "default"
        self._server, self._workloads = server, workloads

    async def rest(self) -> None:
        for _ in range(5):
            await self._workloads.settle()
            await self._server.settle()
        assert isinstance(self._workloads.clock, VirtualClock)

    async def wait(self) -> None:
        await self.rest()
        await self._workloads.advance(0.5)


class Real:
    """A real control plane; rest is when nothing has changed for a second."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client, self.namespace = client, namespace

    async def rest(self) -> None:
        before, still = None, 0
        while still < 4:
            await asyncio.sleep(0.3)
            now = {
                name: [each["metadata"]["resourceVersion"] for each in found]
                for name, found in (await state(self)).items()
            }
            still = still + 1 if now == before else 0
            before = now

    async def wait(self) -> None:
        await asyncio.sleep(0.1)


async def create(cluster: Cluster, kind: Kind, manifest: Obj) -> None:
    await cluster.client.raw(
        "POST", kind.path(cluster.namespace), body={"apiVersion": kind.api_version, "kind": kind.kind, **manifest}
    )


async def patch(cluster: Cluster, kind: Kind, name: str, change: Obj, part: str = "") -> None:
    await cluster.client.raw("PATCH", kind.path(cluster.namespace, name, part), body=change, headers=_MERGE)


async def delete(cluster: Cluster, kind: Kind, name: str, policy: str = "Background") -> None:
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy}
    await cluster.client.raw("DELETE", kind.path(cluster.namespace, name), body=options)


async def listed(cluster: Cluster, kind: Kind) -> list[Obj]:
    try:
        answer = await cluster.client.raw("GET", kind.path(cluster.namespace))
    except ApiError:
        return []
    found: list[Obj] = orjson.loads(answer.body)["items"]
    return found


async def state(cluster: Cluster) -> State:
    return {kind.plural: await listed(cluster, kind) for kind in SHOWN}


async def until(cluster: Cluster, seen: Callable[[State], bool], what: str = "") -> None:
    """Wait for what is to be seen, then for rest."""
    for _ in range(400):
        if seen(await state(cluster)):
            await cluster.rest()
            return
        await cluster.wait()
    raise AssertionError(f"never seen: {what or seen}; there is {plain(await state(cluster))}")


def plain(found: State) -> Obj:
    """The state without chance, and without what is allowed to differ."""
    names = _names(found)
    made: Obj = {}
    for plural, objects in found.items():
        shown = [_object(plural, copy.deepcopy(each), names) for each in objects]
        kept = [each for each in shown if each["metadata"]["name"] != "kubernetes"]
        if kept:
            made[plural] = sorted(
                kept, key=lambda each: orjson.dumps([each["metadata"]["name"], each], option=orjson.OPT_SORT_KEYS)
            )
    return made


def _names(found: State) -> dict[str, str]:
    """Generated names, and the namespace before a name, to what they are called here."""
    every = [each["metadata"] for objects in found.values() for each in objects]
    made = {f"{each['namespace']}/": "NAMESPACE/" for each in every}
    for objects in found.values():
        for each in objects:
            meta = each["metadata"]
            if meta.get("generateName") and not _is_ordinal(each):
                made[meta["name"]] = meta["generateName"] + "?"
    return made


def _is_ordinal(obj: Obj) -> bool:
    return any(each["kind"] == "StatefulSet" for each in obj["metadata"].get("ownerReferences") or ())


def _object(plural: str, obj: Obj, names: dict[str, str]) -> Obj:
    meta = obj["metadata"]
    for field in ("uid", "resourceVersion", "managedFields", "selfLink", "namespace"):
        meta.pop(field, None)
    for each in _PATHS:
        if each["kind"] in ("*", plural) and each.get("phase") in (None, (obj.get("status") or {}).get("phase")):
            _drop(obj, each["path"].split("."))
    found: Obj = _value(obj, names)
    if conditions := (found.get("status") or {}).get("conditions"):
        kept = [each for each in conditions if (plural, each["type"]) not in _CONDITIONS]
        found["status"]["conditions"] = sorted(kept, key=lambda each: str(each["type"]))
    for subset in found.get("subsets") or []:
        for addresses in ("addresses", "notReadyAddresses"):
            if addresses in subset:
                subset[addresses].sort(key=orjson.dumps)
    if plural == "endpointslices":
        found["endpoints"] = sorted(found.get("endpoints") or [], key=orjson.dumps)
    return found


def _drop(value: Any, path: list[str]) -> None:
    head, *rest = path
    if isinstance(value, list):
        for each in value:
            _drop(each, path)
    elif isinstance(value, dict):
        keys = list(value) if head == "*" else [head.replace("~", ".")]
        for key in keys:
            if key in value:
                if rest:
                    _drop(value[key], rest)
                else:
                    del value[key]


def _value(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: _value(each, names)
            for key, each in value.items()
            if key not in ("uid", "resourceVersion", "namespace") and each is not None
        }
    if isinstance(value, list):
        return [_value(each, names) for each in value]
    if isinstance(value, str):
        value = _REFUSED.sub(r'\1?"', _UID.sub("UID", _TIME.sub("TIME", value)))
        for name, shown in names.items():
            if name in value:
                value = value.replace(name, shown)
        return value
    return value


def differences(ours: Any, theirs: Any, path: str = "") -> list[str]:
    """What is not the same, a line each."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [
            line
            for key in sorted({*ours, *theirs})
            for line in differences(ours.get(key), theirs.get(key), f"{path}.{key}")
        ]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [
            line
            for place, pair in enumerate(zip(ours, theirs, strict=True))
            for line in differences(*pair, f"{path}[{place}]")
        ]
    return [] if ours == theirs else [f"{path}: {ours!r}, and really {theirs!r}"]
