"""Who one is to the server: what `kubectl auth whoami` asks.

Rules: `kubernetes/pkg/registry/authentication/selfsubjectreview/rest.go`.
"""

from __future__ import annotations

from typing import Any

from ..registry.call import Call
from ..request import User

__all__ = ["shown_user", "who_am_i"]


async def who_am_i(call: Call, _body: dict[str, Any], _is_dry_run: bool) -> dict[str, Any]:
    """POST selfsubjectreviews: the user of the request, whatever the body says."""
    return {
        "kind": "SelfSubjectReview",
        "apiVersion": f"{call.kind.group}/{call.kind.version}",
        "metadata": {"creationTimestamp": call.backend.timestamp()},
        "status": {"userInfo": shown_user(call.request.user)},
    }


def shown_user(user: User) -> dict[str, Any]:
    """A user as `UserInfo` of authentication.k8s.io."""
    shown: dict[str, Any] = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    return {name: each for name, each in shown.items() if each}
