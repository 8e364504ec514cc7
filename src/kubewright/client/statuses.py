"""Which error an answer of the API server is.

The reason decides; where it is missing or unknown the code does, as in apimachinery's `api/errors`. So a plain-text 429
of the server's flow control is TooManyRequests as well. One exception: a 404 that is no Status is never NotFound, as it
is not the API server's word that the object is gone.

It is pure, and knows no connection. What an error says and advises is in `errors`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from .errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Cause,
    Conflict,
    Details,
    Expired,
    Forbidden,
    Gone,
    InternalError,
    Invalid,
    MethodNotAllowed,
    NotAcceptable,
    NotFound,
    RequestEntityTooLarge,
    ResourceTypeNotFound,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
    Unauthorized,
    UnexpectedResponse,
    UnsupportedMediaType,
)
from .transport import Response

__all__ = ["error_from", "error_from_status", "retry_after_seconds"]

_MAX_TEXT_BYTES = 2048
_MAX_SHOWN_CHARS = 200

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
