"""Access reviews: may somebody do something, may I, and what may I at all.

What is posted is answered with its status and stored nowhere. Rules: `kubernetes/pkg/registry/authorization`,
`kubernetes/pkg/apis/authorization/validation`.

| kind | about | may be asked by |
|---|---|---|
| SubjectAccessReview | anybody, anything | who may create it |
| LocalSubjectAccessReview | anybody, in one namespace | who may create it there |
| SelfSubjectAccessReview | oneself, anything | whoever is known |
| SelfSubjectRulesReview | oneself, all rules of a namespace | whoever is known |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kubewright.model.fieldselector import FieldSelector
from kubewright.model.selector import Operator, Requirement, Selector
from kubewright.schema.structural.fielderrors import FieldError, forbidden, invalid, required
from kubewright.schema.structural.gotext import GoStruct

from ..builtin.validation.labels import requirement_errors
from ..errors import bad_request, invalid_of
from ..options import write_options
from ..registry.call import Call
from ..registry.create import track
from ..request import User
from .attributes import AuthorizationAttributes, Decision
from .rbac import RoleAuthorizer

__all__ = ["review_access", "review_local_access", "review_own_access", "review_own_rules"]

Object = dict[str, Any]

_GROUP: Final = "authorization.k8s.io"
_ONE_OF: Final = "exactly one of nonResourceAttributes or resourceAttributes must be specified"


async def review_access(call: Call, review: Object, is_dry_run: bool) -> Object:
    """POST subjectaccessreviews. Raises StatusError."""
    spec = _begun(call, review)
    _refuse([*_spec_errors(spec, of_somebody=True), *_meta_errors(review, "must be empty")])
    return _answered(call, review, _somebody(spec))


async def review_local_access(call: Call, review: Object, is_dry_run: bool) -> Object:
    """POST localsubjectaccessreviews of a namespace. Raises StatusError."""
    spec, namespace = _begun(call, review), call.route.namespace
    errors = _spec_errors(spec, of_somebody=True)
    errors += _meta_errors(review, "must be empty except for namespace", ("namespace",))
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and (asked := resource.get("namespace", "")) != namespace:
        errors.append(invalid("spec.resourceAttributes.namespace", asked, "must match metadata.namespace"))
    if path is not None:
        errors.append(invalid("spec.nonResourceAttributes", _path_shown(path), "disallowed on this kind of request"))
    _refuse(errors)
    return _answered(call, review, _somebody(spec))


async def review_own_access(call: Call, review: Object, is_dry_run: bool) -> Object:
    """POST selfsubjectaccessreviews. Raises StatusError."""
    spec = _begun(call, review)
    _refuse([*_spec_errors(spec, of_somebody=False), *_meta_errors(review, "must be empty")])
    return _answered(call, review, call.request.user)


async def review_own_rules(call: Call, review: Object, is_dry_run: bool) -> Object:
    """POST selfsubjectrulesreviews. Raises StatusError."""
    namespace = (review.get("spec") or {}).get("namespace")
    if not namespace:
        raise bad_request("no namespace on request")
    status: Object = {"resourceRules": [], "nonResourceRules": [], "incomplete": False}
    authorizer = call.backend.authorizer
    if isinstance(authorizer, RoleAuthorizer):
        rules = authorizer.rules_of(call.request.user, namespace)
        for each in rules.held:
            raw = each.rule.raw
            if raw.get("resources"):
                names = ("verbs", "apiGroups", "resources", "resourceNames")
                status["resourceRules"].append({name: raw[name] for name in names if raw.get(name)})
            if raw.get("nonResourceURLs"):
                status["nonResourceRules"].append({name: raw[name] for name in ("verbs", "nonResourceURLs")})
        if rules.absent:
            status["evaluationError"] = rules.problem
    return {"kind": review["kind"], "apiVersion": review["apiVersion"], "metadata": {}, "spec": {}, "status": status}


# -- what is asked ----------------------------------------------------------------------------------------------------


def _begun(call: Call, review: Object) -> Object:
    """What is asked. Who sent it is noted in the review, though nobody will ever read that."""
    track(call, None, review, write_options(call.request.query, "CreateOptions"))
    return review.get("spec") or {}


def _somebody(spec: Object) -> User:
    extra = {name: tuple(values or ()) for name, values in (spec.get("extra") or {}).items()}
    return User(spec.get("user", ""), tuple(spec.get("groups") or ()), spec.get("uid", ""), extra)


def _answered(call: Call, review: Object, user: User) -> Object:
    spec = review["spec"]
    resource = spec.get("resourceAttributes")
    if resource is None:
        path = spec["nonResourceAttributes"]
        asked = AuthorizationAttributes(user, path.get("verb", ""), path=path.get("path", ""), is_resource=False)
    else:
        asked = AuthorizationAttributes(
            user,
            resource.get("verb", ""),
            resource.get("group", ""),
            resource.get("resource", ""),
            resource.get("subresource", ""),
            resource.get("namespace", ""),
            resource.get("name", ""),
            resource.get("version") or "*",
        )
    authorizer = call.backend.authorizer
    decision = Decision("allowed") if authorizer is None else authorizer.authorize(asked)
    status: Object = {"allowed": decision.allowed}
    if decision.verdict == "denied":
        status["denied"] = True
    if decision.reason:
        status["reason"] = decision.reason
    if said := _selector_problems(resource or {}):
        status["evaluationError"] = said
    return {**review, "status": status}


# -- what is wrong with it --------------------------------------------------------------------------------------------


def _refuse(errors: Sequence[FieldError]) -> None:
    """Raises StatusError where there are errors. The server has forgotten the kind when it says so."""
    if errors:
        raise invalid_of(f".{_GROUP}", _GROUP, "", "", errors)


def _meta_errors(review: Object, said: str, allowed: tuple[str, ...] = ()) -> list[FieldError]:
    meta = {name: each for name, each in review["metadata"].items() if name not in ("managedFields", *allowed) and each}
    if not meta:
        return []
    return [invalid("metadata", _meta_shown(review["metadata"]), said)]


def _meta_shown(meta: Object) -> GoStruct:
    """Metadata in the order of Go's fields."""
    made = GoStruct({name: meta[name] for name in _META if name in meta})
    if "managedFields" in made:
        made["managedFields"] = [
            GoStruct({name: each[name] for name in _MANAGED if name in each}) for each in made["managedFields"]
        ]
    return made


