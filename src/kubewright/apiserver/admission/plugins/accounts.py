"""The plugin ServiceAccount: a Pod runs as an account of its namespace, whose token it finds mounted.

Off by default, as in a server without controllers nobody makes the accounts. Rules:
kubernetes/plugin/pkg/admission/serviceaccount.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubewright.schema.structural.gotext import quoted

from ...registry.backend import Attributes
from .world import Object, World, created, refused

__all__ = ["admit_account", "check_account"]

_DEFAULT: Final = "default"
_VOLUME: Final = "kube-api-access-"
_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_TOKEN_SECONDS: Final = 3607
_MIRROR: Final = "kubernetes.io/config.mirror"
_ENFORCED: Final = "kubernetes.io/enforce-mountable-secrets"
_TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})


def admit_account(attributes: Attributes, world: World) -> None:
    """Give a Pod its account, the account's token and its image pull secrets. Raises StatusError."""
    pod = created(attributes)
    if pod is None or _is_mirror(pod):
        return
    spec: Object = pod["spec"]
    if not spec.get("serviceAccountName"):
        spec["serviceAccountName"] = spec["serviceAccount"] = _DEFAULT
    account = _account(attributes, world, spec)
    if _is_mounted(account, spec):
        _mount(spec, world)
    if not spec.get("imagePullSecrets") and (secrets := account.get("imagePullSecrets")):
        spec["imagePullSecrets"] = [{"name": each.get("name", "")} for each in secrets]


def check_account(attributes: Attributes, world: World) -> None:
    """Raises StatusError: the account is not there, or the Pod reads secrets that are not its account's."""
    pod = created(attributes)
    if pod is None:
        return
    spec = pod["spec"]
    if _is_mirror(pod):
        _check_mirror(attributes, spec)
        return
    if not spec.get("serviceAccountName"):
        name = pod["metadata"].get("name", "")
        raise refused(attributes, f"no service account specified for pod {attributes.namespace}/{name}")
    account = _account(attributes, world, spec)
    if (account["metadata"].get("annotations") or {}).get(_ENFORCED) in _TRUE:
        for problem in _foreign_secrets(account, spec):
            raise refused(attributes, problem)


def _is_mirror(pod: Object) -> bool:
    return _MIRROR in (pod["metadata"].get("annotations") or {})


def _account(attributes: Attributes, world: World, spec: Object) -> Object:
    name, namespace = spec["serviceAccountName"], attributes.namespace
    found = world.object("", "serviceaccounts", name, namespace)
    if found is None:
        why = f"serviceaccount {quoted(name)} not found"
        raise refused(attributes, f"error looking up service account {namespace}/{name}: {why}")
    return found


def _is_mounted(account: Object, spec: Object) -> bool:
    for holder in (spec, account):
        if (wanted := holder.get("automountServiceAccountToken")) is not None:
            return bool(wanted)
    return True


def _mount(spec: Object, world: World) -> None:
    volumes = spec.get("volumes") or []
    present = next((each["name"] for each in volumes if each.get("name", "").startswith(_VOLUME)), "")
    name = present or _VOLUME + world.suffix()
    is_needed = False
    for field in ("initContainers", "containers"):
        for container in spec.get(field) or ():
            mounts = container.get("volumeMounts") or []
            if not any(each.get("mountPath") == _PATH for each in mounts):
                container["volumeMounts"] = [*mounts, {"name": name, "readOnly": True, "mountPath": _PATH}]
                is_needed = True
    if is_needed and not present:
        spec["volumes"] = [*volumes, {"name": name, "projected": _projected()}]


def _projected() -> Object:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [namespace]}},
        ],
        "defaultMode": 0o644,
    }


def _check_mirror(attributes: Attributes, spec: Object) -> None:
    """The Pods that a kubelet shows have what it gives them. Raises StatusError."""
    if spec.get("serviceAccountName"):
        raise refused(attributes, "a mirror pod may not reference service accounts")
    volumes = spec.get("volumes") or ()
    if any("secret" in each for each in volumes) or any(True for _ in _secrets_of_containers(spec)):
        raise refused(attributes, "a mirror pod may not reference secrets")
    for volume in volumes:
        for source in (volume.get("projected") or {}).get("sources") or ():
            if "serviceAccountToken" in source:
                raise refused(attributes, "a mirror pod may not use ServiceAccountToken volume projections")


def _secrets_of_containers(spec: Object) -> Iterator[tuple[str, str]]:
    """What reads a secret, and which."""
    for field, called in (("initContainers", "init container"), ("containers", "container")):
        for container in spec.get(field) or ():
            name = container.get("name", "")
            for each in container.get("env") or ():
                if key := (each.get("valueFrom") or {}).get("secretKeyRef"):
                    yield f"{called} {name} with envVar {each.get('name', '')}", key.get("name", "")
            for each in container.get("envFrom") or ():
                if reference := each.get("secretRef"):
                    yield f"{called} {name} with envFrom", reference.get("name", "")


def _foreign_secrets(account: Object, spec: Object) -> Iterator[str]:
    own = {each.get("name") for each in account.get("secrets") or ()}
    name = account["metadata"]["name"]
    for volume in spec.get("volumes") or ():
        secret = (volume.get("secret") or {}).get("secretName", "")
        if "secret" in volume and secret not in own:
            said = f'volume with secret.secretName="{secret}" is not allowed because service account {name} does not'
            yield f"{said} reference that secret"
    for what, secret in _secrets_of_containers(spec):
        if secret not in own:
            said = f'{what} referencing secret.secretName="{secret}" is not allowed because service account {name} does'
            yield f"{said} not reference that secret"
    pulled = {each.get("name") for each in account.get("imagePullSecrets") or ()}
    for place, each in enumerate(spec.get("imagePullSecrets") or ()):
        secret = each.get("name", "")
        if secret not in pulled:
            said = f'imagePullSecrets[{place}].name="{secret}" is not allowed because service account {name} does not'
            yield f"{said} reference that imagePullSecret"
