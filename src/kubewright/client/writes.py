"""The verbs that write: create, update, patch, apply, delete, delete_all, and the scale.

Owns their signatures and the reading of their answers; what is sent is the business of `bodies`, `patches` and
`options`. Objects that are passed in are never changed: what the server made of one is returned.
"""

from __future__ import annotations

import msgspec
from typing_extensions import TypeVar

from ..model import Key, Object, decode, encode
from .bodies import apply_body, create_body, update_body
from .calls import ACCEPT, JSON, Calls, Target
from .options import Fields, FieldValidation, Labels, ListQuery, Propagation, delete_body, write_query
from .patches import Patch
from .paths import InvalidRequest, namespace_of, segment
from .scale import Scale
from .transport import Headers

__all__ = ["Writes"]

T = TypeVar("T", bound=Object)

# Its name is older than JSON's turn; JSON is YAML.
_APPLY: Headers = (("accept", "application/json"), ("content-type", "application/apply-patch+yaml"))


class _Kind(msgspec.Struct):
    kind: str = ""


_KIND = msgspec.json.Decoder(_Kind)


def _is_status(body: bytes) -> bool:
    return not body or _KIND.decode(body).kind == "Status"


class Writes(Calls):
    """See `Client`.

    The options `dry_run`, `field_manager` and `field_validation` take the client's where they are None.
    """

    __slots__ = ()

    async def create(
        self,
        obj: T,
        *,
        namespace: str | None = None,
        of: Target | None = None,
        name: str | Key | None = None,
        subresource: str | None = None,
        dry_run: bool | None = None,
        field_manager: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> T:
        """Create an object; with its uid, its version and all defaults as the server stored it.

        Args:
            obj: `metadata.generate_name` instead of a name lets the server choose one.
            subresource: post to `.../<name>/<subresource>` of the object `of` (or of the class `of` and `name`):
                `create(Eviction(...), of=pod, subresource="eviction")`. Where the answer is no object, `obj` is
                returned.

        Raises:
            AlreadyExists: there is one of this name.
            Invalid: it breaks its schema; `causes` has a line per field.
            NotFound: the namespace does not exist.
            InvalidRequest: it has neither a name nor a generate_name, or it has a version already.
            KindNotServed, ApiError, TransportError.
        """
        query = self._query(dry_run, field_manager, field_validation)
        body = create_body(obj)
        if subresource is not None:
            cls, path = await self._object(obj, name, namespace, of, subresource)
            answer = await self._send("POST", path + query, JSON, body, cls)
            return obj if _is_status(answer) else decode(type(obj), answer)
        if of is not None or name is not None:
            raise InvalidRequest("of" if of else "name", of or name, "says where a subresource is, and there is none")
        metadata = obj.metadata
        if metadata.name or not metadata.generate_name:
            # The name is not in the path; whoever creates without one should hear it as everywhere.
            segment(metadata.name, "metadata.name")
        kind = type(obj)
        info = await self._info(kind)
        path = self._paths.collection(kind, info, namespace_of(info, namespace, metadata.namespace, self._namespace))
        return decode(kind, await self._send("POST", path + query, JSON, body, kind))

    async def update(
        self,
        obj: T,
        *,
        namespace: str | None = None,
        of: Target | None = None,
        subresource: str | None = None,
        dry_run: bool | None = None,
        field_manager: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> T:
        """Replace an object. Fields that its class does not know stay as they were read.

        The object's `resource_version` is the optimistic lock: without one, built-in kinds are overwritten whatever
        they are now, and custom resources are Invalid. The status of a kind with a status subresource is not written:
        `update_status` does that.

        Raises:
            Conflict: another writer was faster; read again (`retry_on_conflict`).
            NotFound, Invalid, InvalidRequest, KindNotServed, ApiError, TransportError.
        """
        cls, path = await self._object(obj, None, namespace, of, subresource)
        query = self._query(dry_run, field_manager, field_validation)
        return decode(type(obj), await self._send("PUT", path + query, JSON, update_body(obj), cls))

    async def update_status(
        self,
        obj: T,
        *,
        namespace: str | None = None,
        dry_run: bool | None = None,
        field_manager: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> T:
        """Replace the status of an object, and nothing else of it. As `update` with `subresource="status"`."""
        return await self.update(
            obj,
            namespace=namespace,
            subresource="status",
            dry_run=dry_run,
            field_manager=field_manager,
            field_validation=field_validation,
        )

    async def patch(
        self,
        target: T | type[T],
        patch: Patch,
        name: str | Key | None = None,
        *,
        namespace: str | None = None,
        of: Target | None = None,
        subresource: str | None = None,
        dry_run: bool | None = None,
        field_manager: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> T:
        """Change a part of an object: `patch(Web, MergePatch({"spec": {"replicas": 3}}), "a")`.

        Args:
            target: the object, of which name and namespace are taken, or the class, with `name`.
            subresource: patch the status, the scale (`patch(Scale, ..., "a", of=Web, subresource="scale")`), ...

        Raises:
            Conflict: the patch has a `resource_version`, and the object another.
            Invalid: the result breaks the schema, or an operation of a JsonPatch failed.
            NotFound, InvalidRequest, KindNotServed, ApiError, TransportError.
        """
        answer = await self.patch_raw(
            target,
            patch,
            name,
            namespace=namespace,
            of=of,
            subresource=subresource,
            dry_run=dry_run,
            field_manager=field_manager,
            field_validation=field_validation,
        )
        return decode(type(target) if isinstance(target, Object) else target, answer)

    async def patch_raw(
        self,
        target: Target,
        patch: Patch,
        name: str | Key | None = None,
        *,
        namespace: str | None = None,
        of: Target | None = None,
        subresource: str | None = None,
        dry_run: bool | None = None,
        field_manager: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> bytes:
        """As `patch`, for who does not need the object: its JSON, as it was answered."""
        if not isinstance(patch, Patch):
            raise InvalidRequest("patch", patch, "is no patch", "say which kind it is, such as MergePatch({...})")
        cls, path = await self._object(target, name, namespace, of, subresource)
        query = self._query(dry_run, field_manager, field_validation)
        return await self._send("PATCH", path + query, patch.headers, patch.body, cls)

    async def apply(
        self,
        obj: T,
        *,
        namespace: str | None = None,
        field_manager: str | None = None,
        force: bool = False,
        subresource: str | None = None,
        dry_run: bool | None = None,
        field_validation: FieldValidation | None = None,
    ) -> T:
        """Server-side apply: state what this field manager wants of an object, which is created if there is none.

        Sent are name, labels, annotations, owner references, finalizers and everything that is not the status; with
        `subresource="status"` the status alone. A field that this manager stated before and does not state now is
        removed, unless another states it too (https://kubernetes.io/docs/reference/using-api/server-side-apply/).

        Args:
            field_manager: who states it; required, here or on the client.
            force: take over fields that others have stated differently.

        Raises:
            Conflict: another manager has stated a field differently; `causes` names it and the field.
            InvalidRequest: no field manager.
            Invalid, NotFound (the namespace), KindNotServed, ApiError, TransportError.
        """
        answer = await self.apply_raw(
            obj,
            apply_body(obj, subresource),
            namespace=namespace,
            field_manager=field_manager,
            force=force,
            subresource=subresource,
            dry_run=dry_run,
            field_validation=field_validation,
        )
        return decode(type(obj), answer)

    async def apply_raw(
        self,
        target: Target,
        body: bytes,
        name: str | Key | None = None,
        *,
        namespace: str | None = None,
        field_manager: str | None = None,
        force: bool = False,
        subresource: str | None = None,
        dry_run: bool | None = None,
        field_validation: FieldValidation | None = None,
    ) -> bytes:
        """As `apply`, of JSON: what is stated of an object, as `body`; the object's JSON, as it was answered.

        Args:
            target: an object, of which name and namespace are taken (and no more), or the class, with `name`.
        """
        if not (field_manager or self._defaults.field_manager):
            cure = 'say who applies: field_manager="web-operator" here or on the client'
            raise InvalidRequest("field_manager", field_manager, "is needed by server-side apply", cure)
        cls, path = await self._object(target, name, namespace, None, subresource)
        query = self._query(dry_run, field_manager or None, field_validation)
        query += "&force=true" if force else "&force=false"
        return await self._send("PATCH", path + query, _APPLY, body, cls)

    async def delete(
        self,
        target: T | type[T],
        name: str | Key | None = None,
        *,
        namespace: str | None = None,
        propagation: Propagation | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period_seconds: int | None = None,
        dry_run: bool | None = None,
    ) -> T | None:
        """Delete an object.

        Args:
            target: the object, of which name and namespace are taken (and no more), or the class, with `name`.
            propagation: what becomes of the objects that it owns; the server's default is Background for
                almost every kind, Orphan for Jobs.
            uid, resource_version: delete it only if it still has these. With `uid=obj.metadata.uid` a new object of
                the same name is safe.
            grace_period_seconds: how long a Pod may take; 0: at once.

        Returns:
            None: it is gone. An object: as it is now, mostly one that waits for its finalizers (some kinds, such as
            Pods and Services, answer with the object in either case).

        Raises:
            NotFound: there is none.
            Conflict: it has another uid or version.
            InvalidRequest, KindNotServed, ApiError, TransportError.
        """
        kind = type(target) if isinstance(target, Object) else target
        cls, path = await self._object(target, name, namespace, None, None)
        body = self._delete_body(dry_run, propagation, uid, resource_version, grace_period_seconds)
        answer = await self._send("DELETE", path, JSON if body else ACCEPT, body, cls)
        return None if _is_status(answer) else decode(kind, answer)

    async def delete_all(
        self,
        kind: type[Object],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        propagation: Propagation | None = None,
        grace_period_seconds: int | None = None,
        dry_run: bool | None = None,
    ) -> None:
        """Delete all objects of a kind in one namespace, or those that the selectors choose.

        Args:
            namespace: required for a namespaced kind: the server has no deletion over all namespaces, and the
                client's default is not taken for one.
            labels, fields: as for `list`. None and empty choose everything.

        Returns when all of them have been deleted or wait for their finalizers.

        Raises:
            InvalidRequest: no namespace.
            KindNotServed, ApiError (MethodNotAllowed: some kinds, such as Service before 1.23, have no such verb).
        """
        info = await self._info(kind)
        if info.namespaced and namespace is None:
            raise InvalidRequest("namespace", namespace, f"is needed to delete all {info.plural}", "give namespace=")
        query = ListQuery.of(labels, fields)
        path = self._paths.collection(kind, info, namespace) + query.page(None)
        body = self._delete_body(dry_run, propagation, None, None, grace_period_seconds)
        await self._send("DELETE", path, JSON if body else ACCEPT, body, kind)

    async def get_scale(self, target: Target, name: str | Key | None = None, *, namespace: str | None = None) -> Scale:
        """The scale of an object, or of the class and `name`. Raises as `get`."""
        cls, path = await self._object(target, name, namespace, None, "scale")
        return decode(Scale, await self._send("GET", path, ACCEPT, None, cls))

    async def update_scale(
        self,
        target: Target,
        scale: Scale,
        *,
        namespace: str | None = None,
        dry_run: bool | None = None,
        field_manager: str | None = None,
    ) -> Scale:
        """Replace the scale of an object, or of the class and the name in `scale.metadata`. Raises as `update`.

        A scale that was read carries the version of the object, and is an optimistic lock; without one it is not.
        """
        cls, path = await self._object(scale, None, namespace, target, "scale")
        query = self._query(dry_run, field_manager, None)
        return decode(Scale, await self._send("PUT", path + query, JSON, encode(scale), cls))

    def _query(self, dry_run: bool | None, field_manager: str | None, field_validation: FieldValidation | None) -> str:
        if dry_run is None and field_manager is None and field_validation is None:
            return self._write_query
        return write_query(self._defaults, dry_run, field_manager, field_validation)

    def _delete_body(
        self,
        dry_run: bool | None,
        propagation: Propagation | None,
        uid: str | None,
        resource_version: str | None,
        grace_period_seconds: int | None,
    ) -> bytes | None:
        return delete_body(
            dry_run=self._defaults.dry_run if dry_run is None else dry_run,
            propagation=propagation,
            uid=uid,
            resource_version=resource_version,
            grace_period_seconds=grace_period_seconds,
        )
