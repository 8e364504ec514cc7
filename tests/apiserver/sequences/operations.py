"""Random sequences of operations, as steps of the fidelity suite.

Owns what is asked, and how often. A sequence is made from a number alone, so that a number reproduces it; it is a
list of steps in the format of `fidelity.cases`, so that a counterexample can be put there as it is. It works on a few
names of a few kinds, for the sake of conflicts. Who has a version or uid refers to one that was seen
(`$rv_widgets_a`), not to a number, so that the same sequence says the same on both servers.

Several field managers update and apply, of all kinds, through the status and the scale too, and in both versions of
one kind. What a server without controllers leaves alone is left alone; `owning` has garbage collection.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fidelity.cases import Step

NAMES = ("a", "b", "c", "d")
END = "zz-end"
"""The object whose event ends the reading of each watch."""

_LABELS = ("a", "b")
_PATHS = (
    *("/data/k", "/data/n", "/spec/size", "/spec/tags/-", "/spec/tags/0"),
    *("/spec/replicas", "/metadata/labels/x"),
)
_FINALIZERS = ("example.com/a", "example.com/b")
_MANAGERS = ("alice", "bob", "carol", "kubectl")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind: its path within the namespace, its base object, and random changes of its own part."""

    plural: str
    path: str
    like: str
    change: Callable[[random.Random], dict[str, Any]]
    views: tuple[str, ...] = ()
    is_custom: bool = False
    other: tuple[str, str] | None = None
    """The path and the base object of another version."""

    @property
    def applied_to_status(self) -> bool:
        return "status" in self.views


def _data(rng: random.Random) -> dict[str, Any]:
    return {"data": {rng.choice("klm"): rng.choice(("v", "w", "", None)) for _ in range(rng.randint(1, 2))}}


def _spec(rng: random.Random) -> dict[str, Any]:
    choices: list[dict[str, Any]] = [
        {"size": rng.choice((0, 1, 2, 10, 11, "x", None))},
        {"color": rng.choice(("red", "blue", None, "much too long"))},
        {"tags": [rng.choice("xyz") for _ in range(rng.randint(0, 3))]},
        {"replicas": rng.choice((0, 3, None))},
        {"parts": [{"name": name, "count": rng.randint(0, 3)} for name in rng.choices("pqr", k=rng.randint(0, 3))]},
        {"unknown": 1},
    ]
    return {"spec": dict(pair for each in rng.sample(choices, rng.randint(1, 2)) for pair in each.items())}


def _gadget(rng: random.Random) -> dict[str, Any]:
    choices: list[dict[str, Any]] = [
        {"text": rng.choice(("a", "b", None))},
        {"number": rng.choice((1, 2, None))},
        {"filled": rng.choice(("a", None))},
        {"replicas": rng.choice((0, 3))},
        {"port": rng.choice((80, "web"))},
        {"atomicList": rng.sample("abc", rng.randint(0, 3))},
        {"atomicMap": {name: rng.choice("12") for name in rng.sample("ab", rng.randint(0, 2))}},
        {"set": rng.sample("abcd", rng.randint(0, 3))},
        {"map": {name: rng.choice(("1", "2", None)) for name in rng.sample("abc", rng.randint(0, 2))}},
        {"structs": {name: {"a": rng.choice("12")} for name in rng.sample("xy", rng.randint(0, 2))}},
        {"free": {"a": rng.choice((1, "x", True)), "b": {"c": rng.choice((1, 2))}}},
        {"byName": [{"name": name, "value": rng.randint(0, 2)} for name in rng.sample("pqr", rng.randint(0, 3))]},
        {"ports": [{"port": port, "name": rng.choice("xy")} for port in rng.sample((80, 81), rng.randint(0, 2))]},
    ]
    return {"spec": dict(pair for each in rng.sample(choices, rng.randint(1, 3)) for pair in each.items())}


