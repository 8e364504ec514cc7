"""The AdmissionReview that goes to a webhook, and what comes back: `Verdict`.

Reviews are of admission.k8s.io/v1 or v1beta1, whichever the webhook names first. An answer that breaks the rules is a
`WebhookFailed`, in the words of the real server. Rules: apiserver/pkg/admission/plugin/webhook/{request,errors}.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from kubewright.schema.structural.gotext import quoted

from ..answers import type_problem
from ..catalog import ResourceType
from ..crds.conversion import WebhookFailed
from ..errors import StatusError, called
from ..registry.backend import Attributes, ObjectKind
from ..registry.decoding import not_registered

__all__ = ["Verdict", "denial", "review_of", "verdict_of"]

_GROUP: Final = "admission.k8s.io"
_VERSIONS: Final = frozenset({"v1", "v1beta1"})
_LOWEST_ERROR: Final = 400
_HIGHEST: Final = 999
_UNWRITABLE: Final = 500
"""For a code that HTTP has no place for: a real server fails when it writes it."""

_BASE64: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


class Verdict(Struct):
    """What a webhook said. `patch` is the text of a JSON patch, empty for none."""

    allowed: bool
    result: Mapping[str, Any] | None
    patch: bytes
    patch_type: str
    warnings: Sequence[str]
    annotations: Mapping[str, str]


def review_of(
    attributes: Attributes,
    seen: ResourceType,
    kind: ObjectKind,
    obj: dict[str, Any] | None,
    old: dict[str, Any] | None,
    uid: str,
    versions: Sequence[str],
) -> tuple[dict[str, Any], str]:
    """The review and its version.

    Args:
        seen: as which resource the request matched.
        kind: of `obj` and `old`.
        versions: that the webhook takes, in its order.

    Raises:
        WebhookFailed: it takes none that there is.
    """
    version = next((each for each in versions if each in _VERSIONS), "")
    if not version:
        known = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"
        raise WebhookFailed(f"could not create admission objects: {known}")
    asked, own = attributes.kind, attributes.object_kind
    part = {"subResource": attributes.subresource, "requestSubResource": attributes.subresource}
    named = {"name": attributes.name, "namespace": attributes.namespace}
    request: dict[str, Any] = {
        "uid": uid,
        "kind": kind._asdict(),
        "resource": {"group": seen.group, "version": seen.version, "resource": seen.plural},
        "requestKind": own._asdict(),
        "requestResource": {"group": asked.group, "version": asked.version, "resource": asked.plural},
        **{name: value for name, value in (part | named).items() if value},
        "operation": attributes.operation,
        "userInfo": attributes.user.info,
        "object": obj,
        "oldObject": old,
        "dryRun": attributes.is_dry_run,
        "options": attributes.options or None,
    }
    return {"kind": "AdmissionReview", "apiVersion": f"{_GROUP}/{version}", "request": request}, version


def verdict_of(answer: Mapping[str, Any], uid: str, version: str, *, mutates: bool) -> Verdict:
    """What an answer says. Raises WebhookFailed: it is none."""
    try:
        return _read(answer, uid, version, mutates=mutates)
    except _Broken as error:
        raise WebhookFailed(f"received invalid webhook response: {error}") from None


class _Broken(Exception):
    """An answer against the rules; the text says which."""


def _read(answer: Mapping[str, Any], uid: str, version: str, *, mutates: bool) -> Verdict:
    _check_kind(answer, version)
    if why := type_problem(answer, "AdmissionReview", version):
        raise WebhookFailed(f"failed to call webhook: {why}")
    response = answer.get("response")
    if not isinstance(response, dict):
        raise _Broken("webhook response was absent")
    patch, patch_type = _patch(response), response.get("patchType")
    if version == "v1":
        if (found := response.get("uid") or "") != uid:
            raise _Broken(f"expected response.uid={quoted(uid)}, got {quoted(found)}")
        shown = called(str(answer.get("apiVersion", "")), str(answer.get("kind", "")))
        if (wanted := f"{_GROUP}/v1, Kind=AdmissionReview") != shown:
            raise _Broken(f"expected webhook response of {wanted}, got {shown}")
        if mutates:
            if patch and patch_type is None:
                raise _Broken("webhook returned response.patch but not response.patchType")
            if not patch and patch_type is not None:
                raise _Broken("webhook returned response.patchType but not response.patch")
            if patch_type == "":
                raise _Broken(f"webhook returned invalid response.patchType of {quoted(patch_type)}")
        elif patch:
            raise _Broken("validating webhook may not return response.patch")
        elif patch_type is not None:
            raise _Broken("validating webhook may not return response.patchType")
    elif patch:
        patch_type = "JSONPatch"
    return Verdict(
        bool(response.get("allowed")),
        response.get("status"),
        patch,
        str(patch_type or ""),
        [each or "" for each in response.get("warnings") or ()],
        {name: value or "" for name, value in (response.get("auditAnnotations") or {}).items()},
    )


def _check_kind(answer: Mapping[str, Any], version: str) -> None:
    """Raises WebhookFailed: the answer says that it is something else than a review."""
    kind, api_version = str(answer.get("kind") or "AdmissionReview"), str(answer.get("apiVersion") or "")
    group, _, found = api_version.rpartition("/")
    if kind != "AdmissionReview" or (api_version and (group != _GROUP or found not in _VERSIONS)):
        raise WebhookFailed(f"failed to call webhook: {not_registered(kind, api_version)}")
    if found and found != version:
        why = f"converting ({found}.{kind}) to ({version}.{kind}): unknown conversion"
        raise WebhookFailed(f"failed to call webhook: {why}")


def _patch(response: Mapping[str, Any]) -> bytes:
    text = response.get("patch") or ""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        place = next((at for at, each in enumerate(text) if each not in _BASE64), len(text))
        raise WebhookFailed(f"failed to call webhook: illegal base64 data at input byte {place}") from None


def denial(name: str, result: Mapping[str, Any] | None) -> StatusError:
    """What the caller is answered when a webhook says no."""
    found = dict(result or {})
    code = found.get("code") or 0
    message, reason = str(found.get("message") or ""), str(found.get("reason") or "")
    said = f"admission webhook {quoted(name)} denied the request"
    said += f": {message or reason}" if message or reason else " without explanation"
    code = _UNWRITABLE if code > _HIGHEST else max(code, _LOWEST_ERROR)
    error = StatusError(code, reason, said, found.get("details"))
    error.metadata = dict(found.get("metadata") or {})
    return error
