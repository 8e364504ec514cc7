"""What no OpenAPI document says: short names and categories of the built-in kinds, and which types `model` has itself.

Short names and categories are Kubernetes' (`kubectl api-resources`, release 1.37); they live in each resource's Go code
and reach clients through discovery only.
"""

from __future__ import annotations

from typing import Final

__all__ = ["CATEGORIES", "FREE_FORM", "MODEL_TYPES", "SHORT_NAMES", "TIMES"]

SHORT_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "certificatesigningrequests.certificates.k8s.io": ("csr",),
    "componentstatuses": ("cs",),
    "configmaps": ("cm",),
    "cronjobs.batch": ("cj",),
    "customresourcedefinitions.apiextensions.k8s.io": ("crd", "crds"),
    "daemonsets.apps": ("ds",),
    "deployments.apps": ("deploy",),
    "endpoints": ("ep",),
    "events": ("ev",),
    "events.events.k8s.io": ("ev",),
    "horizontalpodautoscalers.autoscaling": ("hpa",),
    "ingresses.networking.k8s.io": ("ing",),
    "ipaddresses.networking.k8s.io": ("ip",),
    "limitranges": ("limits",),
    "namespaces": ("ns",),
    "networkpolicies.networking.k8s.io": ("netpol",),
    "nodes": ("no",),
    "persistentvolumeclaims": ("pvc",),
    "persistentvolumes": ("pv",),
    "poddisruptionbudgets.policy": ("pdb",),
    "pods": ("po",),
    "priorityclasses.scheduling.k8s.io": ("pc",),
    "replicasets.apps": ("rs",),
    "replicationcontrollers": ("rc",),
    "resourcequotas": ("quota",),
    "serviceaccounts": ("sa",),
    "services": ("svc",),
    "statefulsets.apps": ("sts",),
    "storageclasses.storage.k8s.io": ("sc",),
    "volumeattributesclasses.storage.k8s.io": ("vac",),
}
"""By `plural.group`, as `ResourceInfo.resource_name` spells it."""

_API_EXTENSIONS: Final = (
    "apiservices.apiregistration.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
    "mutatingadmissionpolicies.admissionregistration.k8s.io",
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
)
_ALL: Final = (
    "cronjobs.batch",
    "daemonsets.apps",
    "deployments.apps",
    "horizontalpodautoscalers.autoscaling",
    "jobs.batch",
    "pods",
    "replicasets.apps",
    "replicationcontrollers",
    "services",
    "statefulsets.apps",
)
CATEGORIES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(_ALL, ("all",)),
    **dict.fromkeys(_API_EXTENSIONS, ("api-extensions",)),
}
"""By `plural.group`."""

_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."

MODEL_TYPES: Final[dict[str, tuple[str, str]]] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": ("kubewright.model", "Quantity"),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": ("kubewright.model", "IntOrString"),
    f"{_META}Condition": ("kubewright.model", "Condition"),
    f"{_META}Duration": ("kubewright.model", "Duration"),
    f"{_META}LabelSelector": ("kubewright.model", "LabelSelector"),
    f"{_META}LabelSelectorRequirement": ("kubewright.model", "LabelSelectorRequirement"),
    f"{_META}ListMeta": ("kubewright.model", "ListMeta"),
    f"{_META}ManagedFieldsEntry": ("kubewright.model", "ManagedFieldsEntry"),
    f"{_META}MicroTime": ("kubewright.model", "MicroTime"),
    f"{_META}ObjectMeta": ("kubewright.model", "ObjectMeta"),
    f"{_META}OwnerReference": ("kubewright.model", "OwnerReference"),
    f"{_META}Time": ("datetime", "datetime"),
}
"""Schema name to module and class, for what is written by hand instead of generated."""

TIMES: Final = frozenset({f"{_META}MicroTime", f"{_META}Time"})

FREE_FORM: Final = frozenset({f"{_META}FieldsV1", f"{_META}Patch", "io.k8s.apimachinery.pkg.runtime.RawExtension"})
"""Schemas without properties that are any JSON object, and not an object that has no fields."""
