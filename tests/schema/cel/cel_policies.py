"""Validations of admission policies, by group; each has a result here and on a real server. None admits."""

from __future__ import annotations

from typing import Any

__all__ = ["CLUSTER", "COMPILE", "CONFIG_MAP", "GROUPS", "VARIABLES"]

CONFIG_MAP: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "g", "namespace": "default", "labels": {"app": "x", "a.b/c": "d"}},
    "data": {"a": "1", "b": "2"},
}

VARIABLES = [
    {"name": "app", "expression": "object.metadata.labels.app"},
    {"name": "broken", "expression": "object.metadata.nope.deep"},
    {"name": "keys", "expression": "object.data.map(k, k).sort()"},
    {"name": "both", "expression": "variables.keys + [string(variables.app)]"},
    {"name": "count", "expression": "size(object.data)"},
    {"name": "through", "expression": "variables.broken"},
]

GROUPS: dict[str, list[str | dict[str, Any]]] = {
    "messages": [
        "object.data.a == '2'",
        {"expression": "object.data.a == '3'", "message": " a must be three "},
        {"expression": "object.data.a == '4'", "messageExpression": "'a is ' + object.data.a"},
        {"expression": "object.data.a == '5'", "messageExpression": "string(object.data.nope)", "message": "kept"},
        {"expression": "object.data.a == '6'", "messageExpression": "'  '", "message": "six"},
        {"expression": "object.data.a == '7'", "messageExpression": "'two\\nlines'"},
        {"expression": "object.data.a == '8'", "messageExpression": "'%d keys'.format([variables.count])"},
        {"expression": "object.data.a == '10'", "reason": "Forbidden", "message": "ten"},
    ],
    "errors": [
        "oldObject.metadata.name == 'x'",
        "object.spec.x == 1",
        "object.data.zz == '1'",
        "has(object.data.zz) && object.data.zz == '1'",
        "int(object.data.a) / 0 > 5",
        "object.data.a > 5",
        "object.data.all(k, object.data[k] == '1')",
        "params == 1 || oldObject != null",
        "object.metadata.labels['a.b/c'] == 'e'",
        "object.nope.?deep.hasValue()",
        "object.?nope.?deep.hasValue()",
    ],
    "request": [
        "request.operation == 'UPDATE'",
        "request.dryRun == false",
        "request.namespace == 'other'",
        "request.subResource == ''",
        "has(request.subResource) || has(request.requestSubResource)",
        "request.kind.kind == 'Pod'",
        "request.kind.group != ''",
        "request.resource.resource == 'pods'",
        "request.requestKind != request.kind",
        "request.requestResource.version == 'v2'",
        "request.name == 'zz'",
        "!('system:masters' in request.userInfo.groups)",
        "request.options.dryRun != ['All']",
        "request.userInfo.username == ''",
    ],
    "namespace": [
        "namespaceObject.metadata.name == 'x'",
        "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'x'",
        "namespaceObject.status.phase == 'x'",
        "namespaceObject.spec.finalizers == []",
        "namespaceObject.metadata.UID == ''",
        "has(namespaceObject.metadata.annotations)",
        "has(namespaceObject.metadata.deletionTimestamp)",
        "namespaceObject.metadata.creationTimestamp < timestamp('2000-01-01T00:00:00Z')",
        "namespaceObject.status.conditions.size() > 5",
        "namespaceObject == null",
    ],
    "authorizer": [
        "!authorizer.group('').resource('configmaps').namespace('default').check('get').allowed()",
        "!authorizer.path('/healthz').check('get').allowed()",
        "!authorizer.requestResource.check('create').allowed()",
        "authorizer.serviceAccount('default', 'x').group('').resource('pods').check('get').allowed()",
        "authorizer.group('apps').resource('deployments').subresource('scale').name('a').check('update').errored()",
        "authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c=d').check('list').error() != ''",
    ],
    "variables": [
        "variables.app == 'y'",
        "variables.broken == 1",
        "variables.broken == 1 || object.data.a == '2'",
        "variables.broken == 1 && object.data.a == '2'",
        "variables.keys.exists(k, k == 'z')",
        {"expression": "variables.both.size() > 5", "messageExpression": "variables.both.join('+')"},
        "variables.count > 7",
        "variables.through == 1",
        "has(variables.app) && variables.app == 'z'",
        {"expression": "variables.count > 8", "messageExpression": "string(variables.app) + 's'"},
    ],
}

#: Of an object without a namespace.
CLUSTER: list[str | dict[str, Any]] = [
    "namespaceObject != null",
    "namespaceObject.metadata.name == 'a'",
    "request.namespace == ''",
    "has(request.namespace)",
    "has(namespaceObject.metadata.name)",
]

#: Validations that a server does not let into a policy.
COMPILE: list[dict[str, Any]] = [
    {"expression": "object.a +"},
    {"expression": "object"},
    {"expression": "'a'"},
    {"expression": "nope == 1"},
    {"expression": "params.a == 1"},
    {"expression": "request.nope == 1"},
    {"expression": "request.kind == 'a'"},
    {"expression": "variables.nope == 1"},
    {"expression": "variables.count == 'a'"},
    {"expression": "[1].includes(1)"},
    {"expression": "true", "messageExpression": "1"},
    {"expression": "true", "messageExpression": "authorizer.path('/a').check('get').reason()"},
    {"expression": "authorizer.check('get')"},
    {"expression": "authorizer.requestResource.nope()"},
    {"expression": "namespaceObject.metadata.managedFields == []"},
    {"expression": "jsonpatch.escapeKey('a') == 'a'"},
    {"expression": "Object{} == Object{}"},
    {"expression": "int('a') == 1"},
    {"expression": "[object, 1].size() == 2"},
]
