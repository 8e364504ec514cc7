"""Objects of the kinds that neither are Pods nor make them."""

from __future__ import annotations

from base_objects import CLAIM, SELECTOR, Object, named

_RBAC = "rbac.authorization.k8s.io/v1"
_NET = "networking.k8s.io/v1"
_ADMISSION = "admissionregistration.k8s.io/v1"
BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
HOOK = {
    "name": "check.example.com",
    "clientConfig": {"service": {"name": "hook", "namespace": "default"}},
    "rules": [{"operations": ["CREATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}

BASES: dict[str, Object] = {
    "configmap": named("ConfigMap", "c", data={"a": "b"}),
    "secret": named("Secret", "s", data={"a": "Yg=="}),
    "namespace": named("Namespace", "space"),
    "serviceaccount": named("ServiceAccount", "robot"),
    "claim": CLAIM,
    "volume": named(
        "PersistentVolume",
        "pv",
        spec={"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}},
    ),
    "storageclass": named("StorageClass", "fast", "storage.k8s.io/v1", provisioner="example.com/disk"),
    "node": named("Node", "node-1"),
    "quota": named("ResourceQuota", "q", spec={"hard": {"pods": "5", "requests.cpu": "1"}}),
    "limits": named("LimitRange", "l", spec={"limits": [{"type": "Container", "max": {"cpu": "1"}}]}),
    "endpoints": named("Endpoints", "e", subsets=[{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 80}]}]),
    "event": named("Event", "e.1", involvedObject={"kind": "Pod", "name": "p", "namespace": "default"}, reason="R"),
    "podtemplate": named("PodTemplate", "t", template={"spec": {"containers": [{"name": "a", "image": "b"}]}}),
    "newevent": named(
        "Event",
        "e.2",
        "events.k8s.io/v1",
        eventTime="2026-01-01T00:00:00.000000Z",
        reportingController="example.com/c",
        reportingInstance="i",
        action="A",
        reason="R",
        type="Normal",
        regarding={"kind": "Pod", "name": "p", "namespace": "default"},
    ),
    "role": named("Role", "r", _RBAC, rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]),
    "clusterrole": named("ClusterRole", "r", _RBAC, rules=[{"nonResourceURLs": ["/x"], "verbs": ["get"]}]),
    "rolebinding": named(
        "RoleBinding",
        "b",
        _RBAC,
        roleRef={"kind": "ClusterRole", "name": "view"},
        subjects=[{"kind": "ServiceAccount", "name": "default", "namespace": "default"}],
    ),
    "clusterrolebinding": named(
        "ClusterRoleBinding",
        "b",
        _RBAC,
        roleRef={"kind": "ClusterRole", "name": "view", "apiGroup": "rbac.authorization.k8s.io"},
        subjects=[{"kind": "User", "name": "u"}],
    ),
    "ingress": named("Ingress", "i", _NET, spec={"defaultBackend": BACKEND}),
    "ingressclass": named("IngressClass", "i", _NET, spec={"controller": "example.com/c"}),
    "networkpolicy": named("NetworkPolicy", "n", _NET, spec={"podSelector": SELECTOR}),
    "autoscaler": named(
        "HorizontalPodAutoscaler",
        "h",
        "autoscaling/v2",
        spec={"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
    ),
    "oldautoscaler": named(
        "HorizontalPodAutoscaler",
        "h",
        "autoscaling/v1",
        spec={
            "maxReplicas": 3,
            "targetCPUUtilizationPercentage": 50,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        },
    ),
    "budget": named("PodDisruptionBudget", "b", "policy/v1", spec={"minAvailable": 1, "selector": SELECTOR}),
    "lease": named("Lease", "l", "coordination.k8s.io/v1", spec={"holderIdentity": "me"}),
    "priority": named("PriorityClass", "p", "scheduling.k8s.io/v1", value=5),
    "slice": named(
        "EndpointSlice",
        "s",
        "discovery.k8s.io/v1",
        addressType="IPv4",
        endpoints=[{"addresses": ["1.2.3.4"]}],
        ports=[{"port": 80}],
    ),
    "validating": named("ValidatingWebhookConfiguration", "v", _ADMISSION, webhooks=[HOOK]),
    "mutating": named("MutatingWebhookConfiguration", "m", _ADMISSION, webhooks=[HOOK]),
    "revision": named("ControllerRevision", "r", "apps/v1", revision=1, data={"a": 1}),
    "csidriver": named("CSIDriver", "d.example.com", "storage.k8s.io/v1", spec={}),
    "runtimeclass": named("RuntimeClass", "rc", "node.k8s.io/v1", handler="runc"),
    "vap": named(
        "ValidatingAdmissionPolicy",
        "vap",
        _ADMISSION,
        spec={
            "matchConstraints": {"resourceRules": HOOK["rules"]},
            "validations": [{"expression": "true"}],
        },
    ),
    "vapbinding": named(
        "ValidatingAdmissionPolicyBinding", "b", _ADMISSION, spec={"policyName": "vap", "validationActions": ["Deny"]}
    ),
    "csr": named(
        "CertificateSigningRequest",
        "csr",
        "certificates.k8s.io/v1",
        spec={"request": "eA==", "signerName": "example.com/s", "usages": ["client auth"]},
    ),
    "deviceclass": named("DeviceClass", "dc.example.com", "resource.k8s.io/v1", spec={}),
}
