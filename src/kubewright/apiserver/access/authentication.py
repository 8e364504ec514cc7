"""Who asks: from a bearer token or a client certificate to a `User`. Pure.

| credentials | user |
|---|---|
| a client certificate that TLS has verified | CN, with its O as groups |
| one that is not valid yet, or any more, and no token that is known | nobody: 401 |
| a token that is known | whose it is |
| a token of a service account that counts | the account |
| another token | nobody: 401 |
| none | `system:anonymous`, of `system:unauthenticated` |

A certificate wins over a token, as in kube-apiserver. Rules: `apiserver/pkg/authentication/request`,
`kubernetes/pkg/kubeapiserver/authenticator`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from ..errors import unauthorized
from ..request import User

if TYPE_CHECKING:
    from .accounts import AccountTokens

__all__ = ["ANONYMOUS", "Authentication"]

ANONYMOUS: Final = User("system:anonymous", ("system:unauthenticated",))
_AUTHENTICATED: Final = "system:authenticated"
_UNAUTHENTICATED: Final = "system:unauthenticated"
_UID: Final = "1.3.6.1.4.1.57683.2"
"""The part of a certificate's subject that has the uid of its user."""


class Authentication:
    """Knows the credentials of one server.

    Args:
        tokens: whose they are; may be changed while it is in use.
        now: the clock that certificates expire by.
        accounts: makes what knows the tokens of service accounts, when it is first needed; None where there are none.
    """

    def __init__(
        self,
        tokens: Mapping[str, User] | None = None,
        now: Callable[[], datetime] | None = None,
        accounts: Callable[[], AccountTokens] | None = None,
    ) -> None:
        self.tokens = {} if tokens is None else dict(tokens)
        self._now = now or (lambda: datetime.now(UTC))
        self._make_accounts = accounts

    @cached_property
    def accounts(self) -> AccountTokens | None:
        """The tokens of service accounts; None where there are none."""
        return None if self._make_accounts is None else self._make_accounts()

    def user(self, headers: Mapping[str, str], certificate: bytes | None = None) -> User:
        """Who asks.

        Args:
            headers: by lower-case name.
            certificate: the client's, in DER, after TLS has verified it.

        Raises:
            StatusError: 401, the token is not known, or the certificate has expired.
        """
        if certificate is not None:
            user, begins, ends = _of_certificate(certificate)
            if begins <= self._now() <= ends:
                if user is not ANONYMOUS:
                    return user
                certificate = None
        said = headers.get("authorization")
        if said is not None:
            scheme, _, token = said.strip().partition(" ")
            if scheme.lower() == "bearer" and (token := token.split(" ")[0]):
                return self._of_token(token)
        if certificate is not None:
            raise unauthorized()
        return ANONYMOUS

    def of_token(self, token: str, audiences: Sequence[str]) -> tuple[User, tuple[str, ...]] | None:
        """Whose a token is, and for which of some audiences; None for one that is not known.

        Raises TokenRefused: it is a service account's, and does not count.
        """
        found = self.tokens.get(token)
        if found is not None:
            return found, tuple(audiences)
        return None if self.accounts is None else self.accounts.user(token, audiences)

    def _of_token(self, token: str) -> User:
        from .accounts import AUDIENCES, TokenRefused  # not needed by who has a certificate

        try:
            found = self.of_token(token, AUDIENCES)
        except TokenRefused:
            found = None
        if found is None:
            raise unauthorized()
        return found[0]


@lru_cache(maxsize=256)
def _of_certificate(data: bytes) -> tuple[User, datetime, datetime]:
    """Whose it is, and from when until when."""
    import hashlib

    from cryptography import x509
    from cryptography.x509.oid import NameOID, ObjectIdentifier

    certificate = x509.load_der_x509_certificate(data)
    subject, begins, ends = certificate.subject, certificate.not_valid_before_utc, certificate.not_valid_after_utc
    names, groups, uids = (
        [str(each.value) for each in subject.get_attributes_for_oid(oid)]
        for oid in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME, ObjectIdentifier(_UID))
    )
    if not names:
        return ANONYMOUS, begins, ends
    if not {_AUTHENTICATED, _UNAUTHENTICATED}.intersection(groups):
        groups.append(_AUTHENTICATED)
    extra = {"authentication.kubernetes.io/credential-id": (f"X509SHA256={hashlib.sha256(data).hexdigest()}",)}
    return User(names[0], tuple(groups), uids[0] if uids else "", extra), begins, ends
