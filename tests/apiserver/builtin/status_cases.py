"""Changes of the subresource `status` of the bases of `change_cases`: a base and a name to `path -> value`."""

from __future__ import annotations

from typing import Any

from base_objects import CONTAINER, REMOVED, Object

_OLD = "2020-01-01T00:00:00Z"


def _condition(kind: str, status: str = "True", **more: Any) -> Object:
    return {"type": kind, "status": status, **more}


_COUNTS = {"observedGeneration": 1, "replicas": 3, "readyReplicas": 2, "availableReplicas": 1}

STATUSES: dict[str, dict[str, dict[str, Any]]] = {
    "deployment": {
        "counts": {"status": {**_COUNTS, "updatedReplicas": 1}},
        "more ready than there are": {"status": {"replicas": 1, "readyReplicas": 2}},
        "negative": {"status": {"replicas": -1}},
        "spec and labels": {"spec.replicas": 9, "metadata.labels": {"x": "y"}},
        "annotations and finalizers": {"metadata.annotations": {"a": "b"}, "metadata.finalizers": ["example.com/f"]},
        "conditions": {"status.conditions": [_condition("Available", lastUpdateTime=_OLD, lastTransitionTime=_OLD)]},
        "nothing": {},
        "taken away": {"status": REMOVED},
        "a wrong type": {"status.replicas": "x"},
        "unknown": {"status.nonsense": 1},
    },
    "replicaset": {"counts": {"status": _COUNTS}, "negative": {"status": {"replicas": -1, "readyReplicas": 4}}},
    "statefulset": {
        "counts": {"status": {**_COUNTS, "currentReplicas": 1, "collisionCount": 1}},
        "bad": {"status": {"replicas": 1, "currentReplicas": 2, "observedGeneration": -1}},
    },
    "daemonset": {
        "counts": {
            "status": {
                "desiredNumberScheduled": 1,
                "currentNumberScheduled": 1,
                "numberMisscheduled": 0,
                "numberReady": 1,
            }
        },
        "bad": {"status": {"desiredNumberScheduled": -1, "numberReady": -1}},
    },
    "controller": {"counts": {"status": _COUNTS}, "bad": {"status": {"replicas": 1, "readyReplicas": 3}}},
    "job": {
        "started": {"status": {"startTime": _OLD, "active": 1}},
        "negative": {"status": {"active": -1}},
        "complete as it should be": {
            "status": {
                "startTime": _OLD,
                "completionTime": "2020-01-02T00:00:00Z",
                "succeeded": 1,
                "conditions": [_condition("SuccessCriteriaMet"), _condition("Complete")],
            }
        },
        "complete and no more": {"status.conditions": [_condition("Complete")]},
        "complete before it started": {
            "status": {
                "startTime": "2020-01-02T00:00:00Z",
                "completionTime": _OLD,
                "conditions": [_condition("SuccessCriteriaMet"), _condition("Complete")],
            }
        },
        "complete and failed": {"status.conditions": [_condition("Complete"), _condition("Failed")]},
        "failed as it should be": {
            "status": {"startTime": _OLD, "conditions": [_condition("FailureTarget"), _condition("Failed")]}
        },
        "failed and no more": {"status.conditions": [_condition("Failed")]},
        "succeeded and a target of failure": {
            "status.conditions": [_condition("SuccessCriteriaMet"), _condition("FailureTarget")]
        },
        "a time without completion": {"status.completionTime": _OLD},
        "ended with active Pods": {
            "status": {"active": 1, "terminating": 1, "conditions": [_condition("FailureTarget"), _condition("Failed")]}
        },
        "more ready than active": {"status": {"active": 1, "ready": 2}},
        "indexes of a Job without": {"status.completedIndexes": "0"},
    },
    "cronjob": {"ran": {"status": {"lastScheduleTime": _OLD}}},
    "pod": {
        "running": {
            "status": {
                "phase": "Running",
                "conditions": [_condition("Ready", lastTransitionTime=_OLD)],
                "podIP": "1.2.3.4",
                "podIPs": [{"ip": "1.2.3.4"}],
                "containerStatuses": [
                    {
                        "name": CONTAINER["name"],
                        "image": "i",
                        "imageID": "",
                        "ready": True,
                        "restartCount": 0,
                        "state": {"running": {"startedAt": _OLD}},
                    }
                ],
            }
        },
        "spec": {"spec.activeDeadlineSeconds": 5},
        "bad address": {"status.podIP": "x", "status.podIPs": [{"ip": "x"}]},
        "bad condition": {"status.conditions": [_condition("a b")]},
        "nominated": {"status.nominatedNodeName": "a b"},
        "resources": {"status.resize": "InProgress"},
    },
    "service": {
        "balanced": {"status.loadBalancer.ingress": [{"ip": "1.2.3.4"}]},
        "a bad address": {"status.loadBalancer.ingress": [{"ip": "x"}]},
        "spec": {"spec.ports": []},
        "conditions": {
            "status.conditions": [
                _condition("A", lastTransitionTime=_OLD, reason="R", message="", observedGeneration=1)
            ]
        },
    },
    "balancer": {
        "balanced": {"status.loadBalancer.ingress": [{"ip": "1.2.3.4"}]},
        "a bad address": {"status.loadBalancer.ingress": [{"ip": "x", "hostname": "1.2.3.4"}]},
    },
    "namespace": {"terminating": {"status.phase": "Terminating"}, "labels": {"metadata.labels": {"a": "b"}}},
    "claim": {
        "bound": {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}},
        "bad capacity": {"status.capacity": {"storage": "-1"}},
    },
    "volume": {"bound": {"status.phase": "Bound"}, "spec": {"spec.storageClassName": "z"}},
    "node": {
        "ready": {"status.conditions": [_condition("Ready", lastTransitionTime=_OLD, lastHeartbeatTime=_OLD)]},
        "capacity": {"status.capacity": {"cpu": "4", "memory": "1Gi"}, "status.allocatable": {"cpu": "3"}},
        "addresses twice": {"status.addresses": [{"type": "InternalIP", "address": "1.2.3.4"}] * 2},
        "spec": {"spec.unschedulable": True},
    },
    "quota": {
        "used": {"status": {"hard": {"configmaps": "5"}, "used": {"configmaps": "1"}}},
        "bad": {"status": {"hard": {"x y": "5"}, "used": {"pods": "-1"}}},
    },
    "ingress": {
        "balanced": {
            "status.loadBalancer.ingress": [{"hostname": "a.example.com", "ports": [{"port": 80, "protocol": "TCP"}]}]
        },
        "bad": {"status.loadBalancer.ingress": [{"hostname": "A b"}]},
    },
    "autoscaler": {
        "counts": {"status": {"currentReplicas": 1, "desiredReplicas": 2}},
        "negative": {"status": {"currentReplicas": -1, "desiredReplicas": -2}},
    },
    "budget": {
        "counts": {"status": {"disruptionsAllowed": 1, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}},
        "negative": {"status": {"disruptionsAllowed": -1, "currentHealthy": -1}},
        "a condition": {
            "status.conditions": [_condition("DisruptionAllowed", lastTransitionTime=_OLD, reason="R", message="")]
        },
        "a bad condition": {"status.conditions": [{"type": "a b", "status": "X"}]},
    },
}
