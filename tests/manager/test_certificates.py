"""The certificate of a server: read again when it changes, never half, or its own."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kubewright.httpd import Address, Answer, HttpServer, Request
from kubewright.manager.certificates import CertificateError, from_files, self_signed
from kubewright.observe import Registry
from kubewright.observe.instruments import CertificateMetrics


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def pair(common_name: str) -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    return (
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


class Mount:
    """A Secret as the kubelet mounts it: `tls.crt` -> `..data/tls.crt`, and `..data` is swapped in one step."""

    def __init__(self, folder: Path, common_name: str) -> None:
        self.folder = folder
        self._versions = 0
        self.write(*pair(common_name))
        for name in ("tls.crt", "tls.key"):
            (folder / name).symlink_to(Path("..data", name))

    def write(self, certificate: bytes, key: bytes) -> None:
        self._versions += 1
        version = self.folder / f"..v{self._versions}"
        version.mkdir()
        (version / "tls.crt").write_bytes(certificate)
        (version / "tls.key").write_bytes(key)
        link = self.folder / "..data_tmp"
        link.symlink_to(version.name)
        os.replace(link, self.folder / "..data")

    def context(self, **options: Any) -> ssl.SSLContext:
        return from_files(self.folder / "tls.crt", self.folder / "tls.key", **options)


async def shown(context: ssl.SSLContext, *, name: str | None = None) -> x509.Certificate:
    """The certificate that a client is shown."""

    async def handler(request: Request) -> Answer:
        return Answer(200, b"")

    server = HttpServer(handler, Address("127.0.0.1", 0), name="--test", tls=context)
    await server.start()
    blind = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    blind.check_hostname = False
    blind.verify_mode = ssl.CERT_NONE
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=blind, server_hostname=name)
        der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        assert writer.get_extra_info("ssl_object").version() in ("TLSv1.2", "TLSv1.3")
        writer.close()
        return x509.load_der_x509_certificate(der)
    finally:
        await server.close()


def name_of(certificate: x509.Certificate) -> str:
    return str(certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)[0].value)


@pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop])
@pytest.mark.parametrize("name", [None, "metrics.example"])
def test_a_swapped_secret_is_shown_to_the_next_client_with_or_without_a_server_name(
    tmp_path: Path, name: str | None, loop_factory: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    clock = Clock()
    mount = Mount(tmp_path, "first")
    context = mount.context(clock=clock)

    async def main() -> None:
        assert name_of(await shown(context, name=name)) == "first"
        mount.write(*pair("second"))
        assert name_of(await shown(context, name=name)) == "first", "looked at once a second at most"
        clock.now += 1
        assert name_of(await shown(context, name=name)) == "second"
        mount.write(*pair("third"))
        clock.now += 1
        assert name_of(await shown(context, name=name)) == "third"

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(main())


def test_new_files_that_do_not_belong_together_leave_the_ones_before_in_use(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock, registry = Clock(), Registry()
    mount = Mount(tmp_path, "first")
    context = mount.context(clock=clock, metrics=CertificateMetrics(registry))

    async def main() -> None:
        mount.write(pair("certificate")[0], pair("key")[1])
        for _ in range(3):
            clock.now += 1
            assert name_of(await shown(context)) == "first"
        mount.write(*pair("good"))
        clock.now += 1
        assert name_of(await shown(context)) == "good"

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())
    assert len(caplog.records) == 1, "told once, not for each connection"
    assert "do not belong together" in caplog.text
    assert registry.value("certwatcher_read_certificate_total") == 3
    assert registry.value("certwatcher_read_certificate_errors_total") == 1


def test_files_that_are_gone_for_a_moment_change_nothing(tmp_path: Path) -> None:
    clock = Clock()
    mount = Mount(tmp_path, "first")
    context = mount.context(clock=clock)

    async def main() -> None:
        (tmp_path / "..data").unlink()
        clock.now += 1
        assert name_of(await shown(context)) == "first"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("certificate", "key", "says"),
    [
        (None, None, "does not exist; mount the Secret"),
        (b"nonsense", b"nonsense", "cannot be read as PEM"),
        (pair("a")[0], pair("b")[1], "do not belong together"),
    ],
)
def test_files_that_cannot_be_used_at_the_start_are_an_error_with_the_cure(
    tmp_path: Path, certificate: bytes | None, key: bytes | None, says: str
) -> None:
    if certificate is not None and key is not None:
        (tmp_path / "tls.crt").write_bytes(certificate)
        (tmp_path / "tls.key").write_bytes(key)
    with pytest.raises(CertificateError, match=says):
        from_files(tmp_path / "tls.crt", tmp_path / "tls.key")


def test_a_key_with_a_password_is_an_error_and_no_question(tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    (tmp_path / "tls.crt").write_bytes(pair("a")[0])
    (tmp_path / "tls.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    with pytest.raises(CertificateError, match="without a password"):
        from_files(tmp_path / "tls.crt", tmp_path / "tls.key")


def test_a_certificate_of_its_own_is_made_anew_after_half_its_life() -> None:
    clock = Clock()
    context = self_signed(("metrics.prod.svc",), clock=clock)

    async def main() -> None:
        first = await shown(context)
        assert name_of(first) == "metrics.prod.svc"
        names = first.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert names.get_values_for_type(x509.DNSName) == ["metrics.prod.svc"]
        assert first.not_valid_after_utc - datetime.now(UTC) > timedelta(days=364)
        clock.now += 100 * 86400
        assert await shown(context) == first
        clock.now += 100 * 86400
        assert (await shown(context)).serial_number != first.serial_number

    asyncio.run(main())
