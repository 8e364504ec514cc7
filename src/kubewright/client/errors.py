"""What the API server refuses, as typed errors.

Owns the classes for the reasons of a `metav1.Status`
(https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.37/#status-v1-meta) and the way from an answer to its
class. It is pure, and knows no connection: an error that is no answer is a `TransportError`.

    ApiError
    +-- BadRequest 400             +-- Gone 410                     +-- InternalError 500
    +-- Unauthorized 401           |   +-- Expired                  +-- ServiceUnavailable 503
    +-- Forbidden 403              +-- RequestEntityTooLarge 413    +-- Timeout 504, ServerTimeout
    +-- NotFound 404               +-- UnsupportedMediaType 415     +-- UnexpectedResponse: any other answer,
    |   +-- ResourceTypeNotFound   +-- Invalid 422                      such as a proxy's
    +-- MethodNotAllowed 405       +-- TooManyRequests 429
    +-- NotAcceptable 406
    +-- AlreadyExists, Conflict 409

The reason decides; where it is missing or unknown the code does, as in apimachinery's `api/errors`. So a plain-text 429
of the server's flow control is TooManyRequests as well. One exception: a 404 that is no Status is never NotFound, as it
is not the API server's word that the object is gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import orjson

from .rbac import RbacRule, missing_rule
from .transport import Response

__all__ = [
    "AlreadyExists",
    "ApiError",
    "BadRequest",
    "Cause",
    "Conflict",
    "Details",
    "Expired",
    "Forbidden",
    "Gone",
    "InternalError",
    "Invalid",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotFound",
    "RequestEntityTooLarge",
    "ResourceTypeNotFound",
    "ServiceUnavailable",
    "Timeout",
    "TooManyRequests",
    "Unauthorized",
    "UnexpectedResponse",
    "UnsupportedMediaType",
    "error_from",
    "error_from_status",
    "retry_after_seconds",
]

_MAX_TEXT_BYTES = 2048
_MAX_SHOWN_CHARS = 200


class Cause(NamedTuple):
    """One of the causes of an error: `field` is a path ("spec.replicas"), `reason` a word ("FieldValueInvalid")."""

    field: str
    reason: str
    message: str


class Details(NamedTuple):
    """What an error is about. `kind` is what the server puts there: sometimes the kind, mostly the plural resource."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""


class ApiError(Exception):
    """The API server answered, and the answer is an error. `str()` is one line with the cure, where there is one.

    Attributes:
        code, reason, message: the Status's; `message` is the server's own text.
        causes, details: its details; empty where the server gave none.
        retry_after_seconds: how long the server asks to wait at least, None if it does not.
        method, target: the request, if known.
        continue_: of a 410 for a continue token: the token to go on with in the current state, inconsistently; or "".
        text: the start of an answer that was no Status, or "".
        credentials: the kind of credentials the request was made with, if known; never a secret.
    """

    default_code: ClassVar[int] = 0
    default_reason: ClassVar[str] = ""

    def __init_subclass__(cls, *, code: int | None = None, reason: str | None = None) -> None:
        cls.default_code = cls.default_code if code is None else code
        cls.default_reason = cls.default_reason if reason is None else reason

    def __init__(
        self,
        code: int = 0,
        reason: str = "",
        message: str = "",
        causes: tuple[Cause, ...] = (),
        details: Details = Details(),
        retry_after_seconds: float | None = None,
        *,
        method: str = "",
        target: str = "",
        continue_: str = "",
        text: str = "",
        credentials: str = "",
    ) -> None:
        super().__init__(code, reason, message, causes, details, retry_after_seconds)
        self.code = code or self.default_code
        self.reason = reason or self.default_reason
        self.message = message
        self.causes = causes
        self.details = details
        self.retry_after_seconds = retry_after_seconds
        self.method = method
        self.target = target
        self.continue_ = continue_
        self.text = text
        self.credentials = credentials

    @property
    def cure(self) -> str:
        """What to do about it, in words; "" where the message says all."""
        return ""

    def has_cause(self, reason: str) -> bool:
        """Return whether one of the causes has this reason, such as "ResourceVersionTooLarge"."""
        return any(cause.reason == reason for cause in self.causes)

    def __str__(self) -> str:
        request = f"{self.method} {self.target}: " if self.method else ""
        kind = " ".join(part for part in (str(self.code or ""), self.reason) if part)
        text = f"{request}{kind}: {self.message}" if self.message else f"{request}{kind}"
        return f"{text}; {self.cure}" if self.cure else text


