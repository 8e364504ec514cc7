"""Policy rules: what one allows, what it covers of another, how rules are compared and told. Pure.

| of a rule | matches |
|---|---|
| `verbs`, `apiGroups`, `resources` | what they name; `*` all |
| `resources: [pods/log]`, `[*/scale]` | a subresource; that of all resources |
| `resourceNames` | these objects only; empty: all |
| `nonResourceURLs` | these paths; `/logs/*` all below |

Rules: `kubernetes/pkg/apis/rbac/v1/evaluation_helpers.go`, `component-helpers/auth/rbac/validation`,
`kubernetes/pkg/registry/rbac/validation/policy_compact.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from kubewright.schema.structural.gotext import quoted

from .attributes import AuthorizationAttributes

__all__ = ["Rule", "atoms", "missing", "shown"]

_ALL: Final = "*"


class Rule:
    """One rule, read for many questions. `raw` is the rule as it is in the role."""

    __slots__ = ("groups", "names", "raw", "resources", "urls", "verbs")

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.verbs = _set(raw.get("verbs"))
        self.groups = _set(raw.get("apiGroups"))
        self.resources = _set(raw.get("resources"))
        self.names = _set(raw.get("resourceNames"))
        self.urls: Sequence[str] = raw.get("nonResourceURLs") or ()

    def allows(self, asked: AuthorizationAttributes) -> bool:
        """Whether the rule allows what is asked."""
        if asked.verb not in self.verbs and _ALL not in self.verbs:
            return False
        if not asked.is_resource:
            return any(_url_covers(each, asked.path) for each in self.urls)
        if asked.group not in self.groups and _ALL not in self.groups:
            return False
        if self.names and asked.name not in self.names:
            return False
        return self._has_resource(asked.resource, asked.subresource)

    def _has_resource(self, resource: str, subresource: str) -> bool:
        if _ALL in self.resources:
            return True
        if not subresource:
            return resource in self.resources
        return f"{resource}/{subresource}" in self.resources or f"*/{subresource}" in self.resources

    def covers(self, atom: Rule) -> bool:
        """Whether all that an atom allows is allowed by this rule."""
        return (
            (_ALL in self.verbs or atom.verbs <= self.verbs)
            and (_ALL in self.groups or atom.groups <= self.groups)
            and self._covers_resources(atom.resources)
            and (not self.names or (bool(atom.names) and atom.names <= self.names))
            and all(any(_url_covers(own, each) for own in self.urls) for each in atom.urls)
        )

    def _covers_resources(self, wanted: frozenset[str]) -> bool:
        if _ALL in self.resources or wanted <= self.resources:
            return True
        return all("/" in each and f"*/{each.partition('/')[2]}" in self.resources for each in wanted - self.resources)


def _set(values: Iterable[str] | None) -> frozenset[str]:
    return frozenset(values or ())


def _url_covers(rule: str, path: str) -> bool:
    return rule in (_ALL, path) or (rule.endswith(_ALL) and path.startswith(rule.rstrip(_ALL)))


def atoms(rules: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, list[str]]]:
    """The rules taken apart: each with one verb, and one resource (and at most one name) or one URL."""
    for rule in rules:
        for group in rule.get("apiGroups") or ():
            for resource in rule.get("resources") or ():
                for verb in rule.get("verbs") or ():
                    one = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                    names = rule.get("resourceNames") or ()
                    if not names:
                        yield one
                    for name in names:
                        yield {**one, "resourceNames": [name]}
        for url in rule.get("nonResourceURLs") or ():
            for verb in rule.get("verbs") or ():
                yield {"nonResourceURLs": [url], "verbs": [verb]}


def missing(held: Sequence[Rule], wanted: Iterable[Mapping[str, Any]]) -> list[dict[str, list[str]]]:
    """What of the wanted rules is not covered by those that are held, with the verbs of one resource together."""
    rules: dict[object, dict[str, list[str]]] = {}
    for atom in atoms(wanted):
        one = Rule(atom)
        if any(each.covers(one) for each in held):
            continue
        key: object = len(rules)
        if "resources" in atom:
            key = (atom["apiGroups"][0], atom["resources"][0], *atom.get("resourceNames", ()))
        if key in rules:
            rules[key]["verbs"].extend(atom["verbs"])
        else:
            rules[key] = atom
    return list(rules.values())


_PARTS: Final = (
    ("APIGroups", "apiGroups"),
    ("Resources", "resources"),
    ("NonResourceURLs", "nonResourceURLs"),
    ("ResourceNames", "resourceNames"),
    ("Verbs", "verbs"),
)


def shown(rule: Mapping[str, Sequence[str]]) -> str:
    """A rule as the server's messages have it."""
    said = (f"{name}:[{' '.join(map(quoted, rule[field]))}]" for name, field in _PARTS if rule.get(field))
    return f"{{{', '.join(said)}}}"
