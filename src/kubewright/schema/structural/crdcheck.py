"""Would a server take this CRD? `check_crd` answers as a create of it would, path by path.

A server validates its internal form of a CRD, in which what all versions share stands above them: with one version, or
with equal ones, a schema is at `spec.validation.openAPIV3Schema` and columns at `spec.additionalPrinterColumns`. Paths
here are those, so that what is found here reads as what `kubectl apply` would say.

The rules are `apis/apiextensions/validation/validation.go` (1.37) for a create. What CEL says of rules is for
`RuleCheck`; without one, texts, places and paths of rules are checked and nothing else.

Known differences: where a message shows a whole list of versions or a whole schema, it is shown in the form of the
document, and not in that of Go's structs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from .crddefaults import default_errors
from .crdopenapi import openapi_errors
from .crdparts import (
    column_errors,
    conversion_errors,
    name_errors,
    selectable_errors,
    subresource_errors,
    warning_errors,
)
from .crdshape import shape_of, without_nulls
from .crdstructure import structure_errors
from .fielderrors import FieldError, child, forbidden, index, invalid, not_supported, required, summary
from .gotext import quoted
from .metarules import dns_subdomain, meta_errors, old_dns_label
from .node import Node, SchemaShapeError
from .objectmeta import MetaError, read_meta
from .values import TooDeep, json_value

__all__ = ["CrdOutcome", "RuleCheck", "check_crd", "with_defaults"]

RuleCheck = Callable[[Mapping[str, Any], str], Sequence[FieldError]]
"""Errors of the rules in a schema at a path: they compile, and cost what a server allows. Called for schemas that are
otherwise right."""

_AT_ROOT_WITH_STATUS: Final = (
    *("description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
    *("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "required", "items"),
    *("properties", "externalDocs", "example", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"),
)
_GO_NAMES: Final = (
    "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern "
    "MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields "
    "XValidations"
)
_SET_WHEN_EMPTY: Final = ("additionalProperties", "default", "not", "x-kubernetes-list-type", "x-kubernetes-map-type")
"""Keywords that say something also when they are false or empty."""
_APPROVED: Final = "api-approved.kubernetes.io"
_APPROVAL_SAID: Final = f'protected groups must have approval annotation "{_APPROVED}"'
_APPROVAL_SEE: Final = ", see https://github.com/kubernetes/enhancements/pull/1111"
_HOISTED: Final = ("subresources", "schema", "additionalPrinterColumns", "selectableFields")


class CrdOutcome(msgspec.Struct, frozen=True):
    """What a server would say of a CRD. `unknown` fields are dropped, or an error with strict field validation;
    `unseen` ones are dropped always; `broken` are values of wrong types, which keep the rest from being looked at.
    """

    name: str
    errors: tuple[FieldError, ...] = ()
    unknown: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether it would be stored."""
        return not self.errors and not self.broken

    @property
    def message(self) -> str:
        """The message of the Invalid status; empty without errors."""
        if not self.errors:
            return "; ".join(self.broken)
        kind = "CustomResourceDefinition.apiextensions.k8s.io"
        return f"{kind} {quoted(self.name)} is invalid: {summary(self.errors)}"


