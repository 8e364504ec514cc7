"""Role-based access control: which rules somebody has, and whether one of them allows what is asked.

Owns the way from a user over bindings and roles to rules. It reads the store as it is at the moment of the question;
what it has found out it keeps until something of the four kinds is written. Rules:
`kubernetes/plugin/pkg/auth/authorizer/rbac`, `kubernetes/pkg/registry/rbac/validation/rule.go`.

| bound by | holds |
|---|---|
| ClusterRoleBinding | everywhere, and for what is in no namespace |
| RoleBinding | in its namespace; its role may be a ClusterRole |

A binding whose role is not there gives nothing, and is told of in the reason of a refusal. Members of `system:masters`
may everything.
Cost: a user's rules are put together once after each write to the four kinds; a question is a walk along them, and a
look-up where it was asked before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from kubewright.schema.structural.fielderrors import summary
from kubewright.schema.structural.gotext import quoted

from ..request import User
from ..store import Change, Entry, Store
from .attributes import ALLOWED, NO_OPINION, PRIVILEGED, AuthorizationAttributes, Decision
from .rules import Rule

__all__ = ["GROUP", "Held", "RoleAuthorizer", "Rules"]

GROUP: Final = "rbac.authorization.k8s.io"
_ROLES: Final = f"{GROUP}/roles"
_CLUSTER_ROLES: Final = f"{GROUP}/clusterroles"
_BINDINGS: Final = f"{GROUP}/rolebindings"
_CLUSTER_BINDINGS: Final = f"{GROUP}/clusterrolebindings"
_KINDS: Final = frozenset({_ROLES, _CLUSTER_ROLES, _BINDINGS, _CLUSTER_BINDINGS})
_NAME: Final = "rbac"
"""What the server calls this authorizer when it says why it refuses."""
_MOST_KEPT: Final = 1_000


class Held(NamedTuple):
    """A rule and what gives it, as an audit log has it."""

    rule: Rule
    source: str


class Rules(NamedTuple):
    """What somebody has in a namespace: rules, and the roles (kind, name) that bindings name and that are not there."""

    held: tuple[Held, ...]
    absent: tuple[tuple[str, str], ...]

    @property
    def problem(self) -> str:
        """That roles are not there, as a lister says it (kinds in the singular); empty where none is missing."""
        return summary(f"{kind.lower()}.{GROUP} {quoted(name)} not found" for kind, name in self.absent)

    def problem_of(self, resource: str) -> str:
        """The same as a write of a resource is told: it takes all for its own."""
        return summary(f"{resource} {quoted(name)} not found" for _, name in self.absent)


class RoleAuthorizer:
    """Answers by the roles and bindings of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.listeners.append(self._changed)
        self._rules: dict[tuple[str, tuple[str, ...], str], Rules] = {}
        self._subjects: dict[str, _Subjects] = {}
        self._decisions: dict[tuple[object, ...], Decision] = {}

    def authorize(self, attributes: AuthorizationAttributes, /) -> Decision:
        """Whether it is allowed."""
        asked, user = attributes, attributes.user
        if PRIVILEGED in user.groups:
            return _PRIVILEGED
        where = asked.path if not asked.is_resource else None
        what = (asked.verb, asked.group, asked.resource, asked.subresource, asked.namespace, asked.name)
        key = (user.name, user.groups, *what, where)
        found = self._decisions.get(key)
        if found is None:
            if len(self._decisions) >= _MOST_KEPT:
                self._decisions.clear()
            found = self._decisions[key] = self._decided(asked)
        return found

    def _decided(self, asked: AuthorizationAttributes) -> Decision:
        rules = self.rules_of(asked.user, asked.namespace)
        for each in rules.held:
            if each.rule.allows(asked):
                return Decision(ALLOWED, f"RBAC: allowed by {each.source}")
        return Decision(NO_OPINION, f"{_NAME}: RBAC: {rules.problem}") if rules.absent else _NO_OPINION

    def rules_of(self, user: User, namespace: str) -> Rules:
        """All rules of somebody: those of the cluster, and those of a namespace if one is given."""
        key = (user.name, user.groups, namespace)
        found = self._rules.get(key)
        if found is None:
            if len(self._rules) >= _MOST_KEPT:
                self._rules.clear()
            found = self._rules[key] = self._made(user, namespace)
        return found

    def rules_of_role(self, kind: str, name: str, namespace: str) -> list[dict[str, Any]] | None:
        """The rules of a Role or ClusterRole; None where there is no such role."""
        if kind == "Role":
            found = self._store.get(_ROLES, f"{namespace}/{name}")
        else:
            found = self._store.get(_CLUSTER_ROLES, name)
        return None if found is None else found.object.get("rules") or []

    # -- inside -------------------------------------------------------------------------------------------------------

    def _changed(self, resource: str, change: Change, number: int) -> None:
        """Forget what was found out before a write to one of the kinds."""
        if resource in _KINDS and (self._rules or self._subjects or self._decisions):
            self._rules, self._subjects, self._decisions = {}, {}, {}

    def _made(self, user: User, namespace: str) -> Rules:
        held: list[Held] = []
        absent: list[tuple[str, str]] = []
        for kind, where in ((_CLUSTER_BINDINGS, ""), (_BINDINGS, namespace)):
            if kind == _BINDINGS and not namespace:
                continue
            for binding, subject in self._subjects_of(kind, where).bindings(user):
                role = binding.object["roleRef"]
                rules = self.rules_of_role(role["kind"], role["name"], where)
                if rules is None:
                    absent.append((role["kind"], role["name"]))
                    continue
                source = _source(binding.object, subject, where)
                held += [Held(Rule(each), source) for each in rules]
        return Rules(tuple(held), tuple(absent))

    def _subjects_of(self, kind: str, namespace: str) -> _Subjects:
        found = self._subjects.get(f"{kind}/{namespace}")
        if found is None:
            if len(self._subjects) >= _MOST_KEPT:
                self._subjects.clear()
            page = self._store.collection(kind).page(f"{namespace}/" if namespace else "")
            found = self._subjects[f"{kind}/{namespace}"] = _Subjects(page.entries, namespace)
        return found


