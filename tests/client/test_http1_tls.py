"""TLS errors in words, where the contract does not reach."""

from __future__ import annotations

import ssl

import client_certificates as certificates
import pytest
from cryptography.hazmat.primitives import serialization

from kubewright.client.http1_tls import CertificateFacts, handshake_failed, read_certificate, verification_failed


def der(pair: certificates.Pair) -> bytes:
    return pair.certificate.public_bytes(serialization.Encoding.DER)


def refused(code: int, facts: CertificateFacts | None) -> str:
    error = ssl.SSLCertVerificationError(1, "verify failed")
    error.verify_code, error.verify_message = code, "the message"
    return str(verification_failed("h:1", "h", error, facts))


def test_the_facts_of_a_certificate_are_its_dates_names_and_issuer() -> None:
    facts = read_certificate(der(certificates.good()))
    assert facts is not None
    assert facts.names == ("127.0.0.1", "api.example")
    assert facts.issuer == "CN=the test authority"
    assert facts.is_current
    assert facts.not_after == f"{certificates.NOW + certificates.DAY:%Y-%m-%d %H:%M:%S} UTC"
    expired = read_certificate(der(certificates.expired()))
    assert expired is not None
    assert not expired.is_current


def test_a_certificate_without_names_has_none_and_one_that_cannot_be_read_has_no_facts() -> None:
    facts = read_certificate(der(certificates.client()))
    assert facts is not None
    assert facts.names == ()
    assert read_certificate(b"junk") is None


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (10, "h:1: the server's certificate has expired; renew"),
        (9, "h:1: the server's certificate is not valid yet; set this machine's clock"),
        (62, "h:1: host name mismatch: the server's certificate names other hosts, not for h; use one of its names"),
        (20, "h:1: the server's certificate is signed by an authority that is not trusted; "),
        (23, "h:1: the server's certificate is not accepted: the message; "),
    ],
)
def test_without_facts_the_reason_and_the_cure_are_still_told(code: int, text: str) -> None:
    assert refused(code, None).startswith(text)


@pytest.mark.parametrize(("code", "state"), [(10, "has expired"), (9, "is not valid yet")])
def test_an_authority_out_of_its_time_is_told_from_the_servers_certificate(code: int, state: str) -> None:
    text = refused(code, read_certificate(der(certificates.good())))
    assert text.startswith(f"h:1: the authority of the server's certificate (CN=the test authority) {state}; ")


def test_any_other_failure_of_tls_is_given_in_openssls_words() -> None:
    error = ssl.SSLError(1, "something")
    error.reason = "UNSUPPORTED_PROTOCOL"
    assert str(handshake_failed("h:1", "tls", error)).startswith("h:1: TLS failed: unsupported protocol; ")
