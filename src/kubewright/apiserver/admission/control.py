"""Admission of a whole server: which plugins there are, in which order, and who is asked at all.

| order | plugin | asked about |
|---|---|---|
| mutating | the plugins of single kinds (`plugins`) | their kinds |
| | MutatingAdmissionPolicy, MutatingAdmissionWebhook | what a configuration names |
| | all of them once more, if a webhook changed the object | |
| validating | the plugins of single kinds | |
| | ValidatingAdmissionPolicy, ValidatingAdmissionWebhook | what a configuration names |
| | ResourceQuota, the last to be asked, as it counts | namespaces that have quotas |

Owns what is configured now: it listens to the store, and a change is in force for the next request. Where nobody has
configured anything, and the kind has no plugins of its own, `asks` says so and nothing else is done; what webhooks and
policies need is not even imported. Rules: kubernetes/pkg/kubeapiserver/options/plugins.go,
apiserver/pkg/admission/{chain,reinvocation}.go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from ..catalog import ResourceType
from ..registry.backend import Attributes, Backend
from ..registry.call import resource_key
from ..store import Change, Entry

if TYPE_CHECKING:
    from .hooks import Caller
    from .mutations import MutatingPolicies
    from .plugins import Plugin, World
    from .reinvocation import Reinvocation
    from .validations import ValidatingPolicies
    from .webhooks import WebhookPlugins

__all__ = ["PLUGIN_NAMES", "AdmissionControl"]

_GROUP: Final = "admissionregistration.k8s.io"
_MUTATING: Final = resource_key(_GROUP, "mutatingwebhookconfigurations")
_VALIDATING: Final = resource_key(_GROUP, "validatingwebhookconfigurations")
_POLICIES: Final = resource_key(_GROUP, "validatingadmissionpolicies")
_POLICY_BINDINGS: Final = resource_key(_GROUP, "validatingadmissionpolicybindings")
_QUOTAS: Final = resource_key("", "resourcequotas")
_MUTATIONS: Final = resource_key(_GROUP, "mutatingadmissionpolicies")
_MUTATION_BINDINGS: Final = resource_key(_GROUP, "mutatingadmissionpolicybindings")
_CONFIGURATION: Final = frozenset({_MUTATING, _VALIDATING, _POLICIES, _POLICY_BINDINGS, _MUTATIONS, _MUTATION_BINDINGS})
_REVIEWS: Final = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
"""Groups of what is never stored and never shown to webhooks and policies: who may ask must not depend on them."""

_WITH_PLUGINS: Final = frozenset(
    {"certificatesigningrequests", "cronjobs", "daemonsets", "deployments", "ingresses", "jobs", "namespaces", "nodes"}
    | {"persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates", "priorityclasses", "replicasets"}
    | {"replicationcontrollers", "statefulsets"}
)
"""The resources that `plugins` has some for."""

PLUGIN_NAMES: Final = frozenset(
    {"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "DefaultIngressClass"}
    | {"DefaultStorageClass", "DefaultTolerationSeconds", "LimitRanger", "MutatingAdmissionPolicy"}
    | {"MutatingAdmissionWebhook", "PersistentVolumeClaimResize", "PodSecurity", "Priority", "ResourceQuota"}
    | {"RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection", "TaintNodesByCondition"}
    | {"ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook"}
)
"""All plugins that there are. NamespaceLifecycle is part of the registry, and cannot be disabled."""

_NAMES: Final[Mapping[str, str]] = {
    "MutatingAdmissionWebhook": _MUTATING,
    "ValidatingAdmissionWebhook": _VALIDATING,
    "ValidatingAdmissionPolicy": _POLICY_BINDINGS,
    "MutatingAdmissionPolicy": _MUTATION_BINDINGS,
    "ResourceQuota": _QUOTAS,
}
"""Plugins that are there when something is configured, and what it has to be."""


class AdmissionControl:
    """A server's admission, a part of it.

    Args:
        caller: gives who calls webhooks; asked when the first one is to be called.
        disabled: names of plugins that are not there. Raises ValueError: there is no such plugin.

    Guarantees: G1 a change of configuration is in force for every request that starts after it was answered. G2 without
    configuration a request costs one look into a set.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        caller: Callable[[], Caller],
        disabled: Collection[str] = (),
    ) -> None:
        if unknown := sorted(set(disabled) - PLUGIN_NAMES):
            raise ValueError(f"disabled plugins: {', '.join(unknown)}: use names of {', '.join(sorted(PLUGIN_NAMES))}")
        self._backend, self._caller = backend, caller
        self._disabled = frozenset(disabled)
        self._plugins: Mapping[tuple[str, str], tuple[Plugin, ...]] | None = None
        self._world: World | None = None
        self._is_stale = True
        self._concerns_all = False
        self._hooks: WebhookPlugins | None = None
        self._policies: ValidatingPolicies | None = None
        self._mutations: MutatingPolicies | None = None
        self._has_quotas = False
        backend.store.listeners.append(self._noticed)
        backend.admission = self

    def fork(self, backend: Backend) -> AdmissionControl:
        return AdmissionControl(backend, caller=self._caller, disabled=self._disabled)

    async def settle(self) -> None:
        pass

    def close(self) -> None:
        pass

    # -- what is configured -------------------------------------------------------------------------------------------

    def _noticed(self, resource: str, change: Change, number: int) -> None:
        if resource in _CONFIGURATION or (resource == _QUOTAS and change.type != "MODIFIED"):
            self._is_stale = True

    def _refresh(self) -> None:
        self._is_stale = False
        found = {name: self._configured(key) for name, key in _NAMES.items() if name not in self._disabled}
        self._concerns_all = any(found.values())
        mutating = found.get("MutatingAdmissionWebhook") or ()
        validating = found.get("ValidatingAdmissionWebhook") or ()
        self._hooks = self._webhooks(mutating, validating) if mutating or validating else None
        bindings = found.get("ValidatingAdmissionPolicy")
        self._policies = self._validating_policies(bindings) if bindings else None
        bindings = found.get("MutatingAdmissionPolicy")
        self._mutations = self._mutating_policies(bindings) if bindings else None
        self._has_quotas = bool(found.get("ResourceQuota"))

    def _webhooks(self, mutating: Iterable[Entry], validating: Iterable[Entry]) -> WebhookPlugins:
        from .hooks import hooks_of
        from .webhooks import WebhookPlugins

        made = self._hooks or WebhookPlugins(self._backend, self._caller())
        made.mutating, made.validating = hooks_of(mutating), hooks_of(validating)
        return made

    def _validating_policies(self, bindings: Iterable[Entry]) -> ValidatingPolicies:
        from kubewright.schema.cel.admission import ValidatingPolicy

        from .bindings import bound_policies
        from .validations import ValidatingPolicies

        made = self._policies or ValidatingPolicies(self._backend)
        made.policies = bound_policies(self._configured(_POLICIES), bindings, ValidatingPolicy, made.policies)
        return made

    def _mutating_policies(self, bindings: Iterable[Entry]) -> MutatingPolicies:
        from kubewright.schema.cel.admission import MutatingPolicy

        from .bindings import bound_policies
        from .mutations import MutatingPolicies

        made = self._mutations or MutatingPolicies(self._backend)
        made.policies = bound_policies(self._configured(_MUTATIONS), bindings, MutatingPolicy, made.policies)
        return made

    def _configured(self, resource: str) -> list[Entry]:
        return self._backend.store.collection(resource).page().entries

    # -- asking -------------------------------------------------------------------------------------------------------

    def asks(self, kind: ResourceType) -> bool:
        if self._is_stale:
            self._refresh()
        return self._concerns_all or kind.plural in _WITH_PLUGINS

    async def admit(self, attributes: Attributes) -> None:
        plugins, world = self._of(attributes)
        for plugin in plugins:
            if plugin.admit is not None:
                plugin.admit(attributes, world)
        if not self._concerns_all or not _is_for_others(attributes):
            return
        from .reinvocation import Reinvocation

        of_policies, of_hooks = Reinvocation(), Reinvocation()
        await self._admit_by_others(attributes, of_policies, of_hooks)
        if of_policies.is_wanted or of_hooks.is_wanted:
            of_policies.is_second = of_hooks.is_second = True
            for plugin in plugins:
                if plugin.admit is not None:
                    plugin.admit(attributes, world)
            await self._admit_by_others(attributes, of_policies, of_hooks)

    async def _admit_by_others(self, attributes: Attributes, of_policies: Reinvocation, of_hooks: Reinvocation) -> None:
        if self._mutations is not None and self._mutations.policies:
            await self._mutations.admit(attributes, of_policies)
        if self._hooks is not None and self._hooks.mutating:
            await self._hooks.admit(attributes, of_hooks)

    async def validate(self, attributes: Attributes) -> None:
        plugins, world = self._of(attributes)
        for plugin in plugins:
            if plugin.validate is not None:
                plugin.validate(attributes, world)
        if not self._concerns_all:
            return
        if _is_for_others(attributes):
            await self._validate_by_others(attributes)
        if self._has_quotas:
            from .plugins.quotas import charge

            charge(attributes, self._backend)

    async def _validate_by_others(self, attributes: Attributes) -> None:
        if self._policies is not None and self._policies.policies:
            await self._policies.validate(attributes)
        if self._hooks is not None and self._hooks.validating:
            await self._hooks.validate(attributes)

    def _of(self, attributes: Attributes) -> tuple[tuple[Plugin, ...], World]:
        """The plugins of a kind, and what they get to know. They are loaded when the first one is asked for."""
        plugins, world = self._plugins, self._world
        if plugins is None or world is None:
            from .plugins import World, plugins_by_resource

            plugins = self._plugins = plugins_by_resource(self._disabled)
            world = self._world = World(self._backend)
        return plugins.get((attributes.kind.group, attributes.kind.plural), ()), world


def _is_for_others(attributes: Attributes) -> bool:
    """Whether webhooks and policies may see the request at all."""
    kind = attributes.kind
    if kind.group in _REVIEWS:
        return kind.action is None
    if kind.group != _GROUP:
        return True
    from .rules import is_configuration

    return not is_configuration(attributes)
