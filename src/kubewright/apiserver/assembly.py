"""A whole server: the built-in kinds, live CRDs, and what is in every cluster from its first moment.

`new_server()` puts the parts together. Which parts there are is decided here and nowhere else; `ApiServer` knows none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from .access.authorization import control_access
from .access.bootstrap import add_bootstrap_roles
from .access.control import AccessControl
from .access.issuer import issuer_documents
from .access.late import late_action, late_guard
from .access.rbac import GROUP as RBAC
from .actions import REACHING, bind, bind_by_name, evict
from .admission import AdmissionControl
from .builtin import BuiltIn
from .builtin.protobuf import protobuf_reader
from .catalog import Action, Catalog, Guard, ResourceType, Subresource
from .crds.controller import CrdController
from .crds.definition import GROUP, definition_type
from .documents import OpenApi, discovery, health, root_paths, version
from .expiring import EventExpiry
from .fieldkinds import ServedKinds
from .fields import FieldManagers, FieldTypes
from .garbage import GarbageCollector
from .registry.backend import Backend
from .registry.call import resource_key
from .request import Request
from .server import Answer, ApiServer, Document
from .store import Store
from .table import table_transform

if TYPE_CHECKING:
    from .webhooks import HttpWebhooks

__all__ = ["NOT_BY_DEFAULT", "SYSTEM_NAMESPACES", "base_catalog", "new_server"]

SYSTEM_NAMESPACES: Final = ("kube-system", "kube-public", "default", "kube-node-lease")
NOT_BY_DEFAULT: Final = ("ServiceAccount",)
"""Admission plugins that a server of tests is started without, as by envtest: nobody makes the accounts."""
_NAMESPACES: Final = resource_key("", "namespaces")


@lru_cache(maxsize=1)
def _built_in() -> BuiltIn:
    return BuiltIn()


@lru_cache(maxsize=1)
def _open_api() -> OpenApi:
    return OpenApi(_built_in())


@lru_cache(maxsize=1)
def _swagger() -> Document:
    from .documents.swagger import Swagger  # few ask for it

    return Swagger(_open_api())


def _open_api_v2(server: ApiServer, request: Request) -> Answer | None:
    return _swagger()(server, request) if request.path.startswith("/openapi/v2") else None


@lru_cache(maxsize=1)
def _field_types() -> FieldTypes:
    return FieldTypes(_built_in().data.schema)


class _FieldManagement:
    """Gives a server its field managers, and each fork its own: they look at what is served there."""

    def __init__(self, backend: Backend) -> None:
        kinds = ServedKinds(_built_in(), _field_types(), lambda: backend.catalog)
        backend.field_manager = FieldManagers(kinds)

    def fork(self, backend: Backend) -> _FieldManagement:
        return _FieldManagement(backend)

    async def settle(self) -> None:
        pass

    def close(self) -> None:
        pass


class _Calling:
    """Who calls webhooks, made when the first one is to be called: a server without webhooks has no use for it.

    Forks call by the one of the server that they come from, as its kinds do. What was made here is closed with that
    server, and opened again if a fork goes on; the end of a fork ends no call of another.
    """

    def __init__(self, webhooks: HttpWebhooks | None) -> None:
        self._webhooks, self._is_given = webhooks, webhooks is not None
        self._closing: asyncio.Task[None] | None = None

    def fork(self, backend: Backend) -> _Calling:
        return _Calling(None)

    async def settle(self) -> None:
        pass

    def close(self) -> None:
        if self._webhooks is None or self._is_given:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # the loop is gone, and the connections with it
        self._closing = loop.create_task(self._webhooks.close(), name="webhooks: closing connections")

    def __call__(self) -> HttpWebhooks:
        if self._webhooks is None:
            from .webhooks import HttpWebhooks

            self._webhooks = HttpWebhooks()
        return self._webhooks

    async def review(self, client_config: Mapping[str, Any], review: dict[str, Any], name: str) -> dict[str, Any]:
        """Send a ConversionReview. Raises WebhookFailed."""
        return await self().review(client_config, review, name)


@lru_cache(maxsize=1)
def base_catalog() -> Catalog:
    """The built-in resource types, definitions of custom ones among them. Immutable, so that all servers share it."""
    return Catalog(map(_completed, _built_in().catalog().types))


def _completed(kind: ResourceType) -> ResourceType:
    """A built-in type with what is not a rule of its own kind: what is live, and what acts on others."""
    if kind.group == GROUP:
        return definition_type(kind)
    action = _ACTIONS.get((kind.group, kind.plural))
    if action is not None:
        return replace(kind, action=action)
    guard = _GUARDS.get((kind.group, kind.plural))
    if guard is not None:
        return replace(kind, guard=guard)
    if not kind.group:
        return replace(kind, subresources=_core_parts(kind))
    return kind


def _core_parts(kind: ResourceType) -> dict[str, Subresource]:
    parts = dict(kind.subresources)
    for (plural, name), reach in REACHING.items():
        if plural == kind.plural:
            parts[name] = replace(parts[name], reach=reach)
    if kind.plural == "pods":
        for name, action in (("binding", bind), ("eviction", evict)):
            parts[name] = replace(parts[name], action=action)
    if kind.plural == "serviceaccounts":
        reader = _built_in().strategy("authentication.k8s.io/v1", "TokenRequest")
        parts["token"] = replace(parts["token"], action=late_action("tokenrequests", "issue_token"), reader=reader)
    return parts


_ACTIONS: Final[Mapping[tuple[str, str], Action]] = {
    ("", "bindings"): bind_by_name,
    ("authentication.k8s.io", "selfsubjectreviews"): late_action("whoami", "who_am_i"),
    ("authentication.k8s.io", "tokenreviews"): late_action("tokenreviews", "review_token"),
    ("authorization.k8s.io", "localsubjectaccessreviews"): late_action("reviews", "review_local_access"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"): late_action("reviews", "review_own_access"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"): late_action("reviews", "review_own_rules"),
    ("authorization.k8s.io", "subjectaccessreviews"): late_action("reviews", "review_access"),
}
"""Kinds that are never stored, and what a POST of one does."""

_ADMISSION: Final = "admissionregistration.k8s.io"

_GUARDS: Final[Mapping[tuple[str, str], Guard]] = {
    (RBAC, "clusterrolebindings"): late_guard("escalation", "guard_binding"),
    (RBAC, "clusterroles"): late_guard("escalation", "guard_role"),
    (RBAC, "rolebindings"): late_guard("escalation", "guard_binding"),
    (RBAC, "roles"): late_guard("escalation", "guard_role"),
    (_ADMISSION, "mutatingadmissionpolicies"): late_guard("parameters", "guard_param_kind"),
    (_ADMISSION, "mutatingadmissionpolicybindings"): late_guard("parameters", "guard_param_ref"),
    (_ADMISSION, "validatingadmissionpolicies"): late_guard("parameters", "guard_param_kind"),
    (_ADMISSION, "validatingadmissionpolicybindings"): late_guard("parameters", "guard_param_ref"),
}
"""Kinds of which nobody writes more than one has, or reads more by them."""


def new_server(
    *,
    store: Store | None = None,
    now: Callable[[], datetime] | None = None,
    seed: int | None = None,
    webhooks: HttpWebhooks | None = None,
    disabled_plugins: Collection[str] = NOT_BY_DEFAULT,
    established_seconds: float = 0.0,
    setup_seconds: float = 0.0,
    garbage: bool = False,
    account_key: bytes | None = None,
) -> ApiServer:
    """A server with the kinds, namespaces and behaviour of a new cluster.

    Args:
        store: what is in it already (of an earlier run); empty by default.
        now: the clock.
        seed: makes uids and generated names the same in every run.
        webhooks: calls webhooks, of admission and of custom resources that convert by one; by default over HTTPS, and
            no services are known.
        disabled_plugins: admission plugins that are not asked, by their names on the command line of kube-apiserver.
        established_seconds, setup_seconds: see `CrdController`.
        garbage: clear away what has lost its owners, and what is in namespaces that go, and fill in aggregated roles;
            an API server alone does not.
        account_key: signs the tokens of service accounts, a P-256 key (PEM); a new one by default.
    """
    backend = Backend(store=store if store is not None else Store(), catalog=base_catalog(), seed=seed)
    backend.protobuf = protobuf_reader(_built_in().types)
    if now is not None:
        backend.now = now
    open_api = _open_api()
    server = ApiServer(
        backend=backend,
        documents=(discovery, open_api, _open_api_v2, health, version, issuer_documents, root_paths),
        filters=(control_access,),
        transforms={"Table": table_transform(lambda: backend.now(), open_api.describe)},
    )
    server.add(_FieldManagement(backend))
    for name in SYSTEM_NAMESPACES:
        if backend.store.get(_NAMESPACES, name) is None:
            backend.store.create(_NAMESPACES, name, _namespace(name, backend))
    add_bootstrap_roles(backend.store, created=backend.timestamp(), seed=seed, are_aggregated=garbage)
    server.add(AccessControl(backend, account_key))
    calling = _Calling(webhooks)
    server.add(calling)
    server.add(AdmissionControl(backend, caller=calling, disabled=disabled_plugins))
    server.add(
        CrdController(backend, webhook=calling, established_seconds=established_seconds, setup_seconds=setup_seconds)
    )
    server.add(EventExpiry(backend))
    if garbage:
        server.add(GarbageCollector(backend))
        from .access.aggregation import RoleAggregator  # an API server alone has none

        server.add(RoleAggregator(backend))
    return server


def _namespace(name: str, backend: Backend) -> dict[str, Any]:
    return {
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "uid": backend.new_uid(),
            "creationTimestamp": backend.timestamp(),
            "labels": {"kubernetes.io/metadata.name": name},
            "managedFields": [
                {
                    "manager": "kube-apiserver",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": backend.timestamp(),
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}}},
                }
            ],
        },
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }
