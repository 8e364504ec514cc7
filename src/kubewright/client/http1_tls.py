"""What went wrong in a TLS handshake, in words.

Owns the translation of `ssl`'s errors into one line with a cure: whose certificate it is, what is wrong with it, until
when it was valid, which names it holds. It opens no connection; the facts of the server's certificate are given to it
as DER, for `ssl` tells only *that* a certificate was refused. cryptography is imported when there is an error to
explain, as it takes 60 ms.
"""

from __future__ import annotations

import datetime
import ssl
from typing import Final

from msgspec import Struct

from .transport import Phase, TLSError

# X509_V_ERR_* of OpenSSL's x509_vfy.h
_NOT_YET_VALID: Final = 9
_EXPIRED: Final = 10
_UNKNOWN_AUTHORITY: Final = frozenset({2, 18, 19, 20, 21, 27})
_WRONG_NAME: Final = frozenset({62, 64})

# The names of TLS alerts as OpenSSL gives them, after "SSLV3_ALERT_", "TLSV1_ALERT_" or "TLSV13_ALERT_".
_CLIENT_ALERTS: Final = {
    "CERTIFICATE_EXPIRED": "the server refused the client certificate: it has expired",
    "CERTIFICATE_REVOKED": "the server refused the client certificate: it was revoked",
    "BAD_CERTIFICATE": "the server refused the client certificate: it is damaged or not valid",
    "UNSUPPORTED_CERTIFICATE": "the server refused the client certificate: its type is not supported",
    "CERTIFICATE_UNKNOWN": "the server refused the client certificate",
    "UNKNOWN_CA": "the server refused the client certificate: it does not know the authority behind it",
    "ACCESS_DENIED": "the server refused the client certificate: access denied",
    "CERTIFICATE_REQUIRED": "the server asks for a client certificate and none was given",
}
_RENEW: Final = "renew the client certificate and key of this user in the kubeconfig"


class CertificateFacts(Struct, frozen=True):
    """What a certificate says of itself, as text: dates in UTC, names, issuer. `is_current`: by its dates, now."""

    not_before: str
    not_after: str
    names: tuple[str, ...]
    issuer: str
    is_current: bool = False


def read_certificate(der: bytes) -> CertificateFacts | None:
    """Return the facts of a certificate, None if it cannot be read."""
    from cryptography import x509

    try:
        certificate = x509.load_der_x509_certificate(der)
        issuer = certificate.issuer.rfc4514_string()
    except ValueError:
        return None
    names: tuple[str, ...] = ()
    try:
        alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        names = tuple(str(name.value) for name in alternatives)
    except (x509.ExtensionNotFound, ValueError):
        pass
    form = "%Y-%m-%d %H:%M:%S UTC"
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    is_current = begin <= datetime.datetime.now(datetime.UTC) <= end
    return CertificateFacts(begin.strftime(form), end.strftime(form), names, issuer, is_current)


def verification_failed(
    server: str, name: str, error: ssl.SSLCertVerificationError, facts: CertificateFacts | None
) -> TLSError:
    """Explain why the certificate of `server`, reached by the host name `name`, was not accepted."""
    code = error.verify_code
    if code in (_EXPIRED, _NOT_YET_VALID) and facts is not None and facts.is_current:
        # OpenSSL says which certificate of the chain, and `ssl` does not pass it on; it is not the server's own.
        state = "has expired" if code == _EXPIRED else "is not valid yet"
        cause = f"the authority of the server's certificate ({facts.issuer}) {state}"
        cure = "renew the API server's authority and certificate, or set this machine's clock right"
    elif code == _EXPIRED:
        when = f": it was valid until {facts.not_after}" if facts else ""
        cause = f"the server's certificate has expired{when}"
        cure = "renew the API server's certificate, or set this machine's clock right"
    elif code == _NOT_YET_VALID:
        when = f": it is valid from {facts.not_before}" if facts else ""
        cause = f"the server's certificate is not valid yet{when}"
        cure = "set this machine's clock right"
    elif code in _WRONG_NAME:
        names = f"is for {', '.join(facts.names)}" if facts and facts.names else "names other hosts"
        cause = f"host name mismatch: the server's certificate {names}, not for {name}"
        cure = "use one of its names as server address, or set tls-server-name to it"
    elif code in _UNKNOWN_AUTHORITY:
        issuer = f" ({facts.issuer})" if facts else ""
        cause = f"the server's certificate is signed by an authority{issuer} that is not trusted"
        cure = "set certificate-authority(-data) of the cluster to this server's CA; is this the right server?"
    else:
        cause = f"the server's certificate is not accepted: {error.verify_message}"
        cure = "renew the API server's certificate"
    return TLSError(server, "tls", cause, cure, "server")


def handshake_failed(server: str, phase: Phase, error: ssl.SSLError) -> TLSError:
    """Explain any other failure of TLS, during the handshake or (in TLS 1.3 the server judges our certificate later)
    in what should have been the answer."""
    reason = error.reason or ""
    alert = reason.partition("ALERT_")[2]
    if alert in _CLIENT_ALERTS:
        return TLSError(server, phase, _CLIENT_ALERTS[alert], _RENEW, "client")
    if alert == "HANDSHAKE_FAILURE":
        return TLSError(
            server,
            phase,
            "the server broke the TLS handshake off",
            "does it ask for a client certificate that the kubeconfig does not have, or for other ciphers?",
        )
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"):
        return TLSError(
            server, phase, "the server does not speak TLS", "use http:// in its address, or the port that speaks TLS"
        )
    text = reason.replace("_", " ").lower() or str(error)
    return TLSError(server, phase, f"TLS failed: {text}", "is there an API server at this address?")
