"""Whose certificates a client takes: no other than Go's, on any Python."""

from __future__ import annotations

import ssl

import client_certificates as certificates
import pytest

from kubewright.client.trust import load_authorities, new_client_context


def shake_hands(server: certificates.Pair, bundle: bytes) -> None:
    """A handshake in memory. Raises SSLError."""
    tls = new_client_context()
    load_authorities(tls, bundle)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = tls.wrap_bio(to_client, to_server, server_hostname="127.0.0.1")
    other = certificates.server_context(server).wrap_bio(to_server, to_client, server_side=True)
    for each in (client, other, client):
        try:
            each.do_handshake()
        except ssl.SSLWantReadError:
            continue


def test_an_authority_without_key_identifiers_and_usage_is_one() -> None:
    assert {each.oid._name for each in certificates.authority().certificate.extensions} == {"basicConstraints"}
    shake_hands(certificates.good(), certificates.authority().certificate_pem)


def test_the_certificate_of_the_server_itself_is_trusted_if_it_is_given() -> None:
    shake_hands(certificates.good(), certificates.good().certificate_pem)


def test_another_authority_is_not_trusted() -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(certificates.by_unknown_authority(), certificates.authority().certificate_pem)


def test_a_bundle_without_a_certificate_is_refused() -> None:
    for bundle in (b"", b"junk", "ü".encode()):
        with pytest.raises((ssl.SSLError, ValueError)):
            load_authorities(new_client_context(), bundle)
