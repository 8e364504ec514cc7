"""An HTTP/1.1 request as bytes.

Owns what goes on the wire and what must not: a method, target or header that could end a line early is refused with a
ValueError that names it (and never shows a header's value, which may be a token), and headers that frame the message
or the connection are this module's alone. It is pure, and knows no connection.

The headers of a client are the same few tuples over and over, so a tuple's checked text is kept: a request costs one
look-up, one f-string and one encode. Values are sent as UTF-8, as Go's client does.

Compression is asked for only on request (`gzip`), and only for GET: kube-apiserver compresses answers of more than
128 KiB when it is asked to, at ten times the CPU of sending them, and decompression would hold our event loop for
some 3 ms per MB. It pays over a slow network only.
"""

from __future__ import annotations

import re

from .transport import Headers

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_TARGET = re.compile(r"/[\x21\x22\x24-\x7e]*")
_RESERVED = frozenset(
    {"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_MAX_KEPT_BLOCKS = 256


class RequestEncoder:
    """Encodes requests to one server. `host` is the Host header's value."""

    __slots__ = ("_blocks", "_gzip", "_host")

    def __init__(self, host: str, *, gzip: bool = False) -> None:
        self._host = host
        self._gzip = gzip
        self._blocks: dict[tuple[tuple[str, str], ...], str] = {}

    def encode(
        self, method: str, target: str, headers: Headers, body: bytes | None, *, streaming: bool = False
    ) -> bytes:
        """Return head and body. Raises ValueError for what cannot be sent."""
        if method not in _METHODS and _TOKEN.fullmatch(method) is None:
            raise ValueError(f"method {method!r} must be a token such as GET")
        if _TARGET.fullmatch(target) is None:
            raise ValueError(
                f"target {target!r} must start with '/' and be visible ASCII without '#'; percent-encode the rest"
            )
        key = headers if type(headers) is tuple else tuple((name, value) for name, value in headers)
        block = self._blocks.get(key)
        if block is None:
            block = self._block(key)
        if self._gzip and method == "GET" and not streaming and "accept-encoding:" not in block.lower():
            block += "Accept-Encoding: gzip\r\n"
        if body is not None:
            return f"{method} {target} HTTP/1.1\r\n{block}Content-Length: {len(body)}\r\n\r\n".encode() + body
        if method in _WITH_BODY:
            return f"{method} {target} HTTP/1.1\r\n{block}Content-Length: 0\r\n\r\n".encode()
        return f"{method} {target} HTTP/1.1\r\n{block}\r\n".encode()

    def _block(self, headers: tuple[tuple[str, str], ...]) -> str:
        lines = [f"Host: {self._host}\r\n"]
        for name, value in headers:
            if _TOKEN.fullmatch(name) is None:
                raise ValueError(f"header name {name!r} must be a token such as Accept")
            if name.lower() in _RESERVED:
                raise ValueError(f"header {name}: is set by the transport; leave it out")
            if _VALUE.fullmatch(value) is None:
                raise ValueError(f"header {name}: the value must not hold control characters such as CR or LF")
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise ValueError(f"header {name}: the value holds half of a surrogate pair") from error
            lines.append(f"{name}: {value}\r\n")
        block = "".join(lines)
        # Tokens rotate, so the keys are not few for ever; all of them go at once, as this is rare and they come back.
        if len(self._blocks) >= _MAX_KEPT_BLOCKS:
            self._blocks.clear()
        self._blocks[headers] = block
        return block
