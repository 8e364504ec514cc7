"""What of an object is sent: the bodies of create, update and apply.

Owns the three forms and the reason why they differ:

| call     | body                                                                                                      |
|----------|-----------------------------------------------------------------------------------------------------------|
| create   | the object; a `resourceVersion` is refused (the server's own answer to one is a 500)                      |
| update   | the object laid over the JSON it was read from, so that fields that its class does not know survive       |
| apply    | what its author decided: no bookkeeping of the server's, and no status; or nothing but the status         |

It knows neither paths nor connections. Objects are never changed.
"""

from __future__ import annotations

import copy
from typing import Any

import orjson

from ..model import Object, ObjectMeta, encode, origin_of, to_dict
from ..model.overlay import overlaid
from .paths import InvalidRequest

__all__ = ["apply_body", "create_body", "update_body"]


def create_body(obj: Object) -> bytes:
    """Raises InvalidRequest: the object has a version, so it exists."""
    version = obj.metadata.resource_version
    if version:
        cure = "update() or apply() it, or clear the field to create a copy"
        raise InvalidRequest("metadata.resourceVersion", version, "is set, so the object was read from a server", cure)
    return encode(obj)


def update_body(obj: Object) -> bytes:
    """The whole object, with what its class does not know of what was read."""
    return encode(obj) if origin_of(obj) is None else orjson.dumps(overlaid(obj))


def apply_body(obj: Object, subresource: str | None) -> bytes:
    """What the field manager states. For the status subresource: the status and the object's name."""
    metadata = obj.metadata
    if subresource == "status":
        name = {"name": metadata.name, **({"namespace": metadata.namespace} if metadata.namespace else {})}
        whole: dict[str, Any] = to_dict(obj)
        stated = {"apiVersion": whole["apiVersion"], "kind": whole["kind"], "metadata": name}
        if "status" in whole:
            stated["status"] = whole["status"]
        return orjson.dumps(stated)
    stated_obj = copy.copy(obj)
    stated_obj.metadata = ObjectMeta(
        name=metadata.name,
        namespace=metadata.namespace,
        labels=metadata.labels,
        annotations=metadata.annotations,
        owner_references=metadata.owner_references,
        finalizers=metadata.finalizers,
    )
    return encode(stated_obj, status=False)
