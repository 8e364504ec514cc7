"""The strategies of custom resources: their schema put into the protocol that the registry knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kubewright.schema.structural.fielderrors import FieldError
from kubewright.schema.structural.gotext import plain, quoted
from kubewright.schema.structural.metarules import dns_subdomain, meta_errors, qualified_name
from kubewright.schema.structural.objectmeta import MetaError, read_meta

from ..strategy import (
    Column,
    Context,
    GenericStrategy,
    Malformed,
    Undecoded,
    changed_meta_errors,
    changes_spec,
    keep_status,
)
from .paths import at, steps_of
from .version import CustomVersion

__all__ = ["CustomStatusStrategy", "CustomStrategy"]

_STANDARD_FINALIZERS: Final = frozenset({"orphan", "foregroundDeletion", "kubernetes"})


class CustomStrategy(GenericStrategy):
    """The rules of one version of a custom resource. `is_terminating`: its definition is being deleted."""

    allows_unconditional_update = False

    def __init__(self, version: CustomVersion, *, namespaced: bool, columns: Sequence[Column] = ()) -> None:
        self.version = version
        self.namespaced = namespaced
        self.columns = columns
        self._fields = {path.removeprefix("."): steps_of(path) for path in version.selectable}
        self.field_labels = frozenset(self._fields)

    def decode(self, obj: dict[str, Any]) -> Undecoded:
        unknown: list[str] = []
        if "metadata" in obj:
            try:
                obj["metadata"], unknown = read_meta(obj["metadata"])
            except MetaError as error:
                raise Malformed(str(error)) from None
        if obj["apiVersion"] != self.version.api_version:
            # Not a version that is known here: none of its fields is.
            if obj["apiVersion"].partition("/")[0] == self.version.group:
                unknown += [name for name in obj if name not in ("apiVersion", "kind", "metadata")]
            return [f'unknown field "{each}"' for each in unknown]
        problem, lost = self.version.coerce(obj)
        if problem is not None:
            raise Malformed(str(problem))
        return [f'unknown field "{each}"' for each in unknown + lost]

    def default(self, obj: dict[str, Any]) -> None:
        self.version.default(obj)

    def read_merged(self, obj: dict[str, Any]) -> None:
        try:
            obj["metadata"], _ = read_meta(obj.get("metadata") or {})
        except MetaError as error:
            raise Malformed(str(error)) from None
        self.version.default_only(obj)

    def prepare_create(self, obj: dict[str, Any], context: Context) -> None:
        if self.version.has_status:
            obj.pop("status", None)
        obj["metadata"]["generation"] = 1

    def metadata_errors(self, meta: dict[str, Any], *, namespaced: bool) -> list[FieldError]:
        return []

    def validate_create(self, obj: dict[str, Any], context: Context) -> list[FieldError]:
        before = self.version.type_errors(obj)
        if not before:
            before = meta_errors(obj["metadata"], namespaced=self.namespaced, name_rule=dns_subdomain)
        else:
            return before
        return self.version.errors(obj, None, before)

    def prepare_update(self, new: dict[str, Any], old: dict[str, Any], context: Context) -> None:
        if self.version.has_status:
            keep_status(new, old)
        if changes_spec(new, old, with_status=True):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def metadata_update_errors(self, new: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return []

    def validate_update(self, new: dict[str, Any], old: dict[str, Any], context: Context) -> list[FieldError]:
        before = self.version.type_errors(new)
        if before:
            return before
        errors = self.version.errors(new, old, changed_meta_errors(new["metadata"], old["metadata"]))
        self._warn(new, old, errors, context)
        return errors

    def _warn(self, new: dict[str, Any], old: dict[str, Any], errors: list[FieldError], context: Context) -> None:
        """Say what is tolerated only because it was there before."""
        for each in self.version.ratcheted(new, old, errors):
            context.warn(str(each))

    def warnings(self, obj: dict[str, Any], old: dict[str, Any] | None, context: Context) -> list[str]:
        known = set() if old is None else set(old["metadata"].get("finalizers") or ())
        found = sorted(set(obj["metadata"].get("finalizers") or ()) - known)
        return [text for each in found for text in _finalizer_warnings(each)]

    def fields(self, obj: dict[str, Any]) -> Mapping[str, str]:
        return {name: _shown(at(obj, steps)) for name, steps in self._fields.items()}

    def field_label_error(self, label: str) -> str:
        return f"field label not supported: {label}"


class CustomStatusStrategy(CustomStrategy):
    """The status of a custom resource: everything else stays as it was."""

    def prepare_update(self, new: dict[str, Any], old: dict[str, Any], context: Context) -> None:
        has_status, status = "status" in new, new.get("status")
        meta = new["metadata"]
        # All of it, uid and name too: unlike with built-in kinds, what is said of them is not even looked at.
        kept = {name: meta[name] for name in ("resourceVersion", "managedFields") if name in meta}
        new.clear()
        new |= old
        new["metadata"] = {**old["metadata"], **kept}
        if "managedFields" not in kept:
            new["metadata"].pop("managedFields", None)
        if has_status:
            new["status"] = status
        else:
            new.pop("status", None)

    def validate_update(self, new: dict[str, Any], old: dict[str, Any], context: Context) -> list[FieldError]:
        before = self.version.type_errors(new)
        if before:
            return before
        errors = self.version.status_errors(new, old, changed_meta_errors(new["metadata"], old["metadata"]))
        self._warn(new, old, errors, context)
        return errors

    def warnings(self, obj: dict[str, Any], old: dict[str, Any] | None, context: Context) -> list[str]:
        return []


def _finalizer_warnings(name: str) -> list[str]:
    path = f"metadata.finalizers: {quoted(name)}"
    warnings = [f"{path}: {problem}" for problem in qualified_name(name)]
    if "/" not in name and name not in _STANDARD_FINALIZERS:
        how = " including a path (/)" if "." in name else ""
        said = (
            f"prefer a domain-qualified finalizer name{how} to avoid accidental conflicts with other finalizer writers"
        )
        warnings.append(f"{path}: {said}")
    return warnings


def _shown(value: Any) -> str:
    return "" if value is None else plain(value) if not isinstance(value, str) else value
