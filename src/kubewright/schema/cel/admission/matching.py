"""Match conditions: whether a request is for a webhook or a policy at all.

All are evaluated in one budget. One that is false decides, whatever the others are; without such a one, an error is for
the failure policy. Rule: apiserver/pkg/admission/plugin/webhook/matchconditions/matcher.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kubewright.schema.structural.fielderrors import summary

from ..environment import Environment
from ..kubernetes import MATCH_CONDITIONS_LIMIT
from ..types import BOOL
from .environment import admission_environment
from .expressions import Activation, PolicyError, Variables, compile_expression
from .request import AdmissionInputs

__all__ = ["MatchConditions", "MatchResult"]

_BOOL: Final = (BOOL,)


@dataclass(frozen=True, slots=True)
class MatchResult:
    """Whether all conditions hold.

    Attributes:
        failed_condition: the name of the first that does not.
        error: why nobody knows; the request is to be refused with it. Empty with failure policy Ignore, where the
            request does not match then.
    """

    matches: bool
    failed_condition: str = ""
    error: str = ""


class MatchConditions:
    """The `matchConditions` of a webhook, or with `variables` of a policy. Immutable; safe to share between threads.

    Args:
        conditions: name and expression each, as in the configuration.
        failure_policy: Fail or Ignore.
        env: of the expressions; that of webhooks unless given.
        variables: the policy's.
        budget: what they may cost together.
    """

    def __init__(
        self,
        conditions: Sequence[Mapping[str, Any]],
        *,
        failure_policy: str = "Fail",
        env: Environment | None = None,
        variables: Variables | None = None,
        budget: int = MATCH_CONDITIONS_LIMIT,
    ) -> None:
        env = env or admission_environment()
        self._variables = variables
        self._budget = budget
        self._failure_policy = failure_policy
        self._compiled = tuple(
            (str(each.get("name", "")), compile_expression(str(each.get("expression", "")), env, _BOOL))
            for each in conditions
        )

    @property
    def errors(self) -> tuple[tuple[int, str], ...]:
        """Place and text of each condition that does not compile."""
        return tuple((place, each.error) for place, (_, each) in enumerate(self._compiled) if each.error)

    def match(self, inputs: AdmissionInputs, *, interrupted: Callable[[], bool] | None = None) -> MatchResult:
        """Whether the request is for the webhook or policy.

        Raises:
            Interrupted: nobody wants to know any more.
        """
        activation = Activation(inputs, self._budget, self._variables, interrupted)
        try:
            found = [(name, activation.evaluate(each)) for name, each in self._compiled]
        except PolicyError as error:
            return self._failed(str(error))
        for name, evaluation in found:
            if not evaluation.error and evaluation.value is False:
                return MatchResult(False, name)
        errors = [evaluation.error for _, evaluation in found if evaluation.error]
        return self._failed(summary(errors)) if errors else MatchResult(True)

    def _failed(self, error: str) -> MatchResult:
        return MatchResult(False, error=error if self._failure_policy == "Fail" else "")
