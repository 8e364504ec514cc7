"""What a plugin is, what it gets to know, and how it refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from ...access.attributes import Authorizer
from ...errors import StatusError, forbidden
from ...registry.backend import Attributes, Backend
from ...registry.call import resource_key

__all__ = ["Object", "Plugin", "World", "created", "name_of", "refused"]

Object = dict[str, Any]


class World:
    """What is stored, for plugins. Objects are in their storage version and must not be changed."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def authorizer(self) -> Authorizer | None:
        """Who knows who may do what; None: everybody may everything."""
        return self._backend.authorizer

    def suffix(self) -> str:
        """The random end of a generated name."""
        return self._backend.new_suffix()

    def object(self, group: str, plural: str, name: str, namespace: str = "") -> Object | None:
        """One object; None where there is none."""
        entry = self._backend.store.get(resource_key(group, plural), f"{namespace}/{name}" if namespace else name)
        return None if entry is None else entry.object

    def objects(self, group: str, plural: str, namespace: str = "") -> Sequence[Object]:
        """All objects of a namespace, or of all, by key."""
        collection = self._backend.store.collection(resource_key(group, plural))
        return [each.object for each in collection.page(f"{namespace}/" if namespace else "").entries]


Say = Callable[[Attributes, World], None]


class Plugin(Struct, frozen=True):
    """One plugin.

    Attributes: `resources` are (group, plural); `admit` may change the object, `validate` only looks. Both raise
    StatusError to refuse.
    """

    name: str
    resources: tuple[tuple[str, str], ...]
    admit: Say | None = None
    validate: Say | None = None


def created(attributes: Attributes) -> Object | None:
    """The object that is to be made; None where the request does something else."""
    return attributes.object if attributes.operation == "CREATE" and attributes.part is None else None


def refused(attributes: Attributes, why: str) -> StatusError:
    """A refusal as plugins word it, which name an object without a name by what its name will start with."""
    return forbidden(attributes.kind, name_of(attributes), why)


def name_of(attributes: Attributes) -> str:
    """The name of the object of a request, as far as it has one."""
    meta = (attributes.object or {}).get("metadata") or {}
    return str(attributes.name or meta.get("name") or meta.get("generateName") or "Unknown")
