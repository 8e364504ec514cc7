"""Access control of one server: `AccessControl`, the part that a fork gets its own of.

Owns nothing but the putting together; who is asked is told in the other modules.
"""

from __future__ import annotations

from ..registry.backend import Backend
from .rbac import RoleAuthorizer

__all__ = ["AccessControl"]


class AccessControl:
    """Lets a backend know who may do what."""

    def __init__(self, backend: Backend) -> None:
        backend.authorizer = RoleAuthorizer(backend.store)

    def fork(self, backend: Backend) -> AccessControl:
        return AccessControl(backend)

    async def settle(self) -> None:
        pass

    def close(self) -> None:
        pass
