"""The core kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kubewright.schema.structural.fielderrors import FieldError
from kubewright.schema.structural.metarules import dns_label

from ...strategy import Context
from ..rules import Rules
from ..validation import claims, configuration, secrets, statuses, warnings
from ..validation.services import endpoints
from ..validation.texts import Object
from .checks import changed, created
from .pods import POD
from .services import SERVICE

__all__ = ["EVENT_LABELS", "RULES"]

_KUBERNETES: Final = "kubernetes"
_DATA_SOURCES: Final = frozenset({("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")})


def _create_namespace(obj: Object, context: Context) -> None:
    obj["status"] = {"phase": "Active"}
    found = obj["spec"].get("finalizers", [])
    if _KUBERNETES not in found:
        obj["spec"]["finalizers"] = [*found, _KUBERNETES]
    _label_namespace(obj)


def _label_namespace(obj: Object) -> None:
    meta = obj["metadata"]
    meta["labels"] = {**meta.get("labels", {}), "kubernetes.io/metadata.name": meta.get("name", "")}


def _has_spec_finalizers(obj: Object) -> bool:
    return bool((obj.get("spec") or {}).get("finalizers"))


def _begin_namespace_deletion(obj: Object, context: Context) -> Object | None:
    """The first DELETE makes it Terminating; it goes when what is in it has gone and `finalize` says so."""
    meta = obj["metadata"]
    if meta.get("deletionTimestamp"):
        return obj if _has_spec_finalizers(obj) else None
    options = context.options
    orphans, policy = options.get("orphanDependents"), options.get("propagationPolicy")
    finalizers: list[str] = list(meta.get("finalizers") or ())
    for name, wanted in (("orphan", orphans is True), ("foregroundDeletion", orphans is False)):
        if orphans is None and policy is None:
            continue
        has = wanted or (orphans is None and policy == {"orphan": "Orphan", "foregroundDeletion": "Foreground"}[name])
        finalizers = [each for each in finalizers if each != name] + [name] * has
    made = {**meta, "deletionTimestamp": context.timestamp}
    if finalizers:
        made["finalizers"] = finalizers
    return {**obj, "metadata": made, "status": {**(obj.get("status") or {}), "phase": "Terminating"}}


def _update_namespace(new: Object, old: Object, context: Context) -> None:
    new["spec"] = {name: each for name, each in new["spec"].items() if name != "finalizers"}
    if "finalizers" in old["spec"]:
        new["spec"]["finalizers"] = old["spec"]["finalizers"]
    _label_namespace(new)


def _update_secret(new: Object, old: Object, context: Context) -> None:
    if not new.get("type"):
        new["type"] = old.get("type", "")


def _create_claim(obj: Object, context: Context) -> None:
    obj["status"] = {"phase": "Pending"}
    spec = obj["spec"]
    source = spec.get("dataSource")
    if source is not None and (source.get("apiGroup") or "", source.get("kind")) not in _DATA_SOURCES:
        # What older servers did not know as a source is dropped from the older of the two fields.
        del spec["dataSource"]
    if "dataSource" in spec and "dataSourceRef" not in spec:
        spec["dataSourceRef"] = dict(spec["dataSource"])
    elif "dataSourceRef" in spec and "dataSource" not in spec and not spec["dataSourceRef"].get("namespace"):
        spec["dataSource"] = {name: each for name, each in spec["dataSourceRef"].items() if name != "namespace"}


def _create_volume(obj: Object, context: Context) -> None:
    obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": context.now.strftime("%Y-%m-%dT%H:%M:%SZ")}


def _volume_status(new: Object, old: Object, context: Context) -> None:
    after, before = new.setdefault("status", {}), old.get("status") or {}
    name = "lastPhaseTransitionTime"
    if after.get("phase") == before.get("phase"):
        if name not in after and name in before:
            after[name] = before[name]
    elif after.get(name) in (None, before.get(name)):
        after[name] = context.now.strftime("%Y-%m-%dT%H:%M:%SZ")


def _name_limit(obj: Object, context: Context) -> None:
    if not obj["metadata"].get("name"):
        obj["metadata"]["name"] = context.new_uid()


def _only_names(obj: Object, *_: Any) -> None:
    """A ServiceAccount refers to Secrets by name."""
    for secret in obj.get("secrets", ()):
        for name in [each for each in secret if each != "name"]:
            del secret[name]


def _event(obj: Object, context: Context) -> list[FieldError]:
    return configuration.event(obj, is_core=True)


def _event_change(new: Object, old: Object, context: Context) -> list[FieldError]:
    return configuration.event(new, is_core=True)


def _of(part: str, name: str) -> Callable[[Object], str]:
    return lambda obj: str((obj.get(part) or {}).get(name) or "")


def _text(name: str) -> Callable[[Object], str]:
    return lambda obj: str(obj.get(name) or "")


def _event_source(obj: Object) -> str:
    return str((obj.get("source") or {}).get("component") or obj.get("reportingComponent") or "")


def _unschedulable(obj: Object) -> str:
    return "true" if obj["spec"].get("unschedulable") else "false"


EVENT_LABELS: Final[Mapping[str, Callable[[Object], str]]] = {
    **{
        f"involvedObject.{name}": _of("involvedObject", name)
        for name in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
    },
    "reason": _text("reason"),
    "reportingComponent": _text("reportingComponent"),
    "source": _event_source,
    "type": _text("type"),
}

RULES: Final[dict[tuple[str, str], Rules]] = {
    ("v1", "Pod"): Rules(**POD),
    ("v1", "Service"): Rules(name_rule=dns_label, **SERVICE),
    ("v1", "ConfigMap"): Rules(
        validate=created(secrets.config_map), validate_update=changed(secrets.config_map_update)
    ),
    ("v1", "Secret"): Rules(
        prepare_update=_update_secret,
        validate=created(secrets.secret),
        validate_update=changed(secrets.secret_update),
        labels={"type": _text("type")},
    ),
    ("v1", "Namespace"): Rules(
        name_rule=dns_label,
        has_status=True,
        prepare_create=_create_namespace,
        prepare_update=_update_namespace,
        validate=created(configuration.finalizers),
        validate_status=changed(configuration.namespace_status),
        begin_delete=_begin_namespace_deletion,
        keeps=_has_spec_finalizers,
        labels={"status.phase": _of("status", "phase")},
    ),
    ("v1", "Node"): Rules(
        validate=created(configuration.node),
        validate_update=changed(configuration.node_update),
        validate_status=changed(configuration.node_update),
        prepare_update=lambda new, old, context: _keep_status(new, old),
        labels={"spec.unschedulable": _unschedulable},
    ),
    ("v1", "PersistentVolumeClaim"): Rules(
        has_status=True,
        returns_deleted=True,
        prepare_create=_create_claim,
        validate=created(claims.claim),
        validate_update=changed(claims.claim_update),
        validate_status=changed(statuses.claim),
        warnings=warnings.claim,
    ),
    ("v1", "PersistentVolume"): Rules(
        has_status=True,
        returns_deleted=True,
        prepare_create=_create_volume,
        prepare_status=_volume_status,
        validate=created(claims.volume),
        validate_update=changed(claims.volume_update),
    ),
    ("v1", "ServiceAccount"): Rules(returns_deleted=True, prepare_create=_only_names, prepare_update=_only_names),
    ("v1", "ResourceQuota"): Rules(
        has_status=True,
        returns_deleted=True,
        validate=created(configuration.quota),
        validate_update=changed(configuration.quota_update),
        validate_status=changed(statuses.quota),
    ),
    ("v1", "LimitRange"): Rules(
        create_on_update=True,
        prepare_create=_name_limit,
        validate=created(configuration.limit_range),
        validate_update=lambda new, old, context: configuration.limit_range(new),
    ),
    ("v1", "PodTemplate"): Rules(counts="spec", returns_deleted=True),
    ("v1", "Endpoints"): Rules(
        create_on_update=True,
        validate=created(endpoints),
        validate_update=lambda new, old, context: endpoints(new),
    ),
    ("v1", "Event"): Rules(create_on_update=True, validate=_event, validate_update=_event_change, labels=EVENT_LABELS),
}


def _keep_status(new: Object, old: Object) -> None:
    new["status"] = old.get("status", {})
