"""One object as the cache keeps it: its JSON bytes and the few fields of its metadata that every look-up needs.

An Entry owns its bytes (never a view into a page or a line of a watch, which would keep those alive) and five small
fields. It refuses to know the object's type: a typed, unstructured or metadata-only read decodes `data` above this
room, and gets a fresh object each time, so that nobody can corrupt the cache by changing what they read.

Labels and owner references are decoded on demand. Kept as a dict and a list in each entry they cost 0.7 KB and one or
two objects that the garbage collector has to visit per Pod, while most readers ask for neither.

Cost: 64 bytes and three short strings beside `data`; the collector does not track it (`gc=False`: an entry refers to
strings and bytes only, so it can be in no cycle).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec
from msgspec import Struct, field

from kubewright.model import Key, OwnerReference

__all__ = ["Entry", "Meta", "labels_of", "owners_of"]

_NO_LABELS: Mapping[str, str] = MappingProxyType({})


_tuple = tuple.__new__


class Meta(Struct, frozen=True, gc=False):
    """Identity and version of one object.

    `namespace` is `""` for cluster-scoped kinds. `resource_version` is compared as a decimal integer where order
    matters (KEP-5504). `generation` is 0 where the kind has none.
    """

    namespace: str
    name: str
    uid: str
    resource_version: str
    generation: int

    @property
    def key(self) -> Key:
        """Namespace and name, which identify the object at one point in time (its `uid` does for all time)."""
        return _tuple(Key, (self.namespace, self.name))  # as Key(...), which costs twice as much: with every event


class Entry(Meta, frozen=True, gc=False):
    """One cached object: its metadata, and `data`, its JSON without `metadata.managedFields`."""

    data: bytes

    @property
    def stored_bytes(self) -> int:
        """How many bytes are kept for it."""
        return len(self.data)


class _LabelsMeta(Struct, gc=False):
    labels: dict[str, str] | None = None


class _LabelsObject(Struct, gc=False):
    metadata: _LabelsMeta | None = None


class _OwnersMeta(Struct):
    owner_references: list[OwnerReference] | None = field(default=None, name="ownerReferences")


class _OwnersObject(Struct):
    metadata: _OwnersMeta | None = None


_decode_labels = msgspec.json.Decoder(_LabelsObject).decode
_decode_owners = msgspec.json.Decoder(_OwnersObject).decode


def labels_of(data: bytes) -> Mapping[str, str]:
    """`metadata.labels` of an object's JSON; empty where there are none.

    Raises:
        msgspec.DecodeError: the labels are not a map of strings to strings.
    """
    meta = _decode_labels(data).metadata
    return (meta.labels if meta else None) or _NO_LABELS


def owners_of(data: bytes) -> list[OwnerReference]:
    """`metadata.ownerReferences` of an object's JSON; empty where there are none.

    Raises:
        msgspec.DecodeError: an owner reference lacks `apiVersion`, `kind`, `name` or `uid`, or has one of another type.
    """
    meta = _decode_owners(data).metadata
    return (meta.owner_references if meta else None) or []
