"""What somebody without rights may do: the little that every cluster gives to all whom it knows."""

from __future__ import annotations

import asyncio

import orjson
import pytest

from kubewright.apiserver import Request, Response, User, new_server

JANE = User("jane", ("readers", "system:authenticated"), extra={"scopes": ("a", "b")})
NOBODY = User("system:anonymous", ("system:unauthenticated",))
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


def ask(method: str, target: str, user: User, body: dict[str, str] | None = None) -> Response:
    async def main() -> Response:
        server = new_server(seed=1)
        found = await server.handle(Request.of(method, target, user=user, body=body or b""))
        server.close()
        assert isinstance(found, Response)
        return found

    return asyncio.run(main())


def test_who_is_known_is_told_who_one_is() -> None:
    told = ask("POST", REVIEWS, JANE, REVIEW)
    assert told.status == 201
    assert orjson.loads(told.body)["status"] == {
        "userInfo": {
            "username": "jane",
            "groups": ["readers", "system:authenticated"],
            "extra": {"scopes": ["a", "b"]},
        }
    }


@pytest.mark.parametrize("path", ["/api", "/apis", "/api/v1", "/apis/apps/v1", "/openapi/v3"])
def test_who_is_known_may_discover(path: str) -> None:
    assert ask("GET", path, JANE).status == 200


@pytest.mark.parametrize(
    ("method", "path", "user"),
    [
        ("GET", "/api/v1/namespaces", JANE),
        ("POST", "/api", JANE),
        ("GET", "/apis", NOBODY),
        ("GET", "/apisix", JANE),
        ("POST", REVIEWS, NOBODY),
    ],
)
def test_nobody_else_may_more(method: str, path: str, user: User) -> None:
    assert ask(method, path, user, REVIEW if method == "POST" else None).status == 403
