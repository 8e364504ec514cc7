"""Writes of the kinds that neither are Pods nor make them; see `write_cases`."""

from __future__ import annotations

import copy
from typing import Any

from base_objects import REMOVED, SELECTOR, Object, put
from more_objects import BACKEND, BASES, HOOK

_CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "configmap": {
        "binary": {"binaryData": {"b": "AAE="}},
        "key twice": {"binaryData": {"a": "AAE="}},
        "key bad": {"data": {"a b": "c"}},
        "key that goes up": {"data": {"..x": "e"}},
        "base64 bad": {"binaryData": {"a": "%"}},
        "value of a wrong type": {"data": {"a": 1}},
        "empty": {"data": {}},
        "immutable": {"immutable": True},
        "unknown field": {"spec": {}},
    },
    "secret": {
        "text": {"stringData": {"a": "x", "c": "d"}},
        "key bad": {"data": {"a/b": "Yg=="}},
        "base64 bad": {"data": {"a": "!"}},
        "base64 short": {"data": {"a": "Yg="}},
        "empty value": {"data": {"a": ""}},
        "tls without key": {"type": "kubernetes.io/tls", "data": {"tls.crt": "Yg=="}},
        "basic auth": {"type": "kubernetes.io/basic-auth"},
        "ssh auth": {"type": "kubernetes.io/ssh-auth"},
        "docker config": {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "eA=="}},
        "docker config missing": {"type": "kubernetes.io/dockerconfigjson"},
        "token without account": {"type": "kubernetes.io/service-account-token"},
        "own type": {"type": "example.com/x"},
    },
    "namespace": {
        "finalizers": {"spec": {"finalizers": ["example.com/x"]}},
        "finalizer bad": {"spec": {"finalizers": ["x"]}},
        "name with dots": {"metadata.name": "a.b"},
        "status": {"status": {"phase": "Terminating"}},
        "labels": {"metadata.labels": {"a": "b"}},
    },
    "serviceaccount": {
        "secrets": {"secrets": [{"name": "a", "kind": "x"}], "imagePullSecrets": [{"name": "b"}]},
        "no automount": {"automountServiceAccountToken": False},
    },
    "claim": {
        "no modes": {"spec.accessModes": []},
        "mode unknown": {"spec.accessModes": ["X", "ReadWriteOncePod", "ReadWriteOnce"]},
        "no size": {"spec.resources": REMOVED},
        "size 0": {"spec.resources": {"requests": {"storage": "0"}}},
        "class": {"spec.storageClassName": "fast"},
        "class bad": {"spec.storageClassName": "Fast_"},
        "no class": {"spec.storageClassName": ""},
        "volume mode unknown": {"spec.volumeMode": "X"},
        "source": {"spec.dataSource": {"kind": "PersistentVolumeClaim", "name": "a"}},
        "source bad": {"spec.dataSource": {"kind": "Pod", "name": ""}},
        "no spec": {"spec": REMOVED},
        "selector bad": {"spec.selector": {"matchLabels": {"a b": "c"}}},
        "size in parts": {"spec.resources.requests.storage": "1.5Gi"},
    },
    "volume": {
        "no source": {"spec.hostPath": REMOVED},
        "two sources": {"spec.nfs": {"server": "a", "path": "/b"}},
        "no capacity": {"spec.capacity": REMOVED},
        "capacity of memory": {"spec.capacity": {"memory": "1"}},
        "capacity 0": {"spec.capacity": {"storage": "0"}},
        "policy unknown": {"spec.persistentVolumeReclaimPolicy": "X"},
        "no modes": {"spec.accessModes": REMOVED},
    },
    "storageclass": {
        "no provisioner": {"provisioner": REMOVED},
        "provisioner bad": {"provisioner": "a b"},
        "policy unknown": {"reclaimPolicy": "X"},
        "mode unknown": {"volumeBindingMode": "X"},
        "waits": {"volumeBindingMode": "WaitForFirstConsumer", "parameters": {"a": "b"}},
        "topologies bad": {"allowedTopologies": [{"matchLabelExpressions": [{"key": "a b", "values": []}]}]},
    },
    "node": {
        "taints": {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}},
        "taints bad": {
            "spec": {
                "taints": [
                    {"key": "a b", "value": "c d", "effect": "X"},
                    {"key": "a", "effect": "NoSchedule"},
                    {"key": "a", "effect": "NoSchedule"},
                    {"key": "a"},
                ]
            }
        },
        "capacity": {"status": {"capacity": {"cpu": "4", "pods": "110"}}},
        "capacity bad": {"status": {"capacity": {"pods": "1.5"}}},
        "name bad": {"metadata.name": "Node_1"},
    },
    "quota": {
        "scopes": {"spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}},
        "scopes bad": {"spec": {"hard": {"services": "1"}, "scopes": ["X", "BestEffort", "NotBestEffort"]}},
        "resources bad": {"spec": {"hard": {"pods": "-1", "x": "1", "secrets": "1.5"}}},
        "of a kind": {"spec": {"hard": {"count/deployments.apps": "1"}}},
    },
    "limits": {
        "defaults": {"spec.limits": [{"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1Mi"}}]},
        "type unknown": {"spec.limits": [{"type": "X"}]},
        "type twice": {"spec.limits": [{"type": "Pod"}, {"type": "Pod"}]},
        "min above max": {"spec.limits": [{"type": "Pod", "min": {"cpu": "2"}, "max": {"cpu": "1"}}]},
        "default of a pod": {"spec.limits": [{"type": "Pod", "default": {"cpu": "2"}}]},
        "claim without size": {"spec.limits": [{"type": "PersistentVolumeClaim"}]},
        "default above max": {"spec.limits": [{"type": "Container", "default": {"cpu": "2"}, "max": {"cpu": "1"}}]},
        "ratio below 1": {"spec.limits": [{"type": "Container", "maxLimitRequestRatio": {"cpu": "500m"}}]},
    },
    "endpoints": {
        "no addresses": {"subsets": [{"ports": [{"port": 80}]}]},
        "address bad": {"subsets": [{"addresses": [{"ip": "x"}, {"ip": "127.0.0.1"}, {"ip": "169.254.1.1"}]}]},
        "ports bad": {
            "subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 0}, {"port": 1, "name": "A"}]}]
        },
    },
    "event": {
        "of another namespace": {"involvedObject.namespace": "other"},
        "of nothing": {"involvedObject": {}},
        "new kind": {"eventTime": "2026-01-01T00:00:00.000000Z"},
        "new kind complete": {
            "eventTime": "2026-01-01T00:00:00.123456Z",
            "reportingComponent": "example.com/c",
            "reportingInstance": "i",
            "action": "A",
        },
        "time without fraction": {"eventTime": "2026-01-01T00:00:00Z"},
        "times": {"firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T01:00:00+01:00", "count": 2},
        "time bad": {"firstTimestamp": "yesterday"},
    },
    "newevent": {
        "no time": {"eventTime": REMOVED},
        "type unknown": {"type": "X"},
        "no reporter": {"reportingController": REMOVED, "reportingInstance": REMOVED, "action": REMOVED},
        "deprecated": {"deprecatedCount": 3, "deprecatedFirstTimestamp": "2026-01-01T00:00:00Z"},
        "series": {"series": {"count": 1}},
    },
    "role": {
        "no verbs": {"rules": [{"apiGroups": [""], "resources": ["pods"]}]},
        "nothing": {"rules": [{}]},
        "urls": {"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"], "resources": ["pods"]}]},
        "no rules": {"rules": REMOVED},
        "empty rules": {"rules": []},
        "name with a slash": {"metadata.name": "a/b"},
        "name with colons": {"metadata.name": "system:x:Y"},
    },
    "clusterrole": {
        "aggregation": {"aggregationRule": {"clusterRoleSelectors": [SELECTOR]}, "rules": REMOVED},
        "aggregation empty": {"aggregationRule": {}},
    },
    "rolebinding": {
        "kind unknown": {"roleRef.kind": "X"},
        "no name": {"roleRef.name": ""},
        "group bad": {"roleRef.apiGroup": "x"},
        "subjects bad": {
            "subjects": [
                {"kind": "X", "name": "a"},
                {"kind": "User", "apiGroup": "x", "name": ""},
                {"kind": "ServiceAccount", "name": "A", "apiGroup": "y"},
            ]
        },
        "group and user": {"subjects": [{"kind": "Group", "name": "g"}, {"kind": "User", "name": "u"}]},
        "no subjects": {"subjects": REMOVED},
    },
    "clusterrolebinding": {
        "role": {"roleRef.kind": "Role"},
        "account without namespace": {"subjects": [{"kind": "ServiceAccount", "name": "a"}]},
    },
    "ingress": {
        "nothing": {"spec": {}},
        "rules": {
            "spec": {
                "rules": [
                    {
                        "host": "*.example.com",
                        "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]},
                    }
                ],
                "tls": [{"hosts": ["a.example.com"], "secretName": "s"}],
                "ingressClassName": "nginx",
            }
        },
        "rules bad": {
            "spec": {
                "rules": [
                    {"host": "1.2.3.4", "http": {"paths": []}},
                    {
                        "host": "*.A",
                        "http": {
                            "paths": [
                                {"path": "x//y/..", "pathType": "Exact", "backend": {}},
                                {"path": "/", "backend": BACKEND},
                                {"path": "/", "pathType": "X", "backend": {"service": {"name": "A", "port": {}}}},
                                {
                                    "pathType": "ImplementationSpecific",
                                    "backend": {"service": {"name": "a", "port": {"name": "b", "number": 1}}},
                                },
                                {
                                    "pathType": "ImplementationSpecific",
                                    "backend": {"resource": {"kind": "K", "name": ""}},
                                },
                            ]
                        },
                    },
                ],
                "tls": [{"hosts": ["A", "*"], "secretName": "S_"}],
                "ingressClassName": "A_",
            }
        },
        "class by annotation": {"metadata.annotations": {"kubernetes.io/ingress.class": "nginx"}},
        "class twice": {
            "metadata.annotations": {"kubernetes.io/ingress.class": "nginx"},
            "spec.ingressClassName": "other",
        },
    },
    "ingressclass": {
        "controller bad": {"spec.controller": "x"},
        "no controller": {"spec": {}},
        "parameters": {"spec.parameters": {"kind": "K", "name": "n", "apiGroup": "example.com"}},
        "parameters bad": {"spec.parameters": {"kind": "", "name": "n", "scope": "Namespace"}},
        "parameters of a namespace": {"spec.parameters": {"kind": "K", "name": "n", "namespace": "x"}},
    },
    "networkpolicy": {
        "egress": {"spec.egress": [{"to": [{"ipBlock": {"cidr": "10.1.0.0/16", "except": ["10.1.1.0/24"]}}]}]},
        "ports": {"spec.ingress": [{"ports": [{"port": 80, "endPort": 90}, {"port": "http"}, {}]}]},
        "ports bad": {
            "spec.ingress": [
                {
                    "ports": [
                        {"port": 80, "endPort": 70, "protocol": "X"},
                        {"port": "http", "endPort": 1},
                        {"endPort": 1},
                        {"port": "-"},
                    ]
                }
            ]
        },
        "peers bad": {
            "spec.ingress": [
                {
                    "from": [
                        {},
                        {"ipBlock": {}},
                        {"ipBlock": {"cidr": "x"}},
                        {"ipBlock": {"cidr": "10.1.0.0/16", "except": ["10.2.0.0/24", "y"]}, "podSelector": {}},
                    ]
                }
            ]
        },
        "types bad": {"spec.policyTypes": ["X"]},
        "types of three": {"spec.policyTypes": ["Ingress", "Egress", "X"]},
        "no selector": {"spec": {}},
    },
    "autoscaler": {
        "no target": {"spec.scaleTargetRef": REMOVED},
        "no maximum": {"spec.maxReplicas": REMOVED},
        "maximum below minimum": {"spec.minReplicas": 5},
        "minimum 0": {"spec.minReplicas": 0},
        "minimum negative": {"spec.minReplicas": -1},
        "behavior": {"spec.behavior": {"scaleDown": {"stabilizationWindowSeconds": 5}}},
        "behavior bad": {
            "spec.behavior": {
                "scaleDown": {"stabilizationWindowSeconds": 5000, "selectPolicy": "X", "policies": []},
                "scaleUp": {"policies": [{"type": "X", "value": 0, "periodSeconds": 5000}]},
            }
        },
        "metrics": {
            "spec.metrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 5}},
                },
                {
                    "type": "Pods",
                    "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}},
                },
            ]
        },
        "metrics bad": {
            "spec.metrics": [
                {"type": "X"},
                {"type": "Resource"},
                {"type": "Resource", "pods": {"metric": {"name": "m"}, "target": {"type": "Value"}}},
                {"type": "Resource", "resource": {"name": "", "target": {"type": "Y"}}},
                {"type": "External", "external": {"metric": {"name": ""}, "target": {"type": "Value", "value": "0"}}},
                {
                    "type": "Object",
                    "object": {"describedObject": {"kind": "", "name": "a"}, "metric": {"name": "b"}, "target": {}},
                },
            ]
        },
        "target of core": {"spec.scaleTargetRef.apiVersion": "v1"},
        "target version bad": {"spec.scaleTargetRef.apiVersion": "a/b/c"},
    },
    "oldautoscaler": {"no maximum": {"spec.maxReplicas": 0}},
    "budget": {
        "both": {"spec.maxUnavailable": 1},
        "percent": {"spec.minAvailable": "50%"},
        "percent bad": {"spec.minAvailable": "150%"},
        "not a number": {"spec.minAvailable": "x"},
        "negative": {"spec.minAvailable": -1},
        "policy unknown": {"spec.unhealthyPodEvictionPolicy": "X"},
        "no selector": {"spec.selector": REMOVED},
    },
    "lease": {
        "duration 0": {"spec.leaseDurationSeconds": 0, "spec.leaseTransitions": -1},
        "times": {"spec.acquireTime": "2026-01-01T00:00:00.000000Z", "spec.renewTime": "2026-01-01T00:00:00.999999Z"},
        "time bad": {"spec.renewTime": "2026-01-01T00:00:00Z"},
        "no spec": {"spec": REMOVED},
        "strategy": {"spec.preferredHolder": "x"},
    },
    "priority": {
        "too high": {"value": 2000000000},
        "reserved": {"metadata.name": "system-x"},
        "policy unknown": {"preemptionPolicy": "X"},
        "no value": {"value": REMOVED},
    },
    "slice": {
        "no type": {"addressType": REMOVED},
        "type unknown": {"addressType": "X"},
        "address of the other kind": {"endpoints": [{"addresses": ["::1", "x", "127.0.0.1"]}]},
        "no address": {"endpoints": [{}]},
        "ports bad": {"ports": [{"port": 80, "name": "A"}, {"port": 81, "protocol": "x"}, {"port": 82}]},
        "conditions": {"endpoints": [{"addresses": ["1.2.3.4"], "conditions": {"ready": True}, "nodeName": "n"}]},
    },
    "validating": {
        "name bad": {"webhooks.0.name": "a.b"},
        "no name": {"webhooks.0.name": REMOVED},
        "name twice": {"webhooks.1": HOOK},
        "no side effects": {"webhooks.0.sideEffects": REMOVED},
        "side effects": {"webhooks.0.sideEffects": "Some"},
        "no versions": {"webhooks.0.admissionReviewVersions": []},
        "versions unknown": {"webhooks.0.admissionReviewVersions": ["v3", "V", "v3"]},
        "no client": {"webhooks.0.clientConfig": {}},
        "url": {"webhooks.0.clientConfig": {"url": "https://example.com/x"}},
        "url bad": {"webhooks.0.clientConfig": {"url": "http://u@example.com/x?y#z"}},
        "service bad": {"webhooks.0.clientConfig": {"service": {"name": "", "namespace": "n", "port": 0, "path": "x"}}},
        "timeout": {"webhooks.0.timeoutSeconds": 60},
        "policies unknown": {"webhooks.0.failurePolicy": "X", "webhooks.0.matchPolicy": "Y"},
        "rule bad": {
            "webhooks.0.rules": [{"operations": ["*", "CREATE", "X"], "resources": ["*", "pods", "a/*", "a/b"]}]
        },
        "rule empty": {"webhooks.0.rules": [{}]},
        "scope unknown": {"webhooks.0.rules.0.scope": "X"},
        "selector bad": {"webhooks.0.objectSelector": {"matchLabels": {"a b": "c"}}},
    },
    "mutating": {
        "reinvocation": {"webhooks.0.reinvocationPolicy": "IfNeeded"},
        "reinvocation unknown": {"webhooks.0.reinvocationPolicy": "X"},
    },
}


def _all() -> dict[str, Object]:
    made: dict[str, Object] = {}
    for base, obj in BASES.items():
        for name, values in {"plain": {}, **_CHANGES.get(base, {})}.items():
            one = copy.deepcopy(obj)
            for path, value in values.items():
                put(one, path, copy.deepcopy(value))
            made[f"{base}: {name}"] = one
    return made


CREATED: dict[str, Object] = _all()
