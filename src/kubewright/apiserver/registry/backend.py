"""What the verbs stand on: the store, the clock, chance, and the hooks around a write.

A `Backend` is one server's. Its randomness is seeded, so that two servers that are asked the same give the same uids
and names. The hooks are where the rest of a real server comes in: admission, field management. Without them writes go
straight through.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, Protocol

from msgspec import Struct, field

from ..access.attributes import Authorizer
from ..access.authentication import Authentication
from ..catalog import Catalog, ResourceType, Subresource
from ..request import User
from ..store import Store
from ..strategy import timestamp

__all__ = ["Admission", "Attributes", "Backend", "FieldManager", "ObjectKind", "Operation"]

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]

_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH: Final = 5
_LONGEST_BASE: Final = 58


class ObjectKind(NamedTuple):
    """Of an object that admission is asked about, in the version in which it is."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """`v1`, `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version


class Attributes(Struct):
    """What admission is asked about. `object` may be changed, or replaced, by `admit`; `old` never.

    Attributes: `kind` is the resource of the request, `part` the subresource, whose object may be of another kind
    (`object_kind`). `namespace` is that of the request; of a Namespace its own name. `name` is empty for what has none
    yet, and for what is deleted as one of a collection. `options` are those of the operation, with `kind` and
    `apiVersion`. `warn` adds a Warning header, `annotate` something to the audit event of the request.
    """

    operation: Operation
    kind: ResourceType
    part: Subresource | None
    namespace: str
    name: str
    object: dict[str, Any] | None
    old: dict[str, Any] | None
    options: Mapping[str, Any]
    is_dry_run: bool
    user: User
    warn: Callable[[str], None]
    annotate: Callable[[str, str], None]

    @property
    def subresource(self) -> str:
        return "" if self.part is None else self.part.name

    @property
    def object_kind(self) -> ObjectKind:
        """Of `object` and `old`."""
        kind, part = self.kind, self.part
        if part is not None and part.kind not in ("", kind.kind):
            return ObjectKind(part.group, part.version or kind.version, part.kind)
        return ObjectKind(kind.group, kind.version, kind.kind)


class Admission(Protocol):
    """What has a say in writes after they are decoded. Both calls raise StatusError to refuse."""

    def asks(self, kind: ResourceType) -> bool:
        """Whether anybody wants to know of requests for the resource. Cheap: every write comes here."""

    async def admit(self, attributes: Attributes) -> None:
        """May change the object. Asked before the kind's own preparation and validation."""

    async def validate(self, attributes: Attributes) -> None:
        """Asked last, with the object as it would be stored."""


class FieldManager(Protocol):
    """Who owns which field. Objects are in the version of the request."""

    def update(
        self,
        kind: ResourceType,
        subresource: str,
        live: dict[str, Any] | None,
        new: dict[str, Any],
        manager: str,
        now: datetime,
    ) -> None:
        """Track a write of `new` over `live` (None: a creation): sets `metadata.managedFields` of `new`."""

    def apply(
        self,
        kind: ResourceType,
        subresource: str,
        live: dict[str, Any] | None,
        patch: dict[str, Any],
        manager: str,
        force: bool,
        now: datetime,
    ) -> dict[str, Any]:
        """The object that an apply patch makes of `live`. Raises StatusError: conflicts."""

    def merged(self, kind: ResourceType, live: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
        """`live` with all that is stated, whoever owns it. Raises ValueError: why that cannot be."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Backend(Struct):
    """One server's state and settings.

    Args:
        now: the clock; UTC, with a time zone.
        seed: of uids and generated names; None for real randomness.
        max_body_bytes: of a request.
        storage_prefix: what keys start with in the few messages that show them.
        protobuf: reads protobuf bodies; they are refused (415) without it.
        authorizer: who may do what; everybody may everything without one.
        authentication: who is who, for what asks about tokens; nobody has any without one.
        impersonations: how who acts as others did it last (see `access.impersonation`).
    """

    store: Store = field(default_factory=Store)
    catalog: Catalog = field(default_factory=Catalog)
    now: Callable[[], datetime] = _utc_now
    seed: int | None = None
    admission: Admission | None = None
    field_manager: FieldManager | None = None
    max_body_bytes: int = 3 * 1024 * 1024
    max_object_bytes: int = 1536 * 1024
    storage_prefix: str = "/registry"
    protobuf: Callable[[bytes], dict[str, Any]] | None = None
    authorizer: Authorizer | None = None
    authentication: Authentication | None = None
    impersonations: dict[str, int] = field(default_factory=dict)
    catalog_listeners: list[Callable[[Catalog, Catalog], None]] = field(default_factory=list)
    random: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        self.random.seed(self.seed)

    def serve(self, catalog: Catalog) -> None:
        """Serve something else from now on; who listens is told of the old catalog and the new one."""
        old, self.catalog = self.catalog, catalog
        for listener in self.catalog_listeners:
            listener(old, catalog)

    def new_uid(self) -> str:
        """A uid, version 4 in form."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def new_suffix(self) -> str:
        """The random end of a generated name."""
        return "".join(self.random.choices(_LETTERS, k=_SUFFIX_LENGTH))

    def generated_name(self, base: str) -> str:
        """A name from `generateName`, which is cut to leave room."""
        return base[:_LONGEST_BASE] + self.new_suffix()

    def timestamp(self) -> str:
        """Now, as metadata has it."""
        return timestamp(self.now())

    def fork(self, store: Store | None = None) -> Backend:
        """Another backend that goes on from here: same contents, same chance to come."""
        made = Backend(
            store=self.store.fork() if store is None else store,
            catalog=self.catalog,
            now=self.now,
            seed=self.seed,
            admission=self.admission,
            field_manager=self.field_manager,
            max_body_bytes=self.max_body_bytes,
            max_object_bytes=self.max_object_bytes,
            storage_prefix=self.storage_prefix,
            protobuf=self.protobuf,
        )
        made.random.setstate(self.random.getstate())
        return made
