"""The kind CustomResourceDefinition itself: its defaults, its rules, and how it is deleted.

What is asked of a definition is `schema.structural.check_crd`; a change is asked a little more. Rules:
`registry/customresourcedefinition/{strategy,etcd}.go`, `apis/apiextensions/validation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from kubewright.schema.structural.fielderrors import FieldError, index, invalid
from kubewright.schema.structural.gotext import GoStruct, quoted

from ..catalog import ResourceType, Subresource
from ..strategy import Context, GenericStrategy, Strategy, Undecoded, changed_meta_errors, changes_spec, keep_status
from .names import condition, is_true, with_condition

if TYPE_CHECKING:
    from kubewright.schema.structural.crdcheck import CrdOutcome, RuleCheck

__all__ = ["FINALIZER", "GROUP", "DefinitionStrategy", "definition_type"]

GROUP: Final = "apiextensions.k8s.io"
FINALIZER: Final = "customresourcecleanup.apiextensions.k8s.io"
_NO_NAMES: Final = {"plural": "", "kind": ""}
_NUMBER_FORMATS: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}
_KEYS: Final = ("items", "additionalProperties", "not")
_LISTS: Final = ("allOf", "anyOf", "oneOf")


def definition_type(base: ResourceType | None = None) -> ResourceType:
    """The resource type of definitions. `base` is that of the built-in kinds: its fields are read as Go's types are."""
    if base is None:
        base = ResourceType(
            GROUP,
            "v1",
            "CustomResourceDefinition",
            "customresourcedefinitions",
            namespaced=False,
            short_names=("crd", "crds"),
            categories=("api-extensions",),
        )
    strategy = DefinitionStrategy(base.strategy)
    status = Subresource("status", strategy=_StatusStrategy(strategy))
    return replace(base, strategy=strategy, subresources={"status": status})


