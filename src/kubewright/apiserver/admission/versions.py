"""The objects of a request in the versions in which webhooks and policies want to see them.

`Seen` is where mutating admission has its object: always in the version of who saw it last, converted again only when
the next one wants another, and at the end in that of the request. Rule: apiserver/pkg/admission/conversion.go.
"""

from __future__ import annotations

from typing import Any

from ..catalog import Catalog, ResourceType
from ..errors import StatusError, internal
from ..registry.backend import Attributes, ObjectKind
from ..registry.decoding import not_registered
from ..strategy import Malformed

__all__ = ["Seen", "converted", "kind_as", "read_again"]

Object = dict[str, Any]


def kind_as(attributes: Attributes, resource: ResourceType) -> ObjectKind:
    """The kind of the objects of a request that is taken as one for `resource`."""
    own = attributes.object_kind
    if resource is attributes.kind or own.kind != attributes.kind.kind:
        return own
    return ObjectKind(resource.group, resource.version, resource.kind)


async def converted(attributes: Attributes, obj: Object | None, kind: ObjectKind) -> Object | None:
    """An object of the request in another version. Raises StatusError: 500."""
    if obj is None or obj.get("apiVersion") == kind.api_version or obj.get("kind") != kind.kind:
        return obj
    converter = attributes.kind.converter
    if converter is None:
        raise internal(f"unable to convert to {kind.api_version}: unknown kind")
    try:
        return (await converter.convert([obj], kind.api_version))[0]
    except StatusError as error:
        raise internal(error.message) from None


class Seen:
    """The objects of a request, in one version at a time.

    Attributes: `kind` is that of `object` and `old`; `is_changed` whether somebody has changed `object` since it was
    read.
    """

    __slots__ = ("_attributes", "_catalog", "_first", "_resource", "is_changed", "kind", "object", "old")

    def __init__(self, attributes: Attributes, catalog: Catalog) -> None:
        self._attributes, self._resource, self._catalog = attributes, attributes.kind, catalog
        self._first = attributes.object
        self.kind = attributes.object_kind
        self.object, self.old = attributes.object, attributes.old
        self.is_changed = False

    async def show(self, resource: ResourceType) -> None:
        """Have the objects as those of `resource`. Raises StatusError: they cannot be converted."""
        wanted = kind_as(self._attributes, resource)
        if wanted == self.kind:
            return
        self.old = await converted(self._attributes, self._attributes.old, wanted)
        self.object = await converted(self._attributes, self.object, wanted)
        self.kind, self._resource = wanted, resource

    def change(self, new: Object, *, strict: bool = False) -> None:
        """Take another object, which is read by the rules of its kind and defaulted. Raises StatusError: 500.

        Args:
            strict: refuse fields that a built-in kind does not have, instead of dropping them.
        """
        read_again(self._attributes, self._resource, new, self._catalog, strict=strict)
        self.object, self.is_changed = new, True

    async def put_back(self) -> None:
        """Give the request its object as it is now."""
        made = self._first
        if self.is_changed:
            made = await converted(self._attributes, self.object, self._attributes.object_kind)
        self._attributes.object = made


def read_again(
    attributes: Attributes, resource: ResourceType, obj: Object, catalog: Catalog, *, strict: bool = False
) -> None:
    """Read an object that admission has made, in place: as a body is, but nothing is said of unknown fields.

    Raises StatusError: 500, it is no object of its kind.
    """
    if attributes.object_kind.kind != resource.kind:
        return  # another kind than that of the resource, without rules here
    if (obj.get("kind"), obj.get("apiVersion")) != (resource.kind, resource.api_version):
        raise _of_another_kind(obj, resource, catalog)
    obj.setdefault("metadata", {})
    strategy = resource.strategy
    try:
        unknown = strategy.decode(obj)
        if unknown and strict and not resource.is_custom:
            raise internal(f"strict decoding error: {', '.join(unknown)}")
        if resource.is_custom:
            # What is null stays null where it has no default, unlike in a body.
            strategy.read_merged(obj)
        else:
            strategy.default(obj)
    except Malformed as error:
        raise internal(str(error)) from None


def _of_another_kind(obj: Object, resource: ResourceType, catalog: Catalog) -> StatusError:
    kind, api_version = str(obj.get("kind", "")), str(obj.get("apiVersion", ""))
    found = catalog.of_kind(api_version, kind)
    if found is None or found.is_custom:
        return internal(not_registered(kind, api_version))
    try:
        found.strategy.decode(obj)
    except Malformed as error:
        return internal(str(error))
    version, group = api_version.rpartition("/")[2], resource.group.partition(".")[0] or "core"
    return internal(f"converting ({version}.{kind}) to ({group}.{resource.kind}): unknown conversion")
