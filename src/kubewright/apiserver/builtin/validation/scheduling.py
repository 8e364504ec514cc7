"""Checks of what places a Pod: affinity, tolerations, spread over topologies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kubewright.schema.structural.fielderrors import duplicate, forbidden, invalid, not_supported, required
from kubewright.schema.structural.metarules import dns_label, dns_subdomain, label_value, qualified_name

from .labels import label_selector
from .texts import Errors, Object, check, positive

__all__ = ["affinity", "node_selector", "node_selector_term", "spread", "taint_effect", "tolerations"]

_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_NO_OPERATOR: Final = "not a valid selector operator"
_WEIGHT: Final = "must be in the range 1-100"


def affinity(path: str, found: Object | None) -> Errors:
    """Errors of `spec.affinity`."""
    errors: Errors = []
    node = (found or {}).get("nodeAffinity")
    if node is not None:
        here = f"{path}.nodeAffinity"
        if _REQUIRED in node:
            errors += node_selector(f"{here}.{_REQUIRED}", node[_REQUIRED])
        for place, term in enumerate(node.get(_PREFERRED, ())):
            where = f"{here}.{_PREFERRED}[{place}]"
            if not 1 <= term.get("weight", 0) <= 100:
                errors.append(invalid(f"{where}.weight", term.get("weight", 0), _WEIGHT))
            errors += node_selector_term(f"{where}.preference", term.get("preference") or {}, is_lax=True)
    for name in ("podAffinity", "podAntiAffinity"):
        if (pods := (found or {}).get(name)) is not None:
            errors += _pod_affinity(f"{path}.{name}", pods)
    return errors


def node_selector(path: str, selector: Object) -> Errors:
    """Errors of a NodeSelector."""
    terms = selector.get("nodeSelectorTerms")
    if not terms:
        return [required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")]
    errors: Errors = []
    for place, term in enumerate(terms):
        errors += node_selector_term(f"{path}.nodeSelectorTerms[{place}]", term)
    return errors


def node_selector_term(path: str, term: Object, *, is_lax: bool = False) -> Errors:
    """Errors of one term. A lax one may look for values that no label can have."""
    errors: Errors = []
    for place, each in enumerate(term.get("matchExpressions", ())):
        errors += _node_requirement(f"{path}.matchExpressions[{place}]", each, is_lax=is_lax)
    for place, each in enumerate(term.get("matchFields", ())):
        errors += _node_field(f"{path}.matchFields[{place}]", each)
    return errors


def _node_requirement(path: str, requirement: Object, *, is_lax: bool) -> Errors:
    errors: Errors = []
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    where = f"{path}.values"
    if operator in ("In", "NotIn"):
        if not values:
            errors.append(required(where, "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            errors.append(forbidden(where, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            errors.append(required(where, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
    else:
        errors.append(invalid(f"{path}.operator", operator, _NO_OPERATOR))
    errors += check(f"{path}.key", requirement.get("key", ""), qualified_name)
    if not is_lax:
        for place, value in enumerate(values):
            errors += check(f"{where}[{place}]", value, label_value)
    return errors


def _node_field(path: str, requirement: Object) -> Errors:
    errors: Errors = []
    operator, values, key = (requirement.get(each) or "" for each in ("operator", "values", "key"))
    if operator not in ("In", "NotIn"):
        errors.append(invalid(f"{path}.operator", operator, _NO_OPERATOR))
    elif len(values) != 1:
        said = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(required(f"{path}.values", said))
    if key != "metadata.name":
        errors.append(invalid(f"{path}.key", key, "not a valid field selector key"))
    else:
        for place, value in enumerate(values):
            errors += check(f"{path}.values[{place}]", value, dns_subdomain)
    return errors


def _pod_affinity(path: str, found: Object) -> Errors:
    errors: Errors = []
    for place, term in enumerate(found.get(_REQUIRED, ())):
        errors += _pod_term(f"{path}.{_REQUIRED}[{place}]", term)
    for place, weighted in enumerate(found.get(_PREFERRED, ())):
        here = f"{path}.{_PREFERRED}[{place}]"
        if not 1 <= weighted.get("weight", 0) <= 100:
            errors.append(invalid(f"{here}.weight", weighted.get("weight", 0), _WEIGHT))
        errors += _pod_term(f"{here}.podAffinityTerm", weighted.get("podAffinityTerm") or {})
    return errors


def _pod_term(path: str, term: Object) -> Errors:
    errors = label_selector(f"{path}.labelSelector", term.get("labelSelector"))
    errors += label_selector(f"{path}.namespaceSelector", term.get("namespaceSelector"))
    for name in term.get("namespaces", ()):
        errors += check(f"{path}.namespace", name, dns_label)
    for name in ("matchLabelKeys", "mismatchLabelKeys"):
        errors += _label_keys(f"{path}.{name}", term.get(name, ()), term.get("labelSelector"))
    topology = term.get("topologyKey", "")
    if not topology:
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    return errors + check(f"{path}.topologyKey", topology, qualified_name)


def _label_keys(path: str, keys: Iterable[str], selector: Object | None) -> Errors:
    keys = list(keys)
    if keys and selector is None:
        return [forbidden(path, "must not be specified when labelSelector is not set")]
    return [each for place, key in enumerate(keys) for each in check(f"{path}[{place}]", key, qualified_name)]


def taint_effect(path: str, effect: str, *, may_be_empty: bool = False) -> Errors:
    """Errors of the effect of a taint."""
    if not effect and not may_be_empty:
        return [required(path)]
    return [] if effect in _EFFECTS else [not_supported(path, effect, _EFFECTS)]


def tolerations(path: str, found: Iterable[Object]) -> Errors:
    """Errors of `spec.tolerations`."""
    errors: Errors = []
    for place, each in enumerate(found):
        here = f"{path}[{place}]"
        key, operator = each.get("key", ""), each.get("operator", "")
        value, effect = each.get("value", ""), each.get("effect", "")
        if key:
            errors += check(f"{here}.key", key, qualified_name)
        elif operator != "Exists":
            said = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            errors.append(invalid(f"{here}.operator", operator, said))
        if "tolerationSeconds" in each and effect != "NoExecute":
            said = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.append(invalid(f"{here}.effect", effect, said))
        errors += _toleration_operator(f"{here}.operator", operator, value)
        if effect:
            errors += taint_effect(f"{here}.effect", effect, may_be_empty=True)
    return errors


def _toleration_operator(path: str, operator: str, value: str) -> Errors:
    if operator in ("Equal", ""):
        problems = label_value(value)
        return [invalid(path, value, ";".join(problems))] if problems else []
    if operator == "Exists":
        return [invalid(path, value, "value must be empty when `operator` is 'Exists'")] if value else []
    known = ("Equal", "Exists", "Lt", "Gt") if operator in ("Lt", "Gt") else ("Equal", "Exists")
    return [not_supported(path, operator, known)]


def spread(path: str, constraints: list[Object]) -> Errors:
    """Errors of `spec.topologySpreadConstraints`."""
    errors: Errors = []
    for place, each in enumerate(constraints):
        here = f"{path}[{place}]"
        topology, action = each.get("topologyKey", ""), each.get("whenUnsatisfiable", "")
        errors += positive(f"{here}.maxSkew", each.get("maxSkew", 0))
        if not topology:
            errors.append(required(f"{here}.topologyKey", "can not be empty"))
        known = ("DoNotSchedule", "ScheduleAnyway")
        if action not in known:
            errors.append(not_supported(f"{here}.whenUnsatisfiable", action, known))
        pair = (topology, action)
        if any(
            (one.get("topologyKey", ""), one.get("whenUnsatisfiable", "")) == pair for one in constraints[place + 1 :]
        ):
            where = f"{here}.{{topologyKey, whenUnsatisfiable}}"
            errors.append(duplicate(where, f"{{{topology}, {action}}}"))
        errors += _min_domains(f"{here}.minDomains", each.get("minDomains"), action)
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = each.get(name)
            if policy is not None and policy not in ("Honor", "Ignore"):
                errors.append(not_supported(f"{here}.{name}", policy, ("Honor", "Ignore")))
        selector = each.get("labelSelector")
        errors += _label_keys(f"{here}.matchLabelKeys", each.get("matchLabelKeys", ()), selector)
        errors += label_selector(f"{here}.labelSelector", selector)
    return errors


def _min_domains(path: str, least: int | None, action: str) -> Errors:
    if least is None:
        return []
    errors = positive(path, least)
    if action != "DoNotSchedule":
        said = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.append(invalid(path, least, said))
    return errors
