"""Requests to bytes, without sockets. What is refused is in the transport contract."""

from __future__ import annotations

import pytest

from kubewright.client.http1 import Http1Transport
from kubewright.client.http1_request import RequestEncoder


def test_a_request_is_one_head_and_its_body() -> None:
    data = RequestEncoder("h:1").encode("PATCH", "/a?b=c", (("Accept", "x"), ("X-B", "y")), b"{}")
    assert data == b"PATCH /a?b=c HTTP/1.1\r\nHost: h:1\r\nAccept: x\r\nX-B: y\r\nContent-Length: 2\r\n\r\n{}"


def test_headers_may_be_any_sequence_of_pairs() -> None:
    encoder = RequestEncoder("h")
    pairs = [("Accept", "x"), ("X-B", "y")]
    assert encoder.encode("GET", "/", pairs, None) == encoder.encode("GET", "/", tuple(pairs), None)
    assert encoder.encode("GET", "/", [["Accept", "x"], ["X-B", "y"]], None) == encoder.encode("GET", "/", pairs, None)  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("method", "headers", "streaming", "asked"),
    [
        ("GET", (), False, True),
        ("GET", (), True, False),
        ("GET", (("accept-encoding", "identity"),), False, False),
        ("POST", (), False, False),
        ("PATCH", (), False, False),
    ],
)
def test_compression_is_asked_for_only_where_it_pays(
    method: str, headers: tuple[tuple[str, str], ...], streaming: bool, asked: bool
) -> None:
    data = RequestEncoder("h", gzip=True).encode(method, "/", headers, None, streaming=streaming)
    assert (b"Accept-Encoding: gzip\r\n" in data) == asked
    assert b"gzip" not in RequestEncoder("h").encode(method, "/", (), None)


def test_headers_that_always_change_do_not_pile_up() -> None:
    encoder = RequestEncoder("h")
    for at in range(10_000):
        assert str(at).encode() in encoder.encode("GET", "/", (("X-Id", str(at)),), None)
    assert len(encoder._blocks) <= 256


def test_a_value_that_is_refused_is_not_shown_as_it_may_be_a_token() -> None:
    with pytest.raises(ValueError, match="header Authorization") as caught:
        RequestEncoder("h").encode("GET", "/", (("Authorization", "Bearer s3cret\n"),), None)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("url", ["", "host:1", "ftp://host", "http://", "https:///path"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="must be http://host"):
        Http1Transport(url)


def test_tls_settings_that_would_not_be_used_are_refused() -> None:
    with pytest.raises(ValueError, match="is http, so tls and tls_name would not be used"):
        Http1Transport("http://host", tls_name="other")


@pytest.mark.parametrize(
    ("url", "server", "host"),
    [
        ("http://h", "h:80", "h"),
        ("https://h/path", "h:443", "h"),
        ("https://[::1]:6443", "[::1]:6443", "[::1]:6443"),
        ("https://10.0.0.1:6443", "10.0.0.1:6443", "10.0.0.1:6443"),
    ],
)
def test_host_and_port_come_from_the_url(url: str, server: str, host: str) -> None:
    transport = Http1Transport(url)
    assert transport._dialer.server == server
    assert f"Host: {host}\r\n".encode() in transport._encoder.encode("GET", "/", (), None)
