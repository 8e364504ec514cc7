"""Who asks: from a bearer token or a client certificate to a `User`. Pure.

| credentials | user |
|---|---|
| a token that is known | whose it is |
| a token that is not | nobody: 401 |
| a client certificate that TLS has verified | CN, with its O as groups |
| one that is not valid yet, or any more | nobody: 401 |
| none | `system:anonymous`, of `system:unauthenticated` |

A token wins over a certificate, as in kube-apiserver. Rules: `apiserver/pkg/authentication/request`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from ..errors import unauthorized
from ..request import User

__all__ = ["ANONYMOUS", "Authentication"]

ANONYMOUS: Final = User("system:anonymous", ("system:unauthenticated",))
_AUTHENTICATED: Final = "system:authenticated"


class Authentication:
    """Knows the tokens of one server.

    Args:
        tokens: whose they are; may be changed while it is in use.
        now: the clock that certificates expire by.
    """

    def __init__(self, tokens: Mapping[str, User] | None = None, now: Callable[[], datetime] | None = None) -> None:
        self.tokens = {} if tokens is None else dict(tokens)
        self._now = now or (lambda: datetime.now(UTC))

    def user(self, headers: Mapping[str, str], certificate: bytes | None = None) -> User:
        """Who asks.

        Args:
            headers: by lower-case name.
            certificate: the client's, in DER, after TLS has verified it.

        Raises:
            StatusError: 401, the token is not known, or the certificate has expired.
        """
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            found = self.tokens.get(token.strip())
            if found is None:
                raise unauthorized()
            return found
        if certificate is not None:
            user, begins, ends = _of_certificate(certificate)
            if not begins <= self._now() <= ends:
                raise unauthorized()
            return user
        return ANONYMOUS


@lru_cache(maxsize=256)
def _of_certificate(data: bytes) -> tuple[User, datetime, datetime]:
    """Whose it is, and from when until when."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    certificate = x509.load_der_x509_certificate(data)
    subject, begins, ends = certificate.subject, certificate.not_valid_before_utc, certificate.not_valid_after_utc
    names = [str(each.value) for each in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    groups = [str(each.value) for each in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    if not names:
        return ANONYMOUS, begins, ends
    return User(names[0], (*groups, _AUTHENTICATED)), begins, ends
