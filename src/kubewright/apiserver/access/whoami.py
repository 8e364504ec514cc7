"""Who one is to the server: what `kubectl auth whoami` asks.

Rules: `kubernetes/pkg/registry/authentication/selfsubjectreview/rest.go`.
"""

from __future__ import annotations

from typing import Any

from ..registry.call import Call

__all__ = ["who_am_i"]


async def who_am_i(call: Call, _body: dict[str, Any], _is_dry_run: bool) -> dict[str, Any]:
    """POST selfsubjectreviews: the user of the request, whatever the body says."""
    return {
        "kind": "SelfSubjectReview",
        "apiVersion": f"{call.kind.group}/{call.kind.version}",
        "metadata": {"creationTimestamp": call.backend.timestamp()},
        "status": {"userInfo": call.request.user.info},
    }
