"""Patches that are sent both to a real server and to one in this process: of each directive, and with mistakes."""

from __future__ import annotations

from typing import Any

from base_objects import Object

JSON = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


def _container(name: str, **fields: Any) -> Object:
    return {"name": name, "image": f"example.com/{name}:1", **fields}


_SPEC: Object = {
    "containers": [
        _container(
            "one",
            env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
            ports=[{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 90, "protocol": "TCP"}],
            args=["x", "y"],
            volumeMounts=[{"name": "cache", "mountPath": "/cache"}],
            resources={"limits": {"cpu": "1", "memory": "1Gi"}},
            livenessProbe={"httpGet": {"path": "/healthz", "port": 80}},
        ),
        _container("two", env=[{"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
        _container("three"),
    ],
    "volumes": [{"name": "cache", "emptyDir": {}}, {"name": "conf", "configMap": {"name": "conf"}}],
    "tolerations": [{"key": "a", "operator": "Exists"}],
    "imagePullSecrets": [{"name": "first"}, {"name": "second"}],
    "nodeSelector": {"disk": "ssd"},
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
}

BASES: dict[str, Object] = {
    "deployment": {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"app": "web"}, "finalizers": ["example.com/a", "example.com/b"]},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}, "annotations": {"k": "v"}}, "spec": _SPEC},
        },
    },
    "service": {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"app": "web"},
            "ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}],
        },
    },
    "config": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf"}, "data": {"a": "1", "b": "2"}},
    "secret": {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "1"}},
    "account": {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "robot"},
        "secrets": [{"name": "a"}, {"name": "b"}],
        "imagePullSecrets": [{"name": "x"}],
    },
    "role": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    },
    "webhooks": {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "hooks-$namespace"},
        "webhooks": [
            {
                "name": f"{name}.example.com",
                "clientConfig": {"service": {"namespace": "default", "name": name}},
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Ignore",
                "rules": [
                    {"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["x"]}
                ],
            }
            for name in ("a", "b")
        ],
    },
}


def _containers(*items: Object, **beside: Any) -> Object:
    return {"spec": {"template": {"spec": {"containers": list(items), **beside}}}}


def _pod(**fields: Any) -> Object:
    return {"spec": {"template": {"spec": fields}}}


def _one(**fields: Any) -> Object:
    return _containers({"name": "one", **fields})


_ORDER = "$setElementOrder"
_DELETE = "$deleteFromPrimitiveList"

