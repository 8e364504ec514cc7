"""What field management knows of kinds: built-in ones from their OpenAPI components, custom ones from their schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .builtin import BuiltIn
from .catalog import Catalog, ResourceType
from .fields.types import FieldType, FieldTypes

__all__ = ["ServedKinds"]

_MOST_KEPT: Final = 512
"""Types of custom kinds; they are made again when they are asked for again."""


class ServedKinds:
    """The kinds of one server.

    Args:
        builtin: the facts of the built-in ones.
        catalog: what is served now.
        types: shared between servers; the types of built-in kinds are made once.
    """

    def __init__(self, builtin: BuiltIn, types: FieldTypes, catalog: Callable[[], Catalog]) -> None:
        self._builtin, self._types, self._catalog = builtin, types, catalog
        self._custom: dict[tuple[ResourceType, str], FieldType] = {}

    def type_of(self, kind: ResourceType, api_version: str) -> FieldType | None:
        """How the fields of a kind in one of its versions are owned; None for a version that is no more."""
        if not kind.is_custom:
            found = kind if api_version == kind.api_version else self._of_group(kind, api_version)
            return self._component(api_version, kind.kind if found is None else found.kind)
        key = (kind, api_version)
        type_ = self._custom.get(key)
        if type_ is None:
            schema = kind.schema if api_version == kind.api_version else self._other_schema(kind, api_version)
            if schema is None:
                return None
            if len(self._custom) >= _MOST_KEPT:
                self._custom.clear()
            type_ = self._custom[key] = self._types.custom(schema)
        return type_

    def _of_group(self, kind: ResourceType, api_version: str) -> ResourceType | None:
        """The same resource in another version."""
        group, _, version = api_version.rpartition("/")
        return self._catalog().find(group, version, kind.plural)

    @staticmethod
    def _other_schema(kind: ResourceType, api_version: str) -> Mapping[str, Any] | None:
        return None if kind.converter is None else kind.converter.schema(api_version)

    def empty(self, kind: ResourceType) -> dict[str, Any]:
        """An object of the kind before anybody has said anything: Go's zero value of a built-in one."""
        head = {"kind": kind.kind, "apiVersion": kind.api_version}
        if kind.is_custom:
            return head
        try:
            zero = self._builtin.types.of_kind(kind.api_version, kind.kind).zero()
        except KeyError:
            return head
        return {**zero, **head}

    def _component(self, api_version: str, kind: str) -> FieldType | None:
        name = self._builtin.component_of(api_version, kind)
        return None if name is None else self._types.named(name)
