"""What others need to check the tokens of service accounts: OpenID Connect discovery, as far as a cluster has it.

| path | says |
|---|---|
| `/.well-known/openid-configuration` | who issues tokens, and where the keys are |
| `/openid/v1/jwks` | the public keys |

Rules: `kubernetes/pkg/serviceaccount/openidmetadata.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from ..errors import method_not_allowed, not_acceptable
from ..request import JSON, Request, Response

if TYPE_CHECKING:
    from ..server import ApiServer

__all__ = ["issuer_documents"]

_CONFIGURATION: Final = "/.well-known/openid-configuration"
_KEYS: Final = "/openid/v1/jwks"
_KEY_SET: Final = "application/jwk-set+json"
_CACHED: Final = ("cache-control", "public, max-age=3600")


def issuer_documents(server: ApiServer, request: Request) -> Response | None:
    """Answer for the two paths. Raises StatusError: 405, 406."""
    if request.path not in (_CONFIGURATION, _KEYS):
        return None
    authentication = server.backend.authentication
    if authentication is None or authentication.accounts is None:
        return None
    if request.method != "GET":
        raise method_not_allowed()
    from .accounts import ISSUER  # most servers are never asked

    kind = JSON if request.path == _CONFIGURATION else _KEY_SET
    accepted = request.headers.get("accept", "") or "*/*"
    if not any(each.split(";")[0].strip() in ("*/*", "application/*", kind) for each in accepted.split(",")):
        raise not_acceptable((kind,), by_type=True)
    body: dict[str, Any] = {"keys": [authentication.accounts.key.public]}
    if kind == JSON:
        body = {
            "issuer": ISSUER,
            "jwks_uri": f"{ISSUER}{_KEYS}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [authentication.accounts.key.public["alg"]],
        }
    return Response(200, orjson.dumps(body), [("content-type", kind), _CACHED])
