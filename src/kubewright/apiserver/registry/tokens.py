"""Continue tokens: where the next page of a list starts, and at which revision.

`{"v": "meta.k8s.io/v1", "rv": REVISION, "start": "KEY\\0"}` as base64 for URLs, without padding. The key is relative to
what is listed. A revision of -1 says: at the present, whatever that is (what is handed out when the old one is gone).
Rule: `apiserver/pkg/storage/continue.go`.
"""

from __future__ import annotations

import base64
import binascii
import posixpath
from typing import Any, Final, NamedTuple

import orjson

from ..bodies import json_problem
from ..errors import bad_request

__all__ = ["PRESENT", "Token", "decode_token", "encode_token"]

PRESENT: Final = -1
_VERSION: Final = "meta.k8s.io/v1"
_INVALID: Final = "continue key is not valid"


class Token(NamedTuple):
    """Start behind `after` (a key relative to what is listed) at `revision`."""

    after: str
    revision: int


def encode_token(after: str, revision: int) -> str:
    """The token of the page that starts behind a key."""
    body = orjson.dumps({"v": _VERSION, "rv": revision, "start": after + "\0"})
    return base64.urlsafe_b64encode(body).rstrip(b"=").decode()


def decode_token(text: str) -> Token:
    """Raises StatusError: it is none."""
    try:
        raw = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise _invalid(f"{_INVALID}: illegal base64 data at input byte {_bad_place(text)}") from None
    try:
        body: Any = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise _invalid(f"{_INVALID}: {json_problem(raw)}") from None
    if not isinstance(body, dict) or body.get("v") != _VERSION:
        version = body.get("v", "") if isinstance(body, dict) else ""
        raise _invalid(f"{_INVALID}: server does not recognize this encoded version {version}")
    revision, start = body.get("rv") or 0, body.get("start") or ""
    if not isinstance(revision, int) or not isinstance(start, str):
        raise _invalid(f"{_INVALID}: json: cannot unmarshal into Go struct field continueToken")
    if revision == 0:
        raise _invalid(f"{_INVALID}: incorrect encoded start resourceVersion (version {_VERSION})")
    if not start:
        raise _invalid(f"{_INVALID}: encoded start key empty (version {_VERSION})")
    rooted = start if start.startswith("/") else f"/{start}"
    if posixpath.normpath(rooted) != rooted:
        raise _invalid(f"{_INVALID}: {start}")
    return Token(rooted[1:].removesuffix("\0"), revision)


def _bad_place(text: str) -> int:
    known = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return next((place for place, each in enumerate(text) if each not in known), len(text) - 1)


def _invalid(why: str) -> Exception:
    return bad_request(f"invalid continue token: {why}")
