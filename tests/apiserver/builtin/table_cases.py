"""Objects with a status, whose rows in a Table are compared with a real server's.

`$namespace` is the namespace that they are in.
"""

from __future__ import annotations

from typing import Any

from base_objects import Object

OLD = "2020-01-01T00:00:00Z"


def _object(kind: str, name: str, api_version: str = "v1", **fields: Any) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


def _running(name: str, **more: Any) -> Object:
    return {
        "name": name,
        "image": "i",
        "imageID": "",
        "ready": True,
        "restartCount": 0,
        "state": {"running": {"startedAt": OLD}},
        **more,
    }


def _waiting(name: str, reason: str = "", **more: Any) -> Object:
    state = {"waiting": {"reason": reason} if reason else {}}
    return {**_running(name), "ready": False, "state": state, **more}


def _ended(name: str, code: int, reason: str = "", **more: Any) -> Object:
    terminated = {"exitCode": code, "finishedAt": OLD, "startedAt": OLD} | ({"reason": reason} if reason else {})
    return {**_running(name), "ready": False, "state": {"terminated": terminated}, **more}


def _pod(*containers: Object, inits: tuple[Object, ...] = (), sidecar: bool = False, **status: Any) -> Object:
    def specs(of: tuple[Object, ...]) -> list[Object]:
        return [{"name": each["name"], "image": "i"} for each in of]

    spec: Object = {"containers": specs(containers) or [{"name": "a", "image": "i"}]}
    if inits:
        spec["initContainers"] = specs(inits)
        if sidecar:
            spec["initContainers"][0]["restartPolicy"] = "Always"
    status = {"phase": "Running", **status}
    if containers:
        status["containerStatuses"] = list(containers)
    if inits:
        status["initContainerStatuses"] = list(inits)
    return {"spec": spec, "status": status}


def _condition(kind: str, status: str = "True", **more: Any) -> Object:
    return {"type": kind, "status": status, **more}


_RESTARTED = {"restartCount": 3, "lastState": {"terminated": {"exitCode": 1, "finishedAt": OLD, "startedAt": OLD}}}

_PODS: dict[str, Object] = {
    "pending": _pod(phase="Pending"),
    "running": _pod(_running("a"), podIP="1.2.3.4", podIPs=[{"ip": "1.2.3.4"}]),
    "two-of-three": _pod(_running("a"), _waiting("b", "CrashLoopBackOff", **_RESTARTED), _running("c")),
    "pulling": _pod(_waiting("a", "ImagePullBackOff"), phase="Pending"),
    "waiting-for-nothing": _pod(_waiting("a")),
    "restarted": _pod(_running("a", **_RESTARTED)),
    "completed": _pod(_ended("a", 0, "Completed"), phase="Succeeded"),
    "failed": _pod(_ended("a", 2, "Error"), phase="Failed"),
    "exit-code": _pod(_ended("a", 7), phase="Failed"),
    "signal": _pod({**_ended("a", 0), "state": {"terminated": {"exitCode": 0, "signal": 9}}}, phase="Failed"),
    "completed-and-running": _pod(_ended("a", 0, "Completed"), _running("b"), conditions=[_condition("Ready")]),
    "completed-not-ready": _pod(_ended("a", 0, "Completed"), _running("b"), conditions=[_condition("Ready", "False")]),
    "completed-and-failed": _pod(_ended("a", 0, "Completed"), _ended("b", 1, "Error"), phase="Running"),
    "evicted": _pod(phase="Failed", reason="Evicted"),
    "gated": _pod(phase="Pending", conditions=[_condition("PodScheduled", "False", reason="SchedulingGated")]),
    "init": _pod(_waiting("a", "PodInitializing"), inits=(_ended("x", 0), _running("y")), phase="Pending"),
    "init-waiting": _pod(_waiting("a"), inits=(_waiting("x", "ImagePullBackOff"),), phase="Pending"),
    "init-initializing": _pod(_waiting("a"), inits=(_waiting("x", "PodInitializing"),), phase="Pending"),
    "init-failed": _pod(_waiting("a"), inits=(_ended("x", 1, "Error", **_RESTARTED),), phase="Pending"),
    "init-failed-code": _pod(_waiting("a"), inits=(_ended("x", 5),), phase="Pending"),
    "init-done": _pod(_running("a"), inits=(_ended("x", 0, restartCount=2),), conditions=[_condition("Initialized")]),
    "sidecar": _pod(_running("a"), inits=(_running("x", started=True),), sidecar=True),
    "sidecar-starting": _pod(_waiting("a"), inits=(_running("x", started=False),), sidecar=True, phase="Pending"),
    "sidecar-restarted": _pod(_running("a"), inits=(_running("x", started=True, **_RESTARTED),), sidecar=True),
    "nominated": _pod(phase="Pending", nominatedNodeName="n1"),
    "unknown": _pod(_running("a"), phase="Unknown", reason="NodeLost"),
}
_PODS["gates"] = {
    "spec": {
        "containers": [{"name": "a", "image": "i"}],
        "readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}],
    },
    "status": {"phase": "Running", "conditions": [_condition("a"), _condition("b", "False")]},
}
_PODS["on-a-node"] = {"spec": {"containers": [{"name": "a", "image": "i"}], "nodeName": "n1"}}

