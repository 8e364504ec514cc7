"""The kinds that workloads are made of, and their objects as JSON.

An object is what the API server sends, decoded; nobody changes one in place that is in the view.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

__all__ = [
    "ALL",
    "CLAIMS",
    "CLASSES",
    "CONFIG_MAPS",
    "CRON_JOBS",
    "DAEMON_SETS",
    "DEPLOYMENTS",
    "DISRUPTION_BUDGETS",
    "ENDPOINTS",
    "JOBS",
    "LEASES",
    "NAMESPACES",
    "NODES",
    "PODS",
    "QUOTAS",
    "REPLICATION_CONTROLLERS",
    "REPLICA_SETS",
    "REVISIONS",
    "SECRETS",
    "SERVICES",
    "SERVICE_ACCOUNTS",
    "SLICES",
    "STATEFUL_SETS",
    "VOLUMES",
    "Kind",
    "Obj",
    "Ref",
    "ref_of",
]

Obj = dict[str, Any]


class Kind(NamedTuple):
    """Where objects of a kind are in the API."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", part: str = "") -> str:
        """The URL path of the collection (of all namespaces without one), of an object, or of a part of it."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return "/".join(each for each in (f"{root}{scope}/{self.plural}", name, part) if each)


class Ref(NamedTuple):
    """Which object of a kind."""

    namespace: str
    name: str


def ref_of(obj: Obj) -> Ref:
    meta = obj["metadata"]
    return Ref(meta.get("namespace") or "", meta["name"])


NODES: Final = Kind("", "v1", "nodes", "Node", namespaced=False)
NAMESPACES: Final = Kind("", "v1", "namespaces", "Namespace", namespaced=False)
PODS: Final = Kind("", "v1", "pods", "Pod")
REPLICATION_CONTROLLERS: Final = Kind("", "v1", "replicationcontrollers", "ReplicationController")
SERVICES: Final = Kind("", "v1", "services", "Service")
ENDPOINTS: Final = Kind("", "v1", "endpoints", "Endpoints")
CLAIMS: Final = Kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
VOLUMES: Final = Kind("", "v1", "persistentvolumes", "PersistentVolume", namespaced=False)
CONFIG_MAPS: Final = Kind("", "v1", "configmaps", "ConfigMap")
SECRETS: Final = Kind("", "v1", "secrets", "Secret")
SERVICE_ACCOUNTS: Final = Kind("", "v1", "serviceaccounts", "ServiceAccount")
QUOTAS: Final = Kind("", "v1", "resourcequotas", "ResourceQuota")
DEPLOYMENTS: Final = Kind("apps", "v1", "deployments", "Deployment")
REPLICA_SETS: Final = Kind("apps", "v1", "replicasets", "ReplicaSet")
STATEFUL_SETS: Final = Kind("apps", "v1", "statefulsets", "StatefulSet")
DAEMON_SETS: Final = Kind("apps", "v1", "daemonsets", "DaemonSet")
REVISIONS: Final = Kind("apps", "v1", "controllerrevisions", "ControllerRevision")
JOBS: Final = Kind("batch", "v1", "jobs", "Job")
CRON_JOBS: Final = Kind("batch", "v1", "cronjobs", "CronJob")
SLICES: Final = Kind("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
DISRUPTION_BUDGETS: Final = Kind("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")
CLASSES: Final = Kind("storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False)
LEASES: Final = Kind("coordination.k8s.io", "v1", "leases", "Lease")

ALL: Final = (
    NODES,
    NAMESPACES,
    PODS,
    REPLICATION_CONTROLLERS,
    SERVICES,
    ENDPOINTS,
    CLAIMS,
    VOLUMES,
    CONFIG_MAPS,
    SERVICE_ACCOUNTS,
    QUOTAS,
    DEPLOYMENTS,
    REPLICA_SETS,
    STATEFUL_SETS,
    DAEMON_SETS,
    REVISIONS,
    JOBS,
    CRON_JOBS,
    SLICES,
    DISRUPTION_BUDGETS,
    CLASSES,
    LEASES,
)
