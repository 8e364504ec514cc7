"""The certificate that a server shows: from files, read again when they change, or its own.

Owns when a certificate is taken anew. Refuses to know servers: it is an `ssl.SSLContext` that always shows the newest.

The files are looked at when somebody connects, at most once a second: two calls of `stat`, no task, no watch on a
folder. Kubernetes renews a mounted Secret by swapping the symbolic link `..data`, which changes what `stat` says of the
files behind it. New files become a context of their own, whole, or not at all: a pair that cannot be read or does not
belong together is told in the log, and the one before stays. (`load_cert_chain` on the context in use would leave a new
certificate with an old key.)

A certificate of its own is for encryption only: nobody can verify it. It is valid for a year, and made anew after half.
"""

from __future__ import annotations

import logging
import os
import ssl
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kubewright.observe.instruments import CertificateMetrics

__all__ = ["CertificateError", "from_files", "self_signed"]

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
OWN_DAYS = 365


class CertificateError(OSError):
    """A certificate cannot be used. The message names the files and the cure."""


def from_files(
    certificate: Path,
    key: Path,
    *,
    metrics: CertificateMetrics | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> ssl.SSLContext:
    """A server's context for a certificate and its key, in PEM; the chain behind the certificate.

    Raises:
        CertificateError: they cannot be read, or do not belong together.
    """

    def stamp() -> object:
        return [(stat.st_mtime_ns, stat.st_ino, stat.st_size) for stat in (os.stat(certificate), os.stat(key))]

    def load() -> ssl.SSLContext:
        if metrics is not None:
            metrics.reads.inc()
        try:
            return _context(certificate, key)
        except (OSError, ssl.SSLError) as error:
            if metrics is not None:
                metrics.errors.inc()
            raise CertificateError(_explain(certificate, key, error)) from error

    return _Newest(load, stamp, clock).face


def self_signed(
    names: Sequence[str] = ("localhost",), *, clock: Callable[[], float] = time.monotonic
) -> ssl.SSLContext:
    """A server's context for a certificate that it makes itself."""
    renew_seconds = OWN_DAYS * 86400 / 2
    return _Newest(lambda: _own(names), lambda: clock() // renew_seconds, clock).face


class _Newest:
    """A context that hands each connection to the newest one."""

    def __init__(
        self, load: Callable[[], ssl.SSLContext], stamp: Callable[[], object], clock: Callable[[], float]
    ) -> None:
        self._load = load
        self._stamp = stamp
        self._clock = clock
        self._looked_at = clock()
        # In this order: what changes in between is read once too often, not once too little.
        self._seen = self._stamped()
        self.face = load()
        self._newest = self.face
        # Called for each handshake, with or without a name in it. It lasts as long as the context does.
        self.face.sni_callback = self._choose

    def _choose(self, session: ssl.SSLObject, name: str | None, face: ssl.SSLContext) -> None:
        now = self._clock()
        if now - self._looked_at >= LOOK_SECONDS:
            self._looked_at = now
            self._look()
        if self._newest is not face:
            session.context = self._newest

    def _look(self) -> None:
        seen = self._stamped()
        if seen is None or seen == self._seen:
            return  # in the middle of a swap there may be no file
        self._seen = seen
        try:
            self._newest = self._load()
        except CertificateError as error:
            logger.error("%s; the one before stays in use", error)
        else:
            logger.info("the certificate of the server was renewed")

    def _stamped(self) -> object:
        try:
            return self._stamp()
        except OSError:
            return None


def _context(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    # A key with a password must fail, not ask for it on the terminal.
    context.load_cert_chain(certificate, key, password=lambda: b"")
    return context


def _explain(certificate: Path, key: Path, error: OSError) -> str:
    what = f"certificate {certificate} with key {key}"
    if isinstance(error, FileNotFoundError):
        missing = next((path for path in (certificate, key) if not path.exists()), certificate)
        return f"{what}: {missing} does not exist; mount the Secret there, or leave the path out for one of our own"
    if isinstance(error, ssl.SSLError) and error.reason == "KEY_VALUES_MISMATCH":
        return f"{what}: they do not belong together; give the key that the certificate was made for"
    if isinstance(error, ssl.SSLError):
        return f"{what}: cannot be read as PEM without a password ({error.reason or error}); write them anew"
    return f"{what}: cannot be read ({error.strerror or error})"


def _own(names: Sequence[str]) -> ssl.SSLContext:
    # A tenth of a second that only who has no certificate pays for.
    import tempfile

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, names[0])])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=OWN_DAYS))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    with tempfile.TemporaryDirectory() as folder:  # for us alone; `ssl` reads from files only
        cert_file, key_file = Path(folder, "tls.crt"), Path(folder, "tls.key")
        cert_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return _context(cert_file, key_file)
