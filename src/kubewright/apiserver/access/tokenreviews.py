"""POST `tokenreviews`: whose a token is. Rules: `kubernetes/pkg/registry/authentication/tokenreview`."""

from __future__ import annotations

from typing import Any

from ..errors import bad_request
from ..options import write_options
from ..registry.call import Call
from ..registry.create import track
from .accounts import AUDIENCES, TokenRefused

__all__ = ["review_token"]


async def review_token(call: Call, review: dict[str, Any], is_dry_run: bool) -> dict[str, Any]:
    """Answer with whose it is, or why nobody's. Raises StatusError."""
    track(call, None, review, write_options(call.request.query, "CreateOptions"))
    spec = review.get("spec") or {}
    token = spec.get("token")
    if not token:
        raise bad_request("token is required for TokenReview in authentication")
    authentication = call.backend.authentication
    status: dict[str, Any] = {}
    if authentication is not None:
        try:
            found = authentication.of_token(token, tuple(spec.get("audiences") or AUDIENCES))
        except TokenRefused as error:
            found = None
            status = {"user": {}, "error": f"[invalid bearer token, {error}]"}
        else:
            status = {"user": {}, "error": "invalid bearer token"}
        if found is not None:
            user, audiences = found
            status = {"authenticated": True, "user": user.info, "audiences": list(audiences)}
    return {**review, "status": status}
