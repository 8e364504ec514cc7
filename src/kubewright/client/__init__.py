"""One API server: configuration, transport, and the verbs over any kind."""

__all__ = [
    "AlreadyExists",
    "ApiError",
    "BadRequest",
    "Cause",
    "Client",
    "ClientConfig",
    "ConfigError",
    "Conflict",
    "ConnectFailed",
    "ConnectRefused",
    "ConnectTimeout",
    "ConnectionLost",
    "CrdConflict",
    "CrdNotReady",
    "Discovery",
    "Expired",
    "Forbidden",
    "Gone",
    "Http1Transport",
    "HttpClient",
    "Impersonation",
    "InternalError",
    "Invalid",
    "InvalidRequest",
    "JsonPatch",
    "KindNotServed",
    "KubeConfigError",
    "Limits",
    "MergePatch",
    "MethodNotAllowed",
    "NotFound",
    "ObjectList",
    "Patch",
    "RequestEntityTooLarge",
    "RequestTimeout",
    "ResourceTypeNotFound",
    "Response",
    "Scale",
    "ScaleSpec",
    "ServiceUnavailable",
    "StrategicPatch",
    "StreamIdle",
    "TLSError",
    "Timeout",
    "TooManyRequests",
    "Transport",
    "TransportError",
    "Unauthorized",
    "UnexpectedResponse",
    "UnsupportedMediaType",
    "WatchEvent",
    "install_crds",
    "retry_on_conflict",
]

from .client import Client
from .config import ClientConfig, ConfigError, Impersonation
from .crds import CrdConflict, CrdNotReady, install_crds
from .discovery import Discovery, KindNotServed
from .errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Cause,
    Conflict,
    Expired,
    Forbidden,
    Gone,
    InternalError,
    Invalid,
    MethodNotAllowed,
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
from .http import HttpClient
from .http1 import Http1Transport
from .kubeconfig import KubeConfigError
from .lists import ObjectList
from .patches import JsonPatch, MergePatch, Patch, StrategicPatch
from .paths import InvalidRequest
from .retry import retry_on_conflict
from .scale import Scale, ScaleSpec
from .transport import (
    ConnectFailed,
    ConnectionLost,
    ConnectRefused,
    ConnectTimeout,
    Limits,
    RequestTimeout,
    Response,
    StreamIdle,
    TLSError,
    Transport,
    TransportError,
)
from .watch import WatchEvent
