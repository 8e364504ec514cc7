"""The rules of a kind, as the generic registry asks for them: `Strategy`.

The registry (`registry/`) owns what all kinds share: names, uids, versions, timestamps, finalizers, preconditions,
deletion, lists, watches. What a kind decides for itself is here, in the order in which a write asks for it:

| step | create | update |
|---|---|---|
| read the body into the kind's fields, note what is unknown | `decode` | `decode` |
| fill in defaults of the version | `default` | `default` |
| drop what the caller may not set (status, generation) | `prepare_create` | `prepare_update` |
| check | `validate_create` | `validate_update` |
| warn | `warnings` | `warnings` |

Objects are plain dictionaries in wire form. A strategy may change the object it is given in place, and never the one
called `old`. It has no state of its own and no I/O: what it has to know of the rest comes with the `Context`. One
instance per resource type (and one per subresource that is a view of the same object, as `status`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from msgspec import Struct, field

from kubewright.schema.structural.fielderrors import FieldError, invalid
from kubewright.schema.structural.metarules import dns_subdomain, meta_errors, update_errors
from kubewright.schema.structural.objectmeta import MetaError, read_meta
from kubewright.schema.structural.values import same

from .request import ADMIN, User

__all__ = [
    "Cells",
    "Column",
    "Context",
    "GenericStrategy",
    "Grace",
    "Malformed",
    "Strategy",
    "Undecoded",
    "changed_meta_errors",
    "changes_spec",
    "keep_metadata",
    "keep_status",
    "timestamp",
]

Column = Mapping[str, Any]
"""A `TableColumnDefinition`: name, type, format, description, priority."""

Cells = list[Any]

Lookup = Callable[[str, str, str, str], "dict[str, Any] | None"]
"""`lookup(group, plural, namespace, name)`: a stored object in its storage version, not to be changed."""

List = Callable[[str, str, str], "Sequence[dict[str, Any]]"]
"""`objects(group, plural, namespace)`: all stored objects, of all namespaces for an empty one."""


class Malformed(Exception):
    """A body that cannot be read as an object of the kind. The text is the decoder's:
    `json: cannot unmarshal string into Go struct field ...`; the registry puts `Kind in version "v1" cannot be handled
    as a Kind: ` before it.
    """


Undecoded = list[str]
"""What strict decoding objects to: `unknown field "spec.foo"`. Ignored, warned of or refused, by `fieldValidation`."""


class Grace(Struct):
    """How an object goes: `seconds` None deletes at once (no graceful deletion for it); a number sets
    `deletionTimestamp` that many seconds ahead, and leaves the rest to who stops it. 0 deletes now, gracefully."""

    seconds: int | None = None


def _nothing(group: str, plural: str, namespace: str, name: str) -> dict[str, Any] | None:
    return None


def _none(group: str, plural: str, namespace: str) -> Sequence[dict[str, Any]]:
    return ()


class Context(Struct):
    """What a strategy may know of the request and of the rest of the server.

    Attributes: `now` of the server's clock, UTC; `verb`, `namespace`, `name`, `subresource` of the request; `user`;
    `is_dry_run`; `lookup` and `objects` read other objects; `new_uid` and `new_suffix` give the server's (seeded) uids
    and random name endings; `warn` adds a `Warning` header to the answer; `options` are those of the request's body or
    query (`propagationPolicy`, `gracePeriodSeconds`, ...).
    """

    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    verb: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    user: User = ADMIN
    is_dry_run: bool = False
    lookup: Lookup = _nothing
    objects: List = _none
    new_uid: Callable[[], str] = str
    new_suffix: Callable[[], str] = str
    warn: Callable[[str], None] = lambda text: None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def timestamp(self) -> str:
        """Now, as metadata has it."""
        return timestamp(self.now)


def timestamp(at: datetime) -> str:
    """A time as metadata has it: to the second, in UTC."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Strategy(Protocol):
    """The rules of one kind in one version. See the head of the module for when each is asked."""

    @property
    def allows_create_on_update(self) -> bool:
        """A PUT of an object that is not there creates it."""

    @property
    def allows_unconditional_update(self) -> bool:
        """A PUT without `resourceVersion` overwrites."""

    @property
    def returns_deleted_object(self) -> bool:
        """DELETE answers with the object, and not with a Status."""

    @property
    def default_propagation(self) -> str:
        """What a DELETE without propagation policy means: Background, or Orphan."""

    @property
    def field_labels(self) -> frozenset[str]:
        """Fields that field selectors may name, besides `metadata.name` and `metadata.namespace`."""

    @property
    def columns(self) -> Sequence[Column]:
        """Of the Table; empty: Name and Created At (`Name`, `Age` for custom resources)."""

    def decode(self, obj: dict[str, Any]) -> Undecoded:
        """Read the body, in place: drop unknown fields and report them.

        Raises Malformed: it cannot be read.
        """

    def default(self, obj: dict[str, Any]) -> None:
        """Fill in the defaults of the version, in place."""

    def read_merged(self, obj: dict[str, Any]) -> None:
        """Read and default, in place, what an apply has made of a stored object: nulls in it are where items went.

        Raises Malformed: it cannot be read.
        """

    def prepare_create(self, obj: dict[str, Any], context: Context) -> None:
        """Before validation: drop the status, set `generation` 1 where the kind has one."""

    def metadata_errors(self, meta: dict[str, Any], *, namespaced: bool) -> list[FieldError]:
        """Errors of the metadata of a new object: the rule for names is the kind's."""

    def validate_create(self, obj: dict[str, Any], context: Context) -> list[FieldError]:
        """Errors of the rest of a new object. It is not changed."""

    def prepare_update(self, new: dict[str, Any], old: dict[str, Any], context: Context) -> None:
        """Before validation: keep the old status, count `generation` up when the spec changes."""

    def metadata_update_errors(self, new: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        """Errors of changed metadata that the kind adds to those of the registry (the real server looks twice)."""

    def validate_update(self, new: dict[str, Any], old: dict[str, Any], context: Context) -> list[FieldError]:
        """Errors of the rest of a changed object."""

    def warnings(self, obj: dict[str, Any], old: dict[str, Any] | None, context: Context) -> list[str]:
        """What a writer should know of an object that is valid."""

    def grace(self, obj: dict[str, Any], requested_seconds: int | None, context: Context) -> Grace:
        """How an object is deleted that is not being deleted yet."""

    def begin_delete(self, obj: dict[str, Any], context: Context) -> dict[str, Any] | None:
        """What is stored instead of removing the object: a kind that goes by steps of its own (a namespace, a CRD).

        Gives another object (a changed copy), the object itself where nothing is to be done (it is going already), or
        None: it is deleted as all others are.
        """

    def keeps(self, new: dict[str, Any], old: dict[str, Any]) -> bool:
        """Whether something besides finalizers keeps an object that is being deleted (`spec.finalizers` of one)."""

    def create_problem(self, context: Context) -> str:
        """Why nothing is created now, empty if it is: the definition of the kind is going away (403)."""

    def fields(self, obj: dict[str, Any]) -> Mapping[str, str]:
        """The values of `field_labels`, as text; absent ones may be left out."""

    def field_label_error(self, label: str) -> str:
        """What is said of a label that is not in `field_labels`."""

    def cells(self, obj: dict[str, Any], now: datetime) -> Cells:
        """The row of the Table, for `columns`."""


class GenericStrategy:
    """A kind without rules of its own: base of all others, and enough for a ConfigMap.

    Subclasses override what is theirs; `name_rule` and the attributes are mostly all it takes. With `has_status` the
    status belongs to the subresource; with `has_generation` the generation counts changes outside of metadata and
    status.
    """

    allows_create_on_update = False
    allows_unconditional_update = True
    returns_deleted_object = False
    default_propagation = "Background"
    field_labels: frozenset[str] = frozenset()
    columns: Sequence[Column] = ()
    has_status = False
    has_generation = False
    name_rule: Callable[[str], list[str]] = staticmethod(dns_subdomain)

    def decode(self, obj: dict[str, Any]) -> Undecoded:
        if "metadata" not in obj:
            return []
        try:
            obj["metadata"], unknown = read_meta(obj["metadata"])
        except MetaError as error:
            raise Malformed(str(error)) from None
        return [f'unknown field "{each}"' for each in unknown]

    def default(self, obj: dict[str, Any]) -> None:
        pass

    def read_merged(self, obj: dict[str, Any]) -> None:
        self.decode(obj)
        self.default(obj)

    def prepare_create(self, obj: dict[str, Any], context: Context) -> None:
        if self.has_status:
            obj.pop("status", None)
        if self.has_generation:
            obj["metadata"]["generation"] = 1

    def metadata_errors(self, meta: dict[str, Any], *, namespaced: bool) -> list[FieldError]:
        return meta_errors(meta, namespaced=namespaced, name_rule=self.name_rule)

    def validate_create(self, obj: dict[str, Any], context: Context) -> list[FieldError]:
        return []

    def prepare_update(self, new: dict[str, Any], old: dict[str, Any], context: Context) -> None:
        if self.has_status:
            keep_status(new, old)
        if self.has_generation and changes_spec(new, old, with_status=not self.has_status):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def metadata_update_errors(self, new: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return changed_meta_errors(new, old)

    def validate_update(self, new: dict[str, Any], old: dict[str, Any], context: Context) -> list[FieldError]:
        return []

    def warnings(self, obj: dict[str, Any], old: dict[str, Any] | None, context: Context) -> list[str]:
        return []

    def grace(self, obj: dict[str, Any], requested_seconds: int | None, context: Context) -> Grace:
        return _AT_ONCE

    def begin_delete(self, obj: dict[str, Any], context: Context) -> dict[str, Any] | None:
        return None

    def keeps(self, new: dict[str, Any], old: dict[str, Any]) -> bool:
        return False

    def create_problem(self, context: Context) -> str:
        return ""

    def fields(self, obj: dict[str, Any]) -> Mapping[str, str]:
        return {}

    def field_label_error(self, label: str) -> str:
        if self.field_labels:
            return f"field label not supported: {label}"
        return f'"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"'

    def cells(self, obj: dict[str, Any], now: datetime) -> Cells:
        return []


_AT_ONCE: Final = Grace()


_CHECKED: Final = (
    "name",
    "namespace",
    "generateName",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
"""The metadata that rules are about. The server looks after the rest."""


def changes_metadata(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether anything differs that rules for metadata are about."""
    return any(new.get(name) != old.get(name) for name in _CHECKED)


_FIXED: Final = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


def changed_meta_errors(new: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
    """What is wrong with a change of metadata (`ValidateObjectMetaUpdate`).

    What is stored has been checked, so only what differs is looked at.
    """
    errors = update_errors(new, old) if changes_metadata(new, old) else []
    for name in _FIXED:
        if not same(new.get(name), old.get(name)):
            shown = new.get(name, "" if name == "uid" else None)
            errors.append(invalid(f"metadata.{name}", shown, "field is immutable"))
    return errors


_STATUS_KEEPS: Final = ("name", "namespace", "resourceVersion", "managedFields")


def keep_status(new: dict[str, Any], old: dict[str, Any]) -> None:
    """Give a new object the status of the old one."""
    if "status" in old:
        new["status"] = old["status"]
    else:
        new.pop("status", None)


def keep_metadata(new: dict[str, Any], old: dict[str, Any]) -> None:
    """Give a new object the metadata of the old one, except what says which version of which object is meant."""
    meta = new["metadata"]
    new["metadata"] = {**old["metadata"], **{name: meta[name] for name in (*_STATUS_KEEPS, "uid") if name in meta}}
    if "managedFields" not in meta:
        new["metadata"].pop("managedFields", None)


def changes_spec(new: dict[str, Any], old: dict[str, Any], *, with_status: bool = False) -> bool:
    """Whether anything outside of metadata (and status) differs: what `generation` counts."""
    left_out = {"metadata", "apiVersion", "kind"} if with_status else {"metadata", "status", "apiVersion", "kind"}
    names = (new.keys() | old.keys()) - left_out
    return any(name not in new or name not in old or not same(new[name], old[name]) for name in names)
