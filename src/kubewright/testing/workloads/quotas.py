"""The status of ResourceQuotas: what is allowed, and what a namespace uses of it.

By it the API server's plugin decides on what is created; it adds that by itself. Counted are Pods, Services, claims and
the other kinds that workloads follow; of Secrets only how many there are. Other kinds are not limited.
Rules: `kubernetes/pkg/controller/resourcequota`, `kubernetes/pkg/quota/v1/evaluator`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from kubewright.apiserver.admission.plugins.quotas import counted, is_in_scope
from kubewright.model import Quantity

from .api import Api
from .engine import Engine
from .kinds import ALL, PODS, QUOTAS, SECRETS, Kind, Obj, Ref, ref_of
from .podstates import is_terminal

__all__ = ["Quotas"]

_KINDS: Final = tuple(each for each in ALL if each.namespaced)
_SOME: Final = ("services.loadbalancers", "services.nodeports", "requests.storage")
_OF_PODS: Final = ("cpu", "memory", "ephemeral-storage", "pods")
_STARTS: Final = ("requests.", "limits.", "hugepages-")
_CLASS: Final = ".storageclass.storage.k8s.io/"
_COUNTS: Final = frozenset(
    name for each in (*_KINDS, SECRETS) for name in counted(each.group, each.plural, {"spec": {}, "metadata": {}})
)


class Quotas:
    """The quota controller."""

    name: str = QUOTAS.plural

    def __init__(self, engine: Engine, api: Api) -> None:
        self._api, self._view = api, engine.view

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == QUOTAS:
            yield ref_of(new or old or {})
        elif kind.namespaced and old is not None and self._is_freed(kind, old, new):
            for each in self._view.within(QUOTAS, old["metadata"]["namespace"]):
                yield ref_of(each)

    def _is_freed(self, kind: Kind, old: Obj, new: Obj | None) -> bool:
        if new is None:
            return True
        if kind == PODS:
            return is_terminal(new) and not is_terminal(old)
        return counted(kind.group, kind.plural, old) != counted(kind.group, kind.plural, new)

    async def sync(self, ref: Ref) -> None:
        quota = self._view.get(QUOTAS, *ref)
        if quota is None or quota["metadata"].get("deletionTimestamp"):
            return
        hard: dict[str, Any] = quota["spec"].get("hard") or {}
        used = {name: Quantity(0) for name in hard if _is_known(name)}
        for kind in _KINDS:
            for obj in self._view.within(kind, ref.namespace):
                if is_in_scope(quota["spec"], obj, is_pod=kind == PODS):
                    for name, amount in counted(kind.group, kind.plural, obj).items():
                        if name in used:
                            used[name] = used[name] + amount
        secrets = [name for name in counted("", SECRETS.plural, {}) if name in used]
        if secrets and not quota["spec"].get("scopes"):
            number = await self._api.count(SECRETS, ref.namespace)
            used |= {name: Quantity(number) for name in secrets}
        status = {"hard": hard, "used": {name: str(amount) for name, amount in used.items()}}
        if _amounts(quota.get("status") or {}) != _amounts(status):
            await self._api.update(QUOTAS, {**quota, "status": status}, "status")


def _is_known(name: str) -> bool:
    return name in _COUNTS or name in _SOME or name in _OF_PODS or name.startswith(_STARTS) or _CLASS in name


def _amounts(status: Obj) -> dict[str, dict[str, Quantity]]:
    parts = ("hard", "used")
    return {part: {name: Quantity(value) for name, value in (status.get(part) or {}).items()} for part in parts}