def _workload(rng: random.Random) -> dict[str, Any]:
    container = {"name": rng.choice("cde"), "image": rng.choice(("nginx", "redis"))}
    choices: list[dict[str, Any]] = [
        {"replicas": rng.choice((0, 1, 5, -1))},
        {"paused": rng.choice((True, False, None))},
        {"minReadySeconds": rng.choice((0, 5))},
        {"template": {"spec": {"containers": [container]}}},
        {"template": {"metadata": {"annotations": {"x": rng.choice(("1", "2", None))}}}},
        {"strategy": rng.choice(({"type": "Recreate"}, {"rollingUpdate": {"maxSurge": 1}}))},
    ]
    return {"spec": rng.choice(choices)}


def _lease(rng: random.Random) -> dict[str, Any]:
    return {
        "spec": rng.choice(({"holderIdentity": rng.choice(("me", "you"))}, {"leaseTransitions": rng.randint(0, 3)}))
    }


def _pod(rng: random.Random) -> dict[str, Any]:
    return rng.choice(
        (
            {"spec": {"containers": [{"name": "c", "image": rng.choice(("nginx", "redis"))}]}},
            {"spec": {"activeDeadlineSeconds": rng.choice((5, 9))}},
            {"metadata": {"annotations": {"x": rng.choice(("1", "2"))}}},
        )
    )


def _secret(rng: random.Random) -> dict[str, Any]:
    # Without empty data: of an immutable Secret the real server takes it for a change, as Go's DeepEqual does, and here
    # it is none, as nothing that is stored can tell the two apart.
    choices: list[dict[str, Any]] = [
        {"stringData": {rng.choice("kl"): rng.choice(("v", ""))}},
        {"data": {rng.choice("kl"): rng.choice(("dg==", "%"))}},
        {"type": rng.choice(("Opaque", "other"))},
        {"immutable": rng.choice((True, False, None))},
    ]
    return rng.choice(choices)


def _service(rng: random.Random) -> dict[str, Any]:
    port = {"port": rng.choice((80, 81, 0)), "name": rng.choice("pq"), "targetPort": rng.choice((8080, "web"))}
    choices: list[dict[str, Any]] = [
        {"ports": [port]},
        {"selector": rng.choice(({"app": "b"}, None))},
        {"sessionAffinity": rng.choice(("ClientIP", "None"))},
        {"type": rng.choice(("NodePort", "ClusterIP", "LoadBalancer"))},
        {"clusterIP": rng.choice(("None", ""))},
        {"publishNotReadyAddresses": rng.choice((True, False))},
    ]
    return {"spec": dict(pair for each in rng.sample(choices, rng.randint(1, 2)) for pair in each.items())}


def _stateful(rng: random.Random) -> dict[str, Any]:
    choices: list[dict[str, Any]] = [
        {"replicas": rng.choice((0, 1, 5))},
        {"serviceName": rng.choice(("a", "b"))},
        {"podManagementPolicy": rng.choice(("Parallel", "OrderedReady"))},
        {"updateStrategy": rng.choice(({"type": "OnDelete"}, {"rollingUpdate": {"partition": 2}}))},
        {"template": {"spec": {"terminationGracePeriodSeconds": rng.choice((0, 5))}}},
    ]
    return {"spec": rng.choice(choices)}


def _job(rng: random.Random) -> dict[str, Any]:
    choices: list[dict[str, Any]] = [
        {"parallelism": rng.choice((0, 2, -1))},
        {"completions": rng.choice((1, 3))},
        {"suspend": rng.choice((True, False))},
        {"backoffLimit": rng.choice((0, 6))},
        {"template": {"spec": {"containers": [{"name": "c", "image": rng.choice(("nginx", "redis"))}]}}},
    ]
    return {"spec": rng.choice(choices)}


KINDS = (
    Kind("configmaps", "$core/configmaps", "config-map", _data),
    Kind("widgets", "$crs/widgets", "widget", _spec, ("status", "scale"), is_custom=True),
    Kind(
        "gadgets",
        "$crs/gadgets",
        "gadget",
        _gadget,
        ("status", "scale"),
        is_custom=True,
        other=("/apis/$shared/v1beta1/namespaces/$ns/gadgets", "old-gadget"),
    ),
    Kind("deployments", "$apps/deployments", "deployment", _workload, ("status", "scale")),
    Kind("leases", "/apis/coordination.k8s.io/v1/namespaces/$ns/leases", "lease", _lease),
    Kind("pods", "$core/pods", "pod", _pod, ("binding", "eviction")),
    Kind("secrets", "$core/secrets", "secret", _secret),
    Kind("services", "$core/services", "service", _service),
    Kind("statefulsets", "$apps/statefulsets", "stateful-set", _stateful, ("scale",)),
    Kind("cronjobs", "$batch/cronjobs", "cron-job", lambda rng: {"spec": {"jobTemplate": _job(rng)}}),
)


