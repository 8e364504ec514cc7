"""POST `serviceaccounts/NAME/token`: a token for an account. Rules: `.../core/serviceaccount/storage/token.go`.

| refused | with |
|---|---|
| another name or namespace than in the URL, times out of bounds | 422 |
| no such account, no such object to be bound to | 404 |
| another uid than theirs | 409 |
| a Pod of another account, a kind that nothing is bound to | 400 |
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from kubewright.schema.structural.fielderrors import FieldError, invalid
from kubewright.schema.structural.gotext import quoted

from ..errors import StatusError, bad_request, invalid_of, not_found
from ..registry.call import Call, resource_key
from ..strategy import timestamp
from .accounts import AUDIENCES

__all__ = ["issue_token"]

Object = dict[str, Any]

_GROUP: Final = "authentication.k8s.io"
_KIND: Final = "TokenRequest"
_SHORTEST_SECONDS: Final = 600
_LONGEST_SECONDS: Final = 1 << 32
_DEFAULT_SECONDS: Final = 3600
_PROJECTED_SECONDS: Final = 3607
"""What kubelets ask for where nothing is said; such a token lives for a year, so that old clients go on."""
_YEAR_SECONDS: Final = 365 * 24 * 3600


async def issue_token(call: Call, body: Object, is_dry_run: bool) -> Object:
    """Answer with the request and the token. Raises StatusError."""
    authentication = call.backend.authentication
    if authentication is None or (tokens := authentication.accounts) is None:
        raise StatusError(501, "NotImplemented", "this server issues no tokens: it was made without access control")
    name, namespace = call.route.name, call.route.namespace
    meta: Object = body["metadata"]
    for field, wanted in (("name", name), ("namespace", namespace)):
        if (said := meta.get(field) or wanted) != wanted:
            why = f"must match the service account {field} if specified"
            raise _invalid(name, invalid(f"metadata.{field}", said, why))
    account = _object(call, "serviceaccounts", namespace, name)
    uid = account["metadata"]["uid"]
    if (said := meta.get("uid") or uid) != uid:
        raise _other(
            _KIND, name, f"the UID in the token request ({said}) does not match the UID of the service account ({uid})"
        )
    spec: Object = body.get("spec") or {}
    audiences: list[str] = spec.get("audiences") or list(AUDIENCES)
    seconds = _seconds(spec)
    _check_attestations(spec)
    bound = _bound(call, spec.get("boundObjectRef"), name)
    now = call.backend.now()
    lives, warns = seconds, 0
    if "pod" in bound and seconds == _PROJECTED_SECONDS and set(audiences) <= set(AUDIENCES):
        lives, warns = _YEAR_SECONDS, seconds
    token = tokens.issue(account, audiences, lives, call.backend.new_uid(), bound, warns)
    made = {**meta, "name": name, "namespace": namespace, "uid": uid, "creationTimestamp": timestamp(now)}
    reference = spec.get("boundObjectRef")
    return {
        "kind": _KIND,
        "apiVersion": f"{_GROUP}/v1",
        "metadata": made,
        "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": reference},
        "status": {"token": token, "expirationTimestamp": timestamp(now + timedelta(seconds=seconds))},
    }


def _seconds(spec: Object) -> int:
    seconds: int | None = spec.get("expirationSeconds")
    if seconds is None:
        return _DEFAULT_SECONDS
    if seconds < _SHORTEST_SECONDS:
        why = "may not specify a duration less than 10 minutes"
        raise _invalid("", invalid("spec.expirationSeconds", seconds, why))
    if seconds > _LONGEST_SECONDS:
        why = "may not specify a duration larger than 2^32 seconds"
        raise _invalid("", invalid("spec.expirationSeconds", seconds, why))
    return seconds


def _check_attestations(spec: Object) -> None:
    """Raises StatusError: there are some, or none for a webhook."""
    said, reference = spec.get("attestations"), spec.get("boundObjectRef") or {}
    if _is_webhook(reference.get("apiVersion", ""), reference.get("kind", "")):
        if len(said or {}) != 1:
            why = "webhook bound requests require exactly one admissionReviewAPIGroups attestation"
            raise _invalid("", invalid("spec.attestations", said or None, why))
    elif said:
        why = "attestations may only be specified with a webhook bound object reference"
        raise _invalid("", invalid("spec.attestations", said, why))


def _is_webhook(api_version: str, kind: str) -> bool:
    kinds = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
    return api_version == "admissionregistration.k8s.io/v1" and kind in kinds


def _bound(call: Call, reference: Object | None, account: str) -> Mapping[str, Object]:
    """What the token is bound to. Raises StatusError."""
    if reference is None:
        return {}
    kind, api_version, name = (reference.get(each) or "" for each in ("kind", "apiVersion", "name"))
    group, _, version = api_version.rpartition("/")
    if group or kind not in ("Pod", "Secret", "Node"):
        why = ""
        if _is_webhook(api_version, kind):
            why = " (feature gate APIServerWebhookAuthenticationToken is disabled)"
        raise bad_request(f"cannot bind token to object of type {group}/{version}, Kind={kind}{why}")
    found = _object(call, f"{kind.lower()}s", "" if kind == "Node" else call.route.namespace, name)
    bound = {kind.lower(): found}
    if kind == "Pod":
        spec = found.get("spec") or {}
        if spec.get("serviceAccountName", "") != account:
            said = f"cannot bind token for serviceaccount {quoted(account)} to pod running with different"
            raise bad_request(f"{said} serviceaccount name.")
        if node := spec.get("nodeName"):
            entry = call.backend.store.get(resource_key("", "nodes"), node)
            bound["node"] = {"metadata": {"name": node}} if entry is None else entry.object
    uid = found["metadata"]["uid"]
    if (said := reference.get("uid") or uid) != uid:
        raise _other(
            kind,
            name,
            f"the UID in the bound object reference ({said}) does not match the UID in record. "
            "The object might have been deleted and then recreated",
        )
    return bound


def _object(call: Call, plural: str, namespace: str, name: str) -> Object:
    entry = call.backend.store.get(resource_key("", plural), f"{namespace}/{name}" if namespace else name)
    if entry is None:
        kind = call.backend.catalog.find("", "v1", plural)
        assert kind is not None, f"{plural} are served where service accounts are"
        raise not_found(kind, name)
    return entry.object


def _invalid(name: str, error: FieldError) -> StatusError:
    return invalid_of(f"{_KIND}.{_GROUP}", _GROUP, _KIND, name, [error])


def _other(kind: str, name: str, why: str) -> StatusError:
    """An object of the name that is not the one that was meant."""
    group = _GROUP if kind == _KIND else ""
    shown = f"{kind}.{group}" if group else kind
    said = f"Operation cannot be fulfilled on {shown} {quoted(name)}: {why}"
    return StatusError(409, "Conflict", said, {"name": name, "group": group, "kind": kind})
