"""Changes of objects that exist on both servers: what may change, what may not, and what follows from it.

`CHANGES` maps a base and a name to `path -> value`, as `write_cases.put` reads them.
"""

from __future__ import annotations

from typing import Any

import base_objects
import more_objects
from base_objects import LABELS, REMOVED, Object, changed
from differential import kind_of
from status_cases import STATUSES

_SPEC = "spec.template.spec"
_OLD = "2020-01-01T00:00:00Z"


BASES: dict[str, Object] = {
    **base_objects.BASES,
    **{
        name: each
        for name, each in more_objects.BASES.items()
        if name
        not in ("event", "newevent", "rolebinding", "clusterrolebinding", "oldautoscaler", "limits", "quota", "csr")
    },
    "immutable config": changed(more_objects.BASES["configmap"], metadata__name="fixed", immutable=True),
    "immutable secret": changed(more_objects.BASES["secret"], metadata__name="fixed", immutable=True),
    "node port": changed(
        base_objects.SERVICE,
        metadata__name="np",
        spec__type="NodePort",
        spec__ports=[{"name": "a", "port": 80, "nodePort": 31001}, {"name": "b", "port": 81, "nodePort": 31002}],
    ),
    "balancer": changed(
        base_objects.SERVICE,
        metadata__name="lb",
        spec__type="LoadBalancer",
        spec__loadBalancerClass="example.com/lb",
        spec__ports=[{"port": 80, "nodePort": 31003}],
    ),
    "headless": changed(base_objects.SERVICE, metadata__name="headless", spec__clusterIP="None"),
    "external name": changed(
        base_objects.SERVICE, metadata__name="named", spec__type="ExternalName", spec__externalName="example.com"
    ),
    "scheduled pod": changed(
        base_objects.POD,
        metadata__name="scheduled",
        spec__nodeName="n1",
        spec__tolerations=[{"key": "a", "operator": "Exists"}],
        spec__terminationGracePeriodSeconds=10,
    ),
    "gated pod": changed(
        base_objects.POD, metadata__name="gated", spec__schedulingGates=[{"name": "a.example.com/b"}, {"name": "c"}]
    ),
    "suspended job": changed(base_objects.JOB, metadata__name="suspended", spec__suspend=True),
    "quota": changed(more_objects.BASES["quota"], spec__hard={"configmaps": "900"}),
    "owned config": changed(
        more_objects.BASES["configmap"], metadata__name="owned", metadata__finalizers=["example.com/f"]
    ),
}
for _name, _base in BASES.items():
    BASES[_name] = changed(_base)
    if not kind_of(_base).namespaced:
        # Others use the same real server.
        BASES[_name]["metadata"]["name"] += "-$namespace"
    for _hook in BASES[_name].get("webhooks", ()):
        _hook["rules"][0]["apiGroups"] = ["example.com"]
BASES["vap"]["spec"]["matchConstraints"]["resourceRules"] = BASES["validating"]["webhooks"][0]["rules"]

_WORKLOAD: dict[str, dict[str, Any]] = {
    "replicas": {"spec.replicas": 5},
    "replicas negative": {"spec.replicas": -1},
    "image": {f"{_SPEC}.containers.0.image": "new"},
    "selector": {"spec.selector": {"matchLabels": {"a": "b"}}, "spec.template.metadata.labels": {"a": "b"}},
    "selector taken away": {"spec.selector": REMOVED},
    "labels of the template": {"spec.template.metadata.labels": {"other": "x"}},
    "template taken away": {"spec.template": REMOVED},
    "no containers": {f"{_SPEC}.containers": []},
    "minReadySeconds": {"spec.minReadySeconds": 5},
    "unknown field": {"spec.nonsense": 1},
    "status": {"status.replicas": 7},
}

CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "pod": {
        "image": {"spec.containers.0.image": "new"},
        "image taken away": {"spec.containers.0.image": ""},
        "name of a container": {"spec.containers.0.name": "other"},
        "command": {"spec.containers.0.command": ["x"]},
        "another container": {"spec.containers.1": {"name": "b", "image": "c"}},
        "no containers": {"spec.containers": []},
        "node name": {"spec.nodeName": "n1"},
        "toleration": {"spec.tolerations.2": {"key": "x", "operator": "Exists"}},
        "tolerations taken away": {"spec.tolerations": REMOVED},
        "deadline": {"spec.activeDeadlineSeconds": 5},
        "grace period": {"spec.terminationGracePeriodSeconds": 5},
        "restart policy": {"spec.restartPolicy": "Never"},
        "service account": {"spec.serviceAccountName": "x"},
        "gates": {"spec.schedulingGates": [{"name": "a"}]},
        "resources": {"spec.containers.0.resources": {"requests": {"cpu": "1"}}},
        "labels bad": {"metadata.labels": {"a b": "c"}},
        "ephemeral": {"spec.ephemeralContainers": [{"name": "e", "image": "a"}]},
        "status": {"status.phase": "Running"},
    },
    "scheduled pod": {
        "node name": {"spec.nodeName": "n2"},
        "node name taken away": {"spec.nodeName": REMOVED},
        "toleration": {"spec.tolerations.0": {"key": "b", "operator": "Exists"}},
        "affinity": {"spec.nodeSelector": {"a": "b"}},
    },
    "gated pod": {
        "one gate less": {"spec.schedulingGates": [{"name": "c"}]},
        "no gates": {"spec.schedulingGates": REMOVED},
        "another gate": {"spec.schedulingGates.2": {"name": "d"}},
        "node selector": {"spec.nodeSelector": {"a": "b"}},
        "node name": {"spec.nodeName": "n1"},
    },
    "deployment": {
        **_WORKLOAD,
        "strategy": {"spec.strategy": {"type": "Recreate"}},
        "annotations": {"metadata.annotations": {"a": "b"}},
        "paused": {"spec.paused": True},
    },
    "replicaset": _WORKLOAD,
    "statefulset": {
        **_WORKLOAD,
        "service name": {"spec.serviceName": "other"},
        "policy": {"spec.podManagementPolicy": "Parallel"},
        "claims": {"spec.volumeClaimTemplates": [base_objects.CLAIM_TEMPLATE]},
        "strategy": {"spec.updateStrategy": {"type": "OnDelete"}},
        "ordinals": {"spec.ordinals": {"start": 3}},
        "history": {"spec.revisionHistoryLimit": 3},
        "retention": {"spec.persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"}},
    },
    "daemonset": {**_WORKLOAD, "strategy": {"spec.updateStrategy": {"type": "OnDelete"}}},
    "controller": {
        "replicas": {"spec.replicas": 5},
        "image": {f"{_SPEC}.containers.0.image": "new"},
        "selector": {"spec.selector": {"other": "x"}},
        "selector and labels": {"spec.selector": {"o": "x"}, "spec.template.metadata.labels": {"o": "x"}},
    },
    "job": {
        "parallelism": {"spec.parallelism": 3},
        "completions": {"spec.completions": 3},
        "template": {f"{_SPEC}.containers.0.image": "new"},
        "selector": {"spec.selector.matchLabels": {"a": "b"}},
        "suspend": {"spec.suspend": True},
        "backoff": {"spec.backoffLimit": 3},
        "mode": {"spec.completionMode": "Indexed"},
        "deadline": {"spec.activeDeadlineSeconds": 3},
        "finished": {"spec.ttlSecondsAfterFinished": 3},
        "manual": {"spec.manualSelector": True},
        "policy": {"spec.podReplacementPolicy": "Failed"},
        "managed by": {"spec.managedBy": "example.com/x"},
    },
    "suspended job": {
        "node selector": {f"{_SPEC}.nodeSelector": {"a": "b"}},
        "image": {f"{_SPEC}.containers.0.image": "new"},
        "labels of the template": {"spec.template.metadata.labels.x": "y"},
    },
    "cronjob": {
        "schedule": {"spec.schedule": "* * * * *"},
        "schedule bad": {"spec.schedule": "often"},
        "suspend": {"spec.suspend": True},
        "zone": {"spec.timeZone": "Europe/Paris"},
        "template": {"spec.jobTemplate.spec.template.spec.containers.0.image": "new"},
    },
    "service": {
        "selector": {"spec.selector": {"a": "b"}},
        "port": {"spec.ports.0.port": 81},
        "another port without name": {"spec.ports.1": {"port": 81}},
        "another port": {"spec.ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]},
        "address": {"spec.clusterIP": "10.96.3.3"},
        "address taken away": {"spec.clusterIP": REMOVED, "spec.clusterIPs": REMOVED},
        "only one of the addresses taken away": {"spec.clusterIP": REMOVED},
        "headless": {"spec.clusterIP": "None", "spec.clusterIPs": ["None"]},
        "named": {"spec.type": "ExternalName", "spec.externalName": "example.com"},
        "named without a name": {"spec.type": "ExternalName"},
        "no ports": {"spec.ports": []},
        "affinity": {"spec.sessionAffinity": "ClientIP"},
        "traffic": {"spec.internalTrafficPolicy": "Local"},
        "families": {"spec.ipFamilies": ["IPv6"]},
        "family policy": {"spec.ipFamilyPolicy": "PreferDualStack"},
        "status": {"status.loadBalancer.ingress": [{"ip": "1.2.3.4"}]},
    },
    "node port": {
        "cluster": {"spec.type": "ClusterIP"},
        "cluster, ports kept": {"spec.type": "ClusterIP", "spec.ports.0.nodePort": 31019},
        "balancer": {"spec.type": "LoadBalancer"},
        "ports taken away are kept": {"spec.ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]},
        "policy": {"spec.externalTrafficPolicy": "Local"},
        "used twice": {"spec.ports.0.nodePort": 31002},
    },
    "balancer": {
        "cluster": {"spec.type": "ClusterIP"},
        "cluster, class taken away": {"spec.type": "ClusterIP", "spec.loadBalancerClass": REMOVED},
        "node port": {"spec.type": "NodePort"},
        "class": {"spec.loadBalancerClass": "example.com/other"},
        "class taken away": {"spec.loadBalancerClass": REMOVED},
        "ranges": {"spec.loadBalancerSourceRanges": ["1.2.3.0/24"]},
        "without node ports": {"spec.allocateLoadBalancerNodePorts": False},
    },
    "headless": {
        "address": {"spec.clusterIP": "10.96.3.3", "spec.clusterIPs": ["10.96.3.3"]},
        "no selector": {"spec.selector": REMOVED},
    },
    "external name": {
        "another name": {"spec.externalName": "b.example.com"},
        "bad name": {"spec.externalName": "a b"},
    },
    "configmap": {
        "data": {"data.a": "c"},
        "data taken away": {"data": REMOVED},
        "immutable": {"immutable": True},
        "bad key": {"data": {"a b": "c"}},
    },
    "immutable config": {
        "data": {"data.a": "c"},
        "binary": {"binaryData": {"x": "AA=="}},
        "mutable": {"immutable": False},
        "mutable by absence": {"immutable": REMOVED},
        "labels": {"metadata.labels": {"a": "b"}},
    },
    "secret": {
        "data": {"data.b": "AA=="},
        "text": {"stringData": {"c": "d"}},
        "type": {"type": "example.com/x"},
        "type taken away": {"type": REMOVED},
        "bad base64": {"data.b": "!"},
    },
    "immutable secret": {"data": {"data.b": "AA=="}, "mutable": {"immutable": REMOVED}},
    "namespace": {
        "finalizers": {"spec.finalizers": []},
        "label taken away": {"metadata.labels": REMOVED},
        "label": {"metadata.labels.a": "b"},
        "phase": {"status.phase": "Terminating"},
    },
    "serviceaccount": {"secrets": {"secrets": [{"name": "x"}]}, "pull": {"imagePullSecrets": [{"name": "x"}]}},
    "claim": {
        "size": {"spec.resources.requests.storage": "2Gi"},
        "modes": {"spec.accessModes": ["ReadWriteMany"]},
        "volume": {"spec.volumeName": "v"},
        "class": {"spec.storageClassName": "x"},
        "selector": {"spec.selector": {"matchLabels": {"a": "b"}}},
        "mode": {"spec.volumeMode": "Block"},
    },
    "volume": {
        "size": {"spec.capacity.storage": "2Gi"},
        "source": {"spec.hostPath.path": "/y"},
        "another source": {"spec.hostPath": REMOVED, "spec.nfs": {"server": "s", "path": "/p"}},
        "reclaim": {"spec.persistentVolumeReclaimPolicy": "Delete"},
        "class": {"spec.storageClassName": "x"},
        "mode": {"spec.volumeMode": "Block"},
    },
    "storageclass": {
        "provisioner": {"provisioner": "other"},
        "parameters": {"parameters": {"a": "b"}},
        "reclaim": {"reclaimPolicy": "Retain"},
        "binding": {"volumeBindingMode": "WaitForFirstConsumer"},
        "expansion": {"allowVolumeExpansion": True},
    },
    "node": {
        "labels": {"metadata.labels": {"a": "b"}},
        "taints": {"spec.taints": [{"key": "a", "effect": "NoSchedule"}]},
        "taints bad": {"spec.taints": [{"key": "a", "effect": "Never"}]},
        "range": {"spec.podCIDR": "10.1.0.0/24", "spec.podCIDRs": ["10.1.0.0/24"]},
        "provider": {"spec.providerID": "a://b"},
        "unschedulable": {"spec.unschedulable": True},
        "status": {"status.phase": "Running"},
    },
    "quota": {
        "hard": {"spec.hard.configmaps": "7"},
        "scopes": {"spec.scopes": ["BestEffort"]},
        "status": {"status": {}},
    },
    "endpoints": {"addresses": {"subsets.0.addresses.0.ip": "1.2.3.9"}},
    "role": {"rules": {"rules.0.verbs": ["list"]}, "bad": {"rules.0.verbs": []}},
    "clusterrole": {"aggregation": {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}},
    "ingress": {"class": {"spec.ingressClassName": "x"}, "backend": {"spec.defaultBackend": REMOVED}},
    "ingressclass": {"controller": {"spec.controller": "other.example.com/x"}},
    "networkpolicy": {"types": {"spec.policyTypes": ["Egress"]}},
    "autoscaler": {"max": {"spec.maxReplicas": 9}, "min above max": {"spec.minReplicas": 9}},
    "budget": {
        "available": {"spec.minAvailable": 2},
        "other": {"spec.minAvailable": REMOVED, "spec.maxUnavailable": 1},
        "selector": {"spec.selector.matchLabels": {"a": "b"}},
    },
    "lease": {"holder": {"spec.holderIdentity": "you"}, "seconds": {"spec.leaseDurationSeconds": 0}},
    "priority": {
        "value": {"value": 6},
        "policy": {"preemptionPolicy": "Never"},
        "description": {"description": "x"},
    },
    "slice": {"type": {"addressType": "FQDN"}, "ports": {"ports.0.port": 81}},
    "validating": {"policy": {"webhooks.0.failurePolicy": "Ignore"}, "bad": {"webhooks.0.sideEffects": "Some"}},
    "mutating": {"policy": {"webhooks.0.reinvocationPolicy": "IfNeeded"}},
    "revision": {"data": {"data": {"a": 2}}, "revision": {"revision": 2}},
    "runtimeclass": {"handler": {"handler": "other"}},
    "csidriver": {"attach": {"spec.attachRequired": False}, "capacity": {"spec.storageCapacity": True}},
    "owned config": {
        "finalizers": {"metadata.finalizers": []},
        "a bad finalizer": {"metadata.finalizers": ["x y"]},
        "a finalizer without a domain": {"metadata.finalizers": ["x"]},
        "an owner": {
            "metadata.ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True}
            ]
        },
        "two controllers": {
            "metadata.ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": f"p{n}", "uid": f"u{n}", "controller": True} for n in "12"
            ]
        },
        "an incomplete owner": {"metadata.ownerReferences": [{"apiVersion": "v1", "kind": "", "name": ""}]},
        "a bad annotation": {"metadata.annotations": {"a b": "c"}},
        "a generation": {"metadata.generation": 9},
        "a deletion": {"metadata.deletionTimestamp": _OLD},
        "another uid": {"metadata.uid": "00000000-0000-4000-8000-000000000001"},
        "a generated name": {"metadata.generateName": "x-"},
    },
}

for _base in BASES:
    CHANGES.setdefault(_base, {})
    CHANGES[_base] = {
        **CHANGES[_base],
        "nothing": {},
        "a label": {"metadata.labels": {**LABELS, "x": "y"}},
    }

ALL: dict[str, tuple[str, str, dict[str, Any]]] = {
    **{f"{base}: {name}": (base, "", each) for base, cases in CHANGES.items() for name, each in cases.items()},
    **{
        f"{base}/status: {name}": (base, "/status", each)
        for base, cases in STATUSES.items()
        for name, each in cases.items()
    },
}
