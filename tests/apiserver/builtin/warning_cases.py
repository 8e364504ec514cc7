"""Objects that a server takes, and says something about."""

from __future__ import annotations

import base_objects
import more_objects
from base_objects import Object, changed

_SPEC = "spec.template.spec"
_AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a"}],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {"topologyKey": "a"}}],
}


def _template(base: Object, path: str = "spec__template__") -> Object:
    put = {
        "spec__nodeSelector": {"beta.kubernetes.io/os": "linux"},
        "spec__hostAliases": [{"ip": "1.2.3.4", "hostnames": ["a"]}, {"ip": "1.2.3.4", "hostnames": ["b"]}],
        "spec__imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}],
        "spec__containers__0__env": [
            {"name": "A", "value": "1"},
            {"name": "A", "value": "2"},
            {"name": "A", "value": "$(A)3"},
            {"name": "A", "value": "$(A)"},
        ],
        "spec__containers__0__resources": {"limits": {"memory": "1500m"}, "requests": {"ephemeral-storage": "1m"}},
        "spec__containers__0__ports": [{"containerPort": 80}, {"containerPort": 80, "hostPort": 81}],
        "spec__containers__1": {
            "name": "b",
            "image": "i",
            "ports": [{"name": "x", "containerPort": 90}],
        },
        "spec__containers__2": {"name": "c", "image": "i", "ports": [{"name": "x", "containerPort": 91}]},
        "spec__affinity": {"podAffinity": _AFFINITY, "podAntiAffinity": _AFFINITY},
        "spec__topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "whenUnsatisfiable": "DoNotSchedule",
                "topologyKey": "failure-domain.beta.kubernetes.io/zone",
            }
        ],
        "spec__volumes": [
            {"name": "a", "glusterfs": {"endpoints": "e", "path": "p"}},
            {"name": "b", "rbd": {"monitors": ["m"], "image": "i"}},
        ],
    }
    return changed(base, **{path + name: value for name, value in put.items()})


WARNED: dict[str, Object] = {
    "pod": _template(changed(base_objects.POD, metadata__name="a.b"), ""),
    "deployment": _template(changed(base_objects.DEPLOYMENT, metadata__name="a.b")),
    "replicaset": _template(changed(base_objects.REPLICA_SET, metadata__name="a.b")),
    "statefulset": changed(
        _template(base_objects.STATEFUL_SET),
        spec__volumeClaimTemplates=[
            changed(base_objects.CLAIM_TEMPLATE, spec__resources={"requests": {"storage": "1500m"}})
        ],
    ),
    "daemonset": _template(base_objects.DAEMON_SET),
    "controller": _template(changed(base_objects.CONTROLLER, metadata__name="a.b")),
    "job": _template(changed(base_objects.JOB, metadata__name="a.b")),
    "large job": changed(
        base_objects.JOB, spec__completionMode="Indexed", spec__completions=100_001, spec__parallelism=10_001
    ),
    "cronjob": _template(changed(base_objects.CRON_JOB, metadata__name="a.b"), "spec__jobTemplate__spec__template__"),
    "service": changed(base_objects.SERVICE, spec__externalIPs=["1.2.3.4"], spec__externalName="a.example.com"),
    "close service": changed(base_objects.SERVICE, spec__trafficDistribution="PreferClose"),
    "headless service": changed(
        base_objects.SERVICE, spec__clusterIP="None", spec__externalIPs=["1.2.3.4"], spec__sessionAffinity="ClientIP"
    ),
    "named service": changed(
        base_objects.SERVICE, spec__type="ExternalName", spec__externalName="a.b", spec__externalIPs=["1.2.3.4"]
    ),
    "claim": changed(more_objects.BASES["claim"], spec__resources={"requests": {"storage": "1500m"}}),
    "ingress": changed(more_objects.BASES["ingress"], metadata__annotations={"kubernetes.io/ingress.class": "x"}),
    "endpoints": more_objects.BASES["endpoints"],
    "nothing": more_objects.BASES["configmap"],
    "unknown field": changed(more_objects.BASES["configmap"], nonsense=1),
}
