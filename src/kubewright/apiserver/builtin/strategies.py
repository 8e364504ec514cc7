"""The strategies of the built-in kinds: `Rules` and a Go type, put into the protocol that the registry knows.

`KindStrategy` is the kind; `StatusStrategyOf` its status; `PartStrategy` any other subresource that is the same object
under other rules (`finalize`, `approval`, `ephemeralcontainers`, `resize`). What is true of all kinds is here: a body
is read into the Go type, defaults follow, the status is the server's, the generation counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kubewright.schema.structural.fielderrors import FieldError
from kubewright.schema.structural.metarules import meta_errors
from kubewright.schema.structural.values import copied, same

from ..strategy import Cells, Column, Context, GenericStrategy, Grace, Undecoded
from .decoding import decode
from .gotypes import GoType, GoTypes
from .restoring import restore
from .rules import Object, Rules
from .validation.labels import finalizer_errors

if TYPE_CHECKING:
    from .defaults import Defaulter

__all__ = ["KindStrategy", "PartStrategy", "StatusStrategyOf"]


def _of(whose: str, name: str) -> Any:
    """An attribute that is that of a part, asked when it is first used."""
    return cached_property(lambda self: getattr(getattr(self, whose), name))


class KindStrategy(GenericStrategy):
    """The rules of one built-in kind in one version."""

    def __init__(
        self,
        types: GoTypes,
        defaulter: Callable[[], Defaulter],
        api_version: str,
        kind: str,
        columns: Sequence[Column] = (),
    ) -> None:
        self._types, self._defaulter = types, defaulter
        self._api_version, self.kind = api_version, kind
        # Two columns are what every kind has that says nothing; the Table makes them itself.
        self.columns = () if [each["name"] for each in columns] == _GENERIC else columns

    # Rules, defaults and cells come with all that validates and prints built-in kinds: a third of what a server would
    # load before its first request. They are loaded when a kind is first used.

    @cached_property
    def rules(self) -> Rules:
        """What the kind decides for itself."""
        from .kinds import RULES

        return RULES.get((self._api_version, self.kind), Rules())

    allows_create_on_update = _of("rules", "create_on_update")
    allows_unconditional_update = _of("rules", "unconditional")
    returns_deleted_object = _of("rules", "returns_deleted")
    default_propagation = _of("rules", "propagation")

    @cached_property
    def field_labels(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset(self.rules.labels)

    @cached_property
    def type(self) -> GoType:
        """The Go type."""
        return self._types.of_kind(self._api_version, self.kind)

    # -- reading ------------------------------------------------------------------------------------------------------

    def decode(self, obj: Object) -> Undecoded:
        meta = obj.get("metadata")
        is_reset = isinstance(meta, dict) and meta.get("managedFields") == []
        read, unknown = decode(obj, self.type)
        obj.clear()
        obj.update(read)
        if is_reset:
            # Of all lists the only one of which the server tells an empty one from none.
            obj["metadata"]["managedFields"] = []
        return unknown

    def read_merged(self, obj: Object) -> None:
        restore(obj, self.type)
        self.decode(obj)
        self.default(obj)

    def default(self, obj: Object) -> None:
        self._defaulter().apply(obj, self.type)

    # -- creation -----------------------------------------------------------------------------------------------------

    def prepare_create(self, obj: Object, context: Context) -> None:
        rules = self.rules
        if rules.has_status:
            self.clear(obj, "status")
        if rules.counts and rules.first_generation:
            obj["metadata"]["generation"] = rules.first_generation
        rules.prepare_create(obj, context)

    def clear(self, obj: Object, name: str) -> None:
        """Empty a field, as Go writes an empty one."""
        field = self.type.fields[name]
        if field.is_kept:
            obj[name] = field.type.zero()
        else:
            obj.pop(name, None)

    def metadata_errors(self, meta: Object, *, namespaced: bool) -> list[FieldError]:
        errors = meta_errors(meta, namespaced=namespaced, name_rule=self.rules.name_rule)
        return errors + (finalizer_errors(meta) if self.rules.checks_finalizers else [])

    def validate_create(self, obj: Object, context: Context) -> list[FieldError]:
        return _each_once(self.rules.validate(obj, context))

    # -- changes ------------------------------------------------------------------------------------------------------

    def prepare_update(self, new: Object, old: Object, context: Context) -> None:
        rules = self.rules
        if rules.has_status:
            if "status" in old:
                new["status"] = old["status"]
            else:
                new.pop("status", None)
        rules.prepare_update(new, old, context)
        if rules.counts and self._has_changed(new, old):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def _has_changed(self, new: Object, old: Object) -> bool:
        counts, _, beside = self.rules.counts.partition("+")
        if counts == "nothing":
            return False
        if beside and old["metadata"].get(beside, {}) != new["metadata"].get(beside, {}):
            return True
        left_out = {"metadata", "apiVersion", "kind"} if counts == "all" else _NOT_COUNTED
        return any(not same(new.get(name), old.get(name)) for name in (new.keys() | old.keys()) - left_out)

    def metadata_update_errors(self, new: Object, old: Object) -> list[FieldError]:
        errors = super().metadata_update_errors(new, old)
        if not self.rules.checks_metadata_again:
            return errors
        again = self.metadata_errors(new, namespaced="namespace" in new)
        return errors + [each for each in again if each not in errors]

    def validate_update(self, new: Object, old: Object, context: Context) -> list[FieldError]:
        return _each_once(self.rules.validate_update(new, old, context))

    # -- the rest -----------------------------------------------------------------------------------------------------

    def warnings(self, obj: Object, old: Object | None, context: Context) -> list[str]:
        return self.rules.warnings(obj, old, context)

    def grace(self, obj: Object, requested_seconds: int | None, context: Context) -> Grace:
        if self.rules.grace is None:
            return super().grace(obj, requested_seconds, context)
        return self.rules.grace(obj, requested_seconds, context)

    def begin_delete(self, obj: Object, context: Context) -> Object | None:
        return None if self.rules.begin_delete is None else self.rules.begin_delete(obj, context)

    def keeps(self, new: Object, old: Object) -> bool:
        return self.rules.keeps is not None and self.rules.keeps(new)

    def fields(self, obj: Object) -> Mapping[str, str]:
        return {name: read(obj) for name, read in self.rules.labels.items()}

    def field_label_error(self, label: str) -> str:
        if self.rules.label_error:
            return self.rules.label_error.format(label)
        return super().field_label_error(label)

    def cells(self, obj: Object, now: datetime) -> Cells:
        return self._row(obj, now) if self.columns else []

    @cached_property
    def _row(self) -> Callable[[Object, datetime], Cells]:
        from .columns import cells_of

        return cells_of(self._api_version, self.kind, self.columns)


_GENERIC = ["Name", "Created At"]


def _each_once(errors: list[FieldError]) -> list[FieldError]:
    """Errors of the types' own declarations repeat those of the code beside them; the server says each once."""
    return list({str(error): error for error in errors}.values())


