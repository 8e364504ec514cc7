"""What the API server refuses, as typed errors.

Owns the classes for the reasons of a `metav1.Status`
(https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.37/#status-v1-meta), and what each says: one line with
the cure. Which answer is which of them is in `statuses`; an error that is no answer is a `TransportError`.

    ApiError
    +-- BadRequest 400             +-- Gone 410                     +-- InternalError 500
    +-- Unauthorized 401           |   +-- Expired                  +-- ServiceUnavailable 503
    +-- Forbidden 403              +-- RequestEntityTooLarge 413    +-- Timeout 504, ServerTimeout
    +-- NotFound 404               +-- UnsupportedMediaType 415     +-- UnexpectedResponse: any other answer,
    |   +-- ResourceTypeNotFound   +-- Invalid 422                      such as a proxy's
    +-- MethodNotAllowed 405       +-- TooManyRequests 429
    +-- NotAcceptable 406
    +-- AlreadyExists, Conflict 409
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from .rbac import RbacRule, missing_rule

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
]


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
