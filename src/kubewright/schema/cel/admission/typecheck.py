"""Are the expressions of a policy right for the kinds that it is about? What a server writes into the policy's status.

Each validation and message is checked once for each kind, with `object` and `oldObject` of the kind's schema. Rule:
apiserver/pkg/admission/plugin/policy/validating/typechecking.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..environment import Environment, FieldType
from ..errors import CompileError
from ..program import parse_and_check
from ..schema_meta import has_meta
from ..schema_types import schema_type
from ..types import DYN, Type
from .environment import admission_environment, with_variables
from .request import GroupVersionKind

__all__ = ["ExpressionWarning", "check_types"]


@dataclass(frozen=True, slots=True)
class ExpressionWarning:
    """One of `status.typeChecking.expressionWarnings`."""

    field_ref: str
    warning: str


def check_types(
    spec: Mapping[str, Any],
    schemas: Mapping[GroupVersionKind, Mapping[str, Any]],
    params_schema: Mapping[str, Any] | None = None,
) -> list[ExpressionWarning]:
    """What is wrong with the types of a ValidatingAdmissionPolicy's expressions.

    Args:
        spec: of the policy.
        schemas: of the kinds that its match constraints name, without `$ref`; a kind without one is not checked.
        params_schema: of `paramKind`, where it is known.
    """
    kinds = sorted(schemas, key=lambda kind: (kind.group, kind.version, kind.kind))
    environments = [(kind, _environment(spec, kind, schemas[kind], params_schema)) for kind in kinds]
    found: list[ExpressionWarning] = []
    for place, validation in enumerate(spec.get("validations") or ()):
        for name in ("expression", "messageExpression"):
            source = str(validation.get(name) or "")
            if not source and name == "messageExpression":
                continue
            said = [f"{kind}: {error}\n" for kind, env in environments if (error := _error(source, env))]
            if said:
                found.append(ExpressionWarning(f"spec.validations[{place}].{name}", "\n".join(said)))
    return found


def _environment(
    spec: Mapping[str, Any],
    kind: GroupVersionKind,
    schema: Mapping[str, Any],
    params_schema: Mapping[str, Any] | None,
) -> Environment:
    env = admission_environment(params=spec.get("paramKind") is not None)
    typed: dict[str, Type] = {}
    objects: dict[str, dict[str, FieldType]] = {}
    seen = schema_type(schema, root=not has_meta(schema), name=kind.kind)
    if seen is not None:
        typed |= {"object": seen.type, "oldObject": seen.type}
        objects |= seen.objects()
    params = None
    if params_schema is not None:
        params = schema_type(params_schema, root=not has_meta(params_schema), name="params")
    if params is not None:
        typed["params"] = params.type
        objects |= params.objects()
    env = env.extend(variables=typed, objects=objects)
    types: dict[str, Type] = {}
    for each in spec.get("variables") or ():
        types[str(each.get("name", ""))] = _type(str(each.get("expression", "")), with_variables(env, types))
    return with_variables(env, types)


def _error(source: str, env: Environment) -> str:
    try:
        parse_and_check(source, env)
    except CompileError as error:
        return str(error)
    return ""


def _type(source: str, env: Environment) -> Type:
    try:
        return parse_and_check(source, env).type
    except CompileError:
        return DYN
