"""The other groups: networking, autoscaling, policy, RBAC, storage, admission, coordination, discovery and the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from kubewright.schema.structural.fielderrors import FieldError
from kubewright.schema.structural.metarules import path_segment
from kubewright.schema.structural.values import same

from ...errors import invalid_of
from ...strategy import Context
from ..conversion import event_to_core
from ..rules import Rules
from ..validation import (
    autoscaling,
    certificates,
    claims,
    configuration,
    networking,
    policies,
    rbac,
    statuses,
    warnings,
)
from ..validation.texts import Object, fixed, immutable
from ..validation.webhooks import webhook_configuration
from .checks import changed, created, same_as_created
from .core import EVENT_LABELS

__all__ = ["RULES"]


def _events_labels() -> dict[str, Callable[[Object], str]]:
    made: dict[str, Callable[[Object], str]] = {}
    for name, read in EVENT_LABELS.items():
        said = name.replace("involvedObject", "regarding").replace("reportingComponent", "reportingController")
        if said != "source":
            made[said] = _as_core(read)
    return made


def _as_core(read: Callable[[Object], str]) -> Callable[[Object], str]:
    return lambda obj: read(event_to_core(obj))


def _event(obj: Object, context: Context) -> list[FieldError]:
    errors = configuration.event(event_to_core(obj), is_core=False)
    if errors:
        # The server keeps core Events, and says so.
        raise invalid_of("Event", "", "Event", obj["metadata"].get("name", ""), errors)
    return []


def _event_change(new: Object, old: Object, context: Context) -> list[FieldError]:
    errors = (
        [] if same(new.get("series"), old.get("series")) else configuration.event(event_to_core(new), is_core=False)
    )
    return [each for each in errors if each.field.startswith("series")]


def _ingress_change(new: Object, old: Object, context: Context) -> list[FieldError]:
    return networking.ingress(new, is_new=False)


def _no_election(obj: Object, *_: Any) -> None:
    """Fields of a feature that is off by default (CoordinatedLeaderElection)."""
    for name in ("strategy", "preferredHolder"):
        obj["spec"].pop(name, None)


def _fixed_revision(new: Object, old: Object, context: Context) -> list[FieldError]:
    """What a ControllerRevision holds never changes."""
    return immutable("data", new.get("data"), old.get("data"))


def _fixed_driver(new: Object, old: Object, context: Context) -> list[FieldError]:
    after, before = new["spec"], old["spec"]
    errors = immutable("spec.attachedRequired", after.get("attachRequired"), before.get("attachRequired"))
    return errors + fixed(
        "spec.volumeLifecycleModes", after.get("volumeLifecycleModes"), before.get("volumeLifecycleModes")
    )


def _fixed_handler(new: Object, old: Object, context: Context) -> list[FieldError]:
    return fixed("handler", new.get("handler"), old.get("handler"))


def _by_signer(name: str) -> list[str]:
    """Which names are allowed depends on the object: its own check says it."""
    return []


def _of(part: str, name: str) -> Callable[[Object], str]:
    return lambda obj: str((obj.get(part) or {}).get(name) or "")


def _webhooks(**more: Any) -> Rules:
    return Rules(
        counts="all",
        unconditional=False,
        validate=created(webhook_configuration),
        validate_update=same_as_created(webhook_configuration),
        **more,
    )


def _checked(check: Callable[[Object], list[FieldError]]) -> dict[str, Any]:
    """The same check of what is new and of what has changed; what has not changed was let in once."""

    def again(new: Object, old: Object, context: Context) -> list[FieldError]:
        return [] if same(new.get("spec"), old.get("spec")) else check(new)

    return {"validate": created(check), "validate_update": again}


_role = partial(rbac.role, namespaced=True)
_cluster_role = partial(rbac.role, namespaced=False)
_binding = partial(rbac.binding, namespaced=True)
_cluster_binding = partial(rbac.binding, namespaced=False)

RULES: Final[dict[tuple[str, str], Rules]] = {
    ("apps/v1", "ControllerRevision"): Rules(validate_update=_fixed_revision),
    ("events.k8s.io/v1", "Event"): Rules(
        create_on_update=True, validate=_event, validate_update=_event_change, labels=_events_labels()
    ),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): Rules(
        has_status=True,
        counts="spec",
        validate=created(autoscaling.autoscaler),
        validate_update=same_as_created(autoscaling.autoscaler),
        validate_status=changed(autoscaling.autoscaler_status),
    ),
    ("autoscaling/v1", "HorizontalPodAutoscaler"): Rules(
        has_status=True,
        counts="spec",
        validate=created(autoscaling.autoscaler),
        validate_update=same_as_created(autoscaling.autoscaler),
        validate_status=changed(autoscaling.autoscaler_status),
    ),
    ("policy/v1", "PodDisruptionBudget"): Rules(
        has_status=True,
        counts="spec",
        unconditional=False,
        validate=created(autoscaling.budget),
        validate_update=same_as_created(autoscaling.budget),
        validate_status=changed(statuses.budget),
    ),
    ("networking.k8s.io/v1", "Ingress"): Rules(
        has_status=True,
        counts="spec",
        validate=created(networking.ingress),
        validate_update=_ingress_change,
        validate_status=changed(statuses.ingress),
        warnings=warnings.ingress,
    ),
    ("networking.k8s.io/v1", "IngressClass"): Rules(
        counts="spec",
        validate=created(networking.ingress_class),
        validate_update=changed(networking.ingress_class_update),
    ),
    ("networking.k8s.io/v1", "NetworkPolicy"): Rules(
        counts="spec",
        validate=created(networking.network_policy),
        validate_update=same_as_created(networking.network_policy),
    ),
    ("networking.k8s.io/v1", "ServiceCIDR"): Rules(has_status=True),
    ("discovery.k8s.io/v1", "EndpointSlice"): Rules(
        counts="all+labels",
        validate=created(networking.endpoint_slice),
        validate_update=changed(networking.endpoint_slice_update),
    ),
    ("rbac.authorization.k8s.io/v1", "Role"): Rules(
        name_rule=path_segment,
        create_on_update=True,
        validate=created(_role),
        validate_update=same_as_created(_role),
    ),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"): Rules(
        name_rule=path_segment,
        create_on_update=True,
        validate=created(_cluster_role),
        validate_update=same_as_created(_cluster_role),
    ),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): Rules(
        name_rule=path_segment,
        create_on_update=True,
        validate=created(_binding),
        validate_update=changed(partial(rbac.binding_update, namespaced=True)),
    ),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"): Rules(
        name_rule=path_segment,
        create_on_update=True,
        validate=created(_cluster_binding),
        validate_update=changed(partial(rbac.binding_update, namespaced=False)),
    ),
    ("storage.k8s.io/v1", "StorageClass"): Rules(
        returns_deleted=True,
        validate=created(claims.storage_class),
        validate_update=changed(claims.storage_class_update),
        warnings=warnings.storage_class,
    ),
    ("storage.k8s.io/v1", "CSIDriver"): Rules(
        counts="spec", first_generation=0, unconditional=False, returns_deleted=True, validate_update=_fixed_driver
    ),
    ("storage.k8s.io/v1", "CSINode"): Rules(unconditional=False, returns_deleted=True),
    ("storage.k8s.io/v1", "CSIStorageCapacity"): Rules(unconditional=False),
    ("storage.k8s.io/v1", "VolumeAttachment"): Rules(has_status=True, unconditional=False, returns_deleted=True),
    ("storage.k8s.io/v1", "VolumeAttributesClass"): Rules(returns_deleted=True),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"): _webhooks(),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"): _webhooks(),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"): Rules(
        has_status=True, counts="spec", unconditional=False, **_checked(policies.validating_policy)
    ),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"): Rules(
        counts="spec", unconditional=False, **_checked(policies.validating_binding)
    ),
    ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy"): Rules(
        counts="spec", unconditional=False, **_checked(policies.mutating_policy)
    ),
    ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding"): Rules(
        counts="spec", unconditional=False, **_checked(policies.mutating_binding)
    ),
    ("apiregistration.k8s.io/v1", "APIService"): Rules(has_status=True, unconditional=False),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): Rules(has_status=True, counts="spec", unconditional=False),
    ("certificates.k8s.io/v1", "CertificateSigningRequest"): Rules(
        has_status=True,
        validate=created(configuration.signing_request),
        labels={"spec.signerName": _of("spec", "signerName")},
    ),
    ("certificates.k8s.io/v1", "ClusterTrustBundle"): Rules(
        name_rule=_by_signer,
        unconditional=False,
        validate=created(certificates.trust_bundle),
        validate_update=changed(certificates.trust_bundle_update),
        labels={"spec.signerName": _of("spec", "signerName")},
    ),
    ("certificates.k8s.io/v1", "PodCertificateRequest"): Rules(
        has_status=True,
        unconditional=False,
        labels={f"spec.{name}": _of("spec", name) for name in ("signerName", "podName", "nodeName")},
    ),
    ("scheduling.k8s.io/v1", "PriorityClass"): Rules(
        counts="nothing",
        validate=created(configuration.priority_class),
        validate_update=changed(configuration.priority_class_update),
    ),
    ("coordination.k8s.io/v1", "Lease"): Rules(
        unconditional=False,
        create_on_update=True,
        prepare_create=_no_election,
        prepare_update=_no_election,
        validate=created(configuration.lease),
        validate_update=same_as_created(configuration.lease),
    ),
    ("node.k8s.io/v1", "RuntimeClass"): Rules(
        unconditional=False, create_on_update=True, validate_update=_fixed_handler
    ),
    ("resource.k8s.io/v1", "DeviceClass"): Rules(counts="spec", returns_deleted=True),
    ("resource.k8s.io/v1", "DeviceTaintRule"): Rules(has_status=True, counts="spec", returns_deleted=True),
    ("resource.k8s.io/v1", "ResourceClaim"): Rules(has_status=True, returns_deleted=True),
    ("resource.k8s.io/v1", "ResourceClaimTemplate"): Rules(returns_deleted=True),
    ("resource.k8s.io/v1", "ResourceSlice"): Rules(
        counts="spec",
        returns_deleted=True,
        labels={f"spec.{name}": _of("spec", name) for name in ("nodeName", "driver")},
        label_error="field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}",
    ),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"): Rules(has_status=True, counts="spec"),
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"): Rules(has_status=True, counts="spec"),
    ("storagemigration.k8s.io/v1", "StorageVersionMigration"): Rules(has_status=True, unconditional=False),
}
