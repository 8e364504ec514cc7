"""Custom resources the way a server takes them in: decode, prune, default, validate, store.

`Kind` is a CRD, compiled; `Kind.version("v1")` has the operations of one version. Each takes a decoded object and gives
an `Outcome`: what would be stored, or why not.

| step of a create | where |
|---|---|
| metadata read, unknown fields pruned, nulls dropped, metadata of embedded resources read | `_decode` |
| defaults filled in | `_decode` |
| status dropped where the status subresource is on | `create` |
| metadata, structure, replicas of scale, embedded resources, list types, rules | `_errors` |
| nulls dropped and defaults filled in again, as on every read from storage | `Outcome.object` |

An update is the same with the stored object beside it: errors of what did not change are dropped (ratcheting). The
order is `customresource_handler.go`'s and `registry/customresource/strategy.go`'s. No I/O, no clock: what a server adds
(uid, resourceVersion, creationTimestamp, generation, managedFields) is not added here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from .correlation import Correlated
from .fielderrors import FieldError, summary
from .gotext import quoted
from .listtypes import list_errors
from .metarules import embedded_errors, meta_errors, update_errors
from .objectmeta import MetaError, coerce_embedded, read_meta
from .pruning import drop_nulls, fill_defaults, prune
from .scale import scale_errors
from .schema import RuleCompiler, Structural
from .values import TooDeep, copied, json_value

__all__ = ["Kind", "Outcome", "Version"]

_SUFFIX: Final = "xxxxx"
_LONGEST_BASE: Final = 58


class Outcome(msgspec.Struct, frozen=True):
    """What a server would do with an object.

    `object` is what would be stored, pruned and defaulted, also when it is refused (for a look at it); None when it
    cannot be decoded, which `undecodable` explains. `unknown` are the paths of fields that were pruned: an error with
    `fieldValidation=Strict`, a warning without. `unevaluated` are rules that nobody looked at.
    """

    kind: str
    group: str
    name: str
    object: dict[str, Any] | None
    errors: tuple[FieldError, ...] = ()
    unknown: tuple[str, ...] = ()
    undecodable: str = ""
    unevaluated: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether it would be stored (with its unknown fields pruned)."""
        return not self.errors and not self.undecodable

    @property
    def message(self) -> str:
        """The message of the Invalid status; empty when there are no errors."""
        if self.undecodable:
            return self.undecodable
        if not self.errors:
            return ""
        return f"{self.kind}.{self.group} {quoted(self.name)} is invalid: {summary(self.errors)}"

    @property
    def strict_message(self) -> str:
        """What strict field validation says of unknown fields; empty when there are none."""
        if not self.unknown:
            return ""
        return "strict decoding error: " + ", ".join(f'unknown field "{each}"' for each in self.unknown)


