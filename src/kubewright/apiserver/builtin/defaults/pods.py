"""Defaults of Pods and of everything that a Pod is made of (`pkg/apis/core/v1/defaults.go`)."""

from __future__ import annotations

from typing import Any, Final

from kubewright.model.quantity import Quantity

from .images import image_tag

__all__ = ["DEFAULTS", "VOLUME_SOURCES"]

Object = dict[str, Any]

_FILE_MODE: Final = 0o644
_NANO: Final = 10**9

VOLUME_SOURCES: Final = (
    "hostPath",
    "emptyDir",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "persistentVolumeClaim",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "downwardAPI",
    "fc",
    "azureFile",
    "configMap",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "projected",
    "portworxVolume",
    "scaleIO",
    "storageos",
    "csi",
    "ephemeral",
    "image",
)
"""Where a volume can come from, in the order of the Go type."""


def _pod(obj: Object) -> None:
    spec = obj["spec"]
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    for container in (*(spec.get("containers") or ()), *spec.get("initContainers", ())):
        resources = container["resources"]
        if limits := resources.get("limits"):
            requests = resources.setdefault("requests", {})
            for name, value in limits.items():
                requests.setdefault(name, value)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        for container in (*(spec.get("containers") or ()), *spec.get("initContainers", ())):
            for port in container.get("ports", ()):
                if not port.get("hostPort"):
                    port["hostPort"] = port["containerPort"]


def _pod_spec(spec: Object) -> None:
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    else:
        spec.pop("serviceAccount", None)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("schedulerName", "default-scheduler")


def _container(container: Object) -> None:
    if "imagePullPolicy" not in container:
        latest = image_tag(container.get("image", "")) == "latest"
        container["imagePullPolicy"] = "Always" if latest else "IfNotPresent"
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")


def _volume(volume: Object) -> None:
    if not any(source in volume for source in VOLUME_SOURCES):
        volume["emptyDir"] = {}
    image = volume.get("image")
    if image is not None and not image.get("pullPolicy"):
        image["pullPolicy"] = "Always" if image_tag(image.get("reference", "")) == "latest" else "IfNotPresent"


def _probe(probe: Object) -> None:
    probe.setdefault("timeoutSeconds", 1)
    probe.setdefault("periodSeconds", 10)
    probe.setdefault("successThreshold", 1)
    probe.setdefault("failureThreshold", 3)


def _http_get(action: Object) -> None:
    action.setdefault("path", "/")
    action.setdefault("scheme", "HTTP")


def _file_mode(source: Object) -> None:
    source.setdefault("defaultMode", _FILE_MODE)


def _token(source: Object) -> None:
    source.setdefault("expirationSeconds", 3600)


def _host_path(source: Object) -> None:
    source.setdefault("type", "")


def _field_ref(reference: Object) -> None:
    reference.setdefault("apiVersion", "v1")


def resource_list(resources: Object) -> None:
    """Amounts are whole thousandths."""
    for name, text in resources.items():
        if text.endswith(("n", "u")):
            nanos = Quantity(text).nanos
            resources[name] = f"{-(-nanos // 10**6)}m" if nanos > 0 else f"{nanos // 10**6}m"
            resources[name] = str(Quantity(resources[name])) if nanos else "0"


def _pod_status(status: Object) -> None:
    ip, ips = status.get("podIP"), status.get("podIPs")
    if ip and (not ips or ips[0].get("ip") != ip):
        status["podIPs"] = [{"ip": ip}]
    elif ips and not ip:
        status["podIP"] = ips[0].get("ip", "")


DEFAULTS: Final = {
    "core/v1.Pod": _pod,
    "core/v1.PodSpec": _pod_spec,
    "core/v1.PodStatus": _pod_status,
    "core/v1.Container": _container,
    "core/v1.EphemeralContainer": _container,
    "core/v1.Volume": _volume,
    "core/v1.Probe": _probe,
    "core/v1.HTTPGetAction": _http_get,
    "core/v1.SecretVolumeSource": _file_mode,
    "core/v1.ConfigMapVolumeSource": _file_mode,
    "core/v1.DownwardAPIVolumeSource": _file_mode,
    "core/v1.ProjectedVolumeSource": _file_mode,
    "core/v1.ServiceAccountTokenProjection": _token,
    "core/v1.HostPathVolumeSource": _host_path,
    "core/v1.ObjectFieldSelector": _field_ref,
    "core/v1.ResourceList": resource_list,
}