_TEMPLATE = {
    "metadata": {"labels": {"a": "b", "c": "d"}},
    "spec": {"containers": [{"name": "x", "image": "i"}, {"name": "y", "image": "j"}]},
}
_SELECTED = {"selector": {"matchLabels": {"a": "b"}}, "template": _TEMPLATE}
_EXPRESSIONS = {
    "selector": {
        "matchLabels": {"c": "d"},
        "matchExpressions": [
            {"key": "a", "operator": "In", "values": ["b", "c"]},
            {"key": "z", "operator": "DoesNotExist"},
            {"key": "y", "operator": "NotIn", "values": ["q"]},
        ],
    },
    "template": _TEMPLATE,
}
_COUNTS = {"observedGeneration": 1, "replicas": 3, "readyReplicas": 2, "availableReplicas": 1}
_JOB_TEMPLATE = {"spec": {**_TEMPLATE["spec"], "restartPolicy": "Never"}}  # type: ignore[dict-item]
_APPS, _BATCH = "apps/v1", "batch/v1"


def _scaled(**spec: Any) -> Object:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return {"spec": {"scaleTargetRef": target, "maxReplicas": 5, **spec}}


def _hpa_resource(name: str, **target: Any) -> Object:
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def _hpa_current(name: str, **current: Any) -> Object:
    return {"type": "Resource", "resource": {"name": name, "current": current}}


_METRIC = {"name": "m"}
_ABOUT = {"apiVersion": "v1", "kind": "Service", "name": "s"}
_RULE = {"host": "a.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix"}]}}
_RULE["http"]["paths"][0]["backend"] = {"service": {"name": "s", "port": {"number": 80}}}  # type: ignore[index]

