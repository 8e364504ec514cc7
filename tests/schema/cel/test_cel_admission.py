"""Match conditions and policies without a server: what decides, what an error means, budgets, lazy variables."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.schema.cel import Interrupted
from kubewright.schema.cel.admission import (
    AdmissionInputs,
    AdmissionRequest,
    AuditAnnotation,
    Decision,
    GroupVersionKind,
    GroupVersionResource,
    MatchConditions,
    MatchResult,
    MutatingPolicy,
    PolicyError,
    ValidatingPolicy,
    check_types,
)
from kubewright.schema.cel.k8s_authz import Decision as Answer
from kubewright.schema.cel.k8s_authz import PathRequest, ResourceRequest

REQUEST = AdmissionRequest(
    GroupVersionKind("", "v1", "ConfigMap"), GroupVersionResource("", "v1", "configmaps"), "CREATE", "a", "default"
)
LONG = "object.l.all(a, object.l.all(b, a + b >= 0))"


def inputs(subject: Any = None, **more: Any) -> AdmissionInputs:
    return AdmissionInputs(REQUEST, {"metadata": {"name": "a"}} if subject is None else subject, **more)


def conditions(*expressions: str) -> list[dict[str, str]]:
    return [{"name": f"c{place}", "expression": each} for place, each in enumerate(expressions)]


TRUE, FALSE, ERROR = "object.metadata.name == 'a'", "object.metadata.name == 'b'", "object.nope.deep == 1"


def test_all_conditions_have_to_hold() -> None:
    assert MatchConditions(conditions(TRUE, TRUE)).match(inputs()) == MatchResult(True)
    assert MatchConditions([]).match(inputs()) == MatchResult(True)


def test_a_false_condition_decides_whatever_errors_there_are() -> None:
    for policy in ("Fail", "Ignore"):
        matching = MatchConditions(conditions(ERROR, TRUE, FALSE), failure_policy=policy)
        assert matching.match(inputs()) == MatchResult(False, "c2")


def test_errors_are_for_the_failure_policy() -> None:
    failing = MatchConditions(conditions(TRUE, ERROR, "object.nope2 == 1")).match(inputs())
    assert failing.error == (
        "[expression 'object.nope.deep == 1' resulted in error: no such key: nope, expression 'object.nope2 == 1'"
        " resulted in error: no such key: nope2]"
    )
    ignoring = MatchConditions(conditions(TRUE, ERROR), failure_policy="Ignore")
    assert ignoring.match(inputs()) == MatchResult(False)


def test_a_condition_that_does_not_compile_is_known_before_and_an_error_then() -> None:
    matching = MatchConditions(conditions("nope", TRUE))
    assert [place for place, _ in matching.errors] == [0]
    assert matching.match(inputs()).error.startswith("compilation error: compilation failed: ERROR: <input>:1:1")


def test_conditions_share_one_budget() -> None:
    subject = {"l": list(range(200))}
    assert MatchConditions(conditions(LONG)).match(inputs(subject)).matches
    matching = MatchConditions(conditions(*[LONG] * 10))
    assert "running out of cost budget" in matching.match(inputs(subject)).error


def test_a_webhooks_conditions_have_no_params_and_no_variables() -> None:
    matching = MatchConditions(conditions("params == 1", "variables.a == 1"))
    assert len(matching.errors) == 2


class Counting:
    def __init__(self) -> None:
        self.asked: list[PathRequest | ResourceRequest] = []

    def authorize(self, request: PathRequest | ResourceRequest) -> Answer:
        self.asked.append(request)
        return Answer(True)


def test_a_variable_is_evaluated_when_it_is_read_and_once() -> None:
    authorizer = Counting()
    check = "authorizer.path('/{}').check('get').allowed()"
    spec = {
        "variables": [
            {"name": "used", "expression": check.format("used")},
            {"name": "unused", "expression": check.format("unused")},
        ],
        "validations": [{"expression": "variables.used && variables.used"}, {"expression": "variables.used"}],
    }
    result = ValidatingPolicy(spec).validate(inputs(authorizer=authorizer))
    assert [decision.admitted for decision in result.decisions] == [True, True]
    assert authorizer.asked == [PathRequest("/used", "get")]


def test_a_variable_costs_the_budget_of_the_policy_once() -> None:
    spec = {"variables": [{"name": "v", "expression": LONG}], "validations": [{"expression": "variables.v"}] * 20}
    subject = inputs({"l": list(range(200))})
    policy = ValidatingPolicy(spec, budget=400_000)
    assert all(decision.admitted for decision in policy.validate(subject).decisions)
    (decision,) = ValidatingPolicy(spec, budget=100_000).validate(subject).decisions
    assert decision.message == (
        "validation failed due to running out of cost budget, no further validation rules will be run"
    )


def test_the_failure_policy_decides_on_errors_only() -> None:
    spec = {"failurePolicy": "Ignore", "validations": [{"expression": ERROR}, {"expression": FALSE}]}
    error, denial = ValidatingPolicy(spec).validate(inputs()).decisions
    assert (error.admitted, error.evaluation) == (True, "error")
    assert denial == Decision(False, "deny", f"failed expression: {FALSE}", "Invalid")


def test_a_message_may_not_ask_the_authorizer() -> None:
    spec = {"validations": [{"expression": FALSE, "messageExpression": "authorizer.path('/a').check('get').reason()"}]}
    policy = ValidatingPolicy(spec)
    assert policy.messages[0] is not None
    assert "undeclared reference to 'authorizer'" in policy.messages[0].error
    assert policy.validate(inputs()).decisions[0].message == f"failed expression: {FALSE}"


def test_messages_beyond_the_budget_are_an_error() -> None:
    spec = {"validations": [{"expression": "object.l == []", "messageExpression": f"{LONG} ? 'a' : 'b'"}]}
    (decision,) = ValidatingPolicy(spec, budget=50_000).validate(inputs({"l": list(range(200))})).decisions
    assert decision.message.startswith("failed messageExpression: validation failed due to running out of cost budget")


def test_audit_annotations_are_published_excluded_or_errors() -> None:
    spec = {
        "validations": [{"expression": "true"}],
        "auditAnnotations": [
            {"key": "a", "valueExpression": "' ' + string(object.metadata.name)"},
            {"key": "b", "valueExpression": "''"},
            {"key": "c", "valueExpression": "null"},
            {"key": "d", "valueExpression": "string(object.nope)"},
        ],
    }
    found = ValidatingPolicy(spec).validate(inputs()).audit_annotations
    assert found[:3] == (
        AuditAnnotation("a", "publish", "a"),
        AuditAnnotation("b", "exclude"),
        AuditAnnotation("c", "exclude"),
    )
    assert (found[3].action, found[3].error[-18:]) == ("error", "no such key: nope'"[:-1].rjust(18)[-18:])


def test_a_policy_that_does_not_match_decides_nothing() -> None:
    spec = {"matchConditions": conditions(FALSE), "validations": [{"expression": "false"}]}
    assert ValidatingPolicy(spec).validate(inputs()).decisions == ()


def test_params_are_there_with_a_kind_of_params() -> None:
    spec = {"paramKind": {"apiVersion": "v1", "kind": "A"}, "validations": [{"expression": "params.most > 1"}]}
    assert ValidatingPolicy(spec).validate(inputs(params={"most": 2})).decisions[0].admitted
    spec.pop("paramKind")
    assert "undeclared reference to 'params'" in ValidatingPolicy(spec).validations[0].error


def test_a_mutation_is_a_json_patch_or_an_apply_configuration() -> None:
    spec = {
        "mutations": [
            {
                "patchType": "JSONPatch",
                "jsonPatch": {
                    "expression": "[JSONPatch{op: 'replace', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b~c'),"
                    " value: [Object.metadata{x: 1u}, Object.metadata{x: 2u}]}]"
                },
            },
            {
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {"expression": "Object{spec: Object.spec{n: 1, ?m: optional.none()}}"},
            },
        ]
    }
    patch, configuration = MutatingPolicy(spec).mutations
    assert patch.evaluate(inputs()) == [
        {"op": "replace", "path": "/metadata/labels/a~1b~0c", "value": [{"x": 1}, {"x": 2}]}
    ]
    assert configuration.evaluate(inputs()) == {"spec": {"n": 1}}


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("Object{spec: Object.wrong{}}", 'unexpected type name "Object.wrong", expected "Object.spec", which matches'),
        ("Object{a: [Object.b{}]}", 'expected "Object.a"'),
        ("Other{}", "undeclared reference to 'Other'"),
        ("{'a': 1}", "must evaluate to Object but got map(string, int)"),
        ("Object{a: object.nope}", "resulted in error: no such key: nope"),
        ("Object.spec{}", "must evaluate to Object but got Object.spec"),
    ],
)
def test_a_wrong_mutation_says_why(expression: str, said: str) -> None:
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
    (compiled,) = MutatingPolicy({"mutations": [mutation]}).mutations
    with pytest.raises(PolicyError) as refused:
        compiled.evaluate(inputs())
    assert said in str(refused.value)


def test_fields_of_patches_have_types() -> None:
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 1, paths: 'a'}]"}}
    (compiled,) = MutatingPolicy({"mutations": [mutation]}).mutations
    assert "expected type of field 'op' is 'string' but provided type is 'int'" in compiled.error


def test_an_evaluation_that_is_no_longer_wanted_ends() -> None:
    subject = inputs({"l": list(range(500))})
    spec = {"variables": [{"name": "v", "expression": LONG}], "validations": [{"expression": "variables.v || true"}]}
    for run in (
        MatchConditions(conditions(f"{LONG} || true")).match,
        ValidatingPolicy(spec).validate,
        ValidatingPolicy({"validations": [{"expression": LONG}]}).validate,
    ):
        with pytest.raises(Interrupted):
            run(subject, interrupted=lambda: True)


def test_types_are_checked_for_each_kind() -> None:
    def schema(**properties: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}

    schemas = {
        GroupVersionKind("apps", "v1", "B"): schema(n={"type": "string"}),
        GroupVersionKind("apps", "v1", "A"): schema(n={"type": "integer"}),
    }
    spec = {
        "variables": [{"name": "n", "expression": "object.spec.n"}],
        "validations": [{"expression": "variables.n > 1"}],
    }
    (warning,) = check_types(spec, schemas)
    assert warning.field_ref == "spec.validations[0].expression"
    assert warning.warning.startswith("apps/v1, Kind=B: ERROR: <input>:1:13: found no matching overload for '_>_'")
    assert check_types({**spec, "validations": [{"expression": "true"}]}, schemas) == []