_DEPLOYMENT: dict[str, Any] = {
    "nothing": {},
    "null": None,
    "a scalar": {"spec": {"replicas": 5}},
    "a scalar taken away is defaulted again": {"spec": {"replicas": None}},
    "a null for nothing": {"spec": {"paused": None}},
    "a label": {"metadata": {"labels": {"b": "c"}}},
    "a label taken away": {"metadata": {"labels": {"app": None}}},
    "the labels taken away": {"metadata": {"labels": None}},
    "the selector": {"spec": {"selector": {"matchLabels": {"other": "x"}}}},
    "an image by name": _one(image="new"),
    "a new container goes first": _containers(_container("four")),
    "two containers in another order": _containers(_container("three", tty=True), {"name": "one", "stdin": True}),
    "an old and a new container": _containers(_container("four"), {"name": "two", "image": "new"}),
    "a container deleted": _containers({"name": "two", "$patch": "delete"}),
    "a container deleted that is not there": _containers({"name": "nine", "$patch": "delete"}),
    "a container deleted without its key": _containers({"image": "two", "$patch": "delete"}),
    "a container deleted and made": _containers({"name": "two", "$patch": "delete"}, _container("two", tty=True)),
    "all containers deleted": _containers(*({"name": each, "$patch": "delete"} for each in ("one", "two", "three"))),
    "the containers replaced": _containers({"$patch": "replace"}, _container("only")),
    "the containers replaced, directive last": _containers(_container("only"), {"$patch": "replace"}),
    "the containers replaced by none": _containers({"$patch": "replace"}),
    "the containers merged by directive": _containers({"$patch": "merge"}, _container("one")),
    "an unknown directive of an item": _containers({"name": "one", "$patch": "nonsense"}),
    "an unknown directive of an object": {"spec": {"$patch": "nonsense", "replicas": 3}},
    "a merge directive of an object": {"spec": {"$patch": "merge", "replicas": 4}},
    "a directive that is a number": {"spec": {"$patch": 3}},
    "a container without its key": _containers({"image": "x"}),
    "a container that is a string": _containers("one"),  # type: ignore[arg-type]
    "a container that is null": _containers(None),  # type: ignore[arg-type]
    "containers that are an object": _pod(containers={"name": "one"}),
    "containers that are a string": _pod(containers="one"),
    "containers that are null": _pod(containers=None),
    "a container with a number as name": _containers({"name": 5, "image": "x"}),
    "env by name": _one(env=[{"name": "B", "value": "3"}, {"name": "D", "value": "4"}]),
    "env deleted": _one(env=[{"name": "A", "$patch": "delete"}]),
    "env whose value becomes a reference": _one(
        env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    ),
    "env whose value becomes a reference, and null": _one(
        env=[{"name": "A", "value": None, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    ),
    "env taken away": _one(env=None),
    "ports by number": _one(ports=[{"containerPort": 80, "name": "http"}]),
    "ports of two protocols": _one(ports=[{"containerPort": 80, "protocol": "UDP"}]),
    "args are one value": _one(args=["z"]),
    "mounts by path": _one(volumeMounts=[{"mountPath": "/conf", "name": "conf"}]),
    "mounts deleted": _one(volumeMounts=[{"mountPath": "/cache", "$patch": "delete"}]),
    "limits": _one(resources={"limits": {"cpu": "2"}}),
    "limits taken away": _one(resources={"limits": {"cpu": None}}),
    "resources replaced": _one(resources={"$patch": "replace", "requests": {"cpu": "1"}}),
    "resources deleted": _one(resources={"$patch": "delete"}),
    "a probe of another kind": _one(livenessProbe={"tcpSocket": {"port": 80}}),
    "a probe of another kind, the old one null": _one(livenessProbe={"httpGet": None, "tcpSocket": {"port": 80}}),
    "a probe replaced": _one(livenessProbe={"$patch": "replace", "tcpSocket": {"port": 80}}),
    "a volume by name": _pod(volumes=[{"name": "conf", "configMap": {"name": "other"}}]),
    "a volume of another kind": _pod(volumes=[{"name": "cache", "hostPath": {"path": "/x"}}]),
    "a volume of another kind, retaining keys": _pod(
        volumes=[{"name": "cache", "hostPath": {"path": "/x"}, "$retainKeys": ["name", "hostPath"]}]
    ),
    "retained keys that leave one out": _pod(
        volumes=[{"name": "cache", "hostPath": {"path": "/x"}, "$retainKeys": ["name"]}]
    ),
    "retained keys that are a string": _pod(volumes=[{"name": "cache", "$retainKeys": "name"}]),
    "retained keys of the strategy": {
        "spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate", "rollingUpdate": None}}
    },
    "the strategy without retained keys": {"spec": {"strategy": {"type": "Recreate"}}},
    "the strategy with null": {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}},
    "a volume deleted": _pod(volumes=[{"name": "conf", "$patch": "delete"}]),
    "tolerations are one value": _pod(tolerations=[{"key": "b", "operator": "Exists"}]),
    "pull secrets by name": _pod(imagePullSecrets=[{"name": "third"}]),
    "a pull secret deleted": _pod(imagePullSecrets=[{"name": "first", "$patch": "delete"}]),
    "aliases by address": _pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["b"]}]),
    "the node selector": _pod(nodeSelector={"zone": "a"}),
    "the node selector replaced": _pod(nodeSelector={"$patch": "replace", "zone": "a"}),
    "the node selector deleted": _pod(nodeSelector={"$patch": "delete"}),
    "finalizers are a set": {"metadata": {"finalizers": ["example.com/c"]}},
    "finalizers that are there": {"metadata": {"finalizers": ["example.com/b"]}},
    "a finalizer deleted": {"metadata": {f"{_DELETE}/finalizers": ["example.com/a"]}},
    "finalizers deleted and added": {
        "metadata": {f"{_DELETE}/finalizers": ["example.com/a"], "finalizers": ["example.com/d"]}
    },
    "all finalizers deleted": {"metadata": {f"{_DELETE}/finalizers": ["example.com/a", "example.com/b"]}},
    "a finalizer deleted that is not there": {"metadata": {f"{_DELETE}/finalizers": ["example.com/x"]}},
    "deletion that names no list": {"metadata": {_DELETE: ["example.com/a"]}},
    "deletion that is no list": {"metadata": {f"{_DELETE}/finalizers": "example.com/a"}},
    "deletion from an unknown list": {"metadata": {f"{_DELETE}/nonsense": ["a"]}},
    "deletion from args": _one(**{f"{_DELETE}/args": ["x"]}),
    "finalizers in an order": {
        "metadata": {
            f"{_ORDER}/finalizers": ["example.com/b", "example.com/c", "example.com/a"],
            "finalizers": ["example.com/c"],
        }
    },
    "finalizers only in an order": {"metadata": {f"{_ORDER}/finalizers": ["example.com/b", "example.com/a"]}},
    "containers only in an order": _pod(**{f"{_ORDER}/containers": [{"name": "three"}, {"name": "one"}]}),
    "containers in an order": _pod(
        **{
            f"{_ORDER}/containers": [{"name": "three"}, {"name": "four"}, {"name": "one"}, {"name": "two"}],
            "containers": [_container("four")],
        }
    ),
    "containers in an order, one deleted": _pod(
        **{
            f"{_ORDER}/containers": [{"name": "three"}, {"name": "one"}],
            "containers": [{"name": "two", "$patch": "delete"}],
        }
    ),
    "containers in an order that is not theirs": _pod(
        **{
            f"{_ORDER}/containers": [{"name": "one"}, {"name": "two"}],
            "containers": [{"name": "two", "tty": True}, {"name": "one", "tty": True}],
        }
    ),
    "an order without the item": _pod(
        **{f"{_ORDER}/containers": [{"name": "one"}], "containers": [{"name": "two", "tty": True}]}
    ),
    "an order that is no list": _pod(**{f"{_ORDER}/containers": "one"}),
    "an order of strings": _pod(**{f"{_ORDER}/containers": ["one"]}),
    "an order that names no list": _pod(**{_ORDER: ["one"]}),
    "an order of an unknown list": _pod(**{f"{_ORDER}/nonsense": ["one"]}),
    "an order of mounts that are not there": _containers(
        {"name": "two", f"{_ORDER}/volumeMounts": [{"mountPath": "/a"}]}
    ),
    "an order and mounts that are new": _containers(
        {
            "name": "two",
            f"{_ORDER}/volumeMounts": [{"mountPath": "/b"}, {"mountPath": "/a"}],
            "volumeMounts": [{"mountPath": "/b", "name": "conf"}, {"mountPath": "/a", "name": "cache"}],
        }
    ),
    "an unknown field": {"spec": {"nonsense": 1}},
    "an unknown object": {"spec": {"nonsense": {"a": 1}}},
    "an unknown list": {"spec": {"nonsense": [1]}},
    "an unknown field of an item": _one(nonsense=1),
    "a wrong type": {"spec": {"replicas": "many"}},
    "an object for a number": {"spec": {"replicas": {"a": 1}}},
    "a number for an object": {"spec": {"template": 5}},
    "a list of lists": _pod(containers=[["one"]]),
    "a mix of types": {"metadata": {"finalizers": ["example.com/a", 5]}},
    "the name": {"metadata": {"name": "other"}},
    "the namespace": {"metadata": {"namespace": "elsewhere"}},
    "the kind": {"kind": "DaemonSet"},
    "the version": {"apiVersion": "v1"},
    "an old revision": {"metadata": {"resourceVersion": "1"}},
    "an invalid value": {"spec": {"replicas": -1}},
    "the status, which is not changed here": {"status": {"replicas": 7}},
    "owners by uid": {
        "metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}]},
    },
    "everything replaced": {"$patch": "replace", "spec": {"replicas": 1}},
    "everything deleted": {"$patch": "delete"},
}

