"""MutatingAdmissionPolicies at work: each mutation is applied before the next one is evaluated.

Which policies a request is for is found out before any of them changes it. A mutation that fails is left out, and the
request is refused at the end, unless the failure policy is Ignore. Rules:
apiserver/pkg/admission/plugin/policy/mutating.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from kubewright.schema.cel.admission import MutatingPolicy, Mutation, PolicyError
from kubewright.schema.structural.values import same

from ..catalog import ResourceType
from ..errors import StatusError, forbidden
from ..patching import json_patch
from ..patching.errors import PatchError
from ..registry.backend import Attributes, Backend
from .bindings import Binding, Misconfigured, Policy, parameters
from .inputs import inputs_of
from .plugins.world import name_of
from .reinvocation import Reinvocation
from .rules import namespace_object
from .versions import Seen

__all__ = ["MutatingPolicies"]

_TEST_FAILED = "test failed"


class _Invocation(Struct):
    """One policy, for one binding and one parameter."""

    policy: Policy[MutatingPolicy]
    binding: Binding
    resource: ResourceType
    params: Mapping[str, Any] | None

    @property
    def key(self) -> str:
        """Tells it apart from all others."""
        meta = (self.params or {}).get("metadata") or {}
        return f"{self.policy.name} {self.binding.name} {meta.get('namespace', '')}/{meta.get('name', '')}"


class MutatingPolicies:
    """The plugin MutatingAdmissionPolicy. Policies are set from outside."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.policies: list[Policy[MutatingPolicy]] = []

    async def admit(self, attributes: Attributes, again: Reinvocation) -> None:
        """Let the policies change the object. Raises StatusError: one could not."""
        if attributes.operation == "DELETE":
            return
        problems: list[tuple[str, str]] = []
        found = [each for policy in self.policies for each in await self._invocations(policy, attributes, problems)]
        if found:
            await self._mutate(attributes, found, again, problems)
        if problems:
            message, reason = problems[0]
            causes = [{"message": each} for each, _ in problems]
            error = forbidden(attributes.kind, name_of(attributes), "", causes=causes)
            error.message, error.reason = message, reason or error.reason
            raise error

    async def _invocations(
        self, policy: Policy[MutatingPolicy], attributes: Attributes, problems: list[tuple[str, str]]
    ) -> list[_Invocation]:
        backend, kind = self._backend, policy.spec.get("paramKind")
        try:
            resource = policy.matching.matched(attributes, backend)
            if resource is None:
                return []
            await parameters(kind, None, "", backend)
        except Misconfigured as error:
            self._problem(policy, None, f"failed to configure policy: {error}", "", problems)
            return []
        made = []
        for binding in policy.bindings:
            try:
                if not binding.matches(attributes, backend):
                    continue
                found = await parameters(kind, binding.param_ref, attributes.namespace, backend)
            except Misconfigured as error:
                self._problem(policy, binding, f"failed to configure binding: {error}", "", problems)
                continue
            made += [_Invocation(policy, binding, resource, params) for params in found]
        return made

    @staticmethod
    def _problem(
        policy: Policy[MutatingPolicy],
        binding: Binding | None,
        why: str,
        reason: str,
        problems: list[tuple[str, str]],
    ) -> None:
        if policy.ignores_failures:
            return
        if binding is None:
            problems.append((f'policy "{policy.name}" denied request: {why}', reason))
        else:
            problems.append((f"policy '{policy.name}' with binding '{binding.name}' denied request: {why}", reason))

    async def _mutate(
        self,
        attributes: Attributes,
        invocations: list[_Invocation],
        again: Reinvocation,
        problems: list[tuple[str, str]],
    ) -> None:
        again.begin(attributes.object)
        namespace = namespace_object(attributes, self._backend.store)
        seen = Seen(attributes, self._backend.catalog)
        for invocation in invocations:
            await seen.show(invocation.resource)
            await self._invoke(attributes, invocation, seen, namespace, again, problems)
        await seen.put_back()
        again.end(attributes.object)

    async def _invoke(
        self,
        attributes: Attributes,
        invocation: _Invocation,
        seen: Seen,
        namespace: Mapping[str, Any] | None,
        again: Reinvocation,
        problems: list[tuple[str, str]],
    ) -> None:
        policy, compiled = invocation.policy, invocation.policy.evaluator

        def inputs() -> Any:
            return inputs_of(
                attributes,
                invocation.resource,
                seen.kind,
                seen.object,
                seen.old,
                self._backend.authorizer,
                params=invocation.params,
                namespace=namespace,
            )

        matched = compiled.match_conditions.match(inputs())
        if matched.error:
            self._problem(policy, invocation.binding, matched.error, "Invalid", problems)
        if not matched.matches or not again.asks(invocation.key):
            return
        before = seen.object
        for mutation in compiled.mutations:
            if seen.object is None:
                break
            try:
                made = self._made(mutation, inputs(), seen.object, invocation.resource)
                if made is not None:
                    seen.change(made, strict=mutation.patch_type == "JSONPatch")
            except PolicyError as error:
                self._problem(policy, invocation.binding, str(error), "Invalid", problems)
        is_reinvocable = policy.spec.get("reinvocationPolicy") == "IfNeeded"
        again.asked(invocation.key, is_changed=not same(before, seen.object), is_reinvocable=is_reinvocable)

    def _made(
        self, mutation: Mutation, inputs: Any, obj: dict[str, Any], resource: ResourceType
    ) -> dict[str, Any] | None:
        """The mutated object; None: it stays as it is. Raises PolicyError."""
        wanted = mutation.evaluate(inputs)
        if isinstance(wanted, list):
            try:
                made = json_patch(obj, wanted)
            except PatchError as error:
                if error.why.endswith(_TEST_FAILED):
                    return None
                raise PolicyError(f"JSON Patch: {error.why}") from None
            return made if isinstance(made, dict) else None
        manager = self._backend.field_manager
        if manager is None:
            raise StatusError(503, "ServiceUnavailable", f"Resource kind {resource.kind} not found.")
        stated = {**wanted, "kind": obj.get("kind"), "apiVersion": obj.get("apiVersion")}
        try:
            return manager.merged(resource, obj, stated)
        except ValueError as error:
            raise PolicyError(f"error applying patch: {error}") from None
