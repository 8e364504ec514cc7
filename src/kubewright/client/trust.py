"""Which certificates of a server are taken: the same on every Python, and those that Go's crypto/tls takes.

`ssl.create_default_context` asks for more from Python 3.13 on (VERIFY_X509_STRICT: key identifiers, key usage, critical
basic constraints). Authorities that older tools have made lack them; kubectl and kube-apiserver trust them all the
same. And whatever is in a bundle is trusted, an intermediate authority or the server's own certificate too.
"""

from __future__ import annotations

import ssl

__all__ = ["load_authorities", "new_client_context"]


def new_client_context() -> ssl.SSLContext:
    """A context for HTTP/1.1 that trusts nobody yet."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VerifyFlags.VERIFY_X509_STRICT
    context.hostname_checks_common_name = False
    return context


def load_authorities(context: ssl.SSLContext, bundle: bytes | None) -> None:
    """Trust the certificates of a PEM bundle, or without one the system's.

    Raises:
        ssl.SSLError, ValueError: the bundle holds no usable certificate.
    """
    if bundle is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(cadata=bundle.decode("ascii"))
