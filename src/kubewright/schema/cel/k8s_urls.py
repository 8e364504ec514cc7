"""Kubernetes' URLs, read by the rules of Go's net/url: `ParseRequestURI`, then the fragment taken off."""

from __future__ import annotations

import re
from typing import ClassVar, Final
from urllib.parse import unquote_plus, unquote_to_bytes

from .effort import spend_long
from .errors import EvaluationError
from .signatures import Library
from .types import object_type, type_of_type
from .values import TypeValue

__all__ = ["URL", "URLS", "parse_url"]

URLS: Final = Library("kubernetes.urls")

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+\-.]*):", re.ASCII)
_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2})", re.ASCII)
_PORT: Final = re.compile(r"(?::[0-9]*)?", re.ASCII)
_HOST_OK: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~!$&'()*+,;=:[]<>\"")
_USER_OK: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:~!$&'()*+,;=%@")
_PATH_OK: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~$&+,/:;=@")
_RAW_OK: Final = _PATH_OK | frozenset("!'()*[]%")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class URL:
    """A URL in its parts, as Go shows them."""

    cel_type: ClassVar = "kubernetes.URL"
    __slots__ = ("host", "path", "query", "scheme", "text")

    def __init__(self, text: str, scheme: str, host: str, path: str, query: str) -> None:
        self.text = text
        self.scheme = scheme
        self.host = host
        self.path = path
        self.query = query

    def __eq__(self, other: object) -> bool:
        return isinstance(other, URL) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def hostname(self) -> str:
        host = self.host.rpartition(":")[0] if self._port() is not None else self.host
        return host[1:-1] if host.startswith("[") and host.endswith("]") else host

    def port(self) -> str:
        return self._port() or ""

    def _port(self) -> str | None:
        head, colon, port = self.host.rpartition(":")
        if not colon or (head.startswith("[") and not head.endswith("]")) or "]" in port:
            return None
        return port

    def values(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        spend_long(20 * len(self.query))
        for pair in self.query.split("&"):
            if not pair or ";" in pair:
                continue
            key, _, value = pair.partition("=")
            if _ESCAPE.search(key) or _ESCAPE.search(value):
                continue
            found.setdefault(unquote_plus(key), []).append(unquote_plus(value))
        return found


def parse_url(text: str) -> URL:
    """A URL that may be requested: absolute, or a path from `/`.

    Raises:
        ValueError: it is none; Go's words.
    """
    spend_long(6 * len(text))
    try:
        return _parse(text)
    except ValueError as error:
        raise ValueError(f"parse {_quoted(text)}: {error}") from None


def _parse(text: str) -> URL:
    if any(char < " " or char == "\x7f" for char in text):
        raise ValueError("net/url: invalid control character in URL")
    if not text:
        raise ValueError("empty url")
    if text == "*":
        return URL(text, "", "", "*", "")
    if text[0] == ":":
        raise ValueError("missing protocol scheme")
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found else ""
    rest = text[found.end() :] if found else text
    if not rest.startswith("/"):
        if not scheme:
            raise ValueError("invalid URI for request")
        return URL(text, scheme, "", "", rest.partition("?")[2].partition("#")[0])
    rest, _, query = rest.partition("?")
    host = ""
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        host = _authority(authority.partition("#")[0])
        rest = "" if "#" in authority else slash + path
    _check_escapes(rest)
    return URL(text, scheme, host, _escaped(rest.partition("#")[0]), query.partition("#")[0])


def _check_escapes(text: str) -> None:
    bad = _ESCAPE.search(text)
    if bad is not None:
        raise ValueError(f"invalid URL escape {_quoted(text[bad.start() : bad.start() + 3])}")


def _authority(text: str) -> str:
    user, at, host = text.rpartition("@")
    if at and not _USER_OK.issuperset(user):
        raise ValueError("net/url: invalid userinfo")
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise ValueError("missing ']' in host")
        port = host[end + 1 :]
    else:
        place = host.rfind(":")
        port = host[place:] if place >= 0 else ""
    if not _PORT.fullmatch(port):
        raise ValueError(f"invalid port {_quoted(port)} after host")
    _check_escapes(host)
    for char in host:
        if char.isascii() and char != "%" and char not in _HOST_OK:
            raise ValueError(f"invalid character {_quoted(char)} in host name")
    escape = re.search(r"%[0-7]", host)
    if escape is not None and not host.startswith("["):
        raise ValueError(f"invalid URL escape {_quoted(host[escape.start() : escape.start() + 3])}")
    return unquote_to_bytes(host).decode(errors="replace")


def _escaped(path: str) -> str:
    if _RAW_OK.issuperset(path):
        return path
    raw = unquote_to_bytes(path)
    return "".join(chr(byte) if chr(byte) in _PATH_OK else f"%{byte:02X}" for byte in raw)


def _url(text: str) -> URL:
    try:
        return parse_url(text)
    except ValueError as error:
        raise EvaluationError(f"URL parse error during conversion from string: {error}") from None


def _is_url(text: str) -> bool:
    try:
        parse_url(text)
    except ValueError:
        return False
    return True


_TYPE: Final = "kubernetes.URL"
URLS.constants[_TYPE] = (type_of_type(object_type(_TYPE)), TypeValue(_TYPE))
URLS.add_all(
    (
        ("string_to_url", f"url (string) -> {_TYPE}", _url),
        ("url_get_scheme", f".getScheme ({_TYPE}) -> string", lambda url: url.scheme),
        ("url_get_host", f".getHost ({_TYPE}) -> string", lambda url: url.host),
        ("url_get_hostname", f".getHostname ({_TYPE}) -> string", URL.hostname),
        ("url_get_port", f".getPort ({_TYPE}) -> string", URL.port),
        ("url_get_escaped_path", f".getEscapedPath ({_TYPE}) -> string", lambda url: url.path),
        ("url_get_query", f".getQuery ({_TYPE}) -> map(string, list(string))", URL.values),
        ("is_url_string", "isURL (string) -> bool", _is_url),
    )
)
