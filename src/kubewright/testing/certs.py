"""The certificates of one control plane.

Owns two certificate authorities' worth of knowledge: how to sign a serving certificate and how to sign a client
certificate that *is* a user (Kubernetes reads the user from CN and the groups from O:
https://kubernetes.io/docs/reference/access-authn-authz/authentication/#x509-client-certificates).
Keys are ECDSA P-256: some 0.1 ms each, where RSA 2048 costs tens. It refuses to know where files lie.

All certificates carry key identifiers and key usage, which `ssl` demands by default from Python 3.13 on
(VERIFY_X509_STRICT). They are valid for one year, from one hour ago, so that a detached cluster may stay up and a
machine whose clock lags a little still trusts them.
"""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

_VALID = datetime.timedelta(days=365)
_BEFORE = datetime.timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate (or, for service accounts, a bare public key) and its private key, both PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """A certificate authority: signs serving and client certificates."""

    def __init__(self, pair: KeyPair) -> None:
        """Take the authority's own pair, from `create` or read from files."""
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        self.pair = pair
        self._certificate = x509.load_pem_x509_certificate(pair.certificate)
        key = load_pem_private_key(pair.key, password=None)
        if not isinstance(key, EllipticCurvePrivateKey):
            raise TypeError(f"the authority's key is a {type(key).__name__}, not an elliptic curve key")
        self._key = key

    @classmethod
    def create(cls, name: str) -> Authority:
        """Make a new self-signed authority called `name`."""
        key = _new_key()
        return cls(_sign(_builder(_name(name), _name(name), key), key, key, is_ca=True))

    def serving(self, name: str, dns_names: Sequence[str], addresses: Sequence[str]) -> KeyPair:
        """Sign a serving certificate for these host names and IP addresses."""
        from cryptography import x509
        from cryptography.x509.oid import ExtendedKeyUsageOID

        hosts: list[x509.GeneralName] = [x509.DNSName(host) for host in dns_names]
        hosts += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
        return self._issue(_name(name), ExtendedKeyUsageOID.SERVER_AUTH, x509.SubjectAlternativeName(hosts))

    def client(self, user: str, groups: Sequence[str] = ()) -> KeyPair:
        """Sign a client certificate by which its holder is `user`, member of `groups`.

        Raises ValueError for a name that a certificate cannot hold: X.520 gives a common name 1 to 64 bytes.
        """
        from cryptography.x509.oid import ExtendedKeyUsageOID

        size = len(user.encode())
        if not 1 <= size <= 64:
            raise ValueError(
                f"user {user!r} has {size} bytes; a client certificate's common name holds 1 to 64 (X.520); "
                "use a shorter name, or for a service account a token (kubectl create token NAME)"
            )
        return self._issue(_name(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def _issue(
        self, subject: x509.Name, usage: x509.ObjectIdentifier, hosts: x509.SubjectAlternativeName | None
    ) -> KeyPair:
        from cryptography import x509

        key = _new_key()
        builder = _builder(subject, self._certificate.subject, key)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if hosts is not None:
            builder = builder.add_extension(hosts, critical=False)
        return _sign(builder, key, self._key, is_ca=False)


def service_account_keys() -> KeyPair:
    """Make the key pair that signs service account tokens; `certificate` is the public key."""
    from cryptography.hazmat.primitives import serialization

    key = _new_key()
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return KeyPair(public, _pem(key))


def _new_key() -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _name(common_name: str, organizations: Sequence[str] = ()) -> x509.Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in organizations),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _builder(subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    from cryptography import x509

    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + _VALID)
    )


def _sign(
    builder: x509.CertificateBuilder,
    key: EllipticCurvePrivateKey,
    issuer_key: EllipticCurvePrivateKey,
    *,
    is_ca: bool,
) -> KeyPair:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization

    certificate = (
        builder.add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(
            x509.KeyUsage(
                digital_signature=True,
                key_cert_sign=is_ca,
                crl_sign=is_ca,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
    return KeyPair(certificate.public_bytes(serialization.Encoding.PEM), _pem(key))


def _pem(key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives import serialization

    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