class BadRequest(ApiError, code=400, reason="BadRequest"):
    """400: the server cannot make sense of the request."""

    @property
    def cure(self) -> str:
        if "HTTP request to an HTTPS server" in self.text:
            return "use https:// in the server address"
        return ""


class Unauthorized(ApiError, code=401, reason="Unauthorized"):
    """401: the server does not know who asks."""

    @property
    def cure(self) -> str:
        if not self.credentials:
            return "renew the credentials, or log in again"
        return f"the server does not accept the {self.credentials}; renew it, or log in again"


class Forbidden(ApiError, code=403, reason="Forbidden"):
    """403: the server knows who asks, and they may not. `rule` is the RBAC rule to add, if that is the matter."""

    @property
    def rule(self) -> RbacRule | None:
        """The RBAC rule that would allow the request; None where something else than RBAC forbids it."""
        return missing_rule(self.message)

    @property
    def cure(self) -> str:
        rule = self.rule
        return "" if rule is None else str(rule)


class NotFound(ApiError, code=404, reason="NotFound"):
    """404: there is no such object. See ResourceTypeNotFound for a resource that the server does not serve."""

    is_resource_type: ClassVar[bool] = False


class ResourceTypeNotFound(NotFound):
    """404: the server does not serve this resource at all (or not this subresource of it)."""

    is_resource_type: ClassVar[bool] = True

    @property
    def cure(self) -> str:
        return "the server does not serve this: install its CRD, or correct the group, version, plural or subresource"


class MethodNotAllowed(ApiError, code=405, reason="MethodNotAllowed"):
    """405: the resource does not support this verb."""


class NotAcceptable(ApiError, code=406, reason="NotAcceptable"):
    """406: the server cannot answer in the form asked for."""


class AlreadyExists(ApiError, code=409, reason="AlreadyExists"):
    """409: an object of that name exists."""


class Conflict(ApiError, code=409, reason="Conflict"):
    """409: the object is not in the state that the request supposes: another has written it, or owns a field."""

    @property
    def cure(self) -> str:
        if self.has_cause("FieldManagerConflict"):
            return "leave these fields to their managers, or apply with force to take them over"
        return ""


class Gone(ApiError, code=410, reason="Gone"):
    """410: what is asked for is no longer there: a resource version or a continue token is too old. List again."""


class Expired(Gone, code=410, reason="Expired"):
    """410 with the reason Expired, which is what kube-apiserver gives."""


class RequestEntityTooLarge(ApiError, code=413, reason="RequestEntityTooLarge"):
    """413: the object or the request is too large."""

    @property
    def cure(self) -> str:
        return "an object is limited to about 1.5 MiB: split it, or keep bulk data elsewhere"


class UnsupportedMediaType(ApiError, code=415, reason="UnsupportedMediaType"):
    """415: the server does not take a body of this type."""

    @property
    def cure(self) -> str:
        if "strategic-merge-patch" in self.message:
            return "use a merge or JSON patch, or server-side apply: custom resources have no strategic merge patch"
        return ""


class Invalid(ApiError, code=422, reason="Invalid"):
    """422: the object breaks its schema or a validation rule; `causes` has one entry for each field."""

    @property
    def cure(self) -> str:
        fields = dict.fromkeys(cause.field for cause in self.causes if cause.field)
        return f"correct {', '.join(fields)}" if fields else ""


class TooManyRequests(ApiError, code=429, reason="TooManyRequests"):
    """429: the server asks to come later (`retry_after_seconds`), or an eviction is held up by a disruption budget."""


class InternalError(ApiError, code=500, reason="InternalError"):
    """500: the server failed, often a webhook that it had to call."""


class ServiceUnavailable(ApiError, code=503, reason="ServiceUnavailable"):
    """503: the server cannot serve this now."""


class Timeout(ApiError, code=504, reason="Timeout"):
    """504 or ServerTimeout: the server gave up in time; a write may or may not have been done."""


class UnexpectedResponse(ApiError, code=0, reason="UnexpectedResponse"):
    """An answer that an API server does not give; `text` has its start."""

    @property
    def cure(self) -> str:
        return "is there an API server, and not a proxy or a login page, at this address?"


