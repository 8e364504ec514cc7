"""Policies with their bindings: what they are about, and the parameters that a binding gives a policy.

A policy without bindings is asked nothing; a binding without its policy says nothing. Policies come in the order of
their names, the bindings of one too. What cannot be found out is a `Misconfigured`, which the failure policy decides.
Rules: apiserver/pkg/admission/plugin/policy/{generic,matching}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from kubewright.model.selector import LabelSelector, Selector

from ..catalog import ResourceType
from ..errors import StatusError, called
from ..registry.backend import Attributes, Backend
from ..registry.call import resource_key
from ..registry.served import as_served
from ..store import Entry
from .rules import RuleSet, Scopes

__all__ = ["Binding", "Matching", "Misconfigured", "Policy", "bound_policies", "parameters"]

Evaluator = TypeVar("Evaluator")


class Misconfigured(Exception):
    """A policy or binding that cannot be asked; the text is the server's."""


class Matching:
    """A `matchConstraints` or `matchResources`."""

    __slots__ = ("_excluded", "_rules", "_scopes")

    def __init__(self, resources: Mapping[str, Any]) -> None:
        policy = str(resources.get("matchPolicy") or "Exact")
        self._rules = RuleSet(resources.get("resourceRules"), policy)
        self._excluded = RuleSet(resources.get("excludeResourceRules"), policy)
        self._scopes = Scopes(resources.get("namespaceSelector"), resources.get("objectSelector"))

    def matched(self, attributes: Attributes, backend: Backend) -> ResourceType | None:
        """As which resource the request matches; None: it does not. Raises Misconfigured."""
        is_exempt, error = self._scopes.exempt(attributes, backend.store)
        if is_exempt:
            return None
        if self._excluded and self._excluded.match(attributes, backend.catalog) is not None:
            return None
        found = self._rules.match(attributes, backend.catalog) if self._rules else attributes.kind
        if found is not None and error is not None:
            raise Misconfigured(error.message)
        return found


class Binding(Struct):
    """A binding of a policy. `actions` are those of a validating one."""

    name: str
    matching: Matching | None
    param_ref: Mapping[str, Any] | None
    actions: Sequence[str]

    def matches(self, attributes: Attributes, backend: Backend) -> bool:
        """Whether it is about the request. Raises Misconfigured."""
        return self.matching is None or self.matching.matched(attributes, backend) is not None


class Policy(Generic[Evaluator]):
    """A policy and its bindings. It is compiled when it is first asked."""

    def __init__(self, entry: Entry, make: Callable[[Mapping[str, Any]], Evaluator]) -> None:
        self.entry, self.name = entry, str(entry.object["metadata"]["name"])
        self.spec: Mapping[str, Any] = entry.object.get("spec") or {}
        self.matching = Matching(self.spec.get("matchConstraints") or {})
        self.ignores_failures = self.spec.get("failurePolicy") == "Ignore"
        self.bindings: list[Binding] = []
        self._make = make
        self._evaluator: Evaluator | None = None

    @property
    def evaluator(self) -> Evaluator:
        """The policy, compiled."""
        if self._evaluator is None:
            self._evaluator = self._make(self.spec)
        return self._evaluator


def bound_policies(
    policies: Iterable[Entry],
    bindings: Iterable[Entry],
    make: Callable[[Mapping[str, Any]], Evaluator],
    known: Iterable[Policy[Evaluator]] = (),
) -> list[Policy[Evaluator]]:
    """The policies that have bindings.

    Args:
        known: those of before; what has not changed is not compiled again.
    """
    before = {each.entry: each for each in known}
    found: dict[str, Policy[Evaluator]] = {}
    for entry in policies:
        policy = before.get(entry) or Policy(entry, make)
        policy.bindings = []
        found[policy.name] = policy
    for entry in bindings:
        spec = entry.object.get("spec") or {}
        bound = found.get(str(spec.get("policyName", "")))
        if bound is not None:
            resources = spec.get("matchResources")
            matching = None if resources is None else Matching(resources)
            name = str(entry.object["metadata"]["name"])
            bound.bindings.append(Binding(name, matching, spec.get("paramRef"), spec.get("validationActions") or ()))
    return [each for each in found.values() if each.bindings]


async def parameters(
    param_kind: Mapping[str, Any] | None,
    param_ref: Mapping[str, Any] | None,
    namespace: str,
    backend: Backend,
) -> list[dict[str, Any] | None]:
    """The parameters for which a policy is asked; None for a policy without any. Raises Misconfigured."""
    if param_kind is None:
        return [None]
    api_version, kind = str(param_kind.get("apiVersion", "")), str(param_kind.get("kind", ""))
    served = backend.catalog.of_kind(api_version, kind)
    if served is None:
        raise Misconfigured(f"failed to find resource referenced by paramKind: '{called(api_version, kind)}'")
    if param_ref is None:
        return [None]
    found = await _found(served, param_ref, namespace, backend)
    if not found and param_ref.get("parameterNotFoundAction") == "Deny":
        raise Misconfigured("no params found for policy binding with `Deny` parameterNotFoundAction")
    return list(found)


async def _found(
    served: ResourceType, param_ref: Mapping[str, Any], namespace: str, backend: Backend
) -> list[dict[str, Any]]:
    given = str(param_ref.get("namespace") or "")
    if not served.namespaced:
        if given:
            raise Misconfigured("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        namespace = ""
    elif not (namespace := given or namespace):
        said = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
        raise Misconfigured(said)
    collection = backend.store.collection(resource_key(served.storage.group, served.storage.plural))
    scope = f"{namespace}/" if namespace else ""
    if name := param_ref.get("name"):
        entry = collection.live.get(f"{scope}{name}")
        entries = [] if entry is None else [entry]
    else:
        try:
            selector = Selector.of(msgspec.convert(param_ref.get("selector") or {}, LabelSelector))
        except (msgspec.ValidationError, ValueError) as error:
            raise Misconfigured(str(error)) from None
        found = collection.page(scope).entries
        entries = [each for each in found if selector.matches(each.object["metadata"].get("labels") or {})]
    try:
        return [(await as_served(served, each)).object for each in entries]
    except StatusError as error:
        raise Misconfigured(error.message) from None
