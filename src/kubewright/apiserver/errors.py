"""What a request is refused with: `StatusError`, a `Status` object that is raised.

One function per kind of refusal, with the code, reason, message and details that the real server gives
(`apimachinery/pkg/api/errors`). Nothing else in this room writes a Status by hand. `resource` is the plural with its
group, `pods` or `deployments.apps`: the details of all errors but Invalid have the plural where the field says `kind`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from kubewright.schema.structural.fielderrors import FieldError, summary
from kubewright.schema.structural.gotext import quoted

__all__ = [
    "Named",
    "StatusError",
    "already_exists",
    "bad_request",
    "conflict",
    "expired",
    "forbidden",
    "generate_name_conflict",
    "gone",
    "internal",
    "invalid",
    "method_not_allowed",
    "method_not_supported",
    "not_acceptable",
    "not_found",
    "path_not_found",
    "request_too_large",
    "server_timeout",
    "service_unavailable",
    "too_large_resource_version",
    "too_many_requests",
    "unauthorized",
    "unsupported_media_type",
]


class Named(Protocol):
    """What errors say of a resource type."""

    @property
    def group(self) -> str: ...
    @property
    def plural(self) -> str: ...
    @property
    def kind(self) -> str: ...


class StatusError(Exception):
    """A request that was refused.

    Attributes: `code` is the HTTP status; `reason` the machine-readable one, empty where the server has none;
    `message`; `details` as in `Status.details`, None where there are none; `headers` to send beside it.
    """

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: dict[str, Any] | None = None,
        headers: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(code, reason, message)
        self.code, self.reason, self.message, self.details = code, reason, message, details
        self.headers = tuple(headers)
        self.metadata: dict[str, Any] = {}
        """Of the Status: the continue token of a list that has to go on otherwise."""

    def __str__(self) -> str:
        return self.message

    @property
    def status(self) -> dict[str, Any]:
        """The Status object, in the order in which the server writes it."""
        status: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": self.metadata}
        status["status"] = "Failure"
        if self.message:
            status["message"] = self.message
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = {name: each for name, each in self.details.items() if each not in ("", 0, None)}
        status["code"] = self.code
        return status

    @property
    def retry_after_seconds(self) -> int:
        """What `Retry-After` says; 0 for no such header."""
        return int((self.details or {}).get("retryAfterSeconds") or 0)


def resource_name(resource: Named) -> str:
    """`pods`, `deployments.apps`."""
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural


def kind_name(resource: Named) -> str:
    """`Pod`, `Deployment.apps`."""
    return f"{resource.kind}.{resource.group}" if resource.group else resource.kind


def _details(resource: Named, name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "group": resource.group, "kind": resource.plural, **more}


def not_found(resource: Named, name: str) -> StatusError:
    said = f"{resource_name(resource)} {quoted(name)} not found"
    return StatusError(404, "NotFound", said, _details(resource, name))


def path_not_found() -> StatusError:
    """A resource that nobody serves, where the server still answers with a Status."""
    return StatusError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource: Named, name: str) -> StatusError:
    said = f"{resource_name(resource)} {quoted(name)} already exists"
    return StatusError(409, "AlreadyExists", said, _details(resource, name))


def generate_name_conflict(resource: Named, name: str) -> StatusError:
    said = f"{resource_name(resource)} {quoted(name)} already exists, the server was not able to generate a unique name"
    details = _details(resource, name, retryAfterSeconds=1)
    return StatusError(409, "AlreadyExists", f"{said} for the object", details)


def called(api_version: str, kind: str) -> str:
    """A kind with its version, as Go shows it: `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`."""
    group, _, version = api_version.rpartition("/")
    return f"{group}/{version}, Kind={kind}"


def conflict(resource: Named, name: str, why: str) -> StatusError:
    said = f"Operation cannot be fulfilled on {resource_name(resource)} {quoted(name)}: {why}"
    return StatusError(409, "Conflict", said, _details(resource, name))


def invalid(resource: Named, name: str, errors: Sequence[FieldError]) -> StatusError:
    """A 422 with its causes. For options use `invalid_of`."""
    return invalid_of(kind_name(resource), resource.group, resource.kind, name, errors)


def invalid_object(resource: Named, obj: dict[str, Any], errors: Sequence[FieldError]) -> StatusError:
    """A 422 for an object, which may say another kind than that of its resource."""
    if not getattr(resource, "is_custom", False):
        # Built-in kinds have their errors compared with those of generated code, which leaves each once.
        errors = list({(each.reason, each.field, each.body): each for each in errors}.values())
    kind, name = str(obj.get("kind") or resource.kind), str((obj.get("metadata") or {}).get("name", ""))
    shown = f"{kind}.{resource.group}" if resource.group else kind
    return invalid_of(shown, resource.group, kind, name, errors)


def invalid_of(shown: str, group: str, kind: str, name: str, errors: Sequence[FieldError]) -> StatusError:
    said = f"{shown} {quoted(name)} is invalid"
    if errors:
        said += f": {summary(errors)}"
    causes = [each.as_cause() for each in errors]
    details = {"name": name, "group": group, "kind": kind, "causes": causes or None}
    return StatusError(422, "Invalid", said, details)


def invalid_options(kind: str, errors: Sequence[FieldError]) -> StatusError:
    """Options of a request (`ListOptions`, `PatchOptions`, ...) that contradict themselves."""
    return invalid_of(f"{kind}.meta.k8s.io", "meta.k8s.io", kind, "", errors)


def forbidden(resource: Named, name: str, why: str, *, causes: Iterable[dict[str, str]] = ()) -> StatusError:
    shown = f"{resource_name(resource)} {quoted(name)}" if name else resource_name(resource)
    details = _details(resource, name)
    if found := list(causes):
        details["causes"] = found
    return StatusError(403, "Forbidden", f"{shown} is forbidden: {why}", details)


def unauthorized(why: str = "Unauthorized") -> StatusError:
    return StatusError(401, "Unauthorized", why)


def bad_request(why: str) -> StatusError:
    return StatusError(400, "BadRequest", why)


def gone(why: str) -> StatusError:
    return StatusError(410, "Gone", why)


def expired(why: str) -> StatusError:
    """The version that was asked for has been compacted."""
    return StatusError(410, "Expired", why)


def method_not_supported(resource: Named, action: str) -> StatusError:
    said = f"{action} is not supported on resources of kind {quoted(resource_name(resource))}"
    return StatusError(405, "MethodNotAllowed", said, {"group": resource.group, "kind": resource.plural})


def method_not_allowed() -> StatusError:
    """A method that the path has no handler for."""
    said = "the server does not allow this method on the requested resource"
    return StatusError(405, "MethodNotAllowed", said, {})


def not_acceptable(accepted: Sequence[str], *, by_type: bool = False) -> StatusError:
    """Nothing that is accepted can be written; `by_type`: for the media type alone, which is said otherwise."""
    if by_type:
        said = f"406: Not Acceptable\n\nAvailable representations: {', '.join(accepted)}"
        return StatusError(406, "NotAcceptable", said, {})
    said = f"only the following media types are accepted: {', '.join(accepted)}"
    return StatusError(406, "NotAcceptable", said)


def unsupported_media_type(accepted: Sequence[str]) -> StatusError:
    said = f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
    return StatusError(415, "UnsupportedMediaType", said)


def unsupported_patch_type() -> StatusError:
    """A patch type that no built-in kind has."""
    return StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def request_too_large(limit_bytes: int) -> StatusError:
    said = f"Request entity too large: limit is {limit_bytes}"
    return StatusError(413, "RequestEntityTooLarge", said)


def too_many_requests(why: str, retry_after_seconds: int = 1) -> StatusError:
    return StatusError(429, "TooManyRequests", why, {"retryAfterSeconds": retry_after_seconds})


def internal(why: str) -> StatusError:
    said = f"Internal error occurred: {why}"
    return StatusError(500, "InternalError", said, {"causes": [{"message": why}]})


def unexplained(why: str) -> StatusError:
    """A plain Go error: a 500 without reason and details."""
    return StatusError(500, "", why)


def service_unavailable(why: str) -> StatusError:
    return StatusError(503, "ServiceUnavailable", why)


def server_timeout(resource: Named, verb: str, retry_after_seconds: int = 2) -> StatusError:
    said = (
        f"The {verb} operation against {resource_name(resource)} could not be completed at this time, please try again."
    )
    return StatusError(500, "ServerTimeout", said, _details(resource, verb, retryAfterSeconds=retry_after_seconds))


def request_timeout(why: str, retry_after_seconds: int = 0) -> StatusError:
    details: dict[str, Any] = {"retryAfterSeconds": retry_after_seconds}
    return StatusError(504, "Timeout", f"Timeout: {why}", details)


def too_large_resource_version(wanted: int, current: int, retry_after_seconds: int = 1) -> StatusError:
    """A version that is still to come."""
    error = request_timeout(f"Too large resource version: {wanted}, current: {current}", retry_after_seconds)
    assert error.details is not None
    error.details["causes"] = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    return error
