"""Certificates for tests: an authority, and what it signs, good or bad. ECDSA keys, made once per process."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

NOW = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
DAY = datetime.timedelta(days=1)
PAST = NOW - 3 * DAY
FUTURE = NOW + 3 * DAY


@dataclass(frozen=True)
class Pair:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


def sign(
    name: str,
    *names: str,
    by: Pair | None = None,
    ca: bool | None = None,
    valid: tuple[datetime.datetime, datetime.datetime] = (NOW - DAY, NOW + DAY),
) -> Pair:
    """A certificate for host names and addresses; without `by`, or with `ca`, an authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    issuer = by.certificate.subject if by else subject
    builder = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number(), *valid)
    builder = builder.add_extension(x509.BasicConstraints(ca=by is None if ca is None else ca, path_length=None), True)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([_general(each) for each in names]), False)
    return Pair(builder.sign(by.key if by else key, hashes.SHA256()), key)


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


@cache
def authority() -> Pair:
    """The authority that tests trust."""
    return sign("the test authority")


@cache
def good() -> Pair:
    """A certificate for 127.0.0.1."""
    return sign("server", "127.0.0.1", "api.example", by=authority())


@cache
def expired() -> Pair:
    """The same, three days ago."""
    return sign("server", "127.0.0.1", by=authority(), valid=(PAST - DAY, PAST))


@cache
def of_the_future() -> Pair:
    """The same, in three days."""
    return sign("server", "127.0.0.1", by=authority(), valid=(FUTURE, FUTURE + DAY))


@cache
def for_other_hosts() -> Pair:
    """One for other hosts."""
    return sign("server", "api.example", "10.0.0.1", by=authority())


@cache
def by_unknown_authority() -> Pair:
    """One that nobody trusts."""
    return sign("server", "127.0.0.1", by=sign("somebody else's authority"))


@cache
def client(name: str = "alice") -> Pair:
    """A client certificate."""
    return sign(name, by=authority())


@cache
def client_expired() -> Pair:
    """A client certificate of three days ago."""
    return sign("alice", by=authority(), valid=(PAST - DAY, PAST))


@cache
def stranger() -> Pair:
    """A client certificate of an authority that no server knows."""
    return sign("mallory", by=sign("somebody else's authority"))


def server_context(pair: Pair, *chain: Pair, client_authority: Pair | None = None) -> ssl.SSLContext:
    """The context of a server with this certificate (and those that signed it), which demands client certificates of
    an authority if given."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pair.pem"
        path.write_bytes(pair.key_pem + b"".join(each.certificate_pem for each in (pair, *chain)))
        context.load_cert_chain(path)
    if client_authority is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=client_authority.certificate_pem.decode())
    return context


def client_context(trusted: Pair | None = None, client: Pair | None = None) -> ssl.SSLContext:
    """The context of a client that trusts this authority (the test authority)."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=(trusted or authority()).certificate_pem.decode())
    if client is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pair.pem"
            path.write_bytes(client.certificate_pem + client.key_pem)
            context.load_cert_chain(path)
    return context