ROWS: list[Object] = [
    *(_object("Pod", name, **fields) for name, fields in _PODS.items()),
    _object("PodTemplate", "t", template=_TEMPLATE),
    _object("Deployment", "new", _APPS, spec=_SELECTED),
    _object("Deployment", "counted", _APPS, spec={**_SELECTED, "replicas": 3}, status={
        **_COUNTS, "updatedReplicas": 1
    }),
    _object("Deployment", "chosen", _APPS, spec={"selector": _EXPRESSIONS["selector"], "template": {
        **_TEMPLATE, "metadata": {"labels": {"a": "b", "c": "d", "y": "r"}}
    }}),
    _object("ReplicaSet", "counted", _APPS, spec={**_SELECTED, "replicas": 3}, status=_COUNTS),
    _object("StatefulSet", "counted", _APPS, spec={**_SELECTED, "serviceName": "s", "replicas": 3}, status=_COUNTS),
    _object("DaemonSet", "counted", _APPS, spec={**_SELECTED, "template": {
        **_TEMPLATE, "spec": {**_TEMPLATE["spec"], "nodeSelector": {"b": "c", "a": "b"}}  # type: ignore[dict-item]
    }}, status={
        "desiredNumberScheduled": 4, "currentNumberScheduled": 3, "numberReady": 2, "numberAvailable": 1,
        "numberMisscheduled": 0, "updatedNumberScheduled": 2, "observedGeneration": 1,
    }),
    _object("ControllerRevision", "owned", _APPS, revision=5, data={"a": 1}),
    _object("ReplicationController", "counted", spec={
        "selector": {"a": "b"}, "template": _TEMPLATE, "replicas": 3
    }, status=_COUNTS),
    _object("Job", "new", _BATCH, spec={"template": _JOB_TEMPLATE}),
    _object("Job", "parallel", _BATCH, spec={"template": _JOB_TEMPLATE, "parallelism": 3}),
    _object("Job", "running", _BATCH, spec={"template": _JOB_TEMPLATE, "completions": 5}, status={
        "startTime": OLD, "active": 1, "succeeded": 2
    }),
    _object("Job", "suspended", _BATCH, spec={"template": _JOB_TEMPLATE, "suspend": True}, status={
        "conditions": [_condition("Suspended")]
    }),
    _object("CronJob", "new", _BATCH, spec={"schedule": "*/5 * * * *", "jobTemplate": {
        "spec": {"template": _JOB_TEMPLATE}
    }}),
    _object("CronJob", "ran", _BATCH, spec={
        "schedule": "@daily", "suspend": True, "timeZone": "Etc/UTC",
        "jobTemplate": {"spec": {"template": _JOB_TEMPLATE}},
    }, status={"lastScheduleTime": OLD, "active": [{"kind": "Job", "name": "x"}]}),
    _object("Service", "ports", spec={"selector": {"b": "c", "a": "b"}, "ports": [
        {"name": "a", "port": 80}, {"name": "b", "port": 53, "protocol": "UDP"}
    ]}),
    _object("Service", "headless", spec={"clusterIP": "None", "ports": [{"port": 80}]}),
    _object("Service", "elsewhere", spec={"type": "ExternalName", "externalName": "example.com"}),
    _object("Service", "nodes", spec={"type": "NodePort", "ports": [{"port": 80, "nodePort": 31001}]}),
    _object("Service", "external", spec={"externalIPs": ["1.2.3.4", "1.2.3.5"], "ports": [{"port": 80}]}),
    _object("Service", "pending", spec={"type": "LoadBalancer", "ports": [{"port": 80, "nodePort": 31002}]}),
    _object("Service", "balanced", spec={
        "type": "LoadBalancer", "ports": [{"port": 80, "nodePort": 31003}], "externalIPs": ["9.9.9.9"]
    }, status={"loadBalancer": {"ingress": [{"ip": "5.6.7.8"}, {"hostname": "b.example.com"}]}}),
    _object("Endpoints", "none"),
    _object("Endpoints", "some", subsets=[
        {"addresses": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.5"}], "ports": [
            {"name": "a", "port": 80}, {"name": "b", "port": 90}
        ]}
    ]),
    _object("Endpoints", "without-ports", subsets=[{"addresses": [{"ip": "1.2.3.4"}]}]),
    _object("Endpoints", "not-ready", subsets=[{"notReadyAddresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 80}]}]),
    _object("EndpointSlice", "none", "discovery.k8s.io/v1", addressType="IPv4", endpoints=[], ports=[]),
    _object("EndpointSlice", "some", "discovery.k8s.io/v1", addressType="IPv4", endpoints=[
        {"addresses": [f"1.2.3.{n}"]} for n in range(1, 6)
    ], ports=[{"name": f"p{n}", "port": n} for n in range(80, 85)]),
    _object("ConfigMap", "data", data={"a": "1", "b": "2"}, binaryData={"c": "AA=="}),
    _object("Secret", "data", stringData={"a": "1"}),
    _object("ServiceAccount", "robot"),
    _object("ResourceQuota", "counted", spec={"hard": {"pods": "5", "limits.cpu": "2"}}, status={
        "hard": {"pods": "5", "limits.cpu": "2", "requests.memory": "1Gi"}, "used": {"pods": "3", "limits.cpu": "1"}
    }),
    _object("LimitRange", "limits", spec={"limits": [{"type": "Container", "max": {"cpu": "1"}}]}),
    _object("PersistentVolumeClaim", "new", spec={
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}
    }),
    _object("PersistentVolumeClaim", "bound", spec={
        "accessModes": ["ReadWriteMany", "ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        "volumeName": "v", "storageClassName": "fast", "volumeMode": "Block",
    }, status={"phase": "Bound", "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"]}),
    _object("PersistentVolume", "table-volume", spec={
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOncePod"], "storageClassName": "fast",
        "hostPath": {"path": "/x"}, "claimRef": {"namespace": "n", "name": "c"},
    }, status={"phase": "Failed", "reason": "Broken"}),
    _object("Event", "old", involvedObject={"kind": "Pod", "name": "p", "fieldPath": "spec", "namespace": "$namespace"},
            reason="R", message=" text \n", type="Warning", count=3, firstTimestamp=OLD, lastTimestamp=OLD,
            source={"component": "kubelet", "host": "n1"}),
    _object("Event", "bare", involvedObject={"kind": "Pod", "namespace": "$namespace"}),
    _object("Node", "table-node", spec={"unschedulable": True}, status={
        "conditions": [_condition("Ready", "False")],
        "addresses": [{"type": "InternalIP", "address": "1.2.3.4"}, {"type": "ExternalIP", "address": "5.6.7.8"}],
    }),
    _object("Node", "table-node-bare"),
    _object("Ingress", "one", "networking.k8s.io/v1", spec={"rules": [_RULE]}, status={
        "loadBalancer": {"ingress": [{"ip": "5.6.7.8"}]}
    }),
    _object("Ingress", "many", "networking.k8s.io/v1", spec={
        "ingressClassName": "c", "tls": [{}], "rules": [{**_RULE, "host": f"{n}.example.com"} for n in "abcde"]
    }),
    _object("Ingress", "hostless", "networking.k8s.io/v1", spec={"rules": [{"http": _RULE["http"]}]}),
    _object("IngressClass", "table-class", "networking.k8s.io/v1", spec={
        "controller": "example.com/c", "parameters": {"apiGroup": "example.com", "kind": "P", "name": "p"}
    }),
    _object("NetworkPolicy", "all", "networking.k8s.io/v1", spec={"podSelector": {}}),
    _object("NetworkPolicy", "some", "networking.k8s.io/v1", spec={"podSelector": {"matchLabels": {"a": "b"}}}),
    _object("PodDisruptionBudget", "number", "policy/v1", spec={"minAvailable": 2}, status={
        "disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3
    }),
    _object("PodDisruptionBudget", "percent", "policy/v1", spec={"maxUnavailable": "20%"}),
    _object("HorizontalPodAutoscaler", "new", "autoscaling/v2", **_scaled()),
    _object("HorizontalPodAutoscaler", "cpu", "autoscaling/v2", **_scaled(
        minReplicas=2, metrics=[_hpa_resource("cpu", type="Utilization", averageUtilization=50)]
    ), status={
        "currentReplicas": 3, "desiredReplicas": 4,
        "currentMetrics": [_hpa_current("cpu", averageUtilization=70, averageValue="100m")],
    }),
    _object("HorizontalPodAutoscaler", "metrics", "autoscaling/v2", **_scaled(metrics=[
        _hpa_resource("memory", type="AverageValue", averageValue="100Mi"),
        {"type": "Pods", "pods": {"metric": _METRIC, "target": {"type": "AverageValue", "averageValue": "1"}}},
        {"type": "Object", "object": {
            "describedObject": _ABOUT, "metric": _METRIC, "target": {"type": "Value", "value": "2"}
        }},
        {"type": "External", "external": {"metric": _METRIC, "target": {"type": "AverageValue", "averageValue": "3"}}},
    ]), status={"currentReplicas": 3, "desiredReplicas": 4, "currentMetrics": [
        _hpa_current("memory", averageValue="50Mi"),
        {"type": "Pods", "pods": {"metric": _METRIC, "current": {"averageValue": "5"}}},
    ]}),
    _object("HorizontalPodAutoscaler", "old", "autoscaling/v1", **_scaled(targetCPUUtilizationPercentage=50), status={
        "currentReplicas": 1, "desiredReplicas": 2, "currentCPUUtilizationPercentage": 30
    }),
    _object("Lease", "held", "coordination.k8s.io/v1", spec={"holderIdentity": "me"}),
    _object("Lease", "free", "coordination.k8s.io/v1"),
    _object("Role", "reader", "rbac.authorization.k8s.io/v1", rules=[]),
    _object("RoleBinding", "bound", "rbac.authorization.k8s.io/v1", roleRef={
        "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"
    }, subjects=[
        {"kind": "User", "name": "a", "apiGroup": "rbac.authorization.k8s.io"},
        {"kind": "User", "name": "b", "apiGroup": "rbac.authorization.k8s.io"},
        {"kind": "Group", "name": "g", "apiGroup": "rbac.authorization.k8s.io"},
        {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
    ]),
    _object("ClusterRoleBinding", "table-binding", "rbac.authorization.k8s.io/v1", roleRef={
        "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "none-such"
    }),
    _object("PriorityClass", "table-priority", "scheduling.k8s.io/v1", value=5, preemptionPolicy="Never"),
    _object("RuntimeClass", "table-runtime", "node.k8s.io/v1", handler="h"),
    _object("StorageClass", "table-storage", "storage.k8s.io/v1", provisioner="example.com/p",
            allowVolumeExpansion=True),
    _object("CSIDriver", "table.example.com", "storage.k8s.io/v1", spec={"tokenRequests": [{"audience": "a"}]}),
    _object("CSIDriver", "bare.example.com", "storage.k8s.io/v1", spec={}),
    _object("CSINode", "table-csi-node", "storage.k8s.io/v1", spec={"drivers": [{"name": "d", "nodeID": "n"}]}),
    _object("VolumeAttachment", "table-attachment", "storage.k8s.io/v1", spec={
        "attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}
    }, status={"attached": True}),
    _object("VolumeAttributesClass", "table-attributes", "storage.k8s.io/v1", driverName="d", parameters={"a": "b"}),
    _object("MutatingWebhookConfiguration", "table-mutating", "admissionregistration.k8s.io/v1"),
    _object("ValidatingWebhookConfiguration", "table-validating", "admissionregistration.k8s.io/v1"),
    _object("ValidatingAdmissionPolicy", "table-policy", "admissionregistration.k8s.io/v1", spec={
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [
            {"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["x"]}
        ]},
        "validations": [{"expression": "true"}],
    }),
    _object("ValidatingAdmissionPolicyBinding", "table-policy-name", "admissionregistration.k8s.io/v1", spec={
        "policyName": "p", "validationActions": ["Deny"],
        "paramRef": {"name": "c", "namespace": "n", "parameterNotFoundAction": "Deny"},
    }),
    _object("ValidatingAdmissionPolicyBinding", "table-policy-selector", "admissionregistration.k8s.io/v1", spec={
        "policyName": "p", "validationActions": ["Deny"],
        "paramRef": {"selector": {"matchLabels": {"a": "b"}}, "parameterNotFoundAction": "Deny"},
    }),
    _object("ValidatingAdmissionPolicyBinding", "table-policy-bare", "admissionregistration.k8s.io/v1", spec={
        "policyName": "p", "validationActions": ["Deny"]
    }),
    _object("FlowSchema", "table-flow", "flowcontrol.apiserver.k8s.io/v1", spec={
        "priorityLevelConfiguration": {"name": "table-level"}, "distinguisherMethod": {"type": "ByUser"},
    }, status={"conditions": [_condition("Dangling", lastTransitionTime=OLD)]}),
    _object("PriorityLevelConfiguration", "table-level", "flowcontrol.apiserver.k8s.io/v1", spec={
        "type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {
            "queues": 8, "handSize": 3, "queueLengthLimit": 5
        }}},
    }),
    _object("PriorityLevelConfiguration", "table-level-rejecting", "flowcontrol.apiserver.k8s.io/v1", spec={
        "type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}
    }),
    _object("IPAddress", "10.200.0.5", "networking.k8s.io/v1", spec={
        "parentRef": {"group": "", "resource": "services", "namespace": "n", "name": "s"}
    }),
]  # fmt: skip
