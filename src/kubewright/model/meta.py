"""The metadata that every Kubernetes object carries (`k8s.io/apimachinery/pkg/apis/meta/v1`).

Fields have Go's zero values as defaults (`name` is `""`, not None): metadata is read on every line of an operator,
and an empty name and an absent one are the same thing on the wire.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from .base import Model, field

__all__ = ["ListMeta", "ManagedFieldsEntry", "ObjectMeta", "OwnerReference"]


class OwnerReference(Model, omit_zero=True):
    """Who is to be deleted before this object, or with it (meta/v1 OwnerReference).

    `controller` marks the one owner that manages the object; `block_owner_deletion` holds back a foreground deletion
    of the owner.
    """

    __item_keys__: ClassVar = ("uid",)

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ManagedFieldsEntry(Model, omit_zero=True):
    """What one manager owns of an object (meta/v1 ManagedFieldsEntry); `fields_v1` is kept as decoded JSON."""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: datetime | None = None
    fields_type: str = ""
    fields_v1: dict[str, Any] | None = field(default=None, name="fieldsV1")
    subresource: str = ""


class ObjectMeta(Model, omit_zero=True):
    """Name, identity, version and bookkeeping of an object (meta/v1 ObjectMeta).

    `resource_version` is opaque except for equality and, since Kubernetes 1.35, order. `generation` counts changes of
    the spec. `deletion_timestamp` set means that the object waits for its `finalizers` to be removed.
    """

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: list[OwnerReference] = []
    finalizers: list[str] = []
    managed_fields: list[ManagedFieldsEntry] = []
    self_link: str = ""


class ListMeta(Model, omit_zero=True):
    """Version and page token of a list (meta/v1 ListMeta). `continue_` is empty on the last page."""

    resource_version: str = ""
    continue_: str = field(default="", name="continue")
    remaining_item_count: int | None = None
    self_link: str = ""