class _Sequence:
    """Steps as they are drawn."""

    def __init__(self, seed: int, length: int) -> None:
        self._rng = random.Random(seed)
        self.steps: list[Step] = []
        self._kinds = self._rng.sample(KINDS, self._rng.randint(2, 3))
        self._watches: list[tuple[str, Kind]] = []
        draws: list[tuple[Callable[[Kind, str], None], int]] = [
            (self._create, 22),
            (self._update, 16),
            (self._merge_patch, 12),
            (self._json_patch, 10),
            (self._strategic_patch, 10),
            (self._patch_meta, 10),
            (self._view, 10),
            (self._delete, 14),
            (self._get, 3),
            (self._list, 8),
            (self._watch, 4),
            (self._delete_collection, 1),
            (self._apply, 24),
        ]
        while len(self.steps) < length:
            draw = self._rng.choices([each for each, _ in draws], [weight for _, weight in draws])[0]
            draw(self._rng.choice(self._kinds), self._rng.choice(NAMES))
        self._close()

    def _add(self, kind: Kind, name: str, method: str, target: str, **rest: Any) -> None:
        step: dict[str, Any] = {"do": f"{method} {target}", "unordered": True, **rest}
        if "watch" not in rest:
            key = f"{kind.plural}_{name}"
            step.setdefault("save", {f"rv_{key}": "metadata.resourceVersion", f"uid_{key}": "metadata.uid"})
        self.steps.append(Step(step))

    def _query(self, **options: str) -> str:
        """The query of a write: now and then a dry run, a field validation."""
        if self._rng.random() < 0.06:
            options["dryRun"] = "All"
        if self._rng.random() < 0.4:
            options.setdefault("fieldManager", self._rng.choice(_MANAGERS))
        if self._rng.random() < 0.15:
            options["fieldValidation"] = self._rng.choice(("Strict", "Ignore", "Warn"))
        return "?" + "&".join(f"{name}={value}" for name, value in options.items()) if options else ""

    def _meta(self) -> dict[str, Any]:
        rng = self._rng
        meta: dict[str, Any] = {}
        if rng.random() < 0.5:
            meta["labels"] = {"x": rng.choice(_LABELS)}
        if rng.random() < 0.25:
            meta["finalizers"] = rng.sample(_FINALIZERS, rng.randint(1, 2))
        if rng.random() < 0.15:
            kind, name = rng.choice(self._kinds), rng.choice(NAMES)
            owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": f"$uid_{kind.plural}_{name}"}
            meta["ownerReferences"] = [owner]
        return meta

    def _object(self, kind: Kind, name: str) -> dict[str, Any]:
        changes = _without_nulls(kind.change(self._rng)) if self._rng.random() < 0.7 else {}
        return {"$like": kind.like, "metadata": {"name": name, **self._meta()}, "$with": changes}

    def _create(self, kind: Kind, name: str) -> None:
        self._add(kind, name, "POST", kind.path + self._query(), body=self._object(kind, name))

    def _update(self, kind: Kind, name: str) -> None:
        body = self._object(kind, name)
        draw = self._rng.random()
        if draw < 0.6:
            body["metadata"]["resourceVersion"] = f"$rv_{kind.plural}_{name}"
        elif draw < 0.7:
            body["metadata"]["resourceVersion"] = f"$rv_{kind.plural}_{self._rng.choice(NAMES)}"
        if self._rng.random() < 0.15:
            body["metadata"]["uid"] = f"$uid_{kind.plural}_{self._rng.choice(NAMES)}"
        self._add(kind, name, "PUT", f"{kind.path}/{name}{self._query()}", body=body)

    def _merge_patch(self, kind: Kind, name: str) -> None:
        body = kind.change(self._rng)
        if self._rng.random() < 0.1:
            body.setdefault("metadata", {})["resourceVersion"] = f"$rv_{kind.plural}_{name}"
        self._patch(kind, name, "merge", body)

    def _strategic_patch(self, kind: Kind, name: str) -> None:
        self._patch(kind, name, "strategic", kind.change(self._rng))

    def _json_patch(self, kind: Kind, name: str) -> None:
        rng = self._rng
        operations: list[dict[str, Any]] = []
        for _ in range(rng.randint(1, 3)):
            operation = rng.choice(("add", "add", "replace", "remove", "test", "copy", "move"))
            entry: dict[str, Any] = {"op": operation, "path": rng.choice(_PATHS)}
            if operation in ("add", "replace", "test"):
                entry["value"] = rng.choice(("v", "w", 1, 2, None, ["x"]))
            elif operation in ("copy", "move"):
                entry["from"] = rng.choice(_PATHS)
            operations.append(entry)
        self._patch(kind, name, "json", operations)

    def _patch_meta(self, kind: Kind, name: str) -> None:
        rng = self._rng
        changes: list[dict[str, Any]] = [
            {"labels": {"x": rng.choice((*_LABELS, None))}},
            {"annotations": {rng.choice("ef"): rng.choice(("1", None))}},
            {"finalizers": rng.choice((None, [], [_FINALIZERS[0]], list(_FINALIZERS)))},
            {"finalizers": None},
            {"$deleteFromPrimitiveList/finalizers": [rng.choice(_FINALIZERS)]},
        ]
        change = rng.choice(changes)
        is_strategic = any(key.startswith("$") for key in change) or (not kind.is_custom and rng.random() < 0.4)
        self._patch(kind, name, "strategic" if is_strategic else "merge", {"metadata": change})

    def _patch(self, kind: Kind, name: str, kind_of_patch: str, body: Any) -> None:
        self._add(kind, name, "PATCH", f"{kind.path}/{name}{self._query()}", body=body, **{"as": kind_of_patch})

    def _view(self, kind: Kind, name: str) -> None:
        if not kind.views:
            return
        rng = self._rng
        body: dict[str, Any]
        view = rng.choice(kind.views)
        target = f"{kind.path}/{name}/{view}"
        if rng.random() < 0.2:
            self._add(kind, name, "GET", target)
        elif view == "status" and rng.random() < 0.3:
            key = "ready" if kind.is_custom else "replicas"
            whole = self._object(kind, name) | {"status": {key: rng.choice((0, 1, 2))}}
            if rng.random() < 0.7:
                whole["metadata"]["resourceVersion"] = f"$rv_{kind.plural}_{name}"
            self._add(kind, name, "PUT", target + self._query(), body=whole)
        elif view == "binding":
            body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"name": "n"}}
            self._add(kind, name, "POST", target, body=body)
        elif view == "eviction":
            body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
            self._add(kind, name, "POST", target, body=body)
        elif view == "status":
            key = "ready" if kind.is_custom else "replicas"
            body = {"status": {key: rng.choice((0, 1, 2, "x"))}, **rng.choice(({}, kind.change(rng)))}
            self._add(kind, name, "PATCH", target + self._query(), body=body, **{"as": "merge"})
        else:
            # Never the same twice: the real server writes a scale that changes nothing, for its managedFields.
            body = {"spec": {"replicas": rng.randrange(1_000, 1_000_000)}}
            self._add(kind, name, "PATCH", target + self._query(), body=body, **{"as": "merge"})

    def _apply(self, kind: Kind, name: str) -> None:
        """An apply of a part of an object, by its status or scale at times."""
        rng = self._rng
        options = {"fieldManager": rng.choice(_MANAGERS)}
        if rng.random() < 0.4:
            options["force"] = "true"
        path, like = kind.path, kind.like
        if kind.other is not None and rng.random() < 0.3:
            path, like = kind.other
        body: dict[str, Any] = {"$like": like, "metadata": {"name": name, **self._meta()}}
        if rng.random() < 0.85:
            body["$with"] = _without_nulls(kind.change(rng))
        target, draw = f"{path}/{name}", rng.random()
        if draw < 0.12 and kind.applied_to_status:
            target += "/status"
            body["status"] = {"size" if kind.plural == "gadgets" else "ready" if kind.is_custom else "replicas": 1}
        elif draw < 0.2 and "scale" in kind.views:
            target += "/scale"
            body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name}}
            body["spec"] = {"replicas": rng.randrange(1_000, 1_000_000)}
        self._add(kind, name, "PATCH", target + self._query(**options), body=body, **{"as": "apply"})

    def _delete(self, kind: Kind, name: str) -> None:
        rng = self._rng
        options: dict[str, Any] = {}
        if rng.random() < 0.3:
            options["propagationPolicy"] = rng.choice(("Background", "Foreground", "Orphan"))
        if rng.random() < 0.2:
            options["preconditions"] = rng.choice(
                (
                    {"uid": f"$uid_{kind.plural}_{rng.choice(NAMES)}"},
                    {"resourceVersion": f"$rv_{kind.plural}_{rng.choice(NAMES)}"},
                )
            )
        if rng.random() < 0.1:
            options["gracePeriodSeconds"] = rng.choice((0, 5))
        body = {"body": {"kind": "DeleteOptions", "apiVersion": "v1", **options}} if options else {}
        self._add(kind, name, "DELETE", f"{kind.path}/{name}" + ("?dryRun=All" if rng.random() < 0.06 else ""), **body)

    def _delete_collection(self, kind: Kind, name: str) -> None:
        selector = self._rng.choice(("", f"?labelSelector=x%3D{self._rng.choice(_LABELS)}"))
        self._add(kind, name, "DELETE", kind.path + selector, save={})

    def _get(self, kind: Kind, name: str) -> None:
        self._add(kind, name, "GET", f"{kind.path}/{name}")

    def _list(self, kind: Kind, name: str) -> None:
        rng = self._rng
        query = rng.choice(
            (
                "",
                "limit=2",
                "limit=1",
                f"limit=2&continue=$next_{kind.plural}",
                f"limit=2&continue=$next_{kind.plural}",
                f"labelSelector=x%3D{rng.choice(_LABELS)}",
                f"limit=1&labelSelector=x%3D{rng.choice(_LABELS)}",
                f"fieldSelector=metadata.name!%3D{name}",
                f"resourceVersion=$rv_{kind.plural}_{name}&resourceVersionMatch=Exact",
                f"resourceVersion=$rv_{kind.plural}_{name}&resourceVersionMatch=Exact&limit=2",
            )
        )
        self._add(kind, name, "GET", f"{kind.path}?{query}", save={f"next_{kind.plural}": "metadata.continue"})

    def _watch(self, kind: Kind, name: str) -> None:
        rng = self._rng
        if len(self._watches) >= 3:
            return
        query = "watch=true"
        draw = rng.random()
        if draw < 0.5:
            query += f"&resourceVersion=$rv_{kind.plural}_{name}"
        elif draw < 0.75:
            query += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        else:
            # What the real server's cache lags behind, this list waits for.
            self._add(kind, name, "GET", kind.path, save={})
        if rng.random() < 0.3:
            query += f"&labelSelector=x%3D{_LABELS[0]}"
        watch = f"w{len(self._watches)}"
        self._watches.append((watch, kind))
        self._add(kind, name, "GET", f"{kind.path}?{query}", watch=watch)

    def _close(self) -> None:
        for kind in {kind.plural: kind for _, kind in self._watches}.values():
            body = {"$like": kind.like, "metadata": {"name": END, "labels": {"x": _LABELS[0]}}}
            self._add(kind, END, "POST", kind.path, body=body)
        for kind in self._kinds:
            self._add(kind, END, "GET", kind.path, save={})
        for watch, _ in self._watches:
            self.steps.append(Step({"read": watch, "upto": END}))


def sequence(seed: int, length: int) -> Sequence[Step]:
    """Return about `length` steps."""
    return _Sequence(seed, length).steps


def _without_nulls(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_nulls(value) for key, value in node.items() if value is not None}
    return node
