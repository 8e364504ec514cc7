"""Access control of one server: `AccessControl`, the part that a fork gets its own of.

Owns nothing but the putting together; who is asked is told in the other modules. A fork has the credentials of the
server that it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..registry.backend import Backend
from ..request import User
from .accounts import AccountTokens
from .authentication import Authentication
from .jwt import SigningKey
from .rbac import RoleAuthorizer

__all__ = ["AccessControl"]


class AccessControl:
    """Lets a backend know who is who, and who may do what.

    Args:
        key: signs the tokens of service accounts.
        tokens: other ones, and whose they are.
    """

    def __init__(self, backend: Backend, key: SigningKey, tokens: Mapping[str, User] | None = None) -> None:
        self._key = key
        accounts = AccountTokens(backend.store, lambda: backend.now(), key)
        self._authentication = backend.authentication = Authentication(tokens, accounts=accounts)
        backend.authorizer = RoleAuthorizer(backend.store)

    def fork(self, backend: Backend) -> AccessControl:
        return AccessControl(backend, self._key, self._authentication.tokens)

    async def settle(self) -> None:
        pass

    def close(self) -> None:
        pass
