"""The size of a CRD: descriptions cut to a length, and an error before a server says "request is too large".

etcd takes no request above 1.5 MiB, and a server stores the whole CRD in one. `kubectl apply` without `--server-side`
writes the whole manifest into an annotation besides, and a server takes 256 KiB of those: `fits_annotation` says
whether it can.

A description is cut where its last sentence ends within the length; where none does, behind its last whole word, with
`...` after it. That is how controller-gen cuts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from .errors import Place, Problems

__all__ = ["MAX_CRD_BYTES", "check_size", "cut_description", "cut_descriptions", "fits_annotation", "size_of"]

MAX_CRD_BYTES: Final = 3 * 512 * 1024 - 4096
"""etcd's limit (`--max-request-bytes`), less room for what a server adds: conditions, managed fields, the key."""

_MAX_ANNOTATION_BYTES: Final = 256 * 1024
_SENTENCE: Final = r"[.!?](?=\s|$)"
_SHOWN: Final = 3


def cut_description(text: str, most: int) -> str:
    """At most `most` characters of a text."""
    if len(text) <= most:
        return text
    ends = [match.end() for match in re.finditer(_SENTENCE, text) if match.end() <= most]
    if ends:
        return text[: ends[-1]].rstrip()
    head = text[: max(0, most - 3)]
    words = head.rstrip() if text[len(head) : len(head) + 1].isspace() else head.rpartition(" ")[0].rstrip()
    return f"{words or head}..." if most >= 3 else ""


def cut_descriptions(part: Any, most: int) -> None:
    """Cut every description of a CRD in place; take them away for 0.

    A property that is called "description" is a schema, and stays.
    """
    for holder in _described(part):
        text = cut_description(holder["description"], most)
        if text:
            holder["description"] = text
        else:
            del holder["description"]


def _described(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        if isinstance(part.get("description"), str):
            yield part
        for name, each in part.items():
            if name not in ("default", "example", "enum", "externalDocs"):
                yield from _described(each)
    elif isinstance(part, list):
        for each in part:
            yield from _described(each)


def size_of(part: Any) -> int:
    """Bytes of its JSON."""
    return len(json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode())


def fits_annotation(crd: dict[str, Any]) -> bool:
    """Whether client-side `kubectl apply` can write a CRD. Where it cannot: `kubectl apply --server-side`."""
    return size_of(crd) < _MAX_ANNOTATION_BYTES


def check_size(crd: dict[str, Any], place: Place, problems: Problems) -> None:
    """Report a CRD that no server can store, with what takes the room and how to make it smaller."""
    size = size_of(crd)
    if size <= MAX_CRD_BYTES:
        return
    words = sum(len(holder["description"].encode()) for holder in _described(crd))
    largest = sorted(_parts(crd), reverse=True)[:_SHOWN]
    shown = ", ".join(f"{path} {_kilo(bytes_)}" for bytes_, path in largest)
    rule = f"its CRD has {_kilo(size)}, and a server stores at most {_kilo(MAX_CRD_BYTES)}: "
    rule += f"{_kilo(words)} are descriptions; the largest fields are {shown}"
    cure = "cut descriptions (max_description=, --max-description), or mark what is large and not yours Schemaless()"
    problems.add(place, rule, cure)


def _kilo(size: int) -> str:
    return f"{round(size / 1024):,} KiB"


def _parts(crd: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Sizes of the fields one below spec and status, which is where a type is embedded."""
    for version in crd["spec"]["versions"]:
        for name, part in version["schema"]["openAPIV3Schema"].get("properties", {}).items():
            for field, schema in part.get("properties", {}).items():
                yield size_of(schema), f"{version['name']} {name}.{field}"
