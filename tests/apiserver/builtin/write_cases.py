"""Objects that are written both to the strategies and to a real server: good ones, and ones with one mistake each.

`CREATED` maps a name to an object. `CHANGED` maps a name to an object that is created for real, and a change of it.
A change is `path -> value`; numbers in a path are places in a list, `REMOVED` takes a field away.
"""

from __future__ import annotations

import copy
from typing import Any

Object = dict[str, Any]


class _Removed:
    pass


REMOVED = _Removed()


def changed(obj: Object, **changes: Any) -> Object:
    """A copy with changes; `__` in a name is a dot."""
    made = copy.deepcopy(obj)
    for name, value in changes.items():
        put(made, name.replace("__", "."), value)
    return made


def put(obj: Any, path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for each in parents:
        obj = obj[int(each)] if isinstance(obj, list) else obj.setdefault(each, {})
    if isinstance(obj, list):
        if int(last) == len(obj):
            obj.append(value)
        else:
            obj[int(last)] = value
    elif isinstance(value, _Removed):
        obj.pop(last, None)
    else:
        obj[last] = value


def _named(kind: str, name: str, api_version: str = "v1", **fields: Any) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


CONTAINER: Object = {"name": "main", "image": "example.com/app:1"}
LABELS = {"app": "web"}
TEMPLATE: Object = {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER]}}
SELECTOR: Object = {"matchLabels": LABELS}

POD = _named("Pod", "pod", spec={"containers": [CONTAINER]})
DEPLOYMENT = _named("Deployment", "web", "apps/v1", spec={"selector": SELECTOR, "template": TEMPLATE})
REPLICA_SET = _named("ReplicaSet", "web", "apps/v1", spec={"selector": SELECTOR, "template": TEMPLATE})
STATEFUL_SET = _named(
    "StatefulSet", "db", "apps/v1", spec={"serviceName": "db", "selector": SELECTOR, "template": TEMPLATE}
)
DAEMON_SET = _named("DaemonSet", "agent", "apps/v1", spec={"selector": SELECTOR, "template": TEMPLATE})
CONTROLLER = _named("ReplicationController", "old", spec={"selector": LABELS, "template": TEMPLATE})
ONCE = {"metadata": {}, "spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}
JOB = _named("Job", "once", "batch/v1", spec={"template": ONCE})
CRON_JOB = _named(
    "CronJob", "nightly", "batch/v1", spec={"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": ONCE}}}
)
SERVICE = _named("Service", "web", spec={"selector": LABELS, "ports": [{"port": 80}]})
CLAIM = _named(
    "PersistentVolumeClaim",
    "data",
    spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
)
CLAIM_TEMPLATE: Object = {"metadata": {"name": "data"}, "spec": CLAIM["spec"]}

_BASES: dict[str, Object] = {
    "pod": POD,
    "deployment": DEPLOYMENT,
    "replicaset": REPLICA_SET,
    "statefulset": STATEFUL_SET,
    "daemonset": DAEMON_SET,
    "controller": CONTROLLER,
    "job": JOB,
    "cronjob": CRON_JOB,
    "service": SERVICE,
}

