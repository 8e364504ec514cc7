"""Objects that a server takes, and says something about."""

from __future__ import annotations

import more_cases
import write_cases
from write_cases import Object, changed

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
    "pod": _template(changed(write_cases.POD, metadata__name="a.b"), ""),
    "deployment": _template(changed(write_cases.DEPLOYMENT, metadata__name="a.b")),
    "replicaset": _template(changed(write_cases.REPLICA_SET, metadata__name="a.b")),
    "statefulset": changed(
        _template(write_cases.STATEFUL_SET),
        spec__volumeClaimTemplates=[
            changed(write_cases.CLAIM_TEMPLATE, spec__resources={"requests": {"storage": "1500m"}})
        ],
    ),
    "daemonset": _template(write_cases.DAEMON_SET),
    "controller": _template(changed(write_cases.CONTROLLER, metadata__name="a.b")),
    "job": _template(changed(write_cases.JOB, metadata__name="a.b")),
    "large job": changed(
        write_cases.JOB, spec__completionMode="Indexed", spec__completions=100_001, spec__parallelism=10_001
    ),
    "cronjob": _template(changed(write_cases.CRON_JOB, metadata__name="a.b"), "spec__jobTemplate__spec__template__"),
    "service": changed(write_cases.SERVICE, spec__externalIPs=["1.2.3.4"], spec__externalName="a.example.com"),
    "close service": changed(write_cases.SERVICE, spec__trafficDistribution="PreferClose"),
    "headless service": changed(
        write_cases.SERVICE, spec__clusterIP="None", spec__externalIPs=["1.2.3.4"], spec__sessionAffinity="ClientIP"
    ),
    "named service": changed(
        write_cases.SERVICE, spec__type="ExternalName", spec__externalName="a.b", spec__externalIPs=["1.2.3.4"]
    ),
    "claim": changed(more_cases._BASES["claim"], spec__resources={"requests": {"storage": "1500m"}}),
    "ingress": changed(more_cases._BASES["ingress"], metadata__annotations={"kubernetes.io/ingress.class": "x"}),
    "endpoints": more_cases._BASES["endpoints"],
    "nothing": more_cases._BASES["configmap"],
    "unknown field": changed(more_cases._BASES["configmap"], nonsense=1),
}
