"""Writes, as the components of a cluster make them, with their answers in the view at once."""

from __future__ import annotations

from typing import Any, Final

import orjson

from kubewright.client import Client, NotFound

from .kinds import Kind, Obj, ref_of
from .view import View

__all__ = ["CONTROLLER_MANAGER", "KUBELET", "SCHEDULER", "Api"]

CONTROLLER_MANAGER: Final = "kube-controller-manager"
SCHEDULER: Final = "kube-scheduler"
KUBELET: Final = "kubelet"
_JSON: Final = (("accept", "application/json"), ("content-type", "application/json"))
_MERGE: Final = (("accept", "application/json"), ("content-type", "application/merge-patch+json"))


class Api:
    """The writes of one component, whose name is the field manager.

    All raise ApiError and TransportError; `ApiError` of a write means that it was not made.
    """

    def __init__(self, client: Client, view: View, name: str = CONTROLLER_MANAGER) -> None:
        self._client, self.view, self._query = client, view, {"fieldManager": name}

    def named(self, name: str) -> Api:
        """The same for another component."""
        return Api(self._client, self.view, name)

    async def create(self, kind: Kind, obj: Obj) -> Obj:
        """Create an object; it has a namespace, if its kind has."""
        namespace = obj["metadata"].get("namespace", "")
        body = {"apiVersion": kind.api_version, "kind": kind.kind, **obj}
        return self._seen(kind, await self._ask("POST", kind.path(namespace), body))

    async def update(self, kind: Kind, obj: Obj, part: str = "") -> Obj:
        """Replace an object, or one part (`status`) of it, if it is what it was when it was read."""
        namespace, name = ref_of(obj)
        body = {"apiVersion": kind.api_version, "kind": kind.kind, **obj}
        return self._seen(kind, await self._ask("PUT", kind.path(namespace, name, part), body))

    async def patch(self, kind: Kind, obj: Obj, change: Obj, part: str = "") -> Obj:
        """Merge a change into an object, if it is the one that was read (by its uid)."""
        namespace, name = ref_of(obj)
        meta = {**change.get("metadata", {}), "uid": obj["metadata"]["uid"]}
        body = {**change, "metadata": meta}
        return self._seen(kind, await self._ask("PATCH", kind.path(namespace, name, part), body, _MERGE))

    async def post(self, kind: Kind, obj: Obj, part: str, body: Obj) -> None:
        """POST to a part of an object: a binding, an eviction."""
        namespace, name = ref_of(obj)
        await self._ask("POST", kind.path(namespace, name, part), body)

    async def read(self, kind: Kind, namespace: str, name: str) -> Obj | None:
        """The object as it is on the server now; None: there is none."""
        try:
            return self._seen(kind, await self._ask("GET", kind.path(namespace, name), None))
        except NotFound:
            return None

    async def count(self, kind: Kind, namespace: str) -> int:
        """How many objects there are; for kinds that are not followed."""
        answer = await self._client.raw("GET", kind.path(namespace), query={"limit": "1"})
        found = orjson.loads(answer.body)
        return len(found.get("items") or ()) + int(found["metadata"].get("remainingItemCount") or 0)

    async def delete(
        self, kind: Kind, obj: Obj, *, grace_seconds: int | None = None, policy: str | None = None
    ) -> None:
        """Delete an object, if it is the one that was read. One that is not there any more is deleted, too."""
        namespace, name = ref_of(obj)
        uid = obj["metadata"]["uid"]
        body: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
        if grace_seconds is not None:
            body["gracePeriodSeconds"] = grace_seconds
        if policy is not None:
            body["propagationPolicy"] = policy
        try:
            answer = await self._ask("DELETE", kind.path(namespace, name), body)
        except NotFound:
            self.view.remove(kind, ref_of(obj), uid)
            return
        meta = answer.get("metadata") or {}
        if meta.get("uid") == uid and (meta.get("finalizers") or meta.get("deletionGracePeriodSeconds")):
            self._seen(kind, answer)
        elif not obj["metadata"].get("finalizers") and policy not in ("Foreground", "Orphan"):
            seen = self.view.version(kind, ref_of(obj)) or "0"
            self.view.remove(kind, ref_of(obj), uid, until=max(int(seen), int(meta.get("resourceVersion") or 0)))

    async def _ask(self, method: str, path: str, body: Obj | None, headers: Any = _JSON) -> Obj:
        data = None if body is None else orjson.dumps(body)
        query = None if method in ("GET", "DELETE") else self._query
        answer = await self._client.raw(method, path, query=query, headers=headers, body=data)
        found: Obj = orjson.loads(answer.body)
        return found

    def _seen(self, kind: Kind, obj: Obj) -> Obj:
        obj["metadata"].pop("managedFields", None)
        meta = obj["metadata"]
        if meta.get("deletionTimestamp") and not meta.get("finalizers") and not meta.get("deletionGracePeriodSeconds"):
            # The write took what held it back: it is gone.
            self.view.remove(kind, ref_of(obj), meta["uid"], until=int(meta["resourceVersion"]))
        else:
            self.view.put(kind, obj)
        return obj
