"""One version of a custom resource, compiled: its schema, and what is asked of its objects.

The steps are those of a server (`customresource_handler.go`, `registry/customresource/strategy.go`), one method each,
in place where a server works in place. Compiled on first use: a definition is often installed and never used.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kubewright.schema.structural.correlation import Correlated
from kubewright.schema.structural.fielderrors import FieldError, invalid
from kubewright.schema.structural.listtypes import list_errors
from kubewright.schema.structural.metarules import embedded_errors
from kubewright.schema.structural.objectmeta import coerce_embedded
from kubewright.schema.structural.pruning import drop_nulls, fill_defaults, prune
from kubewright.schema.structural.scale import scale_errors
from kubewright.schema.structural.schema import Structural

if TYPE_CHECKING:
    from kubewright.schema.cel.rules import Rules

__all__ = ["CustomVersion"]


class CustomVersion:
    """The operations on objects of one version. Immutable.

    Args:
        spec: of the definition.
        version: the item of `spec.versions`.
    """

    def __init__(self, spec: Mapping[str, Any], version: Mapping[str, Any]) -> None:
        self.group, self.kind, self.name = str(spec["group"]), str(spec["names"]["kind"]), str(version["name"])
        self.version = version
        subresources = version.get("subresources") or {}
        self.has_status = subresources.get("status") is not None
        self.scale: Mapping[str, Any] = subresources.get("scale") or {}
        self.selectable = tuple(str(each["jsonPath"]) for each in version.get("selectableFields") or ())
        self.raw_schema: Mapping[str, Any] = (version.get("schema") or {}).get("openAPIV3Schema") or {}

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.name}"

    @cached_property
    def schema(self) -> Structural:
        """Of the whole object, with its rules."""
        return Structural(self.raw_schema, rules=lambda schema: self._rules)

    @cached_property
    def _rules(self) -> Rules:
        # CEL is a large part of what there is to import, and a server without rules starts faster without it.
        from kubewright.schema.cel.rules import Rules

        return Rules(self.raw_schema)

    @cached_property
    def reads_otherwise(self) -> bool:
        """Whether an object that was written may be read back as something else: a null inside of a default goes, and
        a status that was dropped at its creation is filled in."""
        status = (self.raw_schema.get("properties") or {}).get("status") or {}
        return (self.has_status and "default" in status) or _has_null_default(self.raw_schema)

    def ratcheted(self, obj: dict[str, Any], old: dict[str, Any], errors: list[FieldError]) -> list[FieldError]:
        """What rules say of a change besides its `errors`: what was wrong before, in a place that has not changed."""
        if not self.schema.has_rules or any(each.is_blocking for each in errors):
            return []
        told = set(map(str, errors))
        return [each for each in self._rules.evaluate(obj, old) if str(each) not in told]

    @cached_property
    def _status(self) -> Structural | None:
        below = (self.raw_schema.get("properties") or {}).get("status")
        return Structural(below) if self.has_status and below is not None else None

    # -- in place -----------------------------------------------------------------------------------------------------

    def coerce(self, obj: dict[str, Any], *, drop: bool = False) -> tuple[FieldError | None, list[str]]:
        """Drop what the schema does not name, and nulls that it does not allow; read metadata of embedded resources.

        Gives the first thing that cannot be read, and the paths of what is gone. With `drop` nothing is unreadable.
        """
        node = self.schema.node
        unknown = prune(obj, node, is_root=True)
        drop_nulls(obj, node)
        problem, lost = coerce_embedded(node, obj, drop=drop)
        return problem, unknown + lost

    def default(self, obj: dict[str, Any]) -> None:
        """Nulls out, defaults in."""
        node = self.schema.node
        drop_nulls(obj, node)
        fill_defaults(obj, node)

    def default_only(self, obj: dict[str, Any]) -> None:
        """Defaults in; nulls stay."""
        fill_defaults(obj, self.schema.node)

    # -- errors -------------------------------------------------------------------------------------------------------

    def type_errors(self, obj: Mapping[str, Any]) -> list[FieldError]:
        """The object says another kind or version."""
        errors: list[FieldError] = []
        if obj.get("kind") != self.kind:
            errors.append(invalid("kind", obj.get("kind", ""), f"must be {self.kind}"))
        if obj.get("apiVersion") != self.api_version:
            errors.append(invalid("apiVersion", obj.get("apiVersion", ""), f"must be {self.api_version}"))
        return errors

    def errors(self, obj: dict[str, Any], old: dict[str, Any] | None, before: list[FieldError]) -> list[FieldError]:
        """All errors but those of the metadata, which are `before`."""
        schema = self.schema
        past = None if old is None else Correlated(obj, old, schema.node)
        errors = before + schema.structure_errors(obj, past=past)
        errors += scale_errors(self.scale, obj)
        errors += embedded_errors(schema.node, obj)
        if old is None or not list_errors(schema.node, old):
            errors += list_errors(schema.node, obj)
        return errors + schema.rule_errors(obj, old, past, errors)

    def status_errors(self, obj: dict[str, Any], old: dict[str, Any], before: list[FieldError]) -> list[FieldError]:
        """All errors of a change of the status."""
        schema, errors = self.schema, list(before)
        past = Correlated(obj, old, schema.node)
        if self._status is not None and "status" in obj:
            status = past.field("status") or Correlated(obj["status"], old.get("status"), self._status.node)
            errors += self._status.structure_errors(obj["status"], past=status, below="status")
        errors += scale_errors(self.scale, obj, status_only=True)
        found = list_errors(schema.node, obj)
        if found and not list_errors(schema.node, old):
            errors += found
        return errors + schema.rule_errors(obj, old, past, errors)


def _has_null_default(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_has_null_default, schema))
    if not isinstance(schema, dict):
        return False
    return _has_null(schema.get("default")) or any(map(_has_null_default, schema.values()))


def _has_null(value: Any) -> bool:
    """Whether there is a null somewhere below."""
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(each is None or _has_null(each) for each in below)