_BY_REASON: dict[str, type[ApiError]] = {
    "AlreadyExists": AlreadyExists,
    "BadRequest": BadRequest,
    "Conflict": Conflict,
    "Expired": Expired,
    "Forbidden": Forbidden,
    "Gone": Gone,
    "InternalError": InternalError,
    "Invalid": Invalid,
    "MethodNotAllowed": MethodNotAllowed,
    "NotAcceptable": NotAcceptable,
    "NotFound": NotFound,
    "RequestEntityTooLarge": RequestEntityTooLarge,
    "ServerTimeout": Timeout,
    "ServiceUnavailable": ServiceUnavailable,
    "StoreReadError": InternalError,
    "Timeout": Timeout,
    "TooManyRequests": TooManyRequests,
    "Unauthorized": Unauthorized,
    "UnsupportedMediaType": UnsupportedMediaType,
}
# 409 is decided by the method: only a create can find the name taken.
_BY_CODE = {cls.default_code: cls for cls in _BY_REASON.values() if cls not in (AlreadyExists, Expired)}


def error_from(response: Response, *, method: str, target: str, credentials: str = "") -> ApiError:
    """Return the error for an answer that is not 2xx. It is returned, not raised.

    `credentials` names the kind of credentials used ("bearer token of /var/run/...") for the message of a 401.
    """
    status = _status_of(response.body)
    asked = retry_after_seconds(response)
    if status is not None:
        return _from_status(status, response.status, asked, method, target, credentials)
    text = response.body[:_MAX_TEXT_BYTES].decode("utf-8", "replace")
    code = response.status
    cls = _by_code(code, method)
    shown = " ".join(text.split())
    if cls is NotFound:
        cls = ResourceTypeNotFound if shown == "404 page not found" else UnexpectedResponse
    if len(shown) > _MAX_SHOWN_CHARS:
        shown = shown[:_MAX_SHOWN_CHARS] + "..."
    if 300 <= code < 400:
        shown = f"redirected to {response.headers.get('location', 'nowhere')}, which is not followed"
    return cls(
        code, "", shown, retry_after_seconds=asked, method=method, target=target, text=text, credentials=credentials
    )


def error_from_status(
    status: bytes | Mapping[str, Any], *, method: str = "", target: str = "", code: int = 0
) -> ApiError:
    """Return the error for a Status, such as the object of an ERROR event of a watch; `code` if it has none itself.

    Something that is no Status becomes an UnexpectedResponse.
    """
    if isinstance(status, bytes):
        found = _status_of(status)
        if found is None:
            text = status[:_MAX_TEXT_BYTES].decode("utf-8", "replace")
            return UnexpectedResponse(code, "", text[:_MAX_SHOWN_CHARS], method=method, target=target, text=text)
        status = found
    return _from_status(status, code, None, method, target, "")


def _from_status(
    status: Mapping[str, Any], http_code: int, asked: float | None, method: str, target: str, credentials: str
) -> ApiError:
    details = _mapping(status.get("details"))
    code = status.get("code")
    code = code if isinstance(code, int) and code else http_code
    reason, message = _text(status.get("reason")), _text(status.get("message"))
    about = Details(*(_text(details.get(key)) for key in ("name", "group", "kind", "uid")))
    cls = _BY_REASON.get(reason) or _by_code(code, method)
    if cls is NotFound and not about.name:
        cls = ResourceTypeNotFound
    seconds = details.get("retryAfterSeconds")
    causes = details.get("causes")
    return cls(
        code,
        reason,
        message,
        tuple(
            Cause(_text(cause.get("field")), _text(cause.get("reason")), _text(cause.get("message")))
            for cause in map(_mapping, causes if isinstance(causes, list) else ())
        ),
        about,
        float(seconds) if isinstance(seconds, int) and seconds > 0 else asked,
        method=method,
        target=target,
        continue_=_text(_mapping(status.get("metadata")).get("continue")),
        credentials=credentials,
    )


def retry_after_seconds(response: Response) -> float | None:
    """How long the Retry-After header of an answer asks to wait; None without one.

    Only in seconds, the form that kube-apiserver and client-go know (RFC 9110, 10.2.3, has dates too).
    """
    value = response.headers.get("retry-after", "")
    return float(value) if value.isascii() and value.isdigit() else None


def _by_code(code: int, method: str) -> type[ApiError]:
    if code == 409 and method == "POST":
        return AlreadyExists
    return _BY_CODE.get(code, UnexpectedResponse)


def _status_of(body: bytes) -> Mapping[str, Any] | None:
    if body.lstrip()[:1] != b"{":
        return None
    try:
        status = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return status if status.get("kind") == "Status" else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
