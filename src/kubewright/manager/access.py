"""Who may read the metrics: the API server says it, as for everything else in the cluster.

Owns the two questions and how long their answers hold. It is controller-runtime's filter
(`WithAuthenticationAndAuthorization`), and takes the same ClusterRole: `system:auth-delegator` for the operator, and
`{nonResourceURLs: ["/metrics"], verbs: ["get"]}` for who scrapes.

    Authorization: Bearer ... --TokenReview--> user --SubjectAccessReview--> may (verb, path)

    answer                                              kept for
    401 Unauthorized, no token or not a valid one       1 min, valid or not
    403 Authorization denied for user U                 30 s
    500 the API server did not say                      not at all
    the page                                            5 min

A token is kept as its SHA-256. Equal questions at one time are one question, and no more than 8 are asked at a time:
whoever can reach the port cannot make us flood the API server.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from kubewright.client import ApiError, Client, ConfigError, TransportError
from kubewright.httpd import Answer, Handler, Request, Streaming

__all__ = ["AccessControl"]

logger = logging.getLogger(__name__)

TOKEN_SECONDS = 60.0
ALLOW_SECONDS = 300.0
DENY_SECONDS = 30.0
REVIEW_SECONDS = 10.0
MOST_AT_A_TIME = 8
MOST_KEPT = 1024

_TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"  # noqa: S105 - a path
_ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

V = TypeVar("V")


class _User(msgspec.Struct, frozen=True):
    username: str = ""
    uid: str = ""
    groups: list[str] | None = None
    extra: dict[str, list[str]] | None = None


class _TokenStatus(msgspec.Struct):
    authenticated: bool = False
    user: _User | None = None
    error: str = ""


class _AccessStatus(msgspec.Struct):
    allowed: bool = False
    reason: str = ""


class _TokenReview(msgspec.Struct):
    status: _TokenStatus = msgspec.field(default_factory=_TokenStatus)


class _AccessReview(msgspec.Struct):
    status: _AccessStatus = msgspec.field(default_factory=_AccessStatus)


_decode_token = msgspec.json.Decoder(_TokenReview).decode
_decode_access = msgspec.json.Decoder(_AccessReview).decode


class AccessControl:
    """A filter before a handler.

    Guarantees: A1 the handler is called only for a user of whom the API server has said, within the times above, that
    they are that user and may do this.
    Cancellation: a question that others wait for too goes on.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._at_a_time = asyncio.Semaphore(MOST_AT_A_TIME)
        self._users: _Memory[_User | None] = _Memory(lambda _: TOKEN_SECONDS)
        self._rights: _Memory[bool] = _Memory(lambda may: ALLOW_SECONDS if may else DENY_SECONDS)
        self._told = False

    def guarding(self, handler: Handler) -> Handler:
        """`handler`, for who may."""

        async def guarded(request: Request) -> Answer | Streaming:
            return await self._refusal(request) or await handler(request)

        return guarded

    async def close(self) -> None:
        """End the questions that are still under way."""
        await self._users.close()
        await self._rights.close()

    async def _refusal(self, request: Request) -> Answer | None:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            return Answer.text(401, "Unauthorized", ("WWW-Authenticate", "Bearer"))
        digest = hashlib.sha256(token.encode("latin-1")).digest()
        try:
            user = await self._users.get(digest, lambda: self._user_of(token))
        except _NotSaid:
            return Answer.text(500, "Authentication failed")
        if user is None:
            return Answer.text(401, "Unauthorized", ("WWW-Authenticate", 'Bearer error="invalid_token"'))
        verb = request.method.lower()
        question = (msgspec.json.encode(user), verb, request.path)
        try:
            may = await self._rights.get(question, lambda: self._may(user, verb, request.path))
        except _NotSaid:
            return Answer.text(500, f"Authorization for user {user.username} failed")
        return None if may else Answer.text(403, f"Authorization denied for user {user.username}")

    async def _user_of(self, token: str) -> _User | None:
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        status = _decode_token(await self._ask(_TOKEN_REVIEWS, body)).status
        return status.user if status.authenticated else None

    async def _may(self, user: _User, verb: str, path: str) -> bool:
        spec = {
            "user": user.username,
            "uid": user.uid,
            "groups": user.groups or [],
            "extra": user.extra or {},
            "nonResourceAttributes": {"path": path, "verb": verb},
        }
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        return _decode_access(await self._ask(_ACCESS_REVIEWS, body)).status.allowed

    async def _ask(self, path: str, body: Mapping[str, Any]) -> bytes:
        try:
            async with asyncio.timeout(REVIEW_SECONDS), self._at_a_time:
                return (await self._client.raw("POST", path, body=body)).body
        except (ApiError, TransportError, ConfigError, TimeoutError, msgspec.DecodeError) as error:
            if not self._told:
                self._told = True
                logger.warning("metrics: who asks cannot be found out: %s", str(error) or "no answer in time")
            raise _NotSaid from error


def _look_at(asked: asyncio.Task[Any]) -> None:
    """Whoever asked may have gone away; an error is nobody's then."""
    if not asked.cancelled():
        asked.exception()


class _NotSaid(Exception):
    """The API server did not say it."""


class _Memory(Generic[V]):
    """Answers that hold for a while; equal questions at one time are asked once."""

    def __init__(self, seconds: Callable[[V], float]) -> None:
        self._seconds = seconds
        self._known: dict[Hashable, tuple[float, V]] = {}
        self._asking: dict[Hashable, asyncio.Task[V]] = {}

    async def get(self, question: Hashable, ask: Callable[[], Awaitable[V]]) -> V:
        now = asyncio.get_running_loop().time()
        until, known = self._known.get(question, (now, None))
        if until > now:
            return known  # type: ignore[return-value]  # what is known is a V
        asking = self._asking.get(question)
        if asking is None:
            asking = self._asking[question] = asyncio.create_task(self._ask(question, ask), name="access review")
            asking.add_done_callback(_look_at)
        return await asyncio.shield(asking)

    async def close(self) -> None:
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    async def _ask(self, question: Hashable, ask: Callable[[], Awaitable[V]]) -> V:
        try:
            answer = await ask()
        finally:
            del self._asking[question]
        while len(self._known) >= MOST_KEPT:
            del self._known[next(iter(self._known))]
        self._known.pop(question, None)
        self._known[question] = (asyncio.get_running_loop().time() + self._seconds(answer), answer)
        return answer
