"""What is in each namespace from its beginning: the service account `default`, and the ConfigMap `kube-root-ca.crt`.

Rules: `kubernetes/pkg/controller/serviceaccount`, `.../rootcacertpublisher` (in `pkg/controller/certificates`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kubewright.client import AlreadyExists

from .api import Api
from .engine import Engine
from .kinds import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS, Kind, Obj, Ref

__all__ = ["Namespaces"]

_ACCOUNT: Final = "default"
_CERTIFICATE: Final = "kube-root-ca.crt"
_MADE: Final = (_ACCOUNT, _CERTIFICATE)
_SAID: Final = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


class Namespaces:
    """The controllers of the two.

    Args:
        root_ca: the authority of the API server's certificate, PEM; "": there is none, nor a ConfigMap with it.
    """

    name: str = NAMESPACES.plural

    def __init__(self, engine: Engine, api: Api, root_ca: str) -> None:
        self._api, self._view, self._root_ca = api, engine.view, root_ca

    def changed(self, kind: Kind, old: Obj | None, new: Obj | None) -> Iterable[Ref]:
        if kind == NAMESPACES and new is not None:
            yield Ref("", new["metadata"]["name"])
        elif kind in (CONFIG_MAPS, SERVICE_ACCOUNTS) and (obj := new or old or {})["metadata"]["name"] in _MADE:
            yield Ref("", obj["metadata"]["namespace"])

    async def sync(self, ref: Ref) -> None:
        namespace = self._view.get(NAMESPACES, *ref)
        if namespace is None or (namespace.get("status") or {}).get("phase") == "Terminating":
            return
        if self._view.get(SERVICE_ACCOUNTS, ref.name, _ACCOUNT) is None:
            await self._create(SERVICE_ACCOUNTS, {"metadata": {"name": _ACCOUNT, "namespace": ref.name}})
        if not self._root_ca:
            return
        data, annotations = {"ca.crt": self._root_ca}, {"kubernetes.io/description": _SAID}
        old = self._view.get(CONFIG_MAPS, ref.name, _CERTIFICATE)
        if old is None:
            meta = {"name": _CERTIFICATE, "namespace": ref.name, "annotations": annotations}
            await self._create(CONFIG_MAPS, {"metadata": meta, "data": data})
        elif old.get("data") != data:
            await self._api.update(CONFIG_MAPS, {**old, "data": data})

    async def _create(self, kind: Kind, obj: Obj) -> None:
        try:
            await self._api.create(kind, obj)
        except AlreadyExists:
            pass
