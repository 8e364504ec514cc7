"""ValidatingAdmissionPolicies at work.

All policies are asked, whatever the others say; the first denial is the answer. A binding says what a denial means:
Deny, Warn (a Warning header) or Audit (an annotation of the audit event). What is wrong with a policy itself denies,
unless its failure policy is Ignore. Rules: apiserver/pkg/admission/plugin/policy/validating/dispatcher.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from kubewright.schema.cel.admission import ValidatingPolicy, ValidationResult

from ..catalog import ResourceType
from ..errors import StatusError, forbidden
from ..registry.backend import Attributes, Backend, ObjectKind
from .bindings import Binding, Misconfigured, Policy, parameters
from .inputs import inputs_of
from .plugins.world import name_of
from .rules import namespace_object
from .versions import converted, kind_as

__all__ = ["ValidatingPolicies"]

_CODES: Final = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413, "Invalid": 422}
_MOST_FAILURES: Final = 50
_LONGEST_ANNOTATION: Final = 10 * 1024

Objects = tuple[dict[str, Any] | None, dict[str, Any] | None]


class ValidatingPolicies:
    """The plugin ValidatingAdmissionPolicy. Policies are set from outside."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.policies: list[Policy[ValidatingPolicy]] = []

    async def validate(self, attributes: Attributes) -> None:
        """Ask all policies. Raises StatusError: one denies."""
        asked = _Asked(attributes)
        for policy in self.policies:
            await self._ask(policy, asked)
        asked.finish()

    async def _ask(self, policy: Policy[ValidatingPolicy], asked: _Asked) -> None:
        attributes, backend = asked.attributes, self._backend
        try:
            resource = policy.matching.matched(attributes, backend)
            if resource is None:
                return
            await parameters(policy.spec.get("paramKind"), None, "", backend)
        except Misconfigured as error:
            asked.misconfigured(policy, None, error)
            return
        notes: dict[str, list[str]] = {}
        for binding in policy.bindings:
            try:
                if not binding.matches(attributes, backend):
                    continue
                found = await parameters(policy.spec.get("paramKind"), binding.param_ref, attributes.namespace, backend)
                if not found:
                    continue
                kind = kind_as(attributes, resource)
                new, old = await asked.objects(kind)
            except Misconfigured as error:
                asked.misconfigured(policy, binding, error)
                continue
            for params in found:
                result = self._evaluated(policy, attributes, resource, kind, (new, old), params)
                asked.take(policy, binding, result, notes)
        for key, values in notes.items():
            attributes.annotate(f"{policy.name}/{key}", ", ".join(values))

    def _evaluated(
        self,
        policy: Policy[ValidatingPolicy],
        attributes: Attributes,
        resource: ResourceType,
        kind: ObjectKind,
        objects: Objects,
        params: Mapping[str, Any] | None,
    ) -> ValidationResult:
        inputs = inputs_of(
            attributes,
            resource,
            kind,
            *objects,
            self._backend.authorizer,
            params=params,
            namespace=namespace_object(attributes, self._backend.store),
        )
        return policy.evaluator.validate(inputs)


class _Asked:
    """What has been said of one request so far."""

    def __init__(self, attributes: Attributes) -> None:
        self.attributes = attributes
        self._seen: dict[ObjectKind, Objects] = {}
        self._denials: list[tuple[str, str]] = []
        self._failures: list[dict[str, Any]] = []

    async def objects(self, kind: ObjectKind) -> Objects:
        """The objects in a version. Raises Misconfigured."""
        found = self._seen.get(kind)
        if found is None:
            attributes = self.attributes
            try:
                new = await converted(attributes, attributes.object, kind)
                old = await converted(attributes, attributes.old, kind)
            except StatusError as error:
                raise Misconfigured(f"failed to convert object version: {error.message}") from None
            found = self._seen[kind] = (new, old)
        return found

    def misconfigured(self, policy: Policy[ValidatingPolicy], binding: Binding | None, error: Misconfigured) -> None:
        """Note what is wrong with a policy or binding."""
        if not policy.ignores_failures:
            what = "policy" if binding is None else "binding"
            self._deny(policy, binding, f"failed to configure {what}: {error}", "")

    def take(
        self,
        policy: Policy[ValidatingPolicy],
        binding: Binding,
        result: ValidationResult,
        notes: dict[str, list[str]],
    ) -> None:
        """Note what an evaluation came to."""
        for place, decision in enumerate(result.decisions):
            if decision.admitted:
                continue
            for action in binding.actions:
                if action == "Deny":
                    self._deny(policy, binding, decision.message, decision.reason)
                elif action == "Warn":
                    start = f"Validation failed for ValidatingAdmissionPolicy '{policy.name}'"
                    self.attributes.warn(f"{start} with binding '{binding.name}': {decision.message}")
                elif action == "Audit":
                    self._failures.append(
                        {
                            "message": decision.message,
                            "policy": policy.name,
                            "binding": binding.name,
                            "expressionIndex": place,
                            "validationActions": list(binding.actions),
                        }
                    )
        for annotation in result.audit_annotations:
            if annotation.action == "publish":
                values, value = notes.setdefault(annotation.key, []), annotation.value[:_LONGEST_ANNOTATION]
                if value not in values:
                    values.append(value)
            elif annotation.action == "error":
                self._deny(policy, binding, annotation.error, "")

    def _deny(self, policy: Policy[ValidatingPolicy], binding: Binding | None, why: str, reason: str) -> None:
        bound = "" if binding is None else f" with binding '{binding.name}'"
        self._denials.append((f"ValidatingAdmissionPolicy '{policy.name}'{bound} denied request: {why}", reason))

    def finish(self) -> None:
        """Say it all. Raises StatusError: the first denial."""
        if self._failures:
            said = orjson.dumps(self._failures[:_MOST_FAILURES]).decode()
            self.attributes.annotate("validation.policy.admission.k8s.io/validation_failure", said)
        for message, reason in self._denials:
            causes = [{"message": message}]
            error = forbidden(self.attributes.kind, name_of(self.attributes), message, causes=causes)
            error.reason = reason or "Invalid"
            error.code = _CODES.get(error.reason, 422)
            raise error