_SERVICE: dict[str, Any] = {
    "a port by number": {"spec": {"ports": [{"port": 80, "targetPort": 8080}]}},
    "a new port": {"spec": {"ports": [{"name": "metrics", "port": 9090}]}},
    "a port deleted": {"spec": {"ports": [{"port": 443, "$patch": "delete"}]}},
    "ports in an order": {"spec": {f"{_ORDER}/ports": [{"port": 443}, {"port": 80}]}},
    "ports without the number": {"spec": {"ports": [{"name": "http", "targetPort": 1}]}},
    "the selector": {"spec": {"selector": {"b": "c"}}},
    "the selector replaced": {"spec": {"selector": {"$patch": "replace", "b": "c"}}},
    "the type": {"spec": {"type": "ExternalName", "externalName": "example.com", "clusterIP": None}},
    "the address": {"spec": {"clusterIP": "10.96.0.250"}},
    "no type": {"spec": {"type": None}},
    "an unknown type": {"spec": {"type": "Other"}},
    "external addresses": {"spec": {"externalIPs": ["1.2.3.4"]}},
    "a node port": {
        "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 31234}, {"port": 443, "nodePort": 31235}]}
    },
}

_OTHERS: dict[tuple[str, str], Any] = {
    ("config", "a key"): {"data": {"c": "3"}},
    ("config", "a key taken away"): {"data": {"a": None}},
    ("config", "the data replaced"): {"data": {"$patch": "replace", "z": "1"}},
    ("config", "immutable"): {"immutable": True},
    ("config", "a number"): {"data": {"c": 3}},
    ("config", "a list for a map"): {"data": ["a"]},
    ("secret", "text"): {"stringData": {"b": "2"}},
    ("secret", "the type"): {"type": "example.com/x"},
    ("account", "secrets by name"): {"secrets": [{"name": "c"}]},
    ("account", "a secret deleted"): {"secrets": [{"name": "a", "$patch": "delete"}]},
    ("account", "pull secrets"): {"imagePullSecrets": [{"name": "y"}]},
    ("account", "secrets in an order"): {f"{_ORDER}/secrets": [{"name": "b"}, {"name": "a"}]},
    ("role", "rules are one value"): {"rules": [{"apiGroups": ["a"], "resources": ["b"], "verbs": ["c"]}]},
    ("role", "rules taken away"): {"rules": None},
    ("webhooks", "a webhook by name"): {"webhooks": [{"name": "b.example.com", "timeoutSeconds": 5}]},
    ("webhooks", "a webhook deleted"): {"webhooks": [{"name": "b.example.com", "$patch": "delete"}]},
    ("webhooks", "an incomplete webhook"): {"webhooks": [{"name": "c.example.com"}]},
    ("webhooks", "conditions by name"): {
        "webhooks": [{"name": "a.example.com", "matchConditions": [{"name": "x", "expression": "true"}]}]
    },
}

