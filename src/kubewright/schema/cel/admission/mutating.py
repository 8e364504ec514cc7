"""A MutatingAdmissionPolicy's spec at work: what each mutation wants, as JSON patches or apply configurations.

The caller applies one mutation before it asks for the next, which sees the result. Rule:
apiserver/pkg/admission/plugin/policy/mutating (compilation.go, patch/).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..errors import EvaluationError
from ..jsonout import to_json
from ..k8s_mutation import JSON_PATCH_TYPE, OBJECT_TYPE, wrong_names
from ..kubernetes import PER_OBJECT_LIMIT
from ..types import list_of, object_type
from ..values import ObjectValue
from .environment import admission_environment
from .expressions import Activation, PolicyError, Variables, compile_expression
from .matching import MatchConditions
from .request import AdmissionInputs

__all__ = ["MutatingPolicy", "Mutation"]

_PATCHES: Final = list_of(object_type(JSON_PATCH_TYPE))
_OBJECT: Final = object_type(OBJECT_TYPE)


class Mutation:
    """One mutation. `patch_type` is JSONPatch or ApplyConfiguration; `error` says what does not compile."""

    def __init__(self, mutation: Mapping[str, Any], env: Any, variables: Variables, budget: int) -> None:
        self.patch_type = str(mutation.get("patchType", ""))
        is_patch = self.patch_type == "JSONPatch"
        field = mutation.get("jsonPatch" if is_patch else "applyConfiguration") or {}
        returns = (_PATCHES if is_patch else _OBJECT,)
        self.expression = compile_expression(str(field.get("expression", "")).strip(), env, returns)
        self._variables = variables
        self._budget = budget

    @property
    def error(self) -> str:
        return self.expression.error

    def evaluate(
        self, inputs: AdmissionInputs, *, interrupted: Callable[[], bool] | None = None
    ) -> list[dict[str, Any]] | dict[str, Any]:
        """The operations of a JSON patch (RFC 6902), or the apply configuration, as JSON data.

        Raises:
            PolicyError: there is none, in the server's words; the failure policy decides.
            Interrupted: nobody wants to know any more.
        """
        if self.expression.error:
            raise PolicyError(self.expression.error)
        activation = Activation(inputs, self._budget, self._variables, interrupted)
        evaluation = activation.evaluate(self.expression)
        if evaluation.error:
            raise PolicyError(evaluation.error)
        try:
            if self.patch_type == "JSONPatch":
                return [_operation(each) for each in evaluation.value]
            _check_names(evaluation.value)
            configuration: dict[str, Any] = to_json(evaluation.value)
            return configuration
        except EvaluationError as error:
            raise PolicyError(str(error)) from None


def _operation(patch: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"op": patch.get("op", ""), "path": patch.get("path", "")}
    if patch.get("from"):
        found["from"] = patch["from"]
    if "value" in patch:
        _check_names(patch["value"])
        found["value"] = to_json(patch["value"])
    return found


def _check_names(value: Any) -> None:
    if isinstance(value, ObjectValue):
        wrong = wrong_names(value, value.cel_type)
        if value.cel_type == JSON_PATCH_TYPE:
            return
        if wrong:
            raise PolicyError("type mismatch: " + "\n".join(wrong))


class MutatingPolicy:
    """The `spec` of a MutatingAdmissionPolicy, compiled. Immutable; safe to share between threads.

    Attributes:
        match_conditions: to be asked first.
        mutations: in their order.
    """

    def __init__(self, spec: Mapping[str, Any], *, is_new: bool = False, budget: int = PER_OBJECT_LIMIT) -> None:
        has_params = spec.get("paramKind") is not None
        env = admission_environment(params=has_params, is_new=is_new)
        self.failure_policy = str(spec.get("failurePolicy") or "Fail")
        self.variables = Variables(spec.get("variables") or (), env)
        self.match_conditions = MatchConditions(
            spec.get("matchConditions") or (),
            failure_policy=self.failure_policy,
            env=env if is_new else self.variables.known_to(env),
            variables=self.variables,
        )
        patching = self.variables.known_to(admission_environment(params=has_params, patches=True, is_new=is_new))
        self.mutations = tuple(Mutation(each, patching, self.variables, budget) for each in spec.get("mutations") or ())
