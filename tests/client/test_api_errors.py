"""Answers to typed errors. The Status bodies are as kube-apiserver 1.37 writes them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.client import errors
from kubewright.client.errors import ApiError, Cause, Details
from kubewright.client.rbac import RbacRule
from kubewright.client.statuses import error_from, error_from_status
from kubewright.client.transport import Response


def status(code: int, reason: str, message: str = "m", details: Any = None, **more: Any) -> dict[str, Any]:
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code}
    return body | ({"reason": reason} if reason else {}) | ({"details": details} if details else {}) | more


def error(code: int, body: Any, method: str = "GET", target: str = "/t", **headers: str) -> ApiError:
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return error_from(Response(code, named, data), method=method, target=target)


@pytest.mark.parametrize(
    ("code", "reason", "cls"),
    [
        (400, "BadRequest", errors.BadRequest),
        (401, "Unauthorized", errors.Unauthorized),
        (403, "Forbidden", errors.Forbidden),
        (404, "NotFound", errors.NotFound),
        (405, "MethodNotAllowed", errors.MethodNotAllowed),
        (406, "NotAcceptable", errors.NotAcceptable),
        (409, "AlreadyExists", errors.AlreadyExists),
        (409, "Conflict", errors.Conflict),
        (410, "Gone", errors.Gone),
        (410, "Expired", errors.Expired),
        (413, "RequestEntityTooLarge", errors.RequestEntityTooLarge),
        (415, "UnsupportedMediaType", errors.UnsupportedMediaType),
        (422, "Invalid", errors.Invalid),
        (429, "TooManyRequests", errors.TooManyRequests),
        (500, "InternalError", errors.InternalError),
        (500, "ServerTimeout", errors.Timeout),
        (500, "StoreReadError", errors.InternalError),
        (503, "ServiceUnavailable", errors.ServiceUnavailable),
        (504, "Timeout", errors.Timeout),
    ],
)
def test_the_reason_decides_the_class(code: int, reason: str, cls: type[ApiError]) -> None:
    found = error(code, status(code, reason, details={"name": "x"}))
    assert type(found) is cls
    assert (found.code, found.reason, found.message) == (code, reason, "m")
    if reason not in ("ServerTimeout", "StoreReadError"):
        assert (cls.default_code, cls.default_reason) == (code, reason)


@pytest.mark.parametrize(
    ("code", "method", "cls"),
    [
        (400, "GET", errors.BadRequest),
        (401, "GET", errors.Unauthorized),
        (403, "GET", errors.Forbidden),
        (409, "POST", errors.AlreadyExists),
        (409, "PUT", errors.Conflict),
        (410, "GET", errors.Gone),
        (413, "POST", errors.RequestEntityTooLarge),
        (429, "GET", errors.TooManyRequests),
        (500, "GET", errors.InternalError),
        (503, "GET", errors.ServiceUnavailable),
        (504, "GET", errors.Timeout),
        (502, "GET", errors.UnexpectedResponse),
        (418, "GET", errors.UnexpectedResponse),
    ],
)
@pytest.mark.parametrize("body", [b"Some text", status(0, ""), status(0, "NewReason")])
def test_without_a_known_reason_the_code_decides(code: int, method: str, cls: type[ApiError], body: Any) -> None:
    found = error(code, body, method)
    assert type(found) is cls
    assert found.code == code


def test_expired_is_gone_and_conflict_is_not_already_exists() -> None:
    assert issubclass(errors.Expired, errors.Gone)
    assert not issubclass(errors.AlreadyExists, errors.Conflict)
    assert issubclass(errors.ResourceTypeNotFound, errors.NotFound)


@pytest.mark.parametrize(
    ("body", "is_type"),
    [
        (b"404 page not found\n", True),
        (status(404, "NotFound", "the server could not find the requested resource", {}), True),
        (status(404, "NotFound", "the server could not find the requested resource"), True),
        (status(404, "NotFound", 'pods "a" not found', {"name": "a", "kind": "pods"}), False),
        (status(404, "NotFound", 'namespaces "n" not found', {"name": "n", "kind": "namespaces"}), False),
    ],
)
def test_a_resource_that_is_not_served_is_told_from_an_object_that_is_not_there(body: Any, is_type: bool) -> None:
    found = error(404, body)
    assert isinstance(found, errors.NotFound)
    assert found.is_resource_type == isinstance(found, errors.ResourceTypeNotFound) == is_type
    assert ("install its CRD" in str(found)) == is_type


def test_the_404_of_a_proxy_is_not_the_word_that_an_object_is_gone() -> None:
    found = error(404, b"<html>\n  <h1>Not Found</h1>\n</html>" + b" " * 5000 + b"x")
    assert type(found) is errors.UnexpectedResponse
    assert len(found.text) == 2048
    assert str(found) == (
        "GET /t: 404 UnexpectedResponse: <html> <h1>Not Found</h1> </html>; "
        "is there an API server, and not a proxy or a login page, at this address?"
    )


def test_details_and_causes_are_kept() -> None:
    causes = [{"reason": "FieldValueInvalid", "message": "Invalid value: 0", "field": "spec.replicas"}]
    details = {"name": "a", "group": "example.com", "kind": "Web", "uid": "u", "causes": causes}
    found = error(422, status(422, "Invalid", 'Web.example.com "a" is invalid: ...', details), "POST", "/x")
    assert isinstance(found, errors.Invalid)
    assert found.causes == (Cause("spec.replicas", "FieldValueInvalid", "Invalid value: 0"),)
    assert found.details == Details("a", "example.com", "Web", "u")
    assert found.has_cause("FieldValueInvalid")
    assert not found.has_cause("FieldManagerConflict")
    assert str(found) == 'POST /x: 422 Invalid: Web.example.com "a" is invalid: ...; correct spec.replicas'


@pytest.mark.parametrize(
    ("body", "header", "seconds"),
    [
        (status(429, "TooManyRequests", details={"retryAfterSeconds": 7}), "3", 7.0),
        (status(429, "TooManyRequests"), "3", 3.0),
        (b"Too many requests, please try again later.\n", "1", 1.0),
        (b"", "", None),
        (b"", "soon", None),
        (b"", "-1", None),
        (b"", "Wed, 21 Oct 2026 07:28:00 GMT", None),
    ],
)
def test_what_the_server_asks_to_wait_is_kept(body: Any, header: str, seconds: float | None) -> None:
    found = error(429, body, retry_after=header)
    assert isinstance(found, errors.TooManyRequests)
    assert found.retry_after_seconds == seconds


def test_the_token_to_go_on_with_after_an_expired_page_is_kept() -> None:
    found = error(410, status(410, "Expired", metadata={"continue": "token"}))
    assert found.continue_ == "token"


def cannot(user: str, verb: str, resource: str, group: str, where: str) -> str:
    return f'User "{user}" cannot {verb} resource "{resource}" in API group "{group}" {where}'


FORBIDDEN = [
    (
        "pods is forbidden: "
        + cannot("system:serviceaccount:shop:operator", "list", "pods", "", 'in the namespace "prod"'),
        RbacRule("system:serviceaccount:shop:operator", "list", "", "pods", "prod"),
        "bind ServiceAccount shop/operator to a Role in namespace prod with the rule "
        '{apiGroups: [""], resources: ["pods"], verbs: ["list"]}',
    ),
    (
        'webs.example.com "a" is forbidden: '
        + cannot("alice", "patch", "webs/status", "example.com", "at the cluster scope"),
        RbacRule("alice", "patch", "example.com", "webs/status"),
        "bind User alice to a ClusterRole with the rule "
        '{apiGroups: ["example.com"], resources: ["webs/status"], verbs: ["patch"]}',
    ),
    (
        'forbidden: User "system:anonymous" cannot get path "/metrics"',
        RbacRule("system:anonymous", "get", non_resource_url="/metrics"),
        'bind User system:anonymous to a ClusterRole with the rule {nonResourceURLs: ["/metrics"], verbs: ["get"]}',
    ),
    (
        'users "bob" is forbidden: '
        + cannot("alice", "impersonate", "users", "", "at the cluster scope")
        + ': RBAC: role.rbac.authorization.k8s.io "x" not found',
        RbacRule("alice", "impersonate", "", "users"),
        "bind User alice to a ClusterRole with the rule "
        '{apiGroups: [""], resources: ["users"], verbs: ["impersonate"]}',
    ),
]


@pytest.mark.parametrize(("message", "rule", "cure"), FORBIDDEN, ids=range(len(FORBIDDEN)))
def test_a_missing_permission_names_the_rule_to_add(message: str, rule: RbacRule, cure: str) -> None:
    found = error(403, status(403, "Forbidden", message))
    assert isinstance(found, errors.Forbidden)
    assert found.rule == rule
    assert str(found) == f"GET /t: 403 Forbidden: {message}; {cure}"


def test_what_admission_forbids_has_no_rule_to_add() -> None:
    found = error(403, status(403, "Forbidden", 'pods "a" is forbidden: exceeded quota: q, requested: pods=1'))
    assert isinstance(found, errors.Forbidden)
    assert found.rule is None
    assert str(found).endswith("requested: pods=1")


def test_refused_credentials_are_named_by_kind() -> None:
    response = Response(401, {}, orjson.dumps(status(401, "Unauthorized", "Unauthorized")))
    found = error_from(response, method="GET", target="/t", credentials="bearer token in /run/token")
    assert str(found) == (
        "GET /t: 401 Unauthorized: Unauthorized; the server does not accept the bearer token in /run/token;"
        " renew it, or log in again"
    )


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (error(409, status(409, "Conflict", details={"causes": [{"reason": "FieldManagerConflict"}]})), "with force"),
        (error(413, b"too large"), "1.5 MiB"),
        (error(415, status(415, "", "... application/strategic-merge-patch+json ...")), "merge or JSON patch"),
        (error(400, b"Client sent an HTTP request to an HTTPS server.\n"), "use https://"),
        (error(302, b"", location="https://login"), "redirected to https://login"),
    ],
)
def test_the_message_holds_the_cure(found: ApiError, text: str) -> None:
    assert text in str(found)
    assert "\n" not in str(found)


def test_a_status_out_of_a_watch_is_an_error_too() -> None:
    body = status(410, "Expired", "too old resource version: 1 (2)")
    for given_ in (body, orjson.dumps(body)):
        found = error_from_status(given_)
        assert type(found) is errors.Expired
        assert str(found) == "410 Expired: too old resource version: 1 (2)"
    assert type(error_from_status(b"[1]")) is errors.UnexpectedResponse
    assert error_from_status({"kind": "Status"}, code=504).code == 504


def test_an_error_made_by_hand_has_the_code_and_reason_of_its_class() -> None:
    found = errors.Conflict(message="changed")
    assert (found.code, found.reason) == (409, "Conflict")
    assert str(found) == "409 Conflict: changed"


def test_an_error_can_be_copied_and_pickled() -> None:
    found = error(422, status(422, "Invalid", details={"name": "a", "causes": [{"field": "f"}]}), "POST", "/x")
    for other in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert type(other) is errors.Invalid
        assert (str(other), other.causes, other.details) == (str(found), found.causes, found.details)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


DETAILS = st.fixed_dictionaries({}, optional=dict.fromkeys(("causes", "name", "retryAfterSeconds"), JSON))
STATUS = st.fixed_dictionaries(
    {"kind": st.just("Status")},
    optional=dict.fromkeys(("code", "reason", "message", "metadata", "status"), JSON) | {"details": DETAILS | JSON},
)


@given(st.integers(300, 599), STATUS)
def test_no_status_however_odd_makes_the_error_fail(code: int, body: dict[str, Any]) -> None:
    found = error(code, body)
    assert isinstance(found, ApiError)
    assert isinstance(str(found), str)
    assert isinstance(found.code, int)
    assert all(isinstance(text, str) for text in (*found.details, *(part for cause in found.causes for part in cause)))


@given(st.integers(300, 599), st.binary(max_size=50))
def test_no_body_however_odd_makes_the_error_fail(code: int, body: bytes) -> None:
    assert isinstance(str(error(code, body)), str)
