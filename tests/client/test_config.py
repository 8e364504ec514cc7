"""A configuration: what it shows, what it hides, and the TLS context that follows from it."""

from __future__ import annotations

import asyncio
import os
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import client_certificates as certificates
import pytest
from cryptography.hazmat.primitives import serialization
from scripted_server import OK, Peer, ScriptedServer

from kubewright.client.config import ClientConfig, ConfigError, Impersonation
from kubewright.client.http import HttpClient

CA = certificates.authority().certificate_pem
CERT, KEY = certificates.client().certificate_pem, certificates.client().key_pem


def config(**fields: Any) -> ClientConfig:
    return ClientConfig(**({"server": "https://h", "source": "test"} | fields))


def test_secrets_are_not_shown() -> None:
    shown = repr(config(token="s3cret", ca_data=CA, client_cert_data=CERT, client_key_data=KEY))
    assert "s3cret" not in shown
    assert "BEGIN" not in shown
    assert f"ca_data=<{len(CA)} bytes>" in shown
    assert "client_key_data=***" in shown
    assert "token=***" in shown
    assert "token" not in repr(config())


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"insecure": True, "ca_data": CA},
            "test: insecure: 'true' and certificate authority data exclude one another; ",
        ),
        ({"client_cert_data": CERT}, "test: client_key_data: is missing: a client certificate needs its key; "),
        ({"client_key_data": KEY}, "test: client_cert_data: is missing: "),
        ({"server": "h:6443"}, "test: server: 'h:6443' is not a URL of the form"),
        ({"server": "https://h?x=y"}, "test: server: 'https://h?x=y' is not a URL"),
        ({"server": ""}, "test: server: is not a URL"),
    ],
)
def test_fields_that_do_not_go_together_are_refused(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config(**fields)
    assert str(caught.value).startswith(text)


def test_the_server_is_verified_by_default() -> None:
    for fields in ({}, {"ca_data": CA}):
        context = config(**fields).ssl_context()
        assert context is not None
        assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
        assert context.minimum_version == ssl.TLSVersion.TLSv1_2
        assert not context.hostname_checks_common_name


def test_only_the_given_authorities_are_trusted() -> None:
    context = config(ca_data=CA + certificates.good().certificate_pem).ssl_context()
    assert context is not None
    assert context.cert_store_stats()["x509"] == 2


def test_insecure_verifies_nothing() -> None:
    context = config(insecure=True).ssl_context()
    assert context is not None
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_NONE, False)


def test_http_has_no_tls() -> None:
    assert config(server="http://h").ssl_context() is None


def encrypted_key() -> bytes:
    return certificates.client().key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"p")
    )


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"ca_data": b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"},
            "holds no usable certificate (",
        ),
        ({"ca_data": KEY}, "holds no usable certificate ("),
        ({"ca_data": b"\xff"}, "holds no usable certificate ("),
        ({"client_cert_data": b"junk", "client_key_data": KEY}, "cannot be used ("),
        ({"client_cert_data": CERT, "client_key_data": b"junk"}, "cannot be used ("),
        ({"client_cert_data": CERT, "client_key_data": encrypted_key()}, "cannot be used ("),
        (
            {"client_cert_data": CERT, "client_key_data": certificates.good().key_pem},
            "do not match (KEY_VALUES_MISMATCH)",
        ),
    ],
)
def test_certificates_that_cannot_be_used_are_named(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config(**fields).ssl_context()
    assert str(caught.value).startswith("test: ")
    assert text in str(caught.value)
    assert "PRIVATE" not in str(caught.value)


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_client_key_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: bool) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    if not in_memory:
        monkeypatch.delattr(os, "memfd_create", raising=False)
    open_before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    modes: list[int] = []
    load = ssl.SSLContext.load_cert_chain

    def spy(self: ssl.SSLContext, path: str, **kwargs: Any) -> None:
        modes.append(os.stat(path).st_mode & 0o777)
        load(self, path, **kwargs)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", spy)
    assert config(client_cert_data=CERT, client_key_data=KEY).ssl_context() is not None
    assert in_memory or modes == [0o600]
    assert not list(tmp_path.iterdir())
    if open_before:
        assert len(os.listdir("/proc/self/fd")) == open_before


@pytest.mark.parametrize("trusted", ["authority", "the certificate itself", "an intermediate"])
def test_any_certificate_of_the_data_is_an_anchor(trusted: str) -> None:
    root = certificates.sign("root")
    middle = certificates.sign("middle", by=root, ca=True)
    leaf = certificates.sign("server", "127.0.0.1", by=middle)
    chain = {"authority": root, "the certificate itself": leaf, "an intermediate": middle}

    async def ok(peer: Peer) -> None:
        await peer.serve(OK)

    async def main() -> None:
        tls = certificates.server_context(leaf, middle)
        async with ScriptedServer(ok, tls=tls) as server:
            made = ClientConfig(server=server.url, ca_data=chain[trusted].certificate_pem)
            async with HttpClient(made) as http:
                assert (await http.request("GET", "/")).status == 200

    asyncio.run(main())


def test_impersonation_becomes_headers() -> None:
    who = Impersonation("bob", ("g1", "g2"), "42", {"example.com/roles": ("a", "b"), "100%": ("c",)})
    assert who.headers() == (
        ("Impersonate-User", "bob"),
        ("Impersonate-Uid", "42"),
        ("Impersonate-Group", "g1"),
        ("Impersonate-Group", "g2"),
        ("Impersonate-Extra-example.com%2Froles", "a"),
        ("Impersonate-Extra-example.com%2Froles", "b"),
        ("Impersonate-Extra-100%25", "c"),
    )
    assert Impersonation("bob").headers() == (("Impersonate-User", "bob"),)


def test_an_expired_client_certificate_is_a_warning_with_its_date() -> None:
    expired = certificates.client_expired()
    made = config(client_cert_data=expired.certificate_pem, client_key_data=expired.key_pem)
    assert made.client_certificate_expires_at == certificates.PAST
    until = f"was valid until {certificates.PAST:%Y-%m-%d %H:%M:%S} UTC"
    assert made.warnings() == (f"test: the client certificate {until}; renew it",)
    assert made.credentials() == f"client certificate of test (it {until})"
    assert made.warnings(now=certificates.PAST - timedelta(hours=1)) == ()


def test_a_good_client_certificate_is_no_warning() -> None:
    made = config(client_cert_data=CERT, client_key_data=KEY)
    assert made.warnings() == ()
    assert made.credentials() == "client certificate of test"
    assert made.client_certificate_expires_at > datetime.now(UTC)  # type: ignore[operator]


def test_a_certificate_that_cannot_be_read_has_no_date() -> None:
    assert config(client_cert_data=b"junk", client_key_data=b"junk").client_certificate_expires_at is None


def test_insecure_is_a_warning() -> None:
    assert config(insecure=True).warnings() == ("test: insecure-skip-tls-verify is set: anybody can pose as https://h",)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "absence of any credentials (anonymous) in test"),
        ({"token": "s3cret"}, "bearer token of test"),
        ({"token": "s3cret", "token_file": Path("/f")}, "bearer token in /f"),
    ],
)
def test_credentials_are_named_by_kind(fields: dict[str, Any], words: str) -> None:
    assert config(**fields).credentials() == words


def test_the_user_agent_names_a_field_manager_before_its_slash() -> None:
    assert config().user_agent.partition("/")[0] == "kubewright"