def with_defaults(crd: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with what a server fills in: singular and list kind, conversion, the port of a webhook's service."""
    made: dict[str, Any] = json_value(dict(crd))
    spec = made.get("spec")
    if not isinstance(spec, dict) or not isinstance(spec.get("names"), dict):
        return made
    names = spec["names"]
    kind = names.get("kind") or ""
    if kind:
        names["singular"] = names.get("singular") or kind.lower()
        names["listKind"] = names.get("listKind") or f"{kind}List"
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    return made


def check_crd(crd: Mapping[str, Any], *, rules: RuleCheck | None = None) -> CrdOutcome:
    """What a create of a CRD would be answered.

    Args:
        crd: the document, apiextensions.k8s.io/v1. It is not changed.
        rules: checks expressions.
    """
    meta = crd.get("metadata")
    name = str(meta.get("name", "")) if isinstance(meta, Mapping) else ""
    try:
        whole: dict[str, Any] = json_value(dict(crd))
        metadata, lost = read_meta(whole.get("metadata"))
    except (TooDeep, TypeError, MetaError) as error:
        return CrdOutcome(name, broken=(str(error),))
    shape = shape_of(whole)
    unknown = (*lost, *shape.unknown)
    if shape.broken:
        return CrdOutcome(name, (), unknown, tuple(shape.broken), tuple(shape.unseen))
    whole = with_defaults(without_nulls(whole))
    spec = whole.get("spec") or {}
    errors = _meta_errors(metadata, spec)
    errors += _spec_errors(spec, rules)
    stored = next((each.get("name", "") for each in spec.get("versions") or [] if each.get("storage")), None)
    if stored is None:
        errors.append(invalid("status.storedVersions", None, "must have at least one stored version"))
    errors += _approval_errors(spec.get("group") or "", metadata.get("annotations", {}))
    if spec.get("preserveUnknownFields"):
        said = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        errors.append(invalid("spec.preserveUnknownFields", True, said))
    return CrdOutcome(name, tuple(errors), unknown, unseen=tuple(shape.unseen))


def _meta_errors(metadata: dict[str, Any], spec: Mapping[str, Any]) -> list[FieldError]:
    wanted = f"{(spec.get('names') or {}).get('plural') or ''}.{spec.get('group') or ''}"

    def rule(name: str) -> list[str]:
        problems = dns_subdomain(name)
        return problems if name == wanted else [*problems, 'must be spec.names.plural+"."+spec.group']

    made = {name: each for name, each in metadata.items() if name != "namespace"}
    return meta_errors(made, namespaced=False, name_rule=rule)


def _approval_errors(group: str, annotations: Mapping[str, str]) -> list[FieldError]:
    if not any(group == each or group.endswith("." + each) for each in ("k8s.io", "kubernetes.io")):
        return []
    where = f"metadata.annotations[{_APPROVED}]"
    said = annotations.get(_APPROVED, "")
    if not said:
        return [required(where, _APPROVAL_SAID + _APPROVAL_SEE)]
    scheme, sign, rest = said.partition("://")
    if said.startswith("unapproved") or (sign and scheme.isalnum() and rest.partition("/")[0]):
        return []
    how = ' with either a URL or a reason starting with "unapproved"'
    return [invalid(where, said, _APPROVAL_SAID + how + _APPROVAL_SEE)]


# -- spec -------------------------------------------------------------------------------------------------------------


def _spec_errors(spec: Mapping[str, Any], rules: RuleCheck | None) -> list[FieldError]:
    errors = _group_errors(spec.get("group") or "")
    scope, scopes = spec.get("scope") or "", ("Cluster", "Namespaced")
    if not scope:
        errors.append(required("spec.scope"))
    elif scope not in scopes:
        errors.append(not_supported("spec.scope", scope, scopes))
    versions: list[Mapping[str, Any]] = list(spec.get("versions") or [])
    top = {name: versions[0].get(name) for name in _HOISTED if versions and _is_shared(versions, name)}
    own = [{name: each for name, each in version.items() if name not in top} for version in versions]
    if _schema_of(top) is None:
        errors += [
            required(f"spec.versions[{place}].schema.openAPIV3Schema")
            for place, version in enumerate(own)
            if _schema_of(version) is None
        ]
    for place, (version, whole) in enumerate(zip(own, versions, strict=True)):
        path = f"spec.versions[{place}]"
        if problems := old_dns_label(version.get("name") or ""):
            errors.append(invalid(child(path, "name"), version.get("name") or "", ",".join(problems)))
        errors += _version_errors(version, path, _has_status(whole), rules)
    errors += _versions_together(versions)
    if versions and (problems := old_dns_label(versions[0].get("name") or "")):
        errors.append(invalid("spec.version", versions[0].get("name") or "", ",".join(problems)))
    names = spec.get("names") or {}
    errors += [
        required(f"spec.names.{each}") for each in ("plural", "singular", "kind", "listKind") if not names.get(each)
    ]
    errors += name_errors(names, "spec.names")
    status = any(map(_has_status, versions))
    errors += _validation_errors(top.get("schema"), "spec.validation", status, rules)
    errors += subresource_errors(top.get("subresources"), "spec.subresources")
    for place, column in enumerate(top.get("additionalPrinterColumns") or []):
        errors += column_errors(column, f"spec.additionalPrinterColumns[{place}]")
    if fields := top.get("selectableFields"):
        schema = _schema_of(top) or (_schema_of(versions[0]) if "schema" not in top else None)
        if "schema" in top and schema is not None:
            errors += selectable_errors(fields, schema, "spec.selectableFields")
        else:
            said = "may only be set when validations.schema is included"
            errors.append(invalid("spec.selectableFields", "", said))
    return errors + conversion_errors(spec.get("conversion") or {}, "spec.conversion")


def _group_errors(group: str) -> list[FieldError]:
    if not group:
        return [required("spec.group")]
    if problems := dns_subdomain(group):
        return [invalid("spec.group", group, ",".join(problems))]
    if "." not in group:
        return [invalid("spec.group", group, "should be a domain with at least one dot")]
    return []


def _is_shared(versions: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether all versions say the same, which moves it above them."""
    first = versions[0].get(name) or None
    return all((version.get(name) or None) == first for version in versions)


def _schema_of(version: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found = (version.get("schema") or {}).get("openAPIV3Schema")
    return found if isinstance(found, Mapping) else None


def _has_status(version: Mapping[str, Any]) -> bool:
    return (version.get("subresources") or {}).get("status") is not None


def _versions_together(versions: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    errors: list[FieldError] = []
    names = [version.get("name") or "" for version in versions]
    if len(set(names)) != len(names):
        errors.append(invalid("spec.versions", list(versions), "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        said = "must have exactly one version marked as storage version"
        errors.append(invalid("spec.versions", list(versions) or None, said))
    return errors


def _version_errors(version: Mapping[str, Any], path: str, status: bool, rules: RuleCheck | None) -> list[FieldError]:
    errors = warning_errors(version, child(path, "deprecationWarning"))
    errors += _validation_errors(version.get("schema"), child(path, "schema"), status, rules)
    errors += subresource_errors(version.get("subresources"), child(path, "subresources"))
    for place, column in enumerate(version.get("additionalPrinterColumns") or []):
        errors += column_errors(column, index(child(path, "additionalPrinterColumns"), place))
    if fields := version.get("selectableFields"):
        where = child(path, "selectableFields")
        schema = _schema_of(version)
        if schema is None:
            said = "may only be set when `version.schema.openAPIV3Schema` is not included"
            errors.append(invalid(where, "", said))
        else:
            errors += selectable_errors(fields, schema, where)
    return errors


# -- schemas ----------------------------------------------------------------------------------------------------------


def _validation_errors(
    validation: Mapping[str, Any] | None, path: str, status: bool, rules: RuleCheck | None
) -> list[FieldError]:
    schema = (validation or {}).get("openAPIV3Schema")
    if not isinstance(schema, Mapping):
        return []
    where = child(path, "openAPIV3Schema")
    errors = _root_errors(schema, path) if status else []
    if schema.get("nullable"):
        errors.append(forbidden(f"{where}.nullable", "nullable cannot be true at the root"))
    late: list[FieldError] = []
    if _has_unsupported(schema):
        # Said only when nothing else is wrong: most such keywords have errors of their own.
        late = [invalid(where, "", "OpenAPIV3Schema 'schema' is not supported")]
    else:
        structural = structure_errors(schema, where)
        errors += structural or _default_errors(schema, where)
    sound = not errors
    found = openapi_errors(schema, where)
    errors += found
    if sound and not found and rules is not None:
        errors += rules(schema, where)
    return errors or late


def _default_errors(schema: Mapping[str, Any], path: str) -> list[FieldError]:
    try:
        return default_errors(Node(schema, stored=False), path)
    except SchemaShapeError as error:
        return [invalid(path, "", str(error))]


def _has_unsupported(schema: Any) -> bool:
    """Whether a schema has what no structural schema can be read with; `openapi_errors` says it better."""
    if isinstance(schema, list):
        return any(map(_has_unsupported, schema))
    if not isinstance(schema, Mapping):
        return False
    if schema.get("x-kubernetes-preserve-unknown-fields") is False or isinstance(schema.get("items"), list):
        return True
    names = ("id", "$schema", "$ref", "patternProperties", "dependencies", "definitions")
    if any(schema.get(name) for name in names) or schema.get("additionalItems") is not None:
        return True
    below = [schema.get(name) for name in ("items", "additionalProperties", "not", "allOf", "anyOf", "oneOf")]
    return any(map(_has_unsupported, [*below, *(schema.get("properties") or {}).values()]))


def _root_errors(schema: Mapping[str, Any], path: str) -> list[FieldError]:
    """With the status subresource, the root may only say what holds for the status alone as well."""
    for name, each in schema.items():
        if each is None or ((each is False or each == "") and name not in _SET_WHEN_EMPTY):
            continue
        if name == "type" and each != "object":
            said = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
            return [invalid(child(path, "openAPIV3Schema.type"), each, said)]
        if name not in _AT_ROOT_WITH_STATUS:
            said = (
                f"only [{_GO_NAMES}] fields are allowed at the root of the schema if the status subresource is enabled"
            )
            return [invalid(child(path, "openAPIV3Schema"), dict(schema), said)]
    return []
