"""Access control of one server: `AccessControl`, the part that a fork gets its own of.

Owns nothing but the putting together; who is asked is told in the other modules. A fork has the credentials of the
server that it comes from.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ..registry.backend import Backend
from .authentication import Authentication
from .rbac import RoleAuthorizer

if TYPE_CHECKING:
    from .accounts import AccountTokens
    from .jwt import SigningKey

__all__ = ["AccessControl"]


class _Signing:
    """The key of a server and its forks, made when it is first needed: most servers issue no tokens."""

    def __init__(self, pem: bytes | None) -> None:
        self._pem = pem

    @cached_property
    def key(self) -> SigningKey:
        from .jwt import SigningKey

        return SigningKey(self._pem)


class AccessControl:
    """Lets a backend know who is who, and who may do what.

    Args:
        key: signs the tokens of service accounts, a P-256 key (PEM); a new one by default.
        of: the access control of the server that this one is a fork of.
    """

    _signing: _Signing
    _authentication: Authentication

    def __init__(self, backend: Backend, key: bytes | None = None, *, of: AccessControl | None = None) -> None:
        self._signing = _Signing(key) if of is None else of._signing
        self._authentication = Authentication(
            None if of is None else of._authentication.tokens, accounts=lambda: self._accounts(backend)
        )
        backend.authentication = self._authentication
        backend.authorizer = RoleAuthorizer(backend.store)

    def _accounts(self, backend: Backend) -> AccountTokens:
        from .accounts import AccountTokens

        return AccountTokens(backend.store, lambda: backend.now(), self._signing.key)

    def fork(self, backend: Backend) -> AccessControl:
        return AccessControl(backend, of=self)

    async def settle(self) -> None:
        pass

    def close(self) -> None:
        pass
