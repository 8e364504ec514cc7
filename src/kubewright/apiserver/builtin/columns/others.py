"""The cells of the other groups."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from ...table.ages import human_duration
from .core import balanced_at
from .parts import default_mark, labels_text, more, of, selector, since, status_of

__all__ = ["ROWS"]

Object = dict[str, Any]
Row = Callable[[Object, datetime], dict[str, Any]]


def _ingress(obj: Object, now: datetime) -> dict[str, Any]:
    spec = obj["spec"]
    rules = spec.get("rules", ())
    hosts = [each["host"] for each in rules if each.get("host")]
    shown = ",".join(hosts[:3]) or "*"
    return {
        "Class": spec.get("ingressClassName", "<none>"),
        "Hosts": f"{shown} + {len(rules) - 3} more..." if len(hosts) >= 3 and len(rules) > 3 else shown,
        "Address": ",".join(balanced_at(obj)),
        "Ports": "80, 443" if spec.get("tls") else "80",
    }


def _ingress_class(obj: Object, now: datetime) -> dict[str, Any]:
    parameters = of(obj, "spec", "parameters", absent=None)
    shown = "<none>"
    if parameters is not None:
        group = parameters.get("apiGroup")
        shown = f"{parameters.get('kind', '')}{'' if group is None else f'.{group}'}/{parameters.get('name', '')}"
    return {
        "Name": default_mark(obj, "ingressclass.kubernetes.io/is-default-class"),
        "Controller": of(obj, "spec", "controller"),
        "Parameters": shown,
    }


def _network_policy(obj: Object, now: datetime) -> dict[str, Any]:
    return {"Pod-Selector": selector(obj["spec"].get("podSelector"))}


def _ip_address(obj: Object, now: datetime) -> dict[str, Any]:
    parent = of(obj, "spec", "parentRef", absent=None)
    if parent is None:
        return {"ParentRef": "<none>"}
    group, resource = parent.get("group", ""), parent.get("resource", "")
    parts = [
        f"{resource}.{group}".lower() if group else resource.lower(),
        parent.get("namespace"),
        parent.get("name", ""),
    ]
    return {"ParentRef": "/".join(each for each in parts if each)}


def _slice(obj: Object, now: datetime) -> dict[str, Any]:
    ports = [str(each.get("port", each.get("name", "*"))) for each in obj.get("ports") or ()]
    addresses = [ip for each in obj.get("endpoints") or () for ip in each.get("addresses") or ()]
    return {"AddressType": obj.get("addressType", ""), "Ports": more(ports, 3), "Endpoints": more(addresses, 3)}


def _binding(obj: Object, now: datetime) -> dict[str, Any]:
    role, subjects = obj.get("roleRef") or {}, obj.get("subjects") or ()

    def names(kind: str) -> str:
        return ", ".join(each.get("name", "") for each in subjects if each.get("kind") == kind)

    accounts = [
        f"{each.get('namespace', '')}/{each['name']}" for each in subjects if each.get("kind") == "ServiceAccount"
    ]
    return {
        "Role": f"{role.get('kind', '')}/{role.get('name', '')}",
        "Users": names("User"),
        "Groups": names("Group"),
        "ServiceAccounts": ", ".join(accounts),
    }


def _storage_class(obj: Object, now: datetime) -> dict[str, Any]:
    return {
        "Name": default_mark(obj, "storageclass.kubernetes.io/is-default-class"),
        "Provisioner": obj.get("provisioner", ""),
        "ReclaimPolicy": obj.get("reclaimPolicy", "Delete"),
        "VolumeBindingMode": obj.get("volumeBindingMode", "Immediate"),
        "AllowVolumeExpansion": obj.get("allowVolumeExpansion", False),
    }


def _csi_driver(obj: Object, now: datetime) -> dict[str, Any]:
    spec = obj["spec"]
    tokens = spec.get("tokenRequests")
    return {
        "AttachRequired": spec.get("attachRequired", True),
        "PodInfoOnMount": spec.get("podInfoOnMount", False),
        "StorageCapacity": spec.get("storageCapacity", False),
        "TokenRequests": "<unset>" if tokens is None else ",".join(each.get("audience", "") for each in tokens),
        "RequiresRepublish": spec.get("requiresRepublish", False),
        "Modes": ",".join(spec.get("volumeLifecycleModes", ())) or "<none>",
    }


def _attachment(obj: Object, now: datetime) -> dict[str, Any]:
    spec = obj["spec"]
    return {
        "Attacher": spec.get("attacher", ""),
        "PV": of(spec, "source", "persistentVolumeName"),
        "Node": spec.get("nodeName", ""),
        "Attached": of(obj, "status", "attached", absent=False),
    }


def _simple(**cells: tuple[str, ...]) -> Row:
    """Cells that are values of the object, by path."""
    return lambda obj, now: {name: of(obj, *path) for name, path in cells.items()}


def _webhooks(obj: Object, now: datetime) -> dict[str, Any]:
    return {"Webhooks": len(obj.get("webhooks", ()))}


def _policy(what: str) -> Row:
    def row(obj: Object, now: datetime) -> dict[str, Any]:
        kind = of(obj, "spec", "paramKind", absent=None)
        shown = "<unset>" if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"
        return {what.capitalize(): len(of(obj, "spec", what, absent=())), "ParamKind": shown}

    return row


def _policy_binding(obj: Object, now: datetime) -> dict[str, Any]:
    reference = of(obj, "spec", "paramRef", absent=None) or {}
    shown = "<unset>"
    if reference.get("name"):
        shown = f"{reference.get('namespace') or '*'}/{reference['name']}"
    elif reference.get("selector") is not None:
        shown = _selector_struct(reference["selector"])
    return {"PolicyName": of(obj, "spec", "policyName"), "ParamRef": shown}


def _selector_struct(selector: Object) -> str:
    """A LabelSelector as Go prints the struct: nobody made a text of this one."""
    labels = "".join(f"{name}: {value}," for name, value in sorted((selector.get("matchLabels") or {}).items()))
    wanted = "".join(
        f"LabelSelectorRequirement{{Key:{each['key']},Operator:{each['operator']},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{wanted}}},}}"
    )


def _signing_request(obj: Object, now: datetime) -> dict[str, Any]:
    spec, status = obj["spec"], obj.get("status") or {}
    kinds = {each.get("type") for each in status.get("conditions", ())}
    word = "Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"
    word += ",Failed" if "Failed" in kinds else ""
    word += ",Issued" if status.get("certificate") else ""
    seconds = spec.get("expirationSeconds")
    return {
        "SignerName": spec.get("signerName") or "<none>",
        "Requestor": spec.get("username", ""),
        "RequestedDuration": "<none>" if seconds is None else human_duration(seconds),
        "Condition": word,
    }


def _pod_certificate(obj: Object, now: datetime) -> dict[str, Any]:
    spec = obj["spec"]
    kinds = [each.get("type") for each in of(obj, "status", "conditions", absent=())]
    return {
        "PodName": spec.get("podName", ""),
        "ServiceAccountName": spec.get("serviceAccountName", ""),
        "NodeName": spec.get("nodeName", ""),
        "SignerName": spec.get("signerName", ""),
        "State": next((each for each in reversed(kinds) if each in ("Issued", "Denied", "Failed")), "Pending"),
        "UnverifiedUserAnnotations": labels_text(spec.get("unverifiedUserAnnotations")),
    }


def _trust_bundle(obj: Object, now: datetime) -> dict[str, Any]:
    return {"SignerName": of(obj, "spec", "signerName") or "<none>"}


def _priority_class(obj: Object, now: datetime) -> dict[str, Any]:
    return {
        "Value": obj.get("value", 0),
        "Global-Default": obj.get("globalDefault", False),
        "PreemptionPolicy": obj.get("preemptionPolicy", ""),
    }


def _api_service(obj: Object, now: datetime) -> dict[str, Any]:
    service = of(obj, "spec", "service", absent=None)
    condition = next((each for each in of(obj, "status", "conditions", absent=()) if each["type"] == "Available"), None)
    word = "Unknown"
    if condition is not None:
        word = condition.get("status", "")
        if word != "True":
            word = f"{word} ({condition.get('reason', '')})"
    shown = "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"
    return {"Service": shown, "Available": word}


def _definition(obj: Object, now: datetime) -> dict[str, Any]:
    spec = obj["spec"]
    names = spec.get("names") or {}
    return {
        "Scope": spec.get("scope", ""),
        "Versions": ",".join(each.get("name", "") for each in spec.get("versions", ())),
        "Created At": obj["metadata"].get("creationTimestamp", ""),
        "Group": spec.get("group", ""),
        "Kind": names.get("kind", ""),
        "ShortNames": ",".join(names.get("shortNames", ())),
        "Established": status_of(of(obj, "status", "conditions", absent=()), "Established") == "True",
    }


def _csi_node(obj: Object, now: datetime) -> dict[str, Any]:
    return {"Drivers": len(of(obj, "spec", "drivers", absent=()))}


def _claim(obj: Object, now: datetime) -> dict[str, Any]:
    status, is_leaving = obj.get("status") or {}, bool(obj["metadata"].get("deletionTimestamp"))
    words = ["deleted"] if is_leaving else []
    if status.get("allocation") is None:
        words += [] if is_leaving else ["pending"]
    else:
        words += ["allocated", "reserved"] if status.get("reservedFor") else ["allocated"]
    return {"State": ",".join(words)}


def _taint_rule(obj: Object, now: datetime) -> dict[str, Any]:
    taint = of(obj, "spec", "taint", absent={})
    added = taint.get("timeAdded")
    return {
        "Key": taint.get("key", ""),
        "Value": taint.get("value", ""),
        "Effect": taint.get("effect", ""),
        "TimeAdded": since(added, now) if added else "",
    }


def _flow_schema(obj: Object, now: datetime) -> dict[str, Any]:
    return {
        "PriorityLevel": of(obj, "spec", "priorityLevelConfiguration", "name"),
        "MatchingPrecedence": of(obj, "spec", "matchingPrecedence", absent=0),
        "DistinguisherMethod": of(obj, "spec", "distinguisherMethod", "type") or "<none>",
        "MissingPL": status_of(of(obj, "status", "conditions", absent=()), "Dangling") or "?",
    }


def _priority_level(obj: Object, now: datetime) -> dict[str, Any]:
    limited = of(obj, "spec", "limited", absent=None)
    queuing = of(limited or {}, "limitResponse", "queuing", absent=None)
    return {
        "Type": of(obj, "spec", "type"),
        "NominalConcurrencyShares": "<none>" if limited is None else limited.get("nominalConcurrencyShares"),
        **{
            column: "<none>" if queuing is None else queuing.get(column[0].lower() + column[1:], 0)
            for column in ("Queues", "HandSize", "QueueLengthLimit")
        },
    }


def _migration(obj: Object, now: datetime) -> dict[str, Any]:
    resource = of(obj, "spec", "resource", absent={})
    group, name = resource.get("group", ""), resource.get("resource", "")
    words = [
        each["type"]
        for each in of(obj, "status", "conditions", absent=())
        if each.get("status") == "True" and each["type"] in ("Running", "Failed", "Succeeded")
    ]
    return {"Resource": f"{name}.{group}" if group else name, "Status": words[-1] if words else "Unknown"}


_STORAGE: Final = "storage.k8s.io/v1"
_ADMISSION: Final = "admissionregistration.k8s.io/v1"
_RBAC: Final = "rbac.authorization.k8s.io/v1"
_NETWORK: Final = "networking.k8s.io/v1"
_DEVICES: Final = "resource.k8s.io/v1"

ROWS: Final[dict[tuple[str, str], Row]] = {
    (_NETWORK, "Ingress"): _ingress,
    (_NETWORK, "IngressClass"): _ingress_class,
    (_NETWORK, "NetworkPolicy"): _network_policy,
    (_NETWORK, "IPAddress"): _ip_address,
    (_NETWORK, "ServiceCIDR"): lambda obj, now: {"CIDRs": ",".join(of(obj, "spec", "cidrs", absent=()))},
    ("discovery.k8s.io/v1", "EndpointSlice"): _slice,
    (_RBAC, "RoleBinding"): _binding,
    (_RBAC, "ClusterRoleBinding"): _binding,
    (_STORAGE, "StorageClass"): _storage_class,
    (_STORAGE, "CSIDriver"): _csi_driver,
    (_STORAGE, "CSINode"): _csi_node,
    (_STORAGE, "VolumeAttachment"): _attachment,
    (_STORAGE, "VolumeAttributesClass"): _simple(DriverName=("driverName",)),
    (_ADMISSION, "MutatingWebhookConfiguration"): _webhooks,
    (_ADMISSION, "ValidatingWebhookConfiguration"): _webhooks,
    (_ADMISSION, "ValidatingAdmissionPolicy"): _policy("validations"),
    (_ADMISSION, "MutatingAdmissionPolicy"): _policy("mutations"),
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): _policy_binding,
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): _policy_binding,
    ("certificates.k8s.io/v1", "CertificateSigningRequest"): _signing_request,
    ("certificates.k8s.io/v1", "ClusterTrustBundle"): _trust_bundle,
    ("certificates.k8s.io/v1", "PodCertificateRequest"): _pod_certificate,
    ("scheduling.k8s.io/v1", "PriorityClass"): _priority_class,
    ("coordination.k8s.io/v1", "Lease"): _simple(Holder=("spec", "holderIdentity")),
    ("node.k8s.io/v1", "RuntimeClass"): _simple(Handler=("handler",)),
    ("apiregistration.k8s.io/v1", "APIService"): _api_service,
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): _definition,
    (_DEVICES, "ResourceClaim"): _claim,
    (_DEVICES, "DeviceTaintRule"): _taint_rule,
    (_DEVICES, "ResourceSlice"): _simple(
        Node=("spec", "nodeName"), Driver=("spec", "driver"), Pool=("spec", "pool", "name")
    ),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"): _flow_schema,
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"): _priority_level,
    ("storagemigration.k8s.io/v1", "StorageVersionMigration"): _migration,
}
