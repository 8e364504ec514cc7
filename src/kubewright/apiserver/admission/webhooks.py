"""Asking the webhooks of a server: the mutating ones after each other, the validating ones at the same time.

| | mutating | validating |
|---|---|---|
| order | by configuration, then as listed; each sees what those before it made | all at once |
| says no | the request ends | the first answer that came counts |
| no usable answer | the failure policy: 500, or as if it was not there | the same |
| again | once, if it wants to and something later changed the object | |

Guarantees: G1 a webhook is asked at most twice in a request. G2 no call outlives its `timeoutSeconds` or the request.
Cancellation: a cancelled request has cancelled its calls. Rules:
apiserver/pkg/admission/plugin/webhook/{mutating,validating}.
"""

from __future__ import annotations

import asyncio
from typing import Any

import orjson

from kubewright.schema.structural.gotext import quoted
from kubewright.schema.structural.values import same

from ..catalog import ResourceType
from ..errors import StatusError, internal
from ..patching import json_patch
from ..patching.errors import PatchError
from ..registry.backend import Attributes, Backend, ObjectKind
from .hooks import Caller, CallFailed, Hook, decoded_patch
from .reinvocation import Reinvocation
from .versions import Seen, converted, kind_as

__all__ = ["WebhookPlugins"]


class WebhookPlugins:
    """The plugins MutatingAdmissionWebhook and ValidatingAdmissionWebhook. Configurations are set from outside."""

    def __init__(self, backend: Backend, caller: Caller) -> None:
        self._backend, self._caller = backend, caller
        self.mutating: list[Hook] = []
        self.validating: list[Hook] = []

    # -- mutating -----------------------------------------------------------------------------------------------------

    async def admit(self, attributes: Attributes, again: Reinvocation) -> None:
        """Let the mutating webhooks change the object. Raises StatusError: one says no."""
        again.begin(attributes.object)
        seen = Seen(attributes, self._backend.catalog)
        for number, hook in enumerate(self.mutating):
            attributes.object = seen.object
            resource = hook.matched(attributes, self._backend)
            if resource is None:
                continue
            await seen.show(resource)
            kind = seen.kind
            if not hook.meets_conditions(attributes, resource, kind, seen.object, seen.old, self._backend.authorizer):
                continue
            if again.asks(hook.key):
                await self._mutate(hook, number, attributes, resource, seen, again)
        await seen.put_back()
        again.end(attributes.object)

    async def _mutate(
        self,
        hook: Hook,
        number: int,
        attributes: Attributes,
        resource: ResourceType,
        seen: Seen,
        again: Reinvocation,
    ) -> None:
        place = f"round_{int(again.is_second)}_index_{number}"
        is_changed = False
        try:
            is_changed = await self._ask(hook, attributes, resource, seen)
        except CallFailed as error:
            if not hook.fails_open:
                raise internal(str(error)) from None
            attributes.annotate(f"failed-open.mutation.webhook.admission.k8s.io/{place}", hook.name)
        finally:
            said = {"configuration": hook.configuration, "webhook": hook.name, "mutated": is_changed}
            attributes.annotate(f"mutation.webhook.admission.k8s.io/{place}", orjson.dumps(said).decode())
        again.asked(hook.key, is_changed=is_changed, is_reinvocable=hook.is_reinvocable)

    async def _ask(self, hook: Hook, attributes: Attributes, resource: ResourceType, seen: Seen) -> bool:
        """Whether the webhook changed the object. Raises CallFailed, StatusError."""
        verdict = await hook.call(
            attributes,
            resource,
            seen.kind,
            seen.object,
            seen.old,
            caller=self._caller,
            uid=self._backend.new_uid(),
            mutates=True,
        )
        if not verdict.patch:
            return False
        operations = decoded_patch(hook, verdict.patch)
        if not operations:
            return False
        if seen.object is None:
            said = f"admission webhook {quoted(hook.name)} attempted to modify the object, which is not supported for"
            raise internal(f"{said} this operation")
        if verdict.patch_type != "JSONPatch":
            raise hook.failed(f"unsupported patch type {quoted(verdict.patch_type)}")
        before = seen.object
        try:
            made = json_patch(before, operations)
        except PatchError as error:
            raise internal(error.why) from None
        if not isinstance(made, dict):
            raise internal("json: cannot unmarshal into Go value")
        seen.change(made)
        return not same(seen.object, before)

    # -- validating ---------------------------------------------------------------------------------------------------

    async def validate(self, attributes: Attributes) -> None:
        """Ask the validating webhooks. Raises StatusError: one says no."""
        backend = self._backend
        relevant: list[tuple[Hook, ResourceType, ObjectKind]] = []
        objects: dict[ObjectKind, tuple[Any, Any]] = {}
        for hook in self.validating:
            resource = hook.matched(attributes, backend)
            if resource is None:
                continue
            kind = kind_as(attributes, resource)
            if kind not in objects:
                new, old = attributes.object, attributes.old
                objects[kind] = (await converted(attributes, new, kind), await converted(attributes, old, kind))
            if hook.meets_conditions(attributes, resource, kind, *objects[kind], self._backend.authorizer):
                relevant.append((hook, resource, kind))
        if not relevant:
            return
        if len(relevant) == 1:
            hook, resource, kind = relevant[0]
            error = await self._refusal(0, hook, attributes, resource, kind, objects[kind])
        else:
            error = await self._all(attributes, relevant, objects)
        if error is not None:
            raise error

    async def _all(
        self,
        attributes: Attributes,
        relevant: list[tuple[Hook, ResourceType, ObjectKind]],
        objects: dict[ObjectKind, tuple[Any, Any]],
    ) -> StatusError | None:
        """The refusal that came first; all are waited for."""
        refusals: list[StatusError] = []

        async def one(number: int, hook: Hook, resource: ResourceType, kind: ObjectKind) -> None:
            error = await self._refusal(number, hook, attributes, resource, kind, objects[kind])
            if error is not None:
                refusals.append(error)

        async with asyncio.TaskGroup() as group:
            for number, (hook, resource, kind) in enumerate(relevant):
                group.create_task(one(number, hook, resource, kind))
        return refusals[0] if refusals else None

    async def _refusal(
        self,
        number: int,
        hook: Hook,
        attributes: Attributes,
        resource: ResourceType,
        kind: ObjectKind,
        objects: tuple[Any, Any],
    ) -> StatusError | None:
        try:
            await hook.call(
                attributes,
                resource,
                kind,
                *objects,
                caller=self._caller,
                uid=self._backend.new_uid(),
                mutates=False,
            )
        except CallFailed as error:
            if not hook.fails_open:
                return internal(str(error))
            key = f"failed-open.validating.webhook.admission.k8s.io/round_0_index_{number}"
            attributes.annotate(key, hook.name)
        except StatusError as error:
            return error
        return None
