"""Tokens of service accounts: whose they are, and until when."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kubewright.apiserver import ApiServer, Request, Response, User, new_server
from kubewright.apiserver.access.accounts import AUDIENCES, TokenRefused
from kubewright.apiserver.access.jwt import SigningKey, claims_of
from kubewright.apiserver.errors import StatusError

SECRETS = "/api/v1/namespaces/default/secrets"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
LEGACY = "kubernetes.io/service-account-token"


class Clock:
    def __init__(self) -> None:
        self.time = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


def ask(server: ApiServer, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    answer = asyncio.run(server.handle(Request.of(method, path, body=body or b"")))
    assert isinstance(answer, Response)
    assert answer.status < 300, answer.body
    found: dict[str, Any] = answer.json
    return found


def with_account(now: Clock | None = None) -> ApiServer:
    server = new_server(seed=1, now=now)
    ask(server, "POST", ACCOUNTS, {"metadata": {"name": "a"}})
    return server


def token(server: ApiServer, **spec: Any) -> str:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    made: str = ask(server, "POST", f"{ACCOUNTS}/a/token", body)["status"]["token"]
    return made


def user(server: ApiServer, said: str) -> User:
    authentication = server.backend.authentication
    assert authentication is not None
    return authentication.user({"authorization": f"Bearer {said}"})


def why_not(server: ApiServer, said: str) -> str:
    authentication = server.backend.authentication
    assert authentication is not None
    with pytest.raises(StatusError) as refused:
        authentication.user({"authorization": f"Bearer {said}"})
    assert refused.value.code == 401
    with pytest.raises(TokenRefused) as why:
        authentication.of_token(said, AUDIENCES)
    return str(why.value)


def test_a_token_ends_a_minute_after_its_time() -> None:
    clock = Clock()
    server = with_account(clock)
    said = token(server, expirationSeconds=600)
    assert user(server, said).groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:default",
        "system:authenticated",
    )
    clock.advance(660)
    user(server, said)
    clock.advance(1)
    assert why_not(server, said) == "service account token has expired"


def test_a_token_does_not_count_before_its_time() -> None:
    clock = Clock()
    server = with_account(clock)
    said = token(server)
    clock.advance(-61)
    assert why_not(server, said) == "service account token is not valid yet"


def test_a_token_of_a_projected_volume_lives_for_a_year() -> None:
    clock = Clock()
    server = with_account(clock)
    pod = {"metadata": {"name": "p"}, "spec": {"serviceAccountName": "a", "containers": [{"name": "c", "image": "i"}]}}
    ask(server, "POST", "/api/v1/namespaces/default/pods", pod)
    bound = {"kind": "Pod", "apiVersion": "v1", "name": "p"}
    said = token(server, expirationSeconds=3607, boundObjectRef=bound)
    clock.advance(300 * 86400)
    assert user(server, said).extra["authentication.kubernetes.io/pod-name"] == ("p",)
    plain = token(server, expirationSeconds=3607)
    clock.advance(3700)
    assert why_not(server, plain) == "service account token has expired"


def test_an_object_that_is_going_counts_for_another_minute() -> None:
    clock = Clock()
    server = with_account(clock)
    ask(server, "POST", SECRETS, {"metadata": {"name": "s", "finalizers": ["example.com/a"]}})
    said = token(server, expirationSeconds=7200, boundObjectRef={"kind": "Secret", "apiVersion": "v1", "name": "s"})
    ask(server, "DELETE", f"{SECRETS}/s")
    clock.advance(60)
    user(server, said)
    clock.advance(2)
    assert why_not(server, said) == "service account token has been invalidated"


def test_a_token_counts_where_its_key_does() -> None:
    server = with_account()
    said = token(server)
    fork = server.fork()
    assert user(fork, said).name == "system:serviceaccount:default:a"
    other = new_server(store=server.store.fork())
    assert why_not(other, said) == "invalid signature, no keys found"


def test_a_key_may_be_given() -> None:
    from kubewright.testing.certs import service_account_keys

    pem = service_account_keys().key
    first, second = new_server(account_key=pem), new_server(account_key=pem)
    ask(first, "POST", ACCOUNTS, {"metadata": {"name": "a"}})
    said = token(first)
    assert why_not(second, said) == 'serviceaccounts "a" not found'


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_token_that_was_changed_is_nobodys(place: int) -> None:
    server = with_account()
    parts = token(server).split(".")
    part = parts[place]
    middle = len(part) // 2
    parts[place] = part[:middle] + ("A" if part[middle] != "A" else "B") + part[middle + 1 :]
    with pytest.raises(StatusError):
        user(server, ".".join(parts))


@pytest.mark.parametrize("more", ["=", "!", " ", "\n", ".", "é"])
def test_a_token_with_anything_else_in_it_is_nobodys(more: str) -> None:
    server = with_account()
    said = token(server)
    middle = said.rindex(".") + 10
    authentication = server.backend.authentication
    assert authentication is not None
    for each in (said + more, said[:middle] + more + said[middle:]):
        with contextlib.suppress(TokenRefused):
            assert authentication.of_token(each, AUDIENCES) is None


def test_claims_are_read_without_trust() -> None:
    made = SigningKey().sign({"iss": "x", "n": 1})
    assert claims_of(made) == {"iss": "x", "n": 1}
    assert claims_of("nonsense") is None
    assert claims_of("a.b.c") is None


def legacy(server: ApiServer, uid: str) -> str:
    """A token as the controller manager puts it into a Secret."""
    authentication = server.backend.authentication
    assert authentication is not None
    assert authentication.accounts is not None
    claims = {
        "iss": "kubernetes/serviceaccount",
        "kubernetes.io/serviceaccount/namespace": "default",
        "kubernetes.io/serviceaccount/secret.name": "s",
        "kubernetes.io/serviceaccount/service-account.name": "a",
        "kubernetes.io/serviceaccount/service-account.uid": uid,
        "sub": "system:serviceaccount:default:a",
    }
    return authentication.accounts.key.sign(claims)


def with_secret(now: Clock) -> tuple[ApiServer, str]:
    server = with_account(now)
    uid = ask(server, "GET", f"{ACCOUNTS}/a")["metadata"]["uid"]
    said = legacy(server, uid)
    meta = {"name": "s", "annotations": {"kubernetes.io/service-account.name": "a"}}
    data = {"token": base64.b64encode(said.encode()).decode()}
    ask(server, "POST", SECRETS, {"type": LEGACY, "metadata": meta, "data": data})
    return server, said


def test_the_token_of_a_secret_has_no_end_and_says_when_it_was_used() -> None:
    clock = Clock()
    server, said = with_secret(clock)
    clock.advance(10 * 365 * 86400)
    assert user(server, said).name == "system:serviceaccount:default:a"
    labels = ask(server, "GET", f"{SECRETS}/s")["metadata"]["labels"]
    assert labels == {"kubernetes.io/legacy-token-last-used": clock().strftime("%Y-%m-%d")}


def test_the_token_of_a_secret_goes_with_it() -> None:
    server, said = with_secret(Clock())
    ask(server, "DELETE", f"{SECRETS}/s")
    assert why_not(server, said) == "Token has been invalidated"


def test_the_token_of_a_secret_is_the_one_that_it_has() -> None:
    server, said = with_secret(Clock())
    entry = server.store.get("/secrets", "default/s")
    assert entry is not None
    other = {**entry.object, "data": {"token": base64.b64encode(b"other").decode()}}
    server.store.update("/secrets", "default/s", {**other, "metadata": dict(other["metadata"])}, entry)
    assert why_not(server, said) == "Token does not match server's copy"


def test_the_token_of_a_secret_goes_with_its_account() -> None:
    server, said = with_secret(Clock())
    ask(server, "DELETE", f"{ACCOUNTS}/a")
    assert why_not(server, said) == 'serviceaccounts "a" not found'
