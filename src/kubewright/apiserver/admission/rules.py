"""Which requests a webhook or a policy is about: its rules, and the two selectors.

| a rule has | matches |
|---|---|
| `operations`, `apiGroups`, `apiVersions` | the same, or `*` |
| `resources` | `pods`, `pods/status`, `pods/*`, `*/scale`, `*` (no subresources), `*/*` |
| `scope` | Namespaced, Cluster (Namespaces are), `*` |
| `resourceNames` (policies only) | one of the names, or none given |

With match policy Equivalent a rule also matches another version of the resource, or another resource that is stored as
the same; then the object is shown as that one. Rules: apiserver/pkg/admission/plugin/webhook/predicates,
apiserver/pkg/admission/plugin/policy/matching.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from kubewright.model.selector import LabelSelector, Selector

from ..catalog import Catalog, ResourceType
from ..errors import StatusError, internal, not_found
from ..registry.backend import Attributes, ObjectKind
from ..registry.call import resource_key
from ..store import Store

__all__ = ["Rule", "RuleSet", "Scopes", "is_configuration", "namespace_object", "namespace_of"]

_CONFIGURATIONS: Final = frozenset(
    {
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    }
)
_NAMESPACES: Final = resource_key("", "namespaces")
_EVERYTHING: Final = Selector.of(LabelSelector())


def is_configuration(attributes: Attributes) -> bool:
    """Whether the request is for what configures admission itself; nobody but the server has a say in that."""
    kind = attributes.object_kind
    return kind.group == "admissionregistration.k8s.io" and kind.kind in _CONFIGURATIONS


class Rule:
    """One of `rules`, `resourceRules` or `excludeResourceRules`."""

    __slots__ = ("_groups", "_names", "_operations", "_resources", "_scope", "_versions")

    def __init__(self, rule: Mapping[str, Any]) -> None:
        self._groups = _either(rule.get("apiGroups"))
        self._versions = _either(rule.get("apiVersions"))
        self._operations = _either(rule.get("operations"))
        self._resources = [_split(each) for each in rule.get("resources") or ()]
        self._scope = rule.get("scope") or "*"
        self._names = frozenset(rule.get("resourceNames") or ())

    def matches(self, attributes: Attributes, resource: ResourceType) -> bool:
        """Whether the rule is about the request, taken as one for `resource`."""
        operations, groups, versions = self._operations, self._groups, self._versions
        return (
            (operations is None or attributes.operation in operations)
            and (groups is None or resource.group in groups)
            and (versions is None or resource.version in versions)
            and self._has(resource.plural, attributes.subresource)
            and self._is_in_scope(attributes, resource)
            and (not self._names or attributes.name in self._names)
        )

    def _has(self, plural: str, subresource: str) -> bool:
        return any((name in ("*", plural)) and (part == "*" or part == subresource) for name, part in self._resources)

    def _is_in_scope(self, attributes: Attributes, resource: ResourceType) -> bool:
        if self._scope == "*":
            return True
        is_cluster = not attributes.namespace or (resource.plural == "namespaces" and not resource.group)
        return is_cluster is (self._scope == "Cluster")


def _either(wanted: Iterable[str] | None) -> frozenset[str] | None:
    """The wanted names; None for all."""
    names = frozenset(wanted or ())
    return None if "*" in names else names


def _split(resource: str) -> tuple[str, str]:
    name, _, part = resource.partition("/")
    return name, part


class RuleSet:
    """The rules of one webhook or policy with its match policy."""

    __slots__ = ("_is_exact", "_rules")

    def __init__(self, rules: Sequence[Mapping[str, Any]] | None, match_policy: str) -> None:
        self._rules = tuple(map(Rule, rules or ()))
        self._is_exact = match_policy == "Exact"

    def __bool__(self) -> bool:
        return bool(self._rules)

    def match(self, attributes: Attributes, catalog: Catalog) -> ResourceType | None:
        """As which resource the request matches; None: it does not."""
        kind = attributes.kind
        for rule in self._rules:
            if rule.matches(attributes, kind):
                return kind
        if self._is_exact:
            return None
        others = list(_equivalents(attributes, catalog))
        for rule in self._rules:
            for other in others:
                if rule.matches(attributes, other):
                    return other
        return None


def _equivalents(attributes: Attributes, catalog: Catalog) -> Iterator[ResourceType]:
    """What else is stored as the same resource, and has the subresource."""
    kind, part = attributes.kind, attributes.subresource
    stored = (kind.storage.group, kind.storage.plural)
    for each in catalog.types:
        is_same = each is not kind and (each.storage.group, each.storage.plural) == stored
        if is_same and (not part or part in each.subresources):
            yield each


class Scopes:
    """The namespace selector and the object selector of one webhook, policy or binding."""

    __slots__ = ("_namespaces", "_objects", "_problem")

    def __init__(self, namespaces: Mapping[str, Any] | None, objects: Mapping[str, Any] | None) -> None:
        self._problem = ""
        self._namespaces = self._read(namespaces)
        self._objects = self._read(objects)

    def _read(self, selector: Mapping[str, Any] | None) -> Selector:
        if not selector:
            return _EVERYTHING
        try:
            return Selector.of(msgspec.convert(selector, LabelSelector))
        except (msgspec.ValidationError, ValueError) as error:
            self._problem = str(error)
            return _EVERYTHING

    def exempt(self, attributes: Attributes, store: Store) -> tuple[bool, StatusError | None]:
        """Whether the selectors leave the request out, and what is wrong: to be raised where the rules match."""
        if self._problem:
            return False, internal(self._problem)
        error = None
        if self._namespaces is not _EVERYTHING:
            try:
                if not self._has_namespace(attributes, store):
                    return True, None
            except StatusError as problem:
                error = problem
        return not self._has_object(attributes), error

    def _has_namespace(self, attributes: Attributes, store: Store) -> bool:
        kind = attributes.kind
        is_namespace = kind.plural == "namespaces"
        if not attributes.namespace and not is_namespace:
            return True  # what is in no namespace is never left out
        if is_namespace and not attributes.subresource and attributes.operation in ("CREATE", "UPDATE"):
            found = attributes.object
        else:
            found = namespace_of(attributes, store)
            if found is None:
                raise not_found(_Namespaces(), attributes.namespace)
        return self._namespaces.matches(_labels(found))

    def _has_object(self, attributes: Attributes) -> bool:
        selector = self._objects
        if selector is _EVERYTHING:
            return True
        return any(obj is not None and selector.matches(_labels(obj)) for obj in (attributes.object, attributes.old))


class _Namespaces:
    group, plural, kind = "", "namespaces", "Namespace"


def namespace_of(attributes: Attributes, store: Store) -> dict[str, Any] | None:
    """The namespace of a request, as it is stored."""
    entry = store.get(_NAMESPACES, attributes.namespace)
    return None if entry is None else entry.object


def namespace_object(attributes: Attributes, store: Store) -> dict[str, Any] | None:
    """The namespace as policies see it; None of what is in none, and of Namespaces themselves."""
    if not attributes.namespace or attributes.object_kind == ObjectKind("", "v1", "Namespace"):
        return None
    return namespace_of(attributes, store)


def _labels(obj: Mapping[str, Any] | None) -> Mapping[str, str]:
    return ((obj or {}).get("metadata") or {}).get("labels") or {}
