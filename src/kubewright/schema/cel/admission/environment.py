"""The variables of admission expressions and their types. `object`, `oldObject` and `params` are `dyn`.

| expressions of | params | authorizer | variables | types of patches |
|---|---|---|---|---|
| a webhook's match conditions | | yes | | |
| a policy's match conditions, variables, validations, audit annotations | with `paramKind` | yes | yes | |
| a validating policy's message expressions | with `paramKind` | | yes | |
| a mutating policy's mutations | with `paramKind` | yes | yes | yes |

Rule: apiserver/pkg/admission/plugin/cel/compile.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from .. import kubernetes
from ..environment import Environment, FieldType
from ..types import BOOL, DYN, INT, STRING, TIMESTAMP, Type, list_of, map_of, object_type

__all__ = ["VARIABLES_TYPE", "admission_environment", "with_variables"]

VARIABLES_TYPE: Final = "kubernetes.variables"
_AUTHORIZER: Final = object_type("kubernetes.authorization.Authorizer")
_RESOURCE_CHECK: Final = object_type("kubernetes.authorization.ResourceCheck")


def _fields(**types: Type) -> dict[str, FieldType]:
    return {name: FieldType(type_, name) for name, type_ in types.items()}


_GVK: Final = object_type("kubernetes.GroupVersionKind")
_GVR: Final = object_type("kubernetes.GroupVersionResource")
_STRINGS: Final = list_of(STRING)
_OBJECTS: Final[dict[str, dict[str, FieldType]]] = {
    _GVK.name: _fields(group=STRING, version=STRING, kind=STRING),
    _GVR.name: _fields(group=STRING, version=STRING, resource=STRING),
    "kubernetes.UserInfo": _fields(username=STRING, uid=STRING, groups=_STRINGS, extra=map_of(STRING, _STRINGS)),
    "kubernetes.AdmissionRequest": _fields(
        kind=_GVK, resource=_GVR, subResource=STRING, requestKind=_GVK, requestResource=_GVR,
        requestSubResource=STRING, name=STRING, namespace=STRING, operation=STRING,
        userInfo=object_type("kubernetes.UserInfo"), dryRun=BOOL, options=DYN,
    ),
    "kubernetes.NamespaceSpec": _fields(finalizers=_STRINGS),
    "kubernetes.NamespaceCondition": _fields(
        status=STRING, type=STRING, lastTransitionTime=TIMESTAMP, message=STRING, reason=STRING
    ),
    "kubernetes.NamespaceStatus": _fields(
        conditions=list_of(object_type("kubernetes.NamespaceCondition")), phase=STRING
    ),
    "kubernetes.NamespaceMetadata": _fields(
        name=STRING, generateName=STRING, namespace=STRING, labels=map_of(STRING, STRING),
        annotations=map_of(STRING, STRING), UID=STRING, creationTimestamp=TIMESTAMP, deletionGracePeriodSeconds=INT,
        deletionTimestamp=TIMESTAMP, generation=INT, resourceVersion=STRING, finalizers=_STRINGS,
    ),
    "kubernetes.Namespace": _fields(
        metadata=object_type("kubernetes.NamespaceMetadata"), spec=object_type("kubernetes.NamespaceSpec"),
        status=object_type("kubernetes.NamespaceStatus"),
    ),
}  # fmt: skip


@cache
def admission_environment(
    *, params: bool = False, authorizer: bool = True, patches: bool = False, is_new: bool = False
) -> Environment:
    """The environment of one kind of expressions; see the table.

    Args:
        is_new: what a server lets into new objects, not all that it can run.
    """
    if patches:
        base = kubernetes.patching(is_new=is_new)
    else:
        base = kubernetes.new() if is_new else kubernetes.stored()
    variables = {
        "object": DYN,
        "oldObject": DYN,
        "request": object_type("kubernetes.AdmissionRequest"),
        "namespaceObject": object_type("kubernetes.Namespace"),
    }
    if params:
        variables["params"] = DYN
    if authorizer:
        variables |= {"authorizer": _AUTHORIZER, "authorizer.requestResource": _RESOURCE_CHECK}
    return base.extend(variables=variables, objects=_OBJECTS)


def with_variables(env: Environment, types: Mapping[str, Type]) -> Environment:
    """The environment with `variables`, whose fields have these types."""
    fields = {name: FieldType(_declared(type_), name) for name, type_ in types.items()}
    return env.extend(variables={"variables": object_type(VARIABLES_TYPE)}, objects={VARIABLES_TYPE: fields})


_SIMPLE: Final = frozenset(
    {"any", "bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint", "dyn"}
)


def _declared(type_: Type) -> Type:
    """The type of a variable's expression, as far as the server remembers it."""
    if type_.kind in _SIMPLE:
        return type_
    if type_.kind == "list":
        return list_of(_declared(type_.params[0]))
    if type_.kind == "map":
        return map_of(_declared(type_.params[0]), _declared(type_.params[1]))
    return DYN
