"""Bytes as an API server sends them, for the tests of this folder."""

from __future__ import annotations

import json
from typing import Any

LAST_PAGE = ""


def encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def obj(name: str, version: int | str, *, uid: str = "", namespace: str = "ns", **fields: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": namespace, "resourceVersion": str(version), "uid": uid or f"uid-{name}"}
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {**meta, **fields}}


def page(items: list[Any], version: int | str, token: str = LAST_PAGE) -> bytes:
    return encode(
        {"kind": "ThingList", "metadata": {"resourceVersion": str(version), "continue": token}, "items": items}
    )


def event(kind: str, value: Any) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (kind.encode(), encode(value))


def bookmark(version: int | str, *, initial_events_end: bool = False) -> bytes:
    annotations = {"k8s.io/initial-events-end": "true"} if initial_events_end else {}
    return event(
        "BOOKMARK", {"kind": "Thing", "metadata": {"resourceVersion": str(version), "annotations": annotations}}
    )


def error(code: int, reason: str = "", **fields: Any) -> bytes:
    status = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": f"{code} {reason}"}
    return event("ERROR", {**status, **fields})
