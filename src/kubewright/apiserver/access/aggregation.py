"""Aggregated ClusterRoles: their rules are those of the roles that they select, as the controller manager keeps them.

Owns what an aggregated role's rules have to be, and the writes that make them so. A new cluster has `admin`, `edit` and
`view` filled in from the start where this runs. Rules: `kubernetes/pkg/controller/clusterroleaggregation`.

Guarantees: A1 after `settle` every aggregated role has its rules. A2 a role that has them is not written.
Cancellation: a cancelled `settle` stops nothing. Caveats: it works as the event loop runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from ..background import Background
from ..builtin.selectors import matches
from ..registry.backend import Backend
from ..request import Request
from ..server import ApiServer
from ..store import Change
from .rbac import GROUP

__all__ = ["RoleAggregator", "aggregated"]

Object = dict[str, Any]

MANAGER: Final = "clusterrole-aggregation-controller"
_ROLES: Final = f"{GROUP}/clusterroles"
_PATH: Final = f"/apis/{GROUP}/v1/clusterroles"
_HEADERS: Final = {"content-type": "application/apply-patch+yaml"}


def aggregated(role: Mapping[str, Any], roles: Iterable[Object]) -> list[Object] | None:
    """The rules that a role has to have, each once; None for one that is not aggregated.

    Args:
        roles: all ClusterRoles, by name.
    """
    aggregation = role.get("aggregationRule")
    if aggregation is None:
        return None
    all_roles, found = list(roles), []
    for selector in aggregation.get("clusterRoleSelectors") or ():
        for each in all_roles:
            meta = each["metadata"]
            if meta["name"] != role["metadata"]["name"] and matches(selector, meta.get("labels") or {}):
                found += [rule for rule in each.get("rules") or () if rule not in found]
    return found


class RoleAggregator:
    """Keeps the aggregated roles of one server; a part of it."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._server = ApiServer(backend=backend)
        self._background = Background("role aggregation", self._work)
        self._is_due = True
        backend.store.listeners.append(self._changed)

    def fork(self, backend: Backend) -> RoleAggregator:
        return RoleAggregator(backend)

    def close(self) -> None:
        self._background.close()
        self._server.close()

    async def settle(self) -> None:
        """Until all have their rules."""
        self._start()
        await self._background.settle()

    def _changed(self, resource: str, change: Change, number: int) -> None:
        if resource == _ROLES:
            self._is_due = True
            self._start()

    def _start(self) -> None:
        if self._is_due:
            self._background.start()

    async def _work(self) -> None:
        while self._is_due:
            self._is_due = False
            roles = [each.object for each in self._backend.store.collection(_ROLES).page().entries]
            for role in roles:
                rules = aggregated(role, roles)
                if rules is not None and rules != (role.get("rules") or []):
                    await self._write(role["metadata"]["name"], rules)

    async def _write(self, name: str, rules: list[Object]) -> None:
        body = {
            "kind": "ClusterRole",
            "apiVersion": f"{GROUP}/v1",
            "metadata": {"name": name},
            "rules": rules,
        }
        query = (("fieldManager", MANAGER), ("force", "true"))
        await self._server.handle(Request("PATCH", f"{_PATH}/{name}", query, _HEADERS, orjson.dumps(body)))