_C = "spec.containers.0"
_POD_CHANGES: dict[str, dict[str, Any]] = {
    "no containers": {"spec.containers": []},
    "no spec": {"spec": REMOVED},
    "no image": {f"{_C}.image": REMOVED},
    "image with spaces": {f"{_C}.image": " a "},
    "image of a registry with a port": {f"{_C}.image": "localhost:5000/a/b"},
    "image by digest": {f"{_C}.image": "example.com/app@sha256:" + "a" * 64},
    "image with capitals": {f"{_C}.image": "Example/App"},
    "image latest": {f"{_C}.image": "nginx:latest"},
    "container without name": {f"{_C}.name": REMOVED},
    "container with a bad name": {f"{_C}.name": "Main_1"},
    "two containers of one name": {"spec.containers.1": CONTAINER},
    "init container of the same name": {"spec.initContainers": [CONTAINER]},
    "init container with a probe": {
        "spec.initContainers": [{"name": "i", "image": "a", "livenessProbe": {"exec": {"command": ["x"]}}}]
    },
    "sidecar": {
        "spec.initContainers": [
            {"name": "i", "image": "a", "restartPolicy": "Always", "startupProbe": {"tcpSocket": {"port": 1}}}
        ]
    },
    "restart policy unknown": {"spec.restartPolicy": "Sometimes"},
    "restart policy OnFailure": {"spec.restartPolicy": "OnFailure"},
    "ephemeral containers": {"spec.ephemeralContainers": [{"name": "e", "image": "a"}]},
    "ports": {f"{_C}.ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 53, "protocol": "UDP"}]},
    "port 0": {f"{_C}.ports": [{"name": "http"}]},
    "port too high": {f"{_C}.ports": [{"containerPort": 70000}]},
    "port name too long": {f"{_C}.ports": [{"containerPort": 80, "name": "a-very-long-port-name"}]},
    "port name bad": {f"{_C}.ports": [{"containerPort": 80, "name": "-A--1"}]},
    "port name twice": {
        f"{_C}.ports": [{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}],
    },
    "protocol unknown": {f"{_C}.ports": [{"containerPort": 80, "protocol": "tcp"}]},
    "host port twice": {
        f"{_C}.ports": [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}],
    },
    "host network": {"spec.hostNetwork": True, f"{_C}.ports": [{"containerPort": 80}]},
    "host network with another port": {
        "spec.hostNetwork": True,
        f"{_C}.ports": [{"containerPort": 80, "hostPort": 81}],
    },
    "requests and limits": {f"{_C}.resources": {"limits": {"cpu": "0.5", "memory": "1Gi"}, "requests": {"cpu": "1m"}}},
    "guaranteed": {f"{_C}.resources": {"limits": {"cpu": "1", "memory": "1Gi"}}},
    "request above limit": {f"{_C}.resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}},
    "negative request": {f"{_C}.resources": {"requests": {"cpu": "-1"}}},
    "unknown resource": {f"{_C}.resources": {"requests": {"cpus": "1"}}},
    "extended resource": {f"{_C}.resources": {"limits": {"example.com/gpu": "1"}}},
    "extended resource in parts": {f"{_C}.resources": {"limits": {"example.com/gpu": "500m"}}},
    "extended resource without limit": {f"{_C}.resources": {"requests": {"example.com/gpu": "1"}}},
    "tiny amount": {f"{_C}.resources": {"requests": {"cpu": "100u"}}},
    "huge pages alone": {f"{_C}.resources": {"limits": {"hugepages-2Mi": "4Mi"}}},
    "quantity that is none": {f"{_C}.resources": {"requests": {"cpu": "1 core"}}},
    "quantity with a bad suffix": {f"{_C}.resources": {"requests": {"memory": "1GB"}}},
    "quantity as a number": {f"{_C}.resources": {"requests": {"cpu": 1}}},
    "env": {
        f"{_C}.env": [
            {"name": "A", "value": "1"},
            {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ]
    },
    "env without name": {f"{_C}.env": [{"value": "1"}]},
    "env with an odd name": {f"{_C}.env": [{"name": "a b-c.1"}]},
    "env with an equals sign": {f"{_C}.env": [{"name": "a=b"}]},
    "env with value and source": {
        f"{_C}.env": [{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    },
    "env with two sources": {
        f"{_C}.env": [
            {
                "name": "A",
                "valueFrom": {
                    "fieldRef": {"fieldPath": "metadata.name"},
                    "secretKeyRef": {"name": "s", "key": "k"},
                },
            }
        ]
    },
    "env without source": {f"{_C}.env": [{"name": "A", "valueFrom": {}}]},
    "env of an unknown field": {f"{_C}.env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}}]},
    "env of labels": {f"{_C}.env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}}]},
    "env of a label": {f"{_C}.env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a']"}}}]},
    "env of a key without name": {f"{_C}.env": [{"name": "A", "valueFrom": {"secretKeyRef": {"key": "k!"}}}]},
    "env of a resource": {
        f"{_C}.env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}}]
    },
    "env of an unknown resource": {
        f"{_C}.env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.x"}}}]
    },
    "env with a bad divisor": {
        f"{_C}.env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "7"}}}]
    },
    "envFrom": {f"{_C}.envFrom": [{"configMapRef": {"name": "a"}, "prefix": "P_"}]},
    "envFrom without source": {f"{_C}.envFrom": [{"prefix": "P="}]},
    "volume without source": {"spec.volumes": [{"name": "v"}]},
    "volume without name": {"spec.volumes": [{"emptyDir": {}}]},
    "volume with two sources": {"spec.volumes": [{"name": "v", "emptyDir": {}, "secret": {"secretName": "s"}}]},
    "volume twice": {"spec.volumes": [{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]},
    "volumes of all kinds": {
        "spec.volumes": [
            {"name": "a", "secret": {"secretName": "s", "items": [{"key": "k", "path": "p"}]}},
            {"name": "b", "configMap": {"name": "c"}},
            {"name": "c", "hostPath": {"path": "/x"}},
            {"name": "d", "persistentVolumeClaim": {"claimName": "d"}},
            {"name": "e", "downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
            {"name": "f", "projected": {"sources": [{"configMap": {"name": "c"}}]}},
            {"name": "g", "nfs": {"server": "s", "path": "/x"}},
            {"name": "h", "csi": {"driver": "d.example.com"}},
            {"name": "i", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
            {"name": "j", "iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:x", "lun": 0}},
            {"name": "k", "image": {"reference": "example.com/a:1"}},
            {"name": "l", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM["spec"]}}},
        ]
    },
    "volumes that lack something": {
        "spec.volumes": [
            {"name": "a", "secret": {"items": [{"key": "", "path": "../x"}]}},
            {"name": "b", "configMap": {"defaultMode": 4096}},
            {"name": "c", "hostPath": {"path": "/a/../b", "type": "Dir"}},
            {"name": "d", "persistentVolumeClaim": {}},
            {"name": "e", "downwardAPI": {"items": [{"path": "l"}]}},
            {"name": "f", "nfs": {"server": "s", "path": "x"}},
            {"name": "g", "emptyDir": {"sizeLimit": "-1"}},
            {"name": "h", "projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 5}}]}},
            {"name": "i", "ephemeral": {}},
        ]
    },
    "mount of nothing": {f"{_C}.volumeMounts": [{"name": "v", "mountPath": "/v"}]},
    "mounts": {
        "spec.volumes": [{"name": "v", "emptyDir": {}}],
        f"{_C}.volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/w", "subPath": "a"}],
    },
    "mounts at one place": {
        "spec.volumes": [{"name": "v", "emptyDir": {}}],
        f"{_C}.volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/v", "subPath": "/a/.."}],
    },
    "mount without path": {
        "spec.volumes": [{"name": "v", "emptyDir": {}}],
        f"{_C}.volumeMounts": [{"name": "v", "mountPropagation": "Bidirectional"}],
    },
    "block device": {
        "spec.volumes": [{"name": "v", "emptyDir": {}}],
        f"{_C}.volumeDevices": [{"name": "v", "devicePath": "/dev/x"}],
    },
    "probes": {
        f"{_C}.livenessProbe": {"httpGet": {"port": "http"}},
        f"{_C}.readinessProbe": {"exec": {"command": ["true"]}},
        f"{_C}.startupProbe": {"grpc": {"port": 1}},
        f"{_C}.lifecycle": {"preStop": {"httpGet": {"port": 80}}},
    },
    "probe without handler": {f"{_C}.livenessProbe": {}},
    "probe with two handlers": {f"{_C}.livenessProbe": {"tcpSocket": {"port": 1}, "exec": {"command": ["x"]}}},
    "probe with bad numbers": {
        f"{_C}.livenessProbe": {"tcpSocket": {"port": 0}, "successThreshold": 2, "periodSeconds": -1},
        f"{_C}.readinessProbe": {"exec": {}, "terminationGracePeriodSeconds": 5},
    },
    "probe with a bad header": {
        f"{_C}.livenessProbe": {
            "httpGet": {"port": 80, "scheme": "FTP", "httpHeaders": [{"name": "a b", "value": "c"}]}
        }
    },
    "sleep too long": {f"{_C}.lifecycle": {"preStop": {"sleep": {"seconds": 60}}}},
    "pull policy unknown": {f"{_C}.imagePullPolicy": "Maybe"},
    "termination message policy unknown": {f"{_C}.terminationMessagePolicy": "Maybe"},
    "resize policy": {f"{_C}.resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]},
    "resize policy bad": {f"{_C}.resizePolicy": [{"resourceName": "disk", "restartPolicy": "Maybe"}]},
    "security context": {
        f"{_C}.securityContext": {"runAsUser": 1, "capabilities": {"drop": ["ALL"]}, "allowPrivilegeEscalation": False},
        "spec.securityContext": {"fsGroup": 1, "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    },
    "security context bad": {
        f"{_C}.securityContext": {"runAsUser": -1, "seccompProfile": {"type": "Localhost"}},
        "spec.securityContext": {"fsGroup": -1, "fsGroupChangePolicy": "Now", "seccompProfile": {"type": "X"}},
    },
    "privileged without escalation": {f"{_C}.securityContext": {"privileged": True, "allowPrivilegeEscalation": False}},
    "dns policy unknown": {"spec.dnsPolicy": "X"},
    "dns policy None": {"spec.dnsPolicy": "None"},
    "dns config": {"spec.dnsConfig": {"nameservers": ["1.2.3.4"], "searches": ["a.b"], "options": [{"name": "ndots"}]}},
    "dns config bad": {"spec.dnsConfig": {"nameservers": ["1.2.3.4", "x", "::1", "2.3.4.5"], "options": [{}]}},
    "service account": {"spec.serviceAccountName": "robot"},
    "service account by its old name": {"spec.serviceAccount": "robot"},
    "service account bad": {"spec.serviceAccountName": "Robot_1"},
    "node name bad": {"spec.nodeName": "Node_1"},
    "node selector bad": {"spec.nodeSelector": {"a b": "c d"}},
    "deadline 0": {"spec.activeDeadlineSeconds": 0},
    "grace negative": {"spec.terminationGracePeriodSeconds": -5},
    "hostname bad": {"spec.hostname": "A", "spec.subdomain": "b.c"},
    "tolerations": {"spec.tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute"}]},
    "toleration of everything": {"spec.tolerations": [{"operator": "Exists"}]},
    "tolerations bad": {
        "spec.tolerations": [
            {"operator": "Equal"},
            {"key": "a b", "operator": "X"},
            {"key": "a", "operator": "Exists", "value": "v", "effect": "Y"},
            {"key": "a", "effect": "NoSchedule", "tolerationSeconds": 5},
            {"key": "a", "operator": "Gt", "value": "5"},
        ]
    },
    "affinity": {
        "spec.affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]
                }
            },
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 1, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": SELECTOR}}
                ]
            },
        }
    },
    "affinity bad": {
        "spec.affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": "a b", "operator": "In"},
                                {"key": "a", "operator": "Gt", "values": ["1", "2"]},
                                {"key": "a", "operator": "X"},
                            ],
                            "matchFields": [{"key": "metadata.uid", "operator": "In", "values": ["x"]}],
                        }
                    ]
                },
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 0, "preference": {}}],
            },
            "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "", "namespaces": ["A"]}],
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 101, "podAffinityTerm": {"topologyKey": "z"}}
                ],
            },
        }
    },
    "spread": {
        "spec.topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR}
        ]
    },
    "spread bad": {
        "spec.topologySpreadConstraints": [
            {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "X", "minDomains": 0},
            {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "nodeTaintsPolicy": "X"},
            {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["a"]},
        ]
    },
    "host aliases bad": {"spec.hostAliases": [{"ip": "x", "hostnames": ["A"]}]},
    "scheduling gates": {"spec.schedulingGates": [{"name": "example.com/wait"}]},
    "scheduling gates bad": {"spec.nodeName": "n", "spec.schedulingGates": [{"name": "a"}, {"name": "a"}]},
    "readiness gates bad": {"spec.readinessGates": [{"conditionType": "a b"}]},
    "priority class unknown": {"spec.priorityClassName": "nobody"},
    "priority class of the system": {"spec.priorityClassName": "system-cluster-critical"},
    "priority given": {"spec.priority": 5},
    "preemption policy unknown": {"spec.preemptionPolicy": "Maybe"},
    "os unknown": {"spec.os": {"name": "beos"}},
    "share process namespace with host": {"spec.hostPID": True, "spec.shareProcessNamespace": True},
    "host users": {"spec.hostUsers": False, "spec.hostNetwork": True, "spec.hostIPC": True},
    "status is dropped": {"status": {"phase": "Running"}},
    "generate name": {"metadata.name": REMOVED, "metadata.generateName": "pod-"},
    "name bad": {"metadata.name": "Pod_1"},
    "label bad": {"metadata.labels": {"a b": "c d"}},
    "annotation bad": {"metadata.annotations": {"a b": "c"}},
    "replicas of a wrong type": {"spec.containers": "none"},
    "container of a wrong type": {"spec.containers": ["none"]},
    "name of a wrong type": {f"{_C}.name": 5},
    "grace of a wrong type": {"spec.terminationGracePeriodSeconds": "5"},
    "grace in parts": {"spec.terminationGracePeriodSeconds": 1.5},
    "bool of a wrong type": {"spec.hostNetwork": "yes"},
    "map of a wrong type": {"spec.nodeSelector": {"a": 1}},
    "port of a wrong type": {f"{_C}.livenessProbe": {"httpGet": {"port": True}}},
    "empty lists": {"spec.volumes": [], f"{_C}.env": [], f"{_C}.command": [], "metadata.labels": {}},
    "nulls": {"spec.volumes": None, f"{_C}.env": None, "spec.nodeSelector": None, "spec.hostNetwork": None},
}
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
    for base, obj in _BASES.items():
        changes = dict(_OTHER_CHANGES.get(base, {}))
        if base == "pod":
            changes |= {"plain": {}, **_POD_CHANGES}
        elif "template" in obj["spec"] and base != "job":
            changes |= _TEMPLATE_CHANGES
        for name, values in changes.items():
            one = copy.deepcopy(obj)
            for path, value in values.items():
                put(one, path, copy.deepcopy(value))
            made[f"{base}: {name}"] = one
    return made


CREATED: dict[str, Object] = _all()
