"""Random owners, deletions and finalizers on a cluster with controllers and on the embedded server with its own.

Owns what is done and when the two are compared. Controllers work when they like, so after each step the embedded
server settles, and the real one is waited for: it has to come to the same objects, with the same owners, finalizers
and deletion. At the end of a sequence it has to stay there.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from collections.abc import Sequence
from typing import Any

from fidelity.comparing import differences
from fidelity.doors import Answer, Door, RealDoor
from fidelity.embedded import EmbeddedDoor

from kubewright.testing.access import ClusterAccess

from .judging import Verdict

_AT_A_TIME = 24
"""Sequences: most of their time they wait."""
_TIMES = 3
"""How often a sequence has to differ. An owner that nobody blocks and that has another finalizer is let go by one
worker of the real collector while others look at its dependents: whether they go too is who comes first."""
_PATIENCE_SECONDS = 20.0
_POLL_SECONDS = 0.1
_STILL_SECONDS = 1.0
_NAMES = "abcdef"
_KINDS = {"configmaps": "ConfigMap", "secrets": "Secret"}
_FINALIZERS = ("example.com/a", "example.com/b")
_MERGE = "application/merge-patch+json"

Operation = dict[str, Any]
"""What is done: `create`, `own`, `finalizers` or `delete`, with its values."""
Key = tuple[str, str]


def sequence(seed: int, length: int) -> Sequence[Operation]:
    """Operations on a few objects of two kinds."""
    rng = random.Random(seed)
    return [_operation(rng) for _ in range(length)]


def _operation(rng: random.Random) -> Operation:
    key = (rng.choice(list(_KINDS)), rng.choice(_NAMES))
    what = rng.choices(("create", "own", "finalizers", "delete"), (10, 3, 4, 6))[0]
    made: Operation = {"do": what, "key": key}
    if what in ("create", "own"):
        made["owners"] = [_owner(rng) for _ in range(rng.choice((0, 1, 1, 2)))]
    if what in ("create", "finalizers"):
        made["finalizers"] = rng.sample(_FINALIZERS, rng.choice((0, 0, 0, 1)))
    if what == "delete":
        made["policy"] = rng.choice((None, "Background", "Foreground", "Foreground", "Orphan"))
    return made


def _owner(rng: random.Random) -> dict[str, Any]:
    """An owner, by its key; `wrong` ones are such as nobody has."""
    return {
        "key": (rng.choice(list(_KINDS)), rng.choice(_NAMES)),
        "blocks": rng.random() < 0.6,
        "wrong": rng.choice(("", "", "", "", "", "uid", "name", "kind")),
    }


class _Side:
    """One of the two servers, while a sequence goes on in a namespace of its own."""

    def __init__(self, door: Door, namespace: str) -> None:
        self._door, self._base = door, f"/api/v1/namespaces/{namespace}"
        self._uids: dict[Key, str] = {}
        self._names: dict[str, str] = {}  # of all uids that there were: an object of the same name is another one
        self._namespace = namespace

    async def start(self) -> None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._namespace}}
        assert (await self._ask("POST", "/api/v1/namespaces", body)).status == 201

    async def do(self, operation: Operation) -> int:
        """Carry an operation out; gives the status of the answer."""
        plural, name = operation["key"]
        path = f"{self._base}/{plural}"
        meta: dict[str, Any] = {}
        if "owners" in operation:
            # Each uid once: a second reference to one is dropped with a warning.
            references = {each["uid"]: each for each in map(self._reference, operation["owners"])}
            meta["ownerReferences"] = list(references.values())
        if "finalizers" in operation:
            meta["finalizers"] = operation["finalizers"]
        match operation["do"]:
            case "create":
                body = {"apiVersion": "v1", "kind": _KINDS[plural], "metadata": {"name": name, **meta}}
                answer = await self._ask("POST", path, body)
                if answer.status == 201:
                    uid = self._uids[plural, name] = json.loads(answer.body)["metadata"]["uid"]
                    self._names[uid] = f"{plural}/{name}, {len(self._names)}"
            case "delete":
                policy = {"propagationPolicy": operation["policy"]} if operation["policy"] else {}
                options = {"kind": "DeleteOptions", "apiVersion": "v1", **policy}
                answer = await self._ask("DELETE", f"{path}/{name}", options)
            case _:
                answer = await self._ask("PATCH", f"{path}/{name}", {"metadata": meta}, _MERGE)
        return answer.status

    async def state(self) -> dict[str, Any]:
        """What there is, with uids as the keys of their objects."""
        found: dict[str, Any] = {}
        names = self._names
        for plural in _KINDS:
            for item in json.loads((await self._ask("GET", f"{self._base}/{plural}")).body)["items"]:
                meta = item["metadata"]
                if (plural, meta["name"]) not in self._uids:
                    continue  # what controllers put into each namespace
                owners = [
                    [
                        each["kind"],
                        each["name"],
                        names.get(each["uid"], each["uid"]),
                        each.get("blockOwnerDeletion"),
                    ]
                    for each in meta.get("ownerReferences") or ()
                ]
                is_going = "deletionTimestamp" in meta
                # Others put theirs behind what is there; who was first is chance.
                finalizers = sorted(meta.get("finalizers") or ())
                found[f"{plural}/{meta['name']}"] = {"owners": owners, "finalizers": finalizers, "going": is_going}
        return found

    def _reference(self, owner: dict[str, Any]) -> dict[str, Any]:
        plural, name = owner["key"]
        kind, uid = _KINDS[plural], self._uids.get((plural, name), f"{0:08x}-1111-1111-1111-111111111111")
        match owner["wrong"]:
            case "uid":
                uid = "22222222-1111-1111-1111-111111111111"
            case "name":
                name = "nobody"
            case "kind":
                kind = "Secret" if kind == "ConfigMap" else "ConfigMap"
        blocks = {"blockOwnerDeletion": True} if owner["blocks"] else {}
        return {"apiVersion": "v1", "kind": kind, "name": name, "uid": uid, **blocks}

    async def _ask(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Answer:
        sent = None if body is None else json.dumps(body).encode()
        return await self._door.ask(method, path, {"Content-Type": content_type, "User-Agent": "owning/1"}, sent)


async def _difference(real_door: Door, ours_door: EmbeddedDoor, operations: Sequence[Operation]) -> str:
    """The first difference of the two after any of the operations; empty if there is none."""
    namespace = f"o-{uuid.uuid4().hex[:10]}"
    real, ours = _Side(real_door, namespace), _Side(ours_door, namespace)
    await real.start()
    await ours.start()
    for place, operation in enumerate(operations):
        statuses = [await side.do(operation) for side in (real, ours)]
        if statuses[0] != statuses[1]:
            return f"after {place} {operation}: status: {statuses[0]} -> {statuses[1]}"
        await ours_door.server.settle()
        wanted = await ours.state()
        if text := await _waited(real, wanted):
            return f"after {place} {operation}:\n{text}"
    await asyncio.sleep(_STILL_SECONDS)
    return differences(await real.state(), await ours.state())


async def _waited(real: _Side, wanted: dict[str, Any]) -> str:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        text = differences(await real.state(), wanted)
        if not text or time.monotonic() > deadline:
            return text
        await asyncio.sleep(_POLL_SECONDS)


def compare_owning(access: ClusterAccess, *, seed: int, operations: int, length: int) -> Verdict:
    """Run sequences of `length` operations, made from `seed` on, until there are `operations`, and compare.

    Args:
        access: of a cluster with kube-controller-manager.
    """
    return asyncio.run(_compare(access, seed, operations, length))


async def _compare(access: ClusterAccess, seed: int, operations: int, length: int) -> Verdict:
    started = time.monotonic()
    sequences = {seed + number: sequence(seed + number, length) for number in range(-(-operations // length))}
    door, ours = RealDoor(access), EmbeddedDoor(controllers=True)
    try:
        limit = asyncio.Semaphore(_AT_A_TIME)

        async def differing(number: int) -> tuple[int, str]:
            async with limit:
                text = ""
                for _ in range(_TIMES):
                    text = await _difference(door, ours, sequences[number])
                    if not text:
                        break
                return number, text

        results = await asyncio.gather(*map(differing, sequences))
    finally:
        await door.close()
    bad = {number: text for number, text in results if text}
    lines = [f"the servers differ in {len(bad)} sequences (real -> embedded):"] if bad else []
    lines += [f"seed {number}: {text}" for number, text in sorted(bad.items())[:5]]
    total = sum(map(len, sequences.values()))
    return Verdict(total, len(sequences), time.monotonic() - started, "\n".join(lines))
