"""What a watch event and a list item cost before anything is done with them. Run: python bench/decode.py

Prints microseconds per object, the fastest of some repetitions, as a table: the cache's path (frame, minimal metadata,
managedFields cut, bytes kept) beside what a plain decoder takes for the same bytes. Ratios between the lines of one run
are what can be compared; the numbers themselves depend on machine and Python build.
"""

from __future__ import annotations

import json
import platform
import timeit
from collections.abc import Callable
from typing import Any

import msgspec
import orjson

from kubewright.cache.frame import entry_of, read_items, read_line, read_page
from kubewright.cache.store import Store


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def managed_fields(fields: int) -> list[dict[str, Any]]:
    """Three managers, as kubectl, a controller and its status writer leave them."""
    owned = {f"f:field{number}": {".": {}, 'k:{"name":"x"}': {}} for number in range(fields)}
    entry = {"apiVersion": "example.com/v1", "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z"}
    return [
        {**entry, "manager": manager, "operation": "Update", "fieldsV1": {"f:spec": owned}}
        for manager in ("kubectl", "operator", "status")
    ]


def widget(number: int = 1) -> dict[str, Any]:
    """A custom resource of about 3 KB, 40 % of it managedFields, keys in the order of Go's encoder."""
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {
            "annotations": {"example.com/note": "x" * 120},
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "generation": 3,
            "labels": {"app.kubernetes.io/name": "widget", "app.kubernetes.io/instance": f"w-{number}"},
            "managedFields": managed_fields(6),
            "name": f"widget-{number}",
            "namespace": "default",
            "resourceVersion": str(100000 + number),
            "uid": f"0b5f7c5e-0000-4000-8000-{number:012d}",
        },
        "spec": {f"setting{i}": {"enabled": True, "value": "v" * 20, "weight": i} for i in range(13)},
        "status": {
            "conditions": [
                {"lastTransitionTime": "2026-01-01T00:00:00Z", "message": "m" * 40, "status": "True", "type": kind}
                for kind in ("Ready", "Progressing")
            ],
            "observedGeneration": 3,
        },
    }


def measure(name: str, call: Callable[[], object], per: int = 1, number: int = 5000) -> None:
    number = max(1, number // per)
    best = min(timeit.repeat(call, number=number, repeat=7)) / number / per * 1e6
    print(f"  {name:<60} {best:8.2f}")


def main() -> None:
    line = b'{"type":"MODIFIED","object":%b}\n' % compact(widget())
    body = line[28:-2]
    page = compact(
        {"kind": "WidgetList", "metadata": {"resourceVersion": "9"}, "items": [widget(number) for number in range(500)]}
    )
    kept = entry_of(body)
    print(f"Python {platform.python_version()}, msgspec {msgspec.__version__}; microseconds per object")
    print(f"watch event of {len(line)} bytes, {len(body) - len(kept.data)} of them managedFields:")
    measure("frame, metadata, managedFields cut, bytes kept", lambda: read_line(line))
    measure("  of which the object (entry_of)", lambda: entry_of(body))
    decode = msgspec.json.Decoder(_Frame).decode
    measure("msgspec: type and object as Raw, nothing else", lambda: decode(line))
    measure("orjson.loads to a dict", lambda: orjson.loads(line))
    measure("json.loads to a dict", lambda: json.loads(line))
    store = Store()
    other = entry_of(compact({**widget(), "metadata": {**widget()["metadata"], "resourceVersion": "7"}}))
    both = [kept, other]

    def upsert() -> None:
        both.reverse()
        store.upsert(both[0])

    measure("store.upsert of a new version", upsert)
    print(f"list page of 500 objects, {len(page)} bytes:")
    measure(
        "items cut, metadata, managedFields cut, bytes kept", lambda: read_items(iter(read_page(page).items), 500), 500
    )
    measure("  of which to cut the page into items", lambda: read_page(page), 500)
    measure("orjson.loads to dicts", lambda: orjson.loads(page), 500)


class _Frame(msgspec.Struct):
    type: str
    object: msgspec.Raw


if __name__ == "__main__":
    main()
