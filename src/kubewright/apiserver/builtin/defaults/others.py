"""Defaults of the other groups: admission, networking, storage, RBAC, discovery, priorities, devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

__all__ = ["DEFAULTS"]

Object = dict[str, Any]
Default = Callable[[Object], None]

_RBAC: Final = "rbac.authorization.k8s.io"


def _setting(**defaults: Any) -> Default:
    """A default that only fills in what is absent."""

    def default(obj: Object) -> None:
        for name, value in defaults.items():
            if obj.get(name) is None:
                obj[name] = dict(value) if isinstance(value, dict) else value

    return default


_matching: Final = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
_webhook: Final = {"failurePolicy": "Fail", **_matching, "timeoutSeconds": 10}


def _network_policy(obj: Object) -> None:
    spec = obj["spec"]
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _role_ref(obj: Object) -> None:
    if not obj["roleRef"].get("apiGroup"):
        obj["roleRef"]["apiGroup"] = _RBAC


def _subject(subject: Object) -> None:
    if not subject.get("apiGroup") and subject["kind"] in ("User", "Group"):
        subject["apiGroup"] = _RBAC


def _csi_driver(obj: Object) -> None:
    spec = obj["spec"]
    spec.setdefault("attachRequired", True)
    spec.setdefault("fsGroupPolicy", "ReadWriteOnceWithFSType")
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]
    for name in (
        "podInfoOnMount",
        "storageCapacity",
        "requiresRepublish",
        "seLinuxMount",
        "preventPodSchedulingIfMissing",
    ):
        spec.setdefault(name, False)


def _device_request(request: Object) -> None:
    if request.setdefault("allocationMode", "ExactCount") == "ExactCount" and not request.get("count"):
        request["count"] = 1


def _zero_setting(**defaults: int) -> Default:
    def default(obj: Object) -> None:
        for name, value in defaults.items():
            if not obj.get(name):
                obj[name] = value

    return default


DEFAULTS: Final[dict[str, Default]] = {
    "admissionregistration/v1.ValidatingWebhook": _setting(**_webhook),
    "admissionregistration/v1.MutatingWebhook": _setting(**_webhook, reinvocationPolicy="Never"),
    "admissionregistration/v1.Rule": _setting(scope="*"),
    "admissionregistration/v1.RuleWithOperations": _setting(scope="*"),
    "admissionregistration/v1.NamedRuleWithOperations": _setting(scope="*"),
    "admissionregistration/v1.ServiceReference": _setting(port=443),
    "admissionregistration/v1.ValidatingAdmissionPolicySpec": _setting(failurePolicy="Fail"),
    "admissionregistration/v1.MutatingAdmissionPolicySpec": _setting(failurePolicy="Fail"),
    "admissionregistration/v1.MatchResources": _setting(**_matching),
    "apiregistration/v1.ServiceReference": _setting(port=443),
    "discovery/v1.EndpointPort": _setting(name="", protocol="TCP"),
    "flowcontrol/v1.FlowSchemaSpec": _zero_setting(matchingPrecedence=1000),
    "flowcontrol/v1.ExemptPriorityLevelConfiguration": _setting(nominalConcurrencyShares=0, lendablePercent=0),
    "flowcontrol/v1.LimitedPriorityLevelConfiguration": _setting(nominalConcurrencyShares=30, lendablePercent=0),
    "flowcontrol/v1.QueuingConfiguration": _zero_setting(handSize=8, queues=64, queueLengthLimit=50),
    "networking/v1.NetworkPolicyPort": _setting(protocol="TCP"),
    "networking/v1.NetworkPolicy": _network_policy,
    "networking/v1.IngressClassParametersReference": _setting(scope="Cluster"),
    "rbac/v1.ClusterRoleBinding": _role_ref,
    "rbac/v1.RoleBinding": _role_ref,
    "rbac/v1.Subject": _subject,
    "resource/v1.ExactDeviceRequest": _device_request,
    "resource/v1.DeviceSubRequest": _device_request,
    "scheduling/v1.PriorityClass": _setting(preemptionPolicy="PreemptLowerPriority"),
    "storage/v1.StorageClass": _setting(reclaimPolicy="Delete", volumeBindingMode="Immediate"),
    "storage/v1.CSIDriver": _csi_driver,
}
