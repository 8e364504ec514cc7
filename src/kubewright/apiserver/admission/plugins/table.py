"""All plugins of single kinds, in the order in which the real server asks them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from . import accounts, certificates, classes, limits, podsecurity, priorities, runtimes
from .world import Plugin

__all__ = ["PLUGINS", "plugins_by_resource"]

_PODS: Final = (("", "pods"),)
_CLAIMS: Final = (("", "persistentvolumeclaims"),)

_REQUESTS: Final = (("certificates.k8s.io", "certificatesigningrequests"),)

_MAKERS: Final = (
    *(("", each) for each in ("podtemplates", "replicationcontrollers")),
    *(("apps", each) for each in ("daemonsets", "deployments", "replicasets", "statefulsets")),
    *(("batch", each) for each in ("cronjobs", "jobs")),
)

PLUGINS: Final[tuple[Plugin, ...]] = (
    Plugin("LimitRanger", (*_PODS, *_CLAIMS), admit=limits.admit_limits, validate=limits.check_limits),
    Plugin("ServiceAccount", _PODS, admit=accounts.admit_account, validate=accounts.check_account),
    Plugin("TaintNodesByCondition", (("", "nodes"),), admit=classes.admit_node),
    Plugin("PodSecurity", _PODS, validate=podsecurity.check_pod),
    Plugin("PodSecurity", _MAKERS, validate=podsecurity.check_makers),
    Plugin("PodSecurity", (("", "namespaces"),), validate=podsecurity.check_namespace),
    Plugin("Priority", _PODS, admit=priorities.admit_priority),
    Plugin("Priority", (("scheduling.k8s.io", "priorityclasses"),), validate=priorities.check_default_class),
    Plugin("DefaultTolerationSeconds", _PODS, admit=priorities.admit_tolerations),
    Plugin("DefaultStorageClass", _CLAIMS, admit=classes.admit_claim_class),
    Plugin("StorageObjectInUseProtection", _CLAIMS, admit=classes.protecting("kubernetes.io/pvc-protection")),
    Plugin(
        "StorageObjectInUseProtection",
        (("", "persistentvolumes"),),
        admit=classes.protecting("kubernetes.io/pv-protection"),
    ),
    Plugin("PersistentVolumeClaimResize", _CLAIMS, validate=classes.check_resize),
    Plugin("RuntimeClass", _PODS, admit=runtimes.admit_runtime, validate=runtimes.check_runtime),
    Plugin("CertificateApproval", _REQUESTS, validate=certificates.check_approval),
    Plugin("CertificateSigning", _REQUESTS, validate=certificates.check_signing),
    Plugin("CertificateSubjectRestriction", _REQUESTS, validate=certificates.check_subject),
    Plugin("DefaultIngressClass", (("networking.k8s.io", "ingresses"),), admit=classes.admit_ingress_class),
)


@lru_cache(maxsize=8)
def plugins_by_resource(disabled: frozenset[str]) -> Mapping[tuple[str, str], tuple[Plugin, ...]]:
    """The plugins that are not disabled, by (group, plural)."""
    made: dict[tuple[str, str], tuple[Plugin, ...]] = {}
    for plugin in PLUGINS:
        if plugin.name not in disabled:
            for resource in plugin.resources:
                made[resource] = (*made.get(resource, ()), plugin)
    return made