_MERGE: dict[str, Any] = {
    "nothing": {},
    "a list": [],
    "a text": "x",
    "null": None,
    "containers are one value": _containers(_container("only")),
    "a null in a list": _containers({"name": "only", "image": "x", "env": None}),
    "a scalar": {"spec": {"replicas": 7}},
    "a scalar taken away": {"spec": {"replicas": None}},
    "an object for a scalar": {"spec": {"replicas": {"a": 1}}},
    "a scalar for an object": {"spec": {"strategy": "x"}},
    "an unknown field": {"spec": {"nonsense": None, "other": 1}},
    "the template taken away": {"spec": {"template": None}},
    "finalizers": {"metadata": {"finalizers": ["example.com/z"]}},
}

_JSON: dict[str, Any] = {
    "none": [],
    "an image": [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "new"}],
    "a container at the end": [{"op": "add", "path": "/spec/template/spec/containers/-", "value": _container("four")}],
    "a container in the middle": [
        {"op": "add", "path": "/spec/template/spec/containers/1", "value": _container("four")}
    ],
    "a container taken away": [{"op": "remove", "path": "/spec/template/spec/containers/1"}],
    "a container from the end": [{"op": "remove", "path": "/spec/template/spec/containers/-1"}],
    "a container out of range": [{"op": "remove", "path": "/spec/template/spec/containers/9"}],
    "a test that holds": [{"op": "test", "path": "/spec/replicas", "value": 3}],
    "a test that fails": [{"op": "test", "path": "/spec/replicas", "value": 4}],
    "a missing path": [{"op": "add", "path": "/spec/nothing/here", "value": 4}],
    "a label with a slash": [{"op": "add", "path": "/metadata/labels/example.com~1a", "value": "x"}],
    "a move": [{"op": "move", "from": "/metadata/labels", "path": "/metadata/annotations"}],
    "a copy": [{"op": "copy", "from": "/spec/template/metadata/annotations", "path": "/metadata/annotations"}],
    "an unknown operation": [{"op": "merge", "path": "/spec"}],
    "an object": {"op": "add"},
    "an unknown member": [{"op": "test", "path": "/spec/replicas", "value": 3, "note": "x"}],
    "a path that is a number": [{"op": "test", "path": 5}],
    "10,001 operations": [{"op": "test", "path": "/spec/replicas", "value": 3}] * 10_001,
    "10,000 operations": [{"op": "test", "path": "/spec/replicas", "value": 3}] * 10_000,
    "everything": [{"op": "replace", "path": "", "value": {}}],
    "an unknown field": [{"op": "add", "path": "/spec/nonsense", "value": 1}],
}

PATCHES: dict[str, tuple[str, str, Any]] = {
    **{f"strategic, deployment: {name}": ("deployment", STRATEGIC, each) for name, each in _DEPLOYMENT.items()},
    **{f"strategic, service: {name}": ("service", STRATEGIC, each) for name, each in _SERVICE.items()},
    **{f"strategic, {base}: {name}": (base, STRATEGIC, each) for (base, name), each in _OTHERS.items()},
    **{f"merge: {name}": ("deployment", MERGE, each) for name, each in _MERGE.items()},
    **{f"json: {name}": ("deployment", JSON, each) for name, each in _JSON.items()},
}