_NOT_COUNTED = frozenset({"metadata", "status", "apiVersion", "kind"})


class _Part(GenericStrategy):
    """A subresource that is the whole object: reads and shows it as the kind does."""

    def __init__(self, main: KindStrategy) -> None:
        self.main = main
        self.columns = main.columns

    allows_create_on_update = _of("main", "allows_create_on_update")
    allows_unconditional_update = _of("main", "allows_unconditional_update")
    field_labels = _of("main", "field_labels")

    def decode(self, obj: Object) -> Undecoded:
        return self.main.decode(obj)

    def default(self, obj: Object) -> None:
        self.main.default(obj)

    def metadata_errors(self, meta: Object, *, namespaced: bool) -> list[FieldError]:
        return self.main.metadata_errors(meta, namespaced=namespaced)

    def fields(self, obj: Object) -> Mapping[str, str]:
        return self.main.fields(obj)

    def field_label_error(self, label: str) -> str:
        return self.main.field_label_error(label)

    def cells(self, obj: Object, now: datetime) -> Cells:
        return self.main.cells(obj, now)


class StatusStrategyOf(_Part):
    """The status of a kind: everything outside of metadata and status stays as it was."""

    def prepare_update(self, new: Object, old: Object, context: Context) -> None:
        keep_all_but(new, old, "status")
        self.main.rules.prepare_status(new, old, context)

    def validate_update(self, new: Object, old: Object, context: Context) -> list[FieldError]:
        return self.main.rules.validate_status(new, old, context)


class PartStrategy(_Part):
    """A part of the object: the field at `path` is taken, the rest stays as it was.

    Args:
        main: the kind.
        name: of the subresource.
        path: of what it changes.
    """

    def __init__(self, main: KindStrategy, name: str, path: tuple[str, ...]) -> None:
        super().__init__(main)
        self._name, self._path = name, path

    def prepare_update(self, new: Object, old: Object, context: Context) -> None:
        taken: Any = new
        for name in self._path:
            taken = taken.get(name) if isinstance(taken, dict) else None
        keep_all_but(new, old, "")
        holder = new
        for name in self._path[:-1]:
            holder[name] = copied(holder.get(name) or {})
            holder = holder[name]
        if taken is None:
            holder.pop(self._path[-1], None)
        else:
            holder[self._path[-1]] = taken

    def validate_update(self, new: Object, old: Object, context: Context) -> list[FieldError]:
        from .kinds import PART_CHECKS

        check = PART_CHECKS.get((self.main.kind, self._name))
        return check(new, old, context) if check is not None else []


def keep_all_but(new: Object, old: Object, name: str) -> None:
    """Give a new object the fields of the old one, except its metadata and one other."""
    for each in [each for each in new if each not in _WHOLE and each != name]:
        if each not in old:
            del new[each]
    for each, value in old.items():
        if each not in _WHOLE and each != name:
            new[each] = value


_WHOLE = frozenset({"apiVersion", "kind", "metadata"})