class DefinitionStrategy(GenericStrategy):
    """The rules of definitions. `reader` decodes."""

    allows_unconditional_update = False

    def __init__(self, reader: Strategy) -> None:
        self._reader = reader
        self.columns = reader.columns

    def decode(self, obj: dict[str, Any]) -> Undecoded:
        spec = obj.get("spec")
        has_none = isinstance(spec, dict) and spec.get("versions") == []
        found = self._reader.decode(obj)
        if has_none:
            # Elsewhere an empty list is read as none; the refusal of this one shows what was sent.
            obj["spec"]["versions"] = []
        return found

    def default(self, obj: dict[str, Any]) -> None:
        self._reader.default(obj)
        spec = obj.setdefault("spec", {})
        names = spec.setdefault("names", {})
        kind = names.get("kind") or ""
        if not names.get("singular") and kind:
            names["singular"] = kind.lower()
        if not names.get("listKind") and kind:
            names["listKind"] = f"{kind}List"
        conversion = spec.get("conversion")
        if conversion is None:
            spec["conversion"] = {"strategy": "None"}
        elif service := ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("service"):
            service.setdefault("port", 443)

    def prepare_create(self, obj: dict[str, Any], context: Context) -> None:
        obj["metadata"]["generation"] = 1
        stored = _storage_version(obj)
        obj["status"] = {
            "conditions": None,
            "acceptedNames": dict(_NO_NAMES),
            "storedVersions": None if stored is None else [stored],
        }

    def metadata_errors(self, meta: dict[str, Any], *, namespaced: bool) -> list[FieldError]:
        return []

    def validate_create(self, obj: dict[str, Any], context: Context) -> list[FieldError]:
        found = _check(_without_status(obj), rules=_check_rules).errors
        errors = [_as_printed(each, obj["spec"].get("versions")) for each in found]
        stored = obj["status"]["storedVersions"] or []
        for each in obj["spec"].get("versions") or ():
            if each.get("storage") and each.get("name", "") not in stored and stored:
                said = f"must have the storage version {each.get('name', '')}"
                errors.append(invalid("status.storedVersions", stored, said))
        return errors

    def prepare_update(self, new: dict[str, Any], old: dict[str, Any], context: Context) -> None:
        keep_status(new, old)
        if changes_spec(new, old):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        status, stored = new.get("status") or {}, _storage_version(new)
        if stored is not None and stored not in (status.get("storedVersions") or ()):
            new["status"] = {**status, "storedVersions": [*(status.get("storedVersions") or ()), stored]}

    def metadata_update_errors(self, new: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return changed_meta_errors(new, old)

    def validate_update(self, new: dict[str, Any], old: dict[str, Any], context: Context) -> list[FieldError]:
        rules = None if new["spec"].get("versions") == old["spec"].get("versions") else _check_rules
        found = _check(_without_status(new), rules=rules).errors
        found = tuple(_as_printed(each, new["spec"].get("versions")) for each in found)
        errors = [each for each in found if each.field.startswith("spec.") and each.field != _PRESERVE]
        errors += _fixed(new["spec"], old["spec"], is_established=is_true(old, "Established"))
        status = new.get("status") or {}
        errors += _stored_errors(status.get("storedVersions") or [], new["spec"].get("versions") or [])
        return errors + [each for each in found if each.field == _PRESERVE]

    def warnings(self, obj: dict[str, Any], old: dict[str, Any] | None, context: Context) -> list[str]:
        found = _schema_warnings(obj)
        known = set() if old is None else set(_schema_warnings(old))
        return [each for each in dict.fromkeys(found) if each not in known]

    def begin_delete(self, obj: dict[str, Any], context: Context) -> dict[str, Any] | None:
        meta = obj["metadata"]
        if meta.get("deletionTimestamp"):
            return None
        now = context.timestamp
        status = obj.get("status") or {}
        pending = condition(
            "Terminating",
            "True",
            "InstanceDeletionPending",
            "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        )
        finalizers = list(meta.get("finalizers") or ())
        if FINALIZER not in finalizers:
            finalizers.append(FINALIZER)
        conditions = with_condition(status.get("conditions"), pending, now)
        return {
            **obj,
            "metadata": {**meta, "deletionTimestamp": now, "finalizers": finalizers},
            "status": {**status, "conditions": conditions},
        }


_PRESERVE: Final = "spec.preserveUnknownFields"


class _StatusStrategy(GenericStrategy):
    """The status of a definition: the spec stays as it was, and of the metadata all but what says which it is."""

    allows_unconditional_update = False

    def __init__(self, main: DefinitionStrategy) -> None:
        self._main = main
        self.columns = main.columns

    def decode(self, obj: dict[str, Any]) -> Undecoded:
        return self._main.decode(obj)

    def default(self, obj: dict[str, Any]) -> None:
        self._main.default(obj)

    def prepare_update(self, new: dict[str, Any], old: dict[str, Any], context: Context) -> None:
        new["spec"] = old["spec"]


def _check_rules(schema: Mapping[str, Any], path: str) -> Sequence[FieldError]:
    # Imported by the first definition that has a schema: see `version`.
    from kubewright.schema.cel.rule_checks import check_schema_rules

    return check_schema_rules(schema, path)


def _storage_version(crd: Mapping[str, Any]) -> str | None:
    return next((str(each.get("name", "")) for each in crd["spec"].get("versions") or () if each.get("storage")), None)


def _without_status(crd: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in crd.items() if name != "status"}


def _fixed(spec: Mapping[str, Any], old: Mapping[str, Any], *, is_established: bool) -> Iterator[FieldError]:
    """What cannot change."""
    names, before = spec.get("names") or {}, old.get("names") or {}
    places: list[tuple[str, Any, Any]] = []
    if is_established:
        places += [
            ("spec.scope", spec.get("scope", ""), old.get("scope", "")),
            ("spec.names.kind", names.get("kind", ""), before.get("kind", "")),
        ]
    places += [
        ("spec.group", spec.get("group", ""), old.get("group", "")),
        ("spec.names.plural", names.get("plural", ""), before.get("plural", "")),
    ]
    return (invalid(path, new, "field is immutable") for path, new, past in places if new != past)


def _stored_errors(stored: list[str], versions: list[Mapping[str, Any]]) -> list[FieldError]:
    path = "status.storedVersions"
    if not stored:
        return [invalid(path, stored or None, "must have at least one stored version")]
    errors: list[FieldError] = []
    names = {str(each.get("name", "")) for each in versions}
    for place, name in enumerate(stored):
        if name not in names:
            said = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions"
                f" until a storage migration ensures no data remains persisted in {name} and removes {name} from "
                f"status.storedVersions"
            )
            errors.append(invalid(index(path, place), name, said))
    return errors


_PRINTED: Final = {"name": "", "served": False, "storage": False, "deprecated": False, "deprecationWarning": None}
_SHARED: Final = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")


def _as_printed(error: FieldError, versions: Any) -> FieldError:
    """An error whose text has all versions in it, with them as the server prints them: as its own structs, in which
    what all versions say alike is elsewhere. Where they differ the text would have whole schemas in it: it stays."""
    if error.field != "spec.versions" or not isinstance(versions, list):
        return error
    if not versions:
        return FieldError(error.reason, error.field, [], error.detail)
    if any(each.get(name) != versions[0].get(name) for each in versions for name in _SHARED):
        return error
    value = [
        GoStruct(
            {
                **{name[0].upper() + name[1:]: each.get(name, empty) for name, empty in _PRINTED.items()},
                **{name[0].upper() + name[1:]: None for name in _SHARED},
            }
        )
        for each in versions
    ]
    return FieldError(error.reason, error.field, value, error.detail)


# -- warnings ---------------------------------------------------------------------------------------------------------


def _schema_warnings(crd: Mapping[str, Any]) -> list[str]:
    formats: list[str] = []
    sets: set[str] = set()
    for version in crd["spec"].get("versions") or ():
        for schema in _schemas((version.get("schema") or {}).get("openAPIV3Schema")):
            form, kind = schema.get("format"), schema.get("type") or ""
            if form and not _is_known(str(form), str(kind)):
                formats.append(f"unrecognized format {quoted(str(form))}")
            items = schema.get("items")
            of = items.get("type") if isinstance(items, Mapping) else None
            if schema.get("x-kubernetes-list-type") == "set" and of in ("object", "array"):
                said = f'x-kubernetes-list-type: set for items of type "{of}" is not supported'
                sets.add(f"{said} by server-side apply or CEL validation rules")
    return formats + sorted(sets)


def _check(crd: Mapping[str, Any], rules: RuleCheck | None) -> CrdOutcome:
    # What checks definitions is a large part of what there is to import, and a server without any starts faster.
    from kubewright.schema.structural.crdcheck import check_crd

    return check_crd(crd, rules=rules)


def _is_known(form: str, kind: str) -> bool:
    if kind in ("", "string"):
        from kubewright.schema.structural.strformats import FORMATS

        return form.replace("-", "") in FORMATS
    return form in _NUMBER_FORMATS.get(kind, ())


def _schemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(schema, Mapping):
        return
    yield schema
    for key in _KEYS:
        yield from _schemas(schema.get(key))
    for key in _LISTS:
        for each in schema.get(key) or ():
            yield from _schemas(each)
    for each in (schema.get("properties") or {}).values():
        yield from _schemas(each)
