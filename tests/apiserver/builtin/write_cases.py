"""Objects that are written both to the strategies and to a real server: good ones, and ones with one mistake each.

`CREATED` maps a name to an object; of Pods and of what makes them. The other kinds are in `more_cases`.
"""

from __future__ import annotations

import copy
from typing import Any

from base_objects import BASES, CLAIM_TEMPLATE, LABELS, REMOVED, SELECTOR, Object, put
from pod_cases import POD_CHANGES

_TEMPLATE_CHANGES: dict[str, dict[str, Any]] = {
    "plain": {},
    "no selector": {"spec.selector": REMOVED},
    "empty selector": {"spec.selector": {}},
    "selector of others": {"spec.selector": {"matchLabels": {"app": "other"}}},
    "selector by expression": {
        "spec.selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}
    },
    "selector bad": {
        "spec.selector": {
            "matchLabels": {"a b": "c d"},
            "matchExpressions": [
                {"key": "app", "operator": "In"},
                {"key": "app", "operator": "Exists", "values": ["x"]},
                {"key": "app", "operator": "X"},
            ],
        }
    },
    "no template labels": {"spec.template.metadata": {}},
    "no template": {"spec.template": REMOVED},
    "no spec": {"spec": REMOVED},
    "restart policy Never": {"spec.template.spec.restartPolicy": "Never"},
    "deadline in the template": {"spec.template.spec.activeDeadlineSeconds": 5},
    "no containers": {"spec.template.spec.containers": []},
    "template label bad": {"spec.template.metadata.labels": {"app": "web", "a": "b c"}},
    "template annotation bad": {"spec.template.metadata.annotations": {"a b": "c"}},
    "negative replicas": {"spec.replicas": -1},
    "replicas of a wrong type": {"spec.replicas": "3"},
    "replicas 0": {"spec.replicas": 0},
    "min ready negative": {"spec.minReadySeconds": -1},
    "status is dropped": {"status": {"replicas": 5}},
    "name with dots": {"metadata.name": "a.b"},
    "ephemeral containers": {"spec.template.spec.ephemeralContainers": [{"name": "e", "image": "a"}]},
    "unknown field": {"spec.template.spec.containers.0.imagee": "x"},
}
_OTHER_CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "deployment": {
        "recreate": {"spec.strategy": {"type": "Recreate"}},
        "recreate with numbers": {"spec.strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}},
        "strategy unknown": {"spec.strategy": {"type": "Maybe"}},
        "no surge and nothing gone": {"spec.strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}},
        "percentage bad": {"spec.strategy": {"rollingUpdate": {"maxSurge": "x", "maxUnavailable": "150%"}}},
        "negative surge": {"spec.strategy": {"rollingUpdate": {"maxSurge": -1}}},
        "deadline below ready": {"spec.progressDeadlineSeconds": 5, "spec.minReadySeconds": 10},
        "history negative": {"spec.revisionHistoryLimit": -1},
    },
    "statefulset": {
        "claim templates": {"spec.volumeClaimTemplates": [CLAIM_TEMPLATE]},
        "claim template without size": {
            "spec.volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["X"]}}]
        },
        "mounted claim": {
            "spec.volumeClaimTemplates": [CLAIM_TEMPLATE],
            "spec.template.spec.containers.0.volumeMounts": [{"name": "data", "mountPath": "/d"}],
        },
        "on delete": {"spec.updateStrategy": {"type": "OnDelete"}},
        "on delete with numbers": {"spec.updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}},
        "strategy unknown": {"spec.updateStrategy": {"type": "Maybe"}},
        "partition negative": {"spec.updateStrategy": {"rollingUpdate": {"partition": -1, "maxUnavailable": 0}}},
        "management unknown": {"spec.podManagementPolicy": "Maybe"},
        "parallel": {"spec.podManagementPolicy": "Parallel"},
        "no service": {"spec.serviceName": REMOVED},
        "service name bad": {"spec.serviceName": "A.b"},
        "retention unknown": {"spec.persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Maybe"}},
        "ordinals": {"spec.ordinals": {"start": -1}},
    },
    "daemonset": {
        "on delete": {"spec.updateStrategy": {"type": "OnDelete"}},
        "strategy unknown": {"spec.updateStrategy": {"type": "Maybe"}},
        "surge": {"spec.updateStrategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}},
        "surge and gone": {"spec.updateStrategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}},
        "no surge and nothing gone": {"spec.updateStrategy": {"rollingUpdate": {"maxUnavailable": 0}}},
    },
    "job": {
        "plain": {},
        "restart policy Always": {"spec.template.spec.restartPolicy": "Always"},
        "no restart policy": {"spec.template.spec.restartPolicy": REMOVED},
        "parallel": {"spec.parallelism": 3},
        "negative numbers": {"spec.parallelism": -1, "spec.completions": -1, "spec.backoffLimit": -1},
        "indexed": {"spec.completionMode": "Indexed", "spec.completions": 3},
        "indexed without completions": {"spec.completionMode": "Indexed", "spec.parallelism": 1},
        "mode unknown": {"spec.completionMode": "X"},
        "backoff per index": {"spec.backoffLimitPerIndex": 1},
        "own selector": {"spec.selector": SELECTOR},
        "manual selector": {
            "spec.manualSelector": True,
            "spec.selector": SELECTOR,
            "spec.template.metadata.labels": LABELS,
        },
        "manual selector missing": {"spec.manualSelector": True},
        "own labels": {"spec.template.metadata": {"labels": {"job-name": "other", "a": "b"}}},
        "ttl": {"spec.ttlSecondsAfterFinished": 10},
        "managed by": {"spec.managedBy": "nobody"},
        "suspended": {"spec.suspend": True},
        "no template": {"spec.template": REMOVED},
        "long name": {"metadata.name": "a" * 63, "spec.completionMode": "Indexed", "spec.completions": 3},
        "pod failure policy": {
            "spec.podFailurePolicy": {
                "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
            }
        },
    },
    "cronjob": {
        "plain": {},
        "no schedule": {"spec.schedule": REMOVED},
        "schedule bad": {"spec.schedule": "x"},
        "schedule of six": {"spec.schedule": "0 0 0 * * *"},
        "schedule out of range": {"spec.schedule": "60 * * * *"},
        "schedule not a number": {"spec.schedule": "a * * * *"},
        "schedule by name": {"spec.schedule": "@hourly"},
        "schedule by a bad name": {"spec.schedule": "@often"},
        "schedule with a zone": {"spec.schedule": "TZ=UTC 0 3 * * *"},
        "zone": {"spec.timeZone": "Europe/Berlin"},
        "zone unknown": {"spec.timeZone": "Europe/Nowhere"},
        "zone bad": {"spec.timeZone": "../x"},
        "zone local": {"spec.timeZone": "Local"},
        "concurrency unknown": {"spec.concurrencyPolicy": "Maybe"},
        "negative numbers": {"spec.successfulJobsHistoryLimit": -1, "spec.startingDeadlineSeconds": -1},
        "long name": {"metadata.name": "a" * 53},
        "restart policy Always": {"spec.jobTemplate.spec.template.spec.restartPolicy": "Always"},
        "selector in the template": {"spec.jobTemplate.spec.selector": SELECTOR},
    },
    "service": {
        "plain": {},
        "no ports": {"spec.ports": []},
        "headless": {"spec.clusterIP": "None"},
        "headless without ports": {"spec.clusterIP": "None", "spec.ports": []},
        "headless without selector": {"spec.clusterIP": "None", "spec.selector": REMOVED},
        "two ports without names": {"spec.ports": [{"port": 80}, {"port": 81}]},
        "two ports of one name": {"spec.ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "a"}]},
        "two ports of one number": {"spec.ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]},
        "tcp and udp": {
            "spec.ports": [{"port": 53, "name": "a"}, {"port": 53, "name": "b", "protocol": "UDP"}],
        },
        "port 0": {"spec.ports": [{"port": 0}]},
        "port name bad": {"spec.ports": [{"port": 80, "name": "A_b"}]},
        "target by name": {"spec.ports": [{"port": 80, "targetPort": "http"}]},
        "target bad": {"spec.ports": [{"port": 80, "targetPort": "a_b"}]},
        "protocol unknown": {"spec.ports": [{"port": 80, "protocol": "x"}]},
        "node port of ClusterIP": {"spec.ports": [{"port": 80, "nodePort": 30000}]},
        "node port out of range": {"spec.type": "NodePort", "spec.ports": [{"port": 80, "nodePort": 80}]},
        "external name": {"spec.type": "ExternalName", "spec.externalName": "example.com", "spec.ports": REMOVED},
        "external name missing": {"spec.type": "ExternalName"},
        "type unknown": {"spec.type": "Maybe"},
        "affinity": {"spec.sessionAffinity": "ClientIP"},
        "affinity too long": {
            "spec.sessionAffinity": "ClientIP",
            "spec.sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 100000}},
        },
        "affinity unknown": {"spec.sessionAffinity": "Maybe"},
        "external traffic of ClusterIP": {"spec.externalTrafficPolicy": "Local"},
        "internal traffic unknown": {"spec.internalTrafficPolicy": "Maybe"},
        "external IPs": {"spec.externalIPs": ["1.2.3.4"]},
        "external IPs bad": {"spec.externalIPs": ["x", "127.0.0.1"]},
        "cluster IP bad": {"spec.clusterIP": "x"},
        "cluster IP out of range": {"spec.clusterIP": "1.2.3.4"},
        "cluster IPs without the first": {"spec.clusterIPs": ["None"]},
        "dual stack": {"spec.ipFamilyPolicy": "RequireDualStack"},
        "dual stack if possible": {"spec.ipFamilyPolicy": "PreferDualStack"},
        "IPv6": {"spec.ipFamilies": ["IPv6"]},
        "class of ClusterIP": {"spec.loadBalancerClass": "a/b"},
        "source ranges of ClusterIP": {"spec.loadBalancerSourceRanges": ["1.2.3.4"]},
        "node ports switched off": {"spec.allocateLoadBalancerNodePorts": False},
        "selector bad": {"spec.selector": {"a b": "c d"}},
        "name that starts with a digit": {"metadata.name": "1web"},
        "name with dots": {"metadata.name": "a.b"},
        "traffic distribution": {"spec.trafficDistribution": "PreferClose"},
        "traffic distribution unknown": {"spec.trafficDistribution": "X"},
    },
}


def _all() -> dict[str, Object]:
    made: dict[str, Object] = {}
    for base, obj in BASES.items():
        changes = dict(_OTHER_CHANGES.get(base, {}))
        if base == "pod":
            changes |= {"plain": {}, **POD_CHANGES}
        elif "template" in obj["spec"] and base != "job":
            changes |= _TEMPLATE_CHANGES
        for name, values in changes.items():
            one = copy.deepcopy(obj)
            for path, value in values.items():
                put(one, path, copy.deepcopy(value))
            made[f"{base}: {name}"] = one
    return made


CREATED: dict[str, Object] = _all()
