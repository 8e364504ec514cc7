"""What is served: `ResourceType`, one per resource and version, and `Catalog`, all of them at one moment.

Owns the facts that routes, discovery and the registry share. A catalog never changes: who adds a kind (a CRD that is
established) makes a new one and gives it to the server, so that a request sees one catalog from its start to its end.
Storage is by `storage`, which versions of a kind share (and kinds: the two groups of Events).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from msgspec import Struct, field
from msgspec.structs import force_setattr

from .request import Response
from .strategy import GenericStrategy, Strategy

__all__ = ["ALL_VERBS", "Action", "Catalog", "Converter", "ResourceType", "Storage", "Subresource", "View"]

ALL_VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class Storage(NamedTuple):
    """Where objects are kept: the resource whose name the keys have, and the version in which they are."""

    group: str
    plural: str
    api_version: str


_OWN: Final = Storage("", "", "")
"""Objects of a type that says nothing are kept by themselves, as they are served."""


class Converter(Protocol):
    """Between the versions of a kind."""

    async def convert(self, objects: Sequence[dict[str, Any]], api_version: str) -> list[dict[str, Any]]:
        """The objects in another version. What goes in is not changed; what comes out may share parts with it.

        Raises StatusError: the conversion webhook failed.
        """

    def convert_now(self, obj: dict[str, Any], api_version: str, *, defaults: bool = True) -> dict[str, Any] | None:
        """The same for one object, where nobody has to be asked; None where somebody has (a webhook).

        Args:
            defaults: whether what the object has not, as it was read, is filled in.
        """

    def schema(self, api_version: str) -> Mapping[str, Any] | None:
        """Of a custom kind the schema of one of its versions, served or not; None where it has no such version."""

    def reads_otherwise(self, api_version: str) -> bool:
        """Whether what is written in a version may be read back as something else (see `CustomVersion`)."""


class View(Protocol):
    """Another object that is a view of the same one: Scale."""

    @property
    def replicas(self) -> Mapping[str, tuple[str, ...] | None]:
        """Where the number is that a Scale is of, for each version of the kind; see `fields.scaling`."""

    def read(self, obj: dict[str, Any], *, is_write: bool = False) -> dict[str, Any]:
        """The view of an object. Raises StatusError.

        Args:
            is_write: whether it is to be written over, so that what is not there is no error yet.
        """

    def write(self, view: dict[str, Any], obj: dict[str, Any]) -> dict[str, Any]:
        """A copy of the object with what the view says. Raises StatusError."""


Action = Callable[[Any, dict[str, Any], bool], Awaitable[dict[str, Any]]]
"""What a POST does that stores nothing (`eviction`, `binding`, reviews): `(call, body, is dry run)` to the answer.
`call` is a `registry.Call`; the body has been decoded and has the namespace of the request. Raises StatusError."""

Reach = Callable[[Any], Awaitable[Response]]
"""Answers a `registry.Call` for what is behind the server. Raises StatusError."""

Guard = Callable[[Any, dict[str, Any], "dict[str, Any] | None"], None]
"""Looks at a write: `(call, the object, the one it is written over)`. Raises StatusError."""


class Subresource(Struct, frozen=True):
    """One subresource of a resource type.

    `strategy` where it is the same object under other rules (`status`, `finalize`); `view` where it is another object
    (`scale`); `action` where it is a call (`eviction`); `reach` where it leads through to something else (`log`,
    `proxy`). `group`, `version`, `kind` are of its body, and `reader` knows how that is read, where more than its
    metadata is.
    """

    name: str
    verbs: tuple[str, ...] = ("get", "patch", "update")
    group: str = ""
    version: str = ""
    kind: str = ""
    strategy: Strategy | None = None
    view: View | None = None
    action: Action | None = None
    reader: Strategy | None = None
    reach: Reach | None = None


class ResourceType(Struct, frozen=True, eq=False):
    """One resource in one version.

    Attributes: `strategic_patch(original, patch)` applies a strategic merge patch, None where the kind knows none
    (415); it raises StatusError. `converter` is None where there is one version. `schema` is the OpenAPI v3 schema of
    the kind (for `kubectl explain` and apply). `warning` is said to whoever uses the version; `unready` says why
    lists and watches are refused with 429 for now. `action` is what a POST does of a kind that is never stored.
    `guard` looks at what is to be written, beyond who may write: `(call, new, old or None)`; it raises StatusError.
    """

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    singular: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    strategy: Strategy = field(default_factory=GenericStrategy)
    storage: Storage = _OWN
    converter: Converter | None = None
    subresources: Mapping[str, Subresource] = field(default_factory=dict)
    strategic_patch: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]] | None = None
    schema: Mapping[str, Any] | None = None
    is_custom: bool = False
    warning: str = ""
    unready: str = ""
    action: Action | None = None
    guard: Guard | None = None

    def __post_init__(self) -> None:
        put = force_setattr
        if not self.singular:
            put(self, "singular", self.kind.lower())
        if not self.list_kind:
            put(self, "list_kind", f"{self.kind}List")
        if not self.storage.plural:
            put(self, "storage", Storage(self.group, self.plural, self.api_version))

    @property
    def api_version(self) -> str:
        """`v1`, `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def is_stored_version(self) -> bool:
        """Whether objects are kept as they are served."""
        return self.api_version == self.storage.api_version


class Catalog:
    """All resource types at one moment. Immutable.

    `groups` is in the order of discovery; `versions(group)` is by priority, the preferred version first.
    """

    def __init__(self, types: Iterable[ResourceType] = ()) -> None:
        self.types = tuple(types)
        self._by_path = {(each.group, each.version, each.plural): each for each in self.types}
        self._by_kind: dict[tuple[str, str], ResourceType] | None = None
        self._by_version: dict[tuple[str, str], tuple[ResourceType, ...]] | None = None
        self._versions: dict[str, list[str]] = {}
        for each in self.types:
            known = self._versions.setdefault(each.group, [])
            if each.version not in known:
                known.append(each.version)

    def find(self, group: str, version: str, plural: str) -> ResourceType | None:
        """The type at a path."""
        return self._by_path.get((group, version, plural))

    def of_kind(self, api_version: str, kind: str) -> ResourceType | None:
        """The type of an object."""
        if self._by_kind is None:
            # The first of several counts.
            self._by_kind = {(each.api_version, each.kind): each for each in reversed(self.types)}
        return self._by_kind.get((api_version, kind))

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(self._versions)

    def versions(self, group: str) -> tuple[str, ...]:
        return tuple(self._versions.get(group, ()))

    def resources(self, group: str, version: str) -> tuple[ResourceType, ...]:
        """What a group version serves, in the order of discovery."""
        if self._by_version is None:
            found: dict[tuple[str, str], list[ResourceType]] = {}
            for each in self.types:
                found.setdefault((each.group, each.version), []).append(each)
            self._by_version = {key: tuple(those) for key, those in found.items()}
        return self._by_version.get((group, version), ())

    def with_types(self, added: Iterable[ResourceType], *, without: Callable[[ResourceType], bool]) -> Catalog:
        """Another catalog: without some, with others at the end."""
        return Catalog((*(each for each in self.types if not without(each)), *added))
