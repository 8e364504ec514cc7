"""A ValidatingAdmissionPolicy's spec at work: decisions with their messages, and audit annotations.

Rule: apiserver/pkg/admission/plugin/policy/validating (plugin.go, validator.go).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..kubernetes import PER_OBJECT_LIMIT
from ..ops import type_name
from ..rule import MAX_MESSAGE_BYTES
from ..types import BOOL, NULL, STRING
from .environment import admission_environment
from .expressions import Activation, Evaluation, Expression, PolicyError, Variables, compile_expression
from .matching import MatchConditions
from .request import AdmissionInputs

__all__ = ["AuditAnnotation", "Decision", "ValidatingPolicy", "ValidationResult"]

_MESSAGE: Final = (STRING,)


@dataclass(frozen=True, slots=True)
class Decision:
    """What one validation says.

    Attributes:
        admitted: whether it lets the request through.
        evaluation: `admit`, `deny`, or `error` where the failure policy decided.
        message: of a denial.
        reason: that of the answer; Invalid unless the validation has another.
    """

    admitted: bool
    evaluation: str
    message: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AuditAnnotation:
    """`action` is `publish`, `exclude`, or `error`."""

    key: str
    action: str
    value: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """Empty where the match conditions say that the policy is not about this request."""

    decisions: tuple[Decision, ...] = ()
    audit_annotations: tuple[AuditAnnotation, ...] = ()


class ValidatingPolicy:
    """The `spec` of a ValidatingAdmissionPolicy, compiled. Immutable; safe to share between threads.

    Args:
        spec: JSON data.
        is_new: by what a server lets into new policies, for their check, not by all that it can run.
        budget: what its validations and messages may cost together, and its audit annotations again.
    """

    def __init__(self, spec: Mapping[str, Any], *, is_new: bool = False, budget: int = PER_OBJECT_LIMIT) -> None:
        has_params = spec.get("paramKind") is not None
        env = admission_environment(params=has_params, is_new=is_new)
        silent = admission_environment(params=has_params, authorizer=False, is_new=is_new)
        self._failure_policy = str(spec.get("failurePolicy") or "Fail")
        self._budget = budget
        self.variables = Variables(spec.get("variables") or (), env)
        plain = env
        if self.variables.compiled or not is_new:
            env, silent = self.variables.known_to(env), self.variables.known_to(silent)
        self.match_conditions = MatchConditions(
            spec.get("matchConditions") or (),
            failure_policy=self._failure_policy,
            # A server runs those that read variables, but lets no new ones in.
            env=plain if is_new else env,
            variables=self.variables,
        )
        self._rules = tuple(spec.get("validations") or ())
        self.validations = tuple(
            compile_expression(str(rule.get("expression", "")), env, (BOOL,)) for rule in self._rules
        )
        self.messages = tuple(
            compile_expression(str(rule["messageExpression"]), silent, _MESSAGE)
            if rule.get("messageExpression")
            else None
            for rule in self._rules
        )
        self._annotations = tuple(spec.get("auditAnnotations") or ())
        self.audit_annotations = tuple(
            compile_expression(str(each.get("valueExpression", "")), env, (STRING, NULL)) for each in self._annotations
        )

    def validate(self, inputs: AdmissionInputs, *, interrupted: Callable[[], bool] | None = None) -> ValidationResult:
        """What the policy says of a request.

        Raises:
            Interrupted: nobody wants to know any more.
        """
        matched = self.match_conditions.match(inputs, interrupted=interrupted)
        if not matched.matches:
            return ValidationResult((self._failed(matched.error),) if matched.error else ())
        activation = Activation(inputs, self._budget, self.variables, interrupted)
        try:
            found = [activation.evaluate(each) for each in self.validations]
        except PolicyError as error:
            return ValidationResult((self._failed(str(error)),))
        stopped, messages = self._messages(inputs, activation.budget, interrupted)
        decisions = tuple(
            self._decide(rule, evaluation, messages[place] if messages else None, stopped)
            for place, (rule, evaluation) in enumerate(zip(self._rules, found, strict=True))
        )
        try:
            return ValidationResult(decisions, self._annotate(inputs, interrupted))
        except PolicyError as error:
            return ValidationResult((self._failed(str(error)),))

    def _messages(
        self, inputs: AdmissionInputs, budget: int, interrupted: Callable[[], bool] | None
    ) -> tuple[str, list[Evaluation | None]]:
        """What ended the evaluation of the messages, if something did, and the messages."""
        activation = Activation(_without_authorizer(inputs), budget, self.variables, interrupted)
        try:
            return "", [None if each is None else activation.evaluate(each) for each in self.messages]
        except PolicyError as error:
            return str(error), []

    def _decide(
        self, rule: Mapping[str, Any], evaluation: Evaluation, message: Evaluation | None, stopped: str
    ) -> Decision:
        if evaluation.error:
            return self._failed(evaluation.error)
        if stopped:
            return self._failed(f"failed messageExpression: {stopped}")
        if evaluation.value is True:
            return Decision(True, "admit")
        said = ""
        if message is not None and isinstance(message.value, str):
            said = message.value.strip()
            if len(said.encode()) > MAX_MESSAGE_BYTES or "\n" in said:
                said = ""
        said = said or str(rule.get("message") or "").strip()
        said = said or f"failed expression: {str(rule.get('expression', '')).strip()}"
        return Decision(False, "deny", said, str(rule.get("reason") or "Invalid"))

    def _failed(self, message: str) -> Decision:
        return Decision(self._failure_policy == "Ignore", "error", message)

    def _annotate(self, inputs: AdmissionInputs, interrupted: Callable[[], bool] | None) -> tuple[AuditAnnotation, ...]:
        activation = Activation(_without_authorizer(inputs), self._budget, self.variables, interrupted)
        found = [activation.evaluate(each) for each in self.audit_annotations]
        return tuple(
            self._annotation(str(each.get("key", "")), expression, evaluation)
            for each, expression, evaluation in zip(self._annotations, self.audit_annotations, found, strict=True)
        )

    def _annotation(self, key: str, expression: Expression, evaluation: Evaluation) -> AuditAnnotation:
        if evaluation.error:
            action = "exclude" if self._failure_policy == "Ignore" else "error"
            return AuditAnnotation(key, action, error=evaluation.error)
        if isinstance(evaluation.value, str):
            text = evaluation.value.strip()
            return AuditAnnotation(key, "publish" if text else "exclude", text)
        if evaluation.value is None:
            return AuditAnnotation(key, "exclude")
        said = (
            f"valueExpression '{expression.source}' resulted in unsupported return type: "
            f"{type_name(evaluation.value)}. Return type must be either string or null."
        )
        return AuditAnnotation(key, "error", error=said)


def _without_authorizer(inputs: AdmissionInputs) -> AdmissionInputs:
    return AdmissionInputs(inputs.request, inputs.object, inputs.old_object, inputs.params, inputs.namespace_object)
