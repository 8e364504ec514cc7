"""Checks of admission policies and their bindings; their expressions are compiled as new ones.

Rules: kubernetes/pkg/apis/admissionregistration/validation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kubewright.schema.structural.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubewright.schema.structural.metarules import dns_subdomain, old_dns_label, path_segment, qualified_name

from .labels import label_selector
from .texts import Errors, Object
from .webhooks import conditions, rule_errors

if TYPE_CHECKING:
    from kubewright.schema.cel.admission.expressions import Expression, Variables

__all__ = ["mutating_binding", "mutating_policy", "validating_binding", "validating_policy"]

_ACTIONS: Final = ("Audit", "Deny", "Warn")
_REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_MUTABLE: Final = ("*", "CONNECT", "CREATE", "UPDATE")
_MOST_ANNOTATIONS: Final = 20
_LONGEST_VALUE: Final = 5 * 1024
_IDENTIFIER: Final = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*", re.ASCII)


def validating_policy(obj: Object) -> Errors:
    """Errors of a ValidatingAdmissionPolicy."""
    from kubewright.schema.cel.admission import ValidatingPolicy

    spec = obj.get("spec") or {}
    compiled = ValidatingPolicy(spec, is_new=True)
    errors = _common(spec)
    wrong = dict(compiled.match_conditions.errors)
    errors += conditions("spec.matchConditions", spec.get("matchConditions") or [], wrong)
    errors += _variables(spec, compiled.variables)
    validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not validations and not annotations:
        said = "validations or auditAnnotations must contain at least one item"
        return [*errors, required("spec.validations", said), required("spec.auditAnnotations", said)]
    for place, (each, expression, message) in enumerate(
        zip(validations, compiled.validations, compiled.messages, strict=True)
    ):
        errors += _validation(f"spec.validations[{place}]", each, expression, message)
    if len(annotations) > _MOST_ANNOTATIONS:
        said = f"must not have more than {_MOST_ANNOTATIONS} auditAnnotations"
        errors.append(invalid("spec.auditAnnotations", annotations, said))
    keys: set[str] = set()
    for place, (each, expression) in enumerate(zip(annotations, compiled.audit_annotations, strict=True)):
        here, key = f"spec.auditAnnotations[{place}]", each.get("key", "")
        errors += _annotation(here, str(obj["metadata"].get("name") or ""), each, expression)
        if key in keys:
            errors.append(duplicate(f"{here}.key", key))
        keys.add(key)
    return errors


def mutating_policy(obj: Object) -> Errors:
    """Errors of a MutatingAdmissionPolicy."""
    from kubewright.schema.cel.admission import MutatingPolicy

    spec = obj.get("spec") or {}
    compiled = MutatingPolicy(spec, is_new=True)
    errors = _common(spec)
    errors += _mutable("spec.matchConstraints", spec.get("matchConstraints") or {})
    wrong = dict(compiled.match_conditions.errors)
    errors += conditions("spec.matchConditions", spec.get("matchConditions") or [], wrong)
    errors += _variables(spec, compiled.variables)
    mutations = spec.get("mutations") or []
    if not mutations:
        errors.append(required("spec.mutations", "mutations must contain at least one item"))
    for place, (each, mutation) in enumerate(zip(mutations, compiled.mutations, strict=True)):
        errors += _mutation(f"spec.mutations[{place}]", each, mutation.expression)
    again = spec.get("reinvocationPolicy")
    if not again:
        errors.append(required("spec.reinvocationPolicy"))
    elif again not in ("IfNeeded", "Never"):
        errors.append(not_supported("spec.reinvocationPolicy", again, ("IfNeeded", "Never")))
    return errors


def validating_binding(obj: Object) -> Errors:
    """Errors of a ValidatingAdmissionPolicyBinding."""
    spec = obj.get("spec") or {}
    path, actions = "spec.validationActions", spec.get("validationActions") or []
    errors, seen = _binding(spec), set()
    for place, action in enumerate(actions):
        if action not in _ACTIONS:
            errors.append(not_supported(f"{path}[{place}]", action, _ACTIONS))
        if action in seen:
            errors.append(duplicate(f"{path}[{place}]", action))
        seen.add(action)
    if {"Deny", "Warn"} <= seen:
        said = "must not contain both Deny and Warn (repeating the same validation failure information in the API"
        errors.append(invalid(path, actions, f"{said} response and headers serves no purpose)"))
    if not seen:
        errors.append(required(path))
    return errors


def mutating_binding(obj: Object) -> Errors:
    """Errors of a MutatingAdmissionPolicyBinding."""
    spec = obj.get("spec") or {}
    return _binding(spec) + _mutable("spec.matchResources", spec.get("matchResources") or {})


# -- parts ------------------------------------------------------------------------------------------------------------


def _common(spec: Object) -> Errors:
    failure = spec.get("failurePolicy")
    errors = [required("spec.failurePolicy")] if failure is None else []
    if failure not in (None, "Fail", "Ignore"):
        errors.append(not_supported("spec.failurePolicy", failure, ("Fail", "Ignore")))
    if (kind := spec.get("paramKind")) is not None:
        errors += _param_kind("spec.paramKind", kind)
    constraints = spec.get("matchConstraints")
    if constraints is None:
        return [*errors, required("spec.matchConstraints")]
    errors += _resources("spec.matchConstraints", constraints)
    if not constraints.get("resourceRules"):
        errors.append(required("spec.matchConstraints.resourceRules"))
    return errors


def _param_kind(path: str, kind: Object) -> Errors:
    api_version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    errors: Errors = []
    group, _, version = api_version.rpartition("/")
    if not api_version:
        errors.append(required(f"{path}.apiVersion"))
    elif api_version.count("/") > 1:
        errors.append(invalid(f"{path}.apiVersion", api_version, f"unexpected GroupVersion string: {api_version}"))
    else:
        if group and (problems := dns_subdomain(group)):
            errors.append(invalid(f"{path}.apiVersion", group, ",".join(problems)))
        if not version:
            errors.append(invalid(f"{path}.apiVersion", api_version, "version must be specified"))
        elif problems := old_dns_label(version):
            errors.append(invalid(f"{path}.apiVersion", version, ",".join(problems)))
    if not name:
        errors.append(required(f"{path}.kind"))
    elif problems := old_dns_label(name.lower()):
        said = f"may have mixed case, but should otherwise match: {','.join(problems)}"
        errors.append(invalid(f"{path}.kind", name, said))
    return errors


def _resources(path: str, resources: Object) -> Errors:
    policy = resources.get("matchPolicy")
    errors = [required(f"{path}.matchPolicy")] if policy is None else []
    if policy not in (None, "Equivalent", "Exact"):
        errors.append(not_supported(f"{path}.matchPolicy", policy, ("Equivalent", "Exact")))
    for name in ("namespaceSelector", "objectSelector"):
        errors += label_selector(f"{path}.{name}", resources.get(name))
    for name in ("resourceRules", "excludeResourceRules"):
        for place, each in enumerate(resources.get(name) or ()):
            here = f"{path}.{name}[{place}]"
            errors += _names(f"{here}.resourceNames", each.get("resourceNames") or ())
            errors += rule_errors(here, each)
    return errors


def _names(path: str, names: Sequence[str]) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for place, name in enumerate(names):
        errors += [invalid(f"{path}[{place}]", name, said) for said in path_segment(name)]
        if name in seen:
            errors.append(duplicate(f"{path}[{place}]", name))
        seen.add(name)
    return errors


def _mutable(path: str, resources: Object) -> Errors:
    """Only what is created or changed can be mutated."""
    where = f"{path}.resourceRules.operations"
    return [
        not_supported(where, operation, _MUTABLE)
        for each in resources.get("resourceRules") or ()
        for operation in each.get("operations") or ()
        if operation not in _MUTABLE
    ]


def _binding(spec: Object) -> Errors:
    name = spec.get("policyName") or ""
    errors = [] if name else [required("spec.policyName")]
    if name:
        errors += [invalid("spec.policyName", name, said) for said in dns_subdomain(name)]
    if (ref := spec.get("paramRef")) is not None:
        errors += _param_ref("spec.paramRef", ref)
    if (resources := spec.get("matchResources")) is not None:
        errors += _resources("spec.matchResources", resources)
    return errors


def _param_ref(path: str, ref: Object) -> Errors:
    name, selector, action = ref.get("name") or "", ref.get("selector"), ref.get("parameterNotFoundAction")
    both = "name and selector are mutually exclusive"
    errors: Errors = []
    if name:
        errors += [invalid(f"{path}.name", name, said) for said in path_segment(name)]
        if selector is not None:
            errors.append(forbidden(f"{path}.name", both))
    if selector is not None:
        errors += label_selector(f"{path}.selector", selector)
        if name:
            errors.append(forbidden(f"{path}.selector", both))
    if not name and selector is None:
        errors.append(required(path, "one of name or selector must be specified"))
    if not action:
        errors.append(required(f"{path}.parameterNotFoundAction"))
    elif action not in ("Deny", "Allow"):
        errors.append(not_supported(f"{path}.parameterNotFoundAction", action, ("Deny", "Allow")))
    return errors


def _variables(spec: Object, compiled: Variables) -> Errors:
    from kubewright.schema.cel.schema_meta import RESERVED

    errors: Errors = []
    for place, each in enumerate(spec.get("variables") or ()):
        here, name, expression = f"spec.variables[{place}]", each.get("name") or "", each.get("expression") or ""
        if not name.strip():
            errors.append(required(f"{here}.name", "name is not specified"))
        elif not _IDENTIFIER.fullmatch(name) or name in RESERVED:
            errors.append(invalid(f"{here}.name", name, "must be a valid CEL identifier"))
        if not expression.strip():
            errors.append(required(f"{here}.expression", "expression is not specified"))
        elif name in compiled.compiled:
            errors += _compiled(f"{here}.expression", compiled.compiled[name], expression)
    return errors


def _compiled(path: str, expression: Expression, source: str) -> Errors:
    """What is wrong with an expression, if something is."""
    if not expression.error:
        return []
    if expression.is_internal:
        return [FieldError("InternalError", path, detail=expression.error)]
    return [invalid(path, source, expression.error)]


def _validation(path: str, each: Object, expression: Expression, message: Expression | None) -> Errors:
    errors: Errors = []
    if not (each.get("expression") or "").strip():
        errors.append(required(f"{path}.expression", "expression is not specified"))
    else:
        errors += _compiled(f"{path}.expression", expression, each["expression"])
    said = each.get("messageExpression") or ""
    if said and not said.strip():
        errors.append(invalid(f"{path}.messageExpression", said, "must be non-empty if specified"))
    elif said and message is not None:
        errors += _compiled(f"{path}.messageExpression", message, said)
    text = each.get("message") or ""
    if text and not text.strip():
        errors.append(invalid(f"{path}.message", text, "must be non-empty if specified"))
    elif re.search(r"[\n\r]", text.strip()):
        errors.append(invalid(f"{path}.message", text, "must not contain line breaks"))
    reason = each.get("reason")
    if reason is not None and reason not in _REASONS:
        errors.append(not_supported(f"{path}.reason", reason, _REASONS))
    return errors


def _annotation(path: str, policy: str, each: Object, expression: Expression) -> Errors:
    key, source = each.get("key") or "", each.get("valueExpression") or ""
    if policy:
        errors = [invalid(f"{path}.key", f"{policy}/{key}", said) for said in qualified_name(f"{policy}/{key}")]
    else:
        errors = [invalid(f"{path}.key", key, "requires metadata.name be non-empty")]
    if not source.strip():
        return [*errors, required(f"{path}.valueExpression", "valueExpression is not specified")]
    if len(source.strip().encode()) > _LONGEST_VALUE:
        said = f"must not exceed {_LONGEST_VALUE} bytes in length"
        return [*errors, required(f"{path}.valueExpression", said)]
    return errors + _compiled(f"{path}.valueExpression", expression, source)


def _mutation(path: str, each: Object, expression: Expression) -> Errors:
    type_ = each.get("patchType") or ""
    fields = {"JSONPatch": "jsonPatch", "ApplyConfiguration": "applyConfiguration"}
    if not type_:
        return [required(f"{path}.patchType")]
    if type_ not in fields:
        return [not_supported(f"{path}.patchType", type_, ("ApplyConfiguration", "JSONPatch"))]
    errors: Errors = []
    for name, field in fields.items():
        here, found = f"{path}.{field}", each.get(field)
        if name != type_:
            if found is not None:
                errors.append(invalid(here, f"{{{field}}}", f"must not be specified when patchType is {type_}"))
        elif found is None:
            errors.append(required(here, f"must be specified when patchType is {type_}"))
        elif not (source := (found.get("expression") or "").strip()):
            errors.append(required(f"{here}.expression"))
        else:
            errors += _compiled(f"{here}.expression", expression, source)
    return errors
