"""Bytes to lines: however they are split, the same lines come out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.client.http1_lines import BadFraming, ChunkedLines, Lines, PlainLines, TooLarge

LIMIT = 1 << 20
texts = st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=8)


@st.composite
def split(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """The data in pieces, some of them empty."""
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=12)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@st.composite
def chunked(draw: st.DrawFn, data: bytes) -> bytes:
    """The data in the chunked coding: chunks of any size, with upper and lower case sizes, extensions and a trailer."""
    out = []
    for piece in draw(split(data)):
        if piece:
            size = draw(st.sampled_from(["%x", "%X", "0%x", "%x;a=b", "%x ;a"])) % len(piece)
            out.append(size.encode() + b"\r\n" + piece + b"\r\n")
    trailer = draw(st.sampled_from([b"", b"X-A: b\r\n", b"X-A: b\r\nX-C: d\r\n"]))
    return b"".join(out) + draw(st.sampled_from([b"0", b"000", b"0;last"])) + b"\r\n" + trailer + b"\r\n"


@given(st.data(), texts, st.booleans())
def test_lines_are_what_is_between_newlines(data: st.DataObject, lines: list[bytes], ends: bool) -> None:
    text = b"".join(line + b"\n" for line in lines) + (b"" if ends else b"rest")
    found: list[bytes] = []
    cutter = Lines(found.append, LIMIT)
    for piece in data.draw(split(text)):
        cutter.feed(piece, 0, len(piece))
    assert found == lines
    cutter.finish()
    assert found == lines + ([] if ends else [b"rest"])


@given(st.data(), texts, st.booleans(), st.binary(max_size=5))
def test_chunked_lines_depend_neither_on_chunks_nor_on_reads(
    data: st.DataObject, lines: list[bytes], ends: bool, leftover: bytes
) -> None:
    text = b"".join(line + b"\n" for line in lines) + (b"" if ends else b"rest")
    found: list[bytes] = []
    decoder = ChunkedLines(found.append, LIMIT)
    pieces = data.draw(split(data.draw(chunked(text))))
    for piece in pieces:
        assert not decoder.done
        decoder.feed(piece)
        if decoder.done:
            break
    assert decoder.done
    assert found == lines + ([] if ends else [b"rest"])
    assert decoder.leftover == b""

    again = ChunkedLines(lambda line: None, LIMIT)
    again.feed(b"".join(pieces) + leftover)
    assert again.done
    assert again.leftover == leftover


@given(st.data(), texts)
def test_lines_of_a_body_with_a_length_end_with_it(data: st.DataObject, lines: list[bytes]) -> None:
    text = b"".join(line + b"\n" for line in lines)
    found: list[bytes] = []
    decoder = PlainLines(found.append, LIMIT, len(text))
    for piece in data.draw(split(text + b"more\n")):
        decoder.feed(piece)
        if decoder.done:
            break
    assert decoder.done
    assert found == lines
    assert b"more\n".startswith(decoder.leftover)


def test_a_body_without_length_ends_with_its_connection() -> None:
    found: list[bytes] = []
    decoder = PlainLines(found.append, LIMIT, None)
    decoder.feed(b"a\nb")
    assert not decoder.done
    assert decoder.feed_eof()
    assert found == [b"a", b"b"]


def test_a_body_cut_short_of_its_length_does_not_end() -> None:
    decoder = PlainLines(print, LIMIT, 3)
    decoder.feed(b"ab")
    assert not decoder.feed_eof()


@given(st.binary(max_size=40))
def test_no_bytes_make_the_decoder_fail_but_by_its_own_errors(data: bytes) -> None:
    decoder = ChunkedLines(lambda line: None, LIMIT)
    try:
        for byte in data:
            decoder.feed(bytes([byte]))
            if decoder.done:
                return
    except BadFraming:
        pass


@pytest.mark.parametrize("size", [b"", b" ", b"g", b"0x1", b"1_0", b"+1", b"-1", b" 1", b"1 1", b"\xff", b"1" * 16])
def test_a_size_that_is_not_plainly_hexadecimal_is_refused(size: bytes) -> None:
    with pytest.raises(BadFraming, match="chunk size"):
        ChunkedLines(print, LIMIT).feed(size + b"\r\n")


def test_a_limit_holds_for_a_line_that_comes_in_pieces() -> None:
    cutter = Lines(print, 5)
    cutter.feed(b"abc", 0, 3)
    with pytest.raises(TooLarge):
        cutter.feed(b"def", 0, 3)


def test_a_line_just_at_the_limit_is_taken() -> None:
    found: list[bytes] = []
    cutter = Lines(found.append, 5)
    for piece in (b"abc", b"de\nvwxyz\n"):
        cutter.feed(piece, 0, len(piece))
    assert found == [b"abcde", b"vwxyz"]


def test_what_a_callback_raises_comes_out() -> None:
    def fail(line: bytes) -> None:
        raise LookupError(line)

    with pytest.raises(LookupError):
        ChunkedLines(fail, LIMIT).feed(b"2\r\na\n\r\n")