_META: Final = (
    *("name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers"),
    "managedFields",
)
_MANAGED: Final = ("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource")


def _spec_errors(spec: Object, *, of_somebody: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if (resource is None) is (path is None):
        errors.append(invalid("spec", _path_shown(path), _ONE_OF))
    if of_somebody and not spec.get("user") and not spec.get("groups"):
        errors.append(invalid("spec.user", spec.get("user", ""), "at least one of user or group must be specified"))
    for name in ("fieldSelector", "labelSelector"):
        selector = (resource or {}).get(name)
        if selector is not None:
            errors += _selector_errors(f"spec.resourceAttributes.{name}", selector, is_label=name == "labelSelector")
    return errors


def _path_shown(path: Object | None) -> Any:
    return path if path is None else GoStruct({"Path": path.get("path", ""), "Verb": path.get("verb", "")})


def _selector_errors(path: str, selector: Object, *, is_label: bool) -> list[FieldError]:
    raw, requirements = selector.get("rawSelector", ""), selector.get("requirements") or []
    errors: list[FieldError] = []
    if raw and requirements:
        errors.append(invalid(f"{path}.rawSelector", raw, "may not specified at the same time as requirements"))
    if not raw and not requirements:
        said = f"when {path} is specified, requirements or rawSelector is required"
        errors.append(required(f"{path}.requirements", said))
    for place, each in enumerate(requirements):
        where = f"{path}.requirements[{place}]"
        errors += requirement_errors(where, each, any_operator=True) if is_label else _field_errors(where, each)
    return errors


def _field_errors(path: str, requirement: Object) -> list[FieldError]:
    """Unknown operators are no error: newer clients may know more than the server."""
    errors: list[FieldError] = []
    if not requirement.get("key"):
        errors.append(required(f"{path}.key", "must be specified"))
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    if operator in ("In", "NotIn") and not values:
        errors.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    if operator in ("Exists", "DoesNotExist") and values:
        said = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        errors.append(forbidden(f"{path}.values", said))
    return errors


# -- selectors that cannot be read ------------------------------------------------------------------------------------

_OPERATORS: Final[Mapping[str, Operator]] = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


def _selector_problems(resource: Object) -> str:
    """What is said of selectors that are not, or not all, understood: they only ever restrict what is asked."""
    said: list[str] = []
    for name in ("fieldSelector", "labelSelector"):
        selector = resource.get(name) or {}
        reads = [_reads_raw(name, selector["rawSelector"])] if selector.get("rawSelector") else []
        reads += [_reads(name, each) for each in selector.get("requirements") or ()]
        if not all(reads):
            how = "partially ignored" if any(reads) else "ignored"
            said.append(f"spec.resourceAttributes.{name} {how} due to parse error")
    return "; ".join(said)


def _reads_raw(name: str, text: str) -> bool:
    try:
        (FieldSelector if name == "fieldSelector" else Selector).parse(text)
    except ValueError:
        return False
    return True


def _reads(name: str, requirement: Object) -> bool:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    if name == "fieldSelector":
        return operator in ("In", "NotIn") and len(values) == 1
    if operator not in _OPERATORS:
        return False
    try:
        Requirement(requirement.get("key", ""), _OPERATORS[operator], values)
    except ValueError:
        return False
    return True