class _Subjects:
    """Who is bound by which of some bindings."""

    def __init__(self, bindings: Iterable[Entry], namespace: str) -> None:
        self._users: dict[str, list[tuple[int, int]]] = {}
        self._groups: dict[str, list[tuple[int, int]]] = {}
        self._bindings = list(bindings)
        for place, binding in enumerate(self._bindings):
            for number, subject in enumerate(binding.object.get("subjects") or ()):
                kind, name = subject.get("kind"), subject.get("name", "")
                if kind == "User":
                    self._users.setdefault(name, []).append((place, number))
                elif kind == "Group":
                    self._groups.setdefault(name, []).append((place, number))
                elif kind == "ServiceAccount" and (home := subject.get("namespace") or namespace):
                    self._users.setdefault(f"system:serviceaccount:{home}:{name}", []).append((place, number))

    def bindings(self, user: User) -> Iterator[tuple[Entry, dict[str, Any]]]:
        """The bindings that bind a user, in their order, each with the first subject that does."""
        found = list(self._users.get(user.name, ()))
        for group in user.groups:
            found += self._groups.get(group, ())
        last = -1
        for place, number in sorted(found):
            if place != last:
                binding = self._bindings[place]
                yield binding, binding.object["subjects"][number]
            last = place


_PRIVILEGED: Final = Decision(ALLOWED)
_NO_OPINION: Final = Decision(NO_OPINION)


def _source(binding: dict[str, Any], subject: dict[str, Any], namespace: str) -> str:
    """What gives a rule. The server really writes `name/namespace`."""
    role, name = binding["roleRef"], binding["metadata"]["name"]
    of, kind = subject.get("name", ""), subject.get("kind", "")
    if kind == "ServiceAccount":
        of = f"{of}/{subject.get('namespace') or namespace}"
    bound = f"RoleBinding {quoted(f'{name}/{namespace}')}" if namespace else f"ClusterRoleBinding {quoted(name)}"
    return f"{bound} of {role['kind']} {quoted(role['name'])} to {kind} {quoted(of)}"
