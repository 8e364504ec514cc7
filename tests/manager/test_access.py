"""Who may read the metrics: what the API server is asked, and how long its word holds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest

import virtual
from kubewright.client import Client, ClientConfig, ConnectionLost, HttpClient, Response
from kubewright.client.http import RetryPolicy
from kubewright.client.transport import Headers
from kubewright.httpd import Answer, Request
from kubewright.manager.access import AccessControl


class Cluster:
    """Knows tokens, and who may read what."""

    def __init__(self) -> None:
        self.users = {"t-prom": {"username": "prom", "uid": "1", "groups": ["g"], "extra": {"k": ["v"]}}}
        self.may = {"prom"}
        self.asked: list[dict[str, Any]] = []
        self.seconds = 0.0
        self.fails: Response | ConnectionLost | None = None
        self.at_once = self.most_at_once = 0

    async def request(
        self, method: str, target: str, *, headers: Headers = (), body: bytes | None = None, timeout_seconds: Any = None
    ) -> Response:
        review = orjson.loads(body or b"")
        self.asked.append(review)
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        await asyncio.sleep(self.seconds)
        self.at_once -= 1
        if isinstance(self.fails, ConnectionLost):
            raise self.fails
        if self.fails is not None:
            return self.fails
        assert method == "POST"
        if target == "/apis/authentication.k8s.io/v1/tokenreviews":
            user = self.users.get(review["spec"]["token"])
            status = {"authenticated": True, "user": user} if user else {"error": "invalid bearer token"}
        else:
            assert target == "/apis/authorization.k8s.io/v1/subjectaccessreviews"
            status = {"allowed": review["spec"]["user"] in self.may}
        return Response(201, {}, orjson.dumps({**review, "status": status}))

    @property
    def kinds(self) -> list[str]:
        return [review["kind"] for review in self.asked]


class World:
    def __init__(self) -> None:
        self.cluster = Cluster()
        http = HttpClient(ClientConfig(server="http://h:1"), self.cluster, retry=RetryPolicy(max_tries=0))  # type: ignore[arg-type]
        self.access = AccessControl(Client(http))
        self.page = self.access.guarding(self._handler)

    async def _handler(self, request: Request) -> Answer:
        return Answer(200, b"numbers")

    async def get(self, authorization: str = "Bearer t-prom", path: str = "/metrics", method: str = "GET") -> Answer:
        headers = {"authorization": authorization} if authorization else {}
        return await self.page(Request(method, path, "", headers))


def run(main: Callable[[World], Awaitable[None]]) -> World:
    made: list[World] = []

    async def scene() -> None:
        made.append(World())
        await main(made[0])
        await made[0].access.close()

    virtual.run(scene())
    return made[0]


def test_a_known_user_who_may_sees_the_page() -> None:
    async def main(world: World) -> None:
        assert (await world.get()).body == b"numbers"

    assert run(main).cluster.asked == [
        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "t-prom"}},
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": "prom",
                "uid": "1",
                "groups": ["g"],
                "extra": {"k": ["v"]},
                "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
            },
        },
    ]


@pytest.mark.parametrize("authorization", ["", "Basic dTpw", "Bearer", "Bearer  ", "t-prom"])
def test_without_a_token_nobody_is_asked(authorization: str) -> None:
    async def main(world: World) -> None:
        answer = await world.get(authorization)
        assert (answer.status, answer.body) == (401, b"Unauthorized\n")
        assert dict(answer.headers)["WWW-Authenticate"] == "Bearer"

    assert run(main).cluster.asked == []


def test_an_unknown_token_is_401() -> None:
    async def main(world: World) -> None:
        assert (await world.get("Bearer t-other")).status == 401

    assert run(main).cluster.kinds == ["TokenReview"]


def test_a_user_who_may_not_is_403_by_name() -> None:
    async def main(world: World) -> None:
        world.cluster.may.clear()
        answer = await world.get()
        assert (answer.status, answer.body) == (403, b"Authorization denied for user prom\n")

    run(main)


@pytest.mark.parametrize(
    "fails", [Response(403, {}, b"{}"), Response(500, {}, b"{}"), ConnectionLost("h:1", "response", "gone")]
)
def test_an_api_server_that_does_not_say_is_500_and_asked_again_at_once(fails: Any) -> None:
    async def main(world: World) -> None:
        world.cluster.fails = fails
        answer = await world.get()
        assert (answer.status, answer.body) == (500, b"Authentication failed\n")
        world.cluster.fails = None
        assert (await world.get()).status == 200
        await asyncio.sleep(59)
        world.cluster.fails = fails
        answer = await world.get(path="/debug")
        assert (answer.status, answer.body) == (500, b"Authorization for user prom failed\n")

    run(main)


def test_an_api_server_that_does_not_answer_is_500_after_ten_seconds() -> None:
    async def main(world: World) -> None:
        world.cluster.seconds = 60.0
        started_at = asyncio.get_running_loop().time()
        assert (await world.get()).status == 500
        assert asyncio.get_running_loop().time() - started_at == pytest.approx(10)

    run(main)


def test_a_token_holds_for_a_minute_and_a_permission_for_five() -> None:
    async def main(world: World) -> None:
        for _ in range(31):  # every 10 s for 5 minutes
            await world.get()
            await asyncio.sleep(10)

    cluster = run(main).cluster
    assert cluster.kinds.count("TokenReview") == 6
    assert cluster.kinds.count("SubjectAccessReview") == 2


def test_a_token_that_was_withdrawn_is_refused_after_a_minute() -> None:
    async def main(world: World) -> None:
        assert (await world.get()).status == 200
        world.cluster.users.clear()
        await asyncio.sleep(59)
        assert (await world.get()).status == 200
        await asyncio.sleep(2)
        assert (await world.get()).status == 401

    run(main)


def test_a_refusal_holds_for_thirty_seconds() -> None:
    async def main(world: World) -> None:
        world.cluster.may.clear()
        assert (await world.get()).status == 403
        world.cluster.may.add("prom")
        await asyncio.sleep(29)
        assert (await world.get()).status == 403
        await asyncio.sleep(2)
        assert (await world.get()).status == 200

    run(main)


def test_paths_and_verbs_are_asked_for_one_by_one() -> None:
    async def main(world: World) -> None:
        await world.get()
        await world.get(path="/debug")
        await world.get(method="HEAD")

    attributes = [
        review["spec"]["nonResourceAttributes"]
        for review in run(main).cluster.asked
        if review["kind"] == "SubjectAccessReview"
    ]
    assert attributes == [
        {"path": "/metrics", "verb": "get"},
        {"path": "/debug", "verb": "get"},
        {"path": "/metrics", "verb": "head"},
    ]


def test_equal_questions_at_one_time_are_asked_once() -> None:
    async def main(world: World) -> None:
        world.cluster.seconds = 1.0
        assert {answer.status for answer in await asyncio.gather(*(world.get() for _ in range(20)))} == {200}

    assert run(main).cluster.kinds == ["TokenReview", "SubjectAccessReview"]


def test_who_goes_away_does_not_take_the_answer_from_the_others() -> None:
    async def main(world: World) -> None:
        world.cluster.seconds = 1.0
        first, second = asyncio.create_task(world.get()), asyncio.create_task(world.get())
        await asyncio.sleep(0.5)
        first.cancel()
        assert (await second).status == 200

    run(main)


def test_a_flood_of_tokens_is_asked_eight_at_a_time_and_remembered_in_bounds() -> None:
    async def main(world: World) -> None:
        world.cluster.seconds = 0.01
        answers = await asyncio.gather(*(world.get(f"Bearer t{number}") for number in range(3000)))
        assert {answer.status for answer in answers} == {401}
        assert len(world.access._users._known) <= 1024
        assert world.access._users._asking == {}

    assert run(main).cluster.most_at_once == 8


def test_tokens_are_not_kept() -> None:
    async def main(world: World) -> None:
        await world.get()
        assert "t-prom" not in repr(vars(world.access._users))

    run(main)
