"""Bytes to answers, without sockets: framing, reuse, limits."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.client.http1_answer import AnswerHeaders, AnswerReader, StreamReader
from kubewright.client.http1_lines import BadFraming, TooLarge
from kubewright.client.transport import Limits

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nAudit-Id: 1\r\n"
FORMS = {
    "length": HEAD + b"Content-Length: 6\r\n\r\na\nbcd\n",
    "chunks": HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\na\nb\r\n3;x=y\r\ncd\n\r\n0\r\nX: y\r\n\r\n",
    "interim": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nX: y\r\n\r\n"
    + HEAD
    + b"Content-Length: 6\r\n\r\na\nbcd\n",
}


@given(st.data(), st.sampled_from(sorted(FORMS)), st.integers(1, 3))
def test_answers_are_the_same_however_their_bytes_are_split(data: st.DataObject, form: str, count: int) -> None:
    reader = AnswerReader(Limits())
    for _ in range(count):
        reader.start()
        whole = FORMS[form]
        cuts = sorted(data.draw(st.lists(st.integers(1, len(whole) - 1), max_size=10, unique=True)))
        pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
        assert [reader.feed(piece) for piece in pieces] == [False] * len(cuts) + [True]
        assert reader.response is not None
        assert reader.response.status == 200
        assert reader.response.body == b"a\nbcd\n"
        assert reader.response.headers["audit-id"] == "1"
        assert reader.is_reusable


@given(st.data(), st.sampled_from(sorted(FORMS)))
def test_streams_are_the_same_however_their_bytes_are_split(data: st.DataObject, form: str) -> None:
    whole = FORMS[form]
    cuts = sorted(data.draw(st.lists(st.integers(1, len(whole) - 1), max_size=10, unique=True)))
    lines: list[bytes] = []
    heads: list[object] = []
    reader = StreamReader(Limits(), lines.append, heads.append)
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert [reader.feed(piece) for piece in pieces] == [False] * len(cuts) + [True]
    assert lines == [b"a", b"bcd"]
    assert len(heads) == 1
    assert reader.response is not None
    assert dict(reader.response.headers).items() >= {"content-type": "application/json", "audit-id": "1"}.items()
    assert reader.is_reusable


@pytest.mark.parametrize("data", [b"H", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"x", b"\0"])
def test_bytes_after_an_answer_leave_it_alone_and_spoil_the_connection(data: bytes) -> None:
    reader = AnswerReader(Limits())
    reader.start()
    assert reader.feed(FORMS["length"] + data)
    assert reader.response is not None
    assert reader.response.body == b"a\nbcd\n"
    assert len(reader.response.headers) == 3
    assert not reader.is_reusable


def test_a_head_answer_has_no_body_and_its_connection_goes_on() -> None:
    reader = AnswerReader(Limits())
    reader.start(head_only=True)
    assert reader.feed(HEAD + b"Content-Length: 6\r\n\r\n")
    assert reader.response is not None
    assert reader.response.headers["content-length"] == "6"
    assert reader.is_reusable
    reader.start()
    assert reader.feed(FORMS["length"])
    assert reader.response.body == b"a\nbcd\n"


def test_a_body_after_a_head_answer_spoils_the_connection() -> None:
    reader = AnswerReader(Limits())
    reader.start(head_only=True)
    assert reader.feed(FORMS["length"])
    assert reader.response is not None
    assert reader.response.body == b""
    assert not reader.is_reusable


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nabc", b"abc"),
        (b"HTTP/1.0 200 OK\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", None),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", None),
        (b"HTTP/1.1 200 OK\r\n", None),
        (b"HTTP/1.1 100 Continue\r\n\r\n", None),
        (b"", None),
    ],
)
def test_the_end_of_the_connection_completes_only_a_body_without_length(data: bytes, body: bytes | None) -> None:
    reader = AnswerReader(Limits())
    reader.start()
    if data:
        reader.feed(data)
    assert reader.feed_eof() == (body is not None)
    assert not reader.is_reusable
    if body is not None:
        assert reader.response is not None
        assert reader.response.body == body


def test_interim_answers_without_end_are_too_large_a_head() -> None:
    reader = AnswerReader(Limits(max_head_bytes=1000))
    reader.start()
    interim = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    for _ in range(1000 // len(interim)):
        assert not reader.feed(interim)
    with pytest.raises(TooLarge, match="head"):
        reader.feed(interim)


@pytest.mark.parametrize("members", [1, 3])
def test_gzip_is_decompressed_all_members_of_it(members: int) -> None:
    body = gzip.compress(b"hello" * 1000) * members
    reader = AnswerReader(Limits())
    reader.start()
    reader.feed(b"HTTP/1.1 200 OK\r\nContent-Encoding: GZIP\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    assert reader.response is not None
    assert reader.response.body == b"hello" * 1000 * members


def test_an_answer_before_the_request_is_refused_by_the_stream_too() -> None:
    with pytest.raises(BadFraming):
        StreamReader(Limits(), print, None).feed(b"\x15\x03\x03\x00\x02\x02\x28")


def test_headers_are_looked_up_in_lower_case_and_repeated_ones_joined() -> None:
    headers = AnswerHeaders([(b"Warning", b"299 - a"), (b"X-Y", b"1"), (b"warning", b"299 - b")])
    assert headers == {"warning": "299 - a, 299 - b", "x-y": "1"}
    assert headers.get("nothing") is None
    assert list(headers) == ["warning", "x-y"]
    assert repr(headers) == "{'warning': '299 - a, 299 - b', 'x-y': '1'}"
