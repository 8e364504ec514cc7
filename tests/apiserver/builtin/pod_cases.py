"""Changes of a Pod, good ones and ones with one mistake each: what is asked of new Pods and of templates."""

from __future__ import annotations

from typing import Any

from base_objects import CLAIM, CONTAINER, REMOVED, SELECTOR

_C = "spec.containers.0"
POD_CHANGES: dict[str, dict[str, Any]] = {
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
