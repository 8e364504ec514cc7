"""What somebody really did, as the rules that it takes: least privilege from a run of tests.

`RulesUsed` is a filter that notes each request that was let through; of an apply or an update that made its object,
the right to create it too. Nothing is noted of what every cluster lets all do (discovery, reviews of oneself), as no
role is needed for it. What writes of roles and bindings take beyond the write (`bind`, `escalate`) is not noted either.

| rules | for |
|---|---|
| `rules(user)` | one ClusterRole, bound in the cluster |
| `rules(user, namespace="a")` | a Role in that namespace |
| `rules(user, namespace="")` | a ClusterRole beside such Roles: what is in no namespace, or asked of all |

Rules are tidy: what has the same verbs is one rule. They allow what was done and nothing else, in these respects: verb,
group, resource, and with `names=True` the object, where each request of a verb named one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ..request import Request, User
from .attributes import AuthorizationAttributes, attributes_of
from .rules import Rule, atoms

if TYPE_CHECKING:
    from kubewright.models.rbac.v1 import PolicyRule

    from ..server import Answer, ApiServer, Next

__all__ = ["Comparison", "RulesUsed"]

_CREATED: Final = 201
_EVERYBODY: Final = User("", ("system:authenticated",))
_VERBS: Final = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
_FIELDS: Final = ("api_groups", "resources", "resource_names", "non_resource_urls", "verbs")
_NAMES: Final = ("apiGroups", "resources", "resourceNames", "nonResourceURLs", "verbs")


class Comparison(NamedTuple):
    """Rules that were given, beside what was done. `missing`: what they do not allow. `unused`: what nobody needed; a
    wildcard is needed as soon as one request is."""

    missing: list[PolicyRule]
    unused: list[PolicyRule]

    @property
    def is_exact(self) -> bool:
        """They are enough, and not more."""
        return not self.missing and not self.unused


class RulesUsed:
    """Notes what each user does. `server.use(RulesUsed())`; one may watch many servers.

    Whoever may everything is noted too: so an operator can run as a member of `system:masters` under a name of its own,
    and be told which role it needs.
    """

    def __init__(self) -> None:
        self._used: dict[str, dict[tuple[str, ...], AuthorizationAttributes]] = {}

    async def __call__(self, server: ApiServer, request: Request, following: Next) -> Answer:
        asked = attributes_of(request)
        authorizer = server.backend.authorizer
        if authorizer is None or not authorizer.authorize(replace(asked, user=_EVERYBODY)).allowed:
            self.note(asked)
        answer = await following(request)
        if answer.status == _CREATED and asked.verb in ("patch", "update"):
            self.note(replace(asked, verb="create"))
        return answer

    def note(self, asked: AuthorizationAttributes) -> None:
        """Note that something was done."""
        what = (asked.verb, asked.group, asked.resource, asked.subresource, asked.namespace, asked.name, asked.path)
        self._used.setdefault(asked.user.name, {}).setdefault(what, asked)

    @property
    def users(self) -> list[str]:
        """Who has done anything that takes a rule, by name."""
        return sorted(self._used)

    def rules(self, user: User | str, *, namespace: str | None = None, names: bool = False) -> list[PolicyRule]:
        """The rules that somebody needs.

        Args:
            namespace: only for what is in this one (empty: in none, or in all); None for all together.
            names: also restrict the objects, where they were named.
        """
        return _tidy(_needed(self._done(user, namespace), names=names))

    def compare(
        self, user: User | str, given: Iterable[PolicyRule | Mapping[str, Any]], *, namespace: str | None = None
    ) -> Comparison:
        """Hold rules against what somebody did.

        Args:
            given: the rules, of a role or of generated manifests.
            namespace: see `rules`.
        """
        plain = [each if isinstance(each, Mapping) else _plain(each) for each in given]
        rules, done = [Rule(each) for each in plain], self._done(user, namespace)
        missing = [each for each in done if not any(rule.allows(each) for rule in rules)]
        unused = [each for each in atoms(plain) if not any(Rule(each).allows(one) for one in done)]
        return Comparison(_tidy(_needed(missing, names=False)), _tidy(map(_use, unused)))

    def _done(self, user: User | str, namespace: str | None) -> list[AuthorizationAttributes]:
        found = self._used.get(user if isinstance(user, str) else user.name, {})
        return [each for each in found.values() if namespace is None or each.namespace == namespace]


class _Use(Struct, frozen=True):
    """One verb on one resource or URL; `names` empty for all objects."""

    verb: str
    group: str = ""
    resource: str = ""
    url: str = ""
    names: tuple[str, ...] = ()


def _use(atom: Mapping[str, list[str]]) -> _Use:
    verb = atom["verbs"][0]
    if "nonResourceURLs" in atom:
        return _Use(verb, url=atom["nonResourceURLs"][0])
    return _Use(verb, atom["apiGroups"][0], atom["resources"][0], "", tuple(atom.get("resourceNames", ())))


def _needed(done: Iterable[AuthorizationAttributes], *, names: bool) -> Iterable[_Use]:
    """What was done, each verb of a resource once, with the objects that it was done to."""
    found: dict[_Use, set[str]] = {}
    for each in done:
        resource = f"{each.resource}/{each.subresource}" if each.subresource else each.resource
        use = _Use(each.verb, each.group, resource) if each.is_resource else _Use(each.verb, url=each.path)
        found.setdefault(use, set()).add(each.name)
    for use, objects in found.items():
        yield replace(use, names=tuple(sorted(objects))) if names and "" not in objects else use


def _tidy(uses: Iterable[_Use]) -> list[PolicyRule]:
    """Rules that say the same as all these uses together, and no more."""
    verbs: dict[tuple[str, str, str, tuple[str, ...]], set[str]] = {}
    for each in _joined(uses):
        verbs.setdefault((each.group, each.resource, each.url, each.names), set()).add(each.verb)
    resources: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    urls: dict[tuple[str, ...], list[str]] = {}
    for (group, resource, url, names), found in sorted(verbs.items()):
        ordered = tuple(sorted(found, key=lambda verb: (_VERBS.index(verb) if verb in _VERBS else len(_VERBS), verb)))
        if url:
            urls.setdefault(ordered, []).append(url)
        else:
            resources.setdefault((group, names, ordered), []).append(resource)
    groups: dict[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (group, names, ordered), same in resources.items():
        groups.setdefault((tuple(same), names, ordered), []).append(group)
    from kubewright.models.rbac.v1 import PolicyRule  # a server has no models

    made = [
        PolicyRule(api_groups=of, resources=list(same), resource_names=list(names), verbs=list(ordered))
        for (same, names, ordered), of in groups.items()
    ]
    return made + [PolicyRule(non_resource_urls=paths, verbs=list(ordered)) for ordered, paths in urls.items()]


def _joined(uses: Iterable[_Use]) -> Iterable[_Use]:
    """The same verb on different objects of a resource is one use."""
    found: dict[_Use, set[str]] = {}
    for each in uses:
        if each.names:
            found.setdefault(replace(each, names=()), set()).update(each.names)
        else:
            yield each
    for use, names in found.items():
        yield replace(use, names=tuple(sorted(names)))


def _plain(rule: PolicyRule) -> dict[str, Any]:
    return {name: value for name, field in zip(_NAMES, _FIELDS, strict=True) if (value := getattr(rule, field))}