class Version:
    """The operations of one version of a kind. Immutable; may be shared by threads."""

    def __init__(
        self, group: str, kind: str, namespaced: bool, version: Mapping[str, Any], rules: RuleCompiler | None
    ) -> None:
        self.group, self.kind, self.namespaced = group, kind, namespaced
        self.name = str(version["name"])
        self.is_served = bool(version.get("served", True))
        schema = version.get("schema") or {}
        self.schema = Structural(schema.get("openAPIV3Schema") or {}, rules=rules)
        subresources = version.get("subresources") or {}
        self.has_status = subresources.get("status") is not None
        self._scale = subresources.get("scale") or {}
        self._status = None
        below = (schema.get("openAPIV3Schema") or {}).get("properties") or {}
        if self.has_status and below.get("status") is not None:
            self._status = Structural(below["status"])

    @property
    def api_version(self) -> str:
        """Such as `example.com/v1`."""
        return f"{self.group}/{self.name}"

    def create(self, obj: Mapping[str, Any]) -> Outcome:
        """A POST."""
        value, unknown, problem = self._decode(obj)
        if value is None:
            return self._refused(obj, problem)
        if self.has_status:
            value.pop("status", None)
        meta = self._named(value.get("metadata") or {})
        errors = meta_errors(meta, namespaced=self.namespaced)
        errors += self._schema_errors({**value, "metadata": meta}, None)
        return self._outcome(value, meta.get("name", ""), errors, unknown)

    def update(self, obj: Mapping[str, Any], old: Mapping[str, Any]) -> Outcome:
        """A PUT over `old`, which is as a server gives it (for one out of a file or of another version: `stored`)."""
        value, unknown, problem = self._decode(obj)
        if value is None:
            return self._refused(obj, problem)
        stored: dict[str, Any] = json_value(dict(old))
        if self.has_status:
            if "status" in stored:
                value["status"] = copied(stored["status"])
            else:
                value.pop("status", None)
        meta, before = value.get("metadata") or {}, stored.get("metadata") or {}
        meta = {**{each: before[each] for each in ("name", "namespace") if each in before}, **meta}
        # The metadata of an update is looked at three times: twice by what all kinds share, once by this one.
        errors = update_errors(meta, before) * 3
        errors += self._schema_errors({**value, "metadata": meta}, stored)
        return self._outcome(value, str(meta.get("name", "")), errors, unknown)

    def update_status(self, obj: Mapping[str, Any], old: Mapping[str, Any]) -> Outcome:
        """A PUT of the status subresource over `old`: only the status is taken."""
        value, unknown, problem = self._decode(obj)
        if value is None:
            return self._refused(obj, problem)
        stored: dict[str, Any] = json_value(dict(old))
        made = copied(stored)
        made.pop("status", None)
        if "status" in value:
            made["status"] = value["status"]
        errors: list[FieldError] = []
        past = Correlated(made, stored, self.schema.node)
        if self._status is not None and "status" in made:
            # Without an old status the server compares with null, so nothing is dropped.
            before = past.field("status") or Correlated(made["status"], stored.get("status"), self._status.node)
            errors += self._status.structure_errors(made["status"], past=before, below="status")
        errors += scale_errors(self._scale, made, status_only=True)
        found = list_errors(self.schema.node, made)
        if found and not list_errors(self.schema.node, stored):
            errors += found
        errors += self.schema.rule_errors(made, stored, past, errors)
        return self._outcome(made, str((made.get("metadata") or {}).get("name", "")), errors, unknown)

    def stored(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        """An object as it comes out of storage: pruned and defaulted by the schema of today."""
        value: dict[str, Any] = json_value(dict(obj))
        node = self.schema.node
        prune(value, node, is_root=True)
        drop_nulls(value, node)
        coerce_embedded(node, value, drop=True)
        fill_defaults(value, node)
        return value

    # -- steps --------------------------------------------------------------------------------------------------------

    def _decode(self, obj: Mapping[str, Any]) -> tuple[dict[str, Any] | None, tuple[str, ...], str]:
        """The object, the unknown fields in it, and what keeps it from being decoded."""
        try:
            value: dict[str, Any] = json_value(dict(obj))
        except (TooDeep, TypeError) as error:
            return None, (), f"{obj.get('kind', 'the object')} {error}"
        node = self.schema.node
        unknown: list[str] = []
        meta: dict[str, Any] | None = None
        if "metadata" in value:
            try:
                meta, unknown = read_meta(value["metadata"])
            except MetaError as error:
                return None, (), self._cannot(str(error))
        unknown += prune(value, node, is_root=True)
        drop_nulls(value, node)
        problem, lost = coerce_embedded(node, value)
        if problem is not None:
            return None, (), self._cannot(str(problem))
        if meta is not None:
            value["metadata"] = meta
        fill_defaults(value, node)
        return value, tuple(unknown + lost), ""

    def _cannot(self, problem: str) -> str:
        return f'{self.kind} in version "{self.name}" cannot be handled as a {self.kind}: {problem}'

    def _refused(self, obj: Mapping[str, Any], problem: str) -> Outcome:
        meta = obj.get("metadata")
        name = meta.get("name", "") if isinstance(meta, dict) else ""
        return Outcome(self.kind, self.group, str(name), None, undecodable=problem)

    def _named(self, meta: dict[str, Any]) -> dict[str, Any]:
        """Metadata with what a server has filled in by the time it validates: a generated name, the namespace."""
        made = dict(meta)
        base = made.get("generateName", "")
        if base and not made.get("name"):
            made["name"] = base[:_LONGEST_BASE] + _SUFFIX
        if self.namespaced:
            made.setdefault("namespace", "default")
        else:
            made.pop("namespace", None)
        return made

    def _schema_errors(self, value: dict[str, Any], old: dict[str, Any] | None) -> list[FieldError]:
        schema = self.schema
        past = None if old is None else Correlated(value, old, schema.node)
        errors = schema.structure_errors(value, past=past)
        errors += scale_errors(self._scale, value)
        errors += embedded_errors(schema.node, value)
        if old is None or not list_errors(schema.node, old):
            errors += list_errors(schema.node, value)
        return errors + schema.rule_errors(value, old, past, errors)

    def _outcome(self, value: dict[str, Any], name: str, errors: list[FieldError], unknown: tuple[str, ...]) -> Outcome:
        # To storage and back: nulls inside of defaults go, and what was dropped (the status) is filled in again.
        drop_nulls(value, self.schema.node)
        fill_defaults(value, self.schema.node)
        return Outcome(
            self.kind,
            self.group,
            name,
            value,
            tuple(errors),
            unknown,
            unevaluated=self.schema.unevaluated,
        )


class Kind:
    """A CRD, compiled: its versions by name.

    Args:
        crd: a CustomResourceDefinition of apiextensions.k8s.io/v1, as a dictionary, that a server would take.
        rules: evaluates rules; see `Structural`.

    Raises:
        SchemaShapeError: a schema cannot be read.
        KeyError: a part is missing that every CRD has.
    """

    def __init__(self, crd: Mapping[str, Any], *, rules: RuleCompiler | None = None) -> None:
        spec = crd["spec"]
        self.group, self.kind = str(spec["group"]), str(spec["names"]["kind"])
        namespaced = spec.get("scope") == "Namespaced"
        self.versions = {
            str(each["name"]): Version(self.group, self.kind, namespaced, each, rules) for each in spec["versions"]
        }

    def version(self, name: str) -> Version:
        """The operations of a version. Raises KeyError: there is none of that name."""
        return self.versions[name]
