"""The audit log: who asked for what, when, and what came of it. A filter, for tests that look at what a program did.

`Audit` writes `Event`s of `audit.k8s.io/v1` into a list, or as JSON lines into a file. The first rule that is for a
request says how much of it is told; the level of the log where there is none:

| level | told |
|---|---|
| `None` | nothing |
| `Metadata` | user, verb, object, times, the status of the answer |
| `Request` | the object that was sent, too |
| `RequestResponse` | and the object that was answered |

A request has one event when it is answered (`ResponseComplete`), a watch one when it starts (`ResponseStarted`) and one
when it ends. Times are those of the server's clock, so on a virtual clock the difference of the two is what the test
made it. Rules: `apiserver/pkg/apis/audit/v1`, `.../endpoints/filters/audit.go`.

Guarantees: U1 each answered request is told once, refused ones too. U2 the log never changes an answer. Caveats: a
request that is cancelled, or whose connection is closed by a fault, is told with code 0.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

import orjson
from msgspec import Struct

from .bodies import BadJson, media_type, read_body
from .errors import StatusError
from .options import wants_watch
from .request import JSON, Request, Response, Stream, User
from .routes import Route, route

if TYPE_CHECKING:
    from .server import Answer, ApiServer, Next

__all__ = ["Audit", "AuditRule", "Level"]

Level = Literal["None", "Metadata", "Request", "RequestResponse"]
_BODIES = ("application/json", "application/yaml")


class AuditRule(Struct, frozen=True, kw_only=True):
    """How much is told of which requests. Empty sets are for all.

    Attributes:
        level: how much.
        verbs: `get`, `list`, `watch`, `create`, ...
        resources: plurals with their groups, `pods`, `deployments.apps`; a subresource behind a slash, `pods/status`.
        namespaces: of objects.
        users: names of users.
    """

    level: Level
    verbs: frozenset[str] = frozenset()
    resources: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()

    def is_for(self, verb: str, where: Route | None, user: User) -> bool:
        """Whether a request is meant; `where` is None for what is no resource."""
        if (self.verbs and verb not in self.verbs) or (self.users and user.name not in self.users):
            return False
        if where is None:
            return not self.resources and not self.namespaces
        named = f"{where.resource}/{where.subresource}" if where.subresource else where.resource
        return (not self.resources or named in self.resources) and (
            not self.namespaces or where.namespace in self.namespaces
        )


class Audit:
    """The audit log of one server.

    Expected flow: make it, `server.use(audit, first=True)`, look at `events`, or read the file; `close` at the end.

    Args:
        level: of requests that no rule is for.
        rules: the first that is for a request counts.
        path: a file of JSON lines to write to, behind what is in it. None: the events are kept in `events`.
    """

    def __init__(
        self, level: Level = "Metadata", *, rules: tuple[AuditRule, ...] = (), path: Path | None = None
    ) -> None:
        self.level, self.rules = level, rules
        self.events: list[dict[str, Any]] = []
        self._file: IO[bytes] | None = None if path is None else path.open("ab")

    def close(self) -> None:
        """Close the file. May be called again."""
        if self._file is not None:
            self._file.close()

    async def __call__(self, server: ApiServer, request: Request, following: Next) -> Answer:
        """The filter."""
        where = route(request.path)
        verb = request.method.lower() if where is None else where.verb(request.method, watch=wants_watch(request.query))
        level = next((each.level for each in self.rules if each.is_for(verb, where, request.user)), self.level)
        if level == "None":
            return await following(request)
        now = server.backend.now
        event = _event(request, verb, where, level, now())
        try:
            answer = await following(request)
        except StatusError as error:
            _acted(event, request)
            status = {name: error.status[name] for name in ("status", "message", "reason") if error.status.get(name)}
            self._write(event, "ResponseComplete", now(), error.code, status, error.status)
            raise
        except BaseException as error:
            # What nobody expected is answered with 500 by the server; a request that was cancelled, with nothing.
            _acted(event, request)
            self._write(event, "ResponseComplete", now(), 500 if isinstance(error, Exception) else 0, {}, None)
            raise
        _acted(event, request)
        if isinstance(answer, Stream):
            self._write(event, "ResponseStarted", now(), answer.status, {}, None)
            ended = _Told(answer, lambda: self._write(event, "ResponseComplete", now(), answer.status, {}, None))
            return Stream(answer.status, answer.headers, ended, ended.close)
        self._write(event, "ResponseComplete", now(), answer.status, *_said(answer))
        return answer

    def _write(
        self, event: dict[str, Any], stage: str, at: datetime, code: int, status: dict[str, Any], body: Any
    ) -> None:
        made = {**event, "stage": stage, "responseStatus": {"metadata": {}, **status, "code": code}}
        if event["level"] == "RequestResponse" and isinstance(body, dict):
            made["responseObject"] = body
        made["stageTimestamp"] = _micro_time(at)
        if self._file is None:
            self.events.append(made)
        else:
            self._file.write(orjson.dumps(made) + b"\n")
            self._file.flush()


class _Told(AsyncIterator[bytes]):
    """A watch whose end is told, once."""

    def __init__(self, stream: Stream, ended: Callable[[], None]) -> None:
        self._stream, self._chunks = stream, aiter(stream.chunks)
        self._ended: Callable[[], None] | None = ended

    async def __anext__(self) -> bytes:
        try:
            return await anext(self._chunks)
        except StopAsyncIteration:
            self._tell()
            raise

    def close(self) -> None:
        self._stream.close()
        self._tell()

    def _tell(self) -> None:
        ended, self._ended = self._ended, None
        if ended is not None:
            ended()


def _event(request: Request, verb: str, where: Route | None, level: Level, at: datetime) -> dict[str, Any]:
    """What is known of a request before it is answered."""
    query = f"?{urlencode(request.query)}" if request.query else ""
    made: dict[str, Any] = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": level,
        "auditID": request.headers.get("audit-id") or str(uuid.uuid4()),
        "requestURI": request.path + query,
        "verb": verb,
        "user": request.user.info,
        "userAgent": request.headers.get("user-agent", ""),
        "requestReceivedTimestamp": _micro_time(at),
    }
    body = _sent(request) if level in ("Request", "RequestResponse") and request.body else None
    if where is not None:
        meta = body.get("metadata") if isinstance(body, dict) and verb == "create" else None
        named = where.name or (meta.get("name") if isinstance(meta, dict) else "")
        reference = {
            "resource": where.plural,
            "namespace": where.namespace,
            "name": named,
            "apiGroup": where.group,
            "apiVersion": where.version,
            "subresource": where.subresource,
        }
        made["objectRef"] = {name: each for name, each in reference.items() if each}
    if body is not None:
        made["requestObject"] = body
    return made


def _acted(event: dict[str, Any], request: Request) -> None:
    if request.impersonated is not None:
        event["impersonatedUser"] = request.impersonated.info


def _sent(request: Request) -> Any:
    """The body of a request, decoded; None for what is no JSON or YAML."""
    kind = media_type(request.headers.get("content-type", "")) or JSON
    as_read = "application/yaml" if kind.endswith("yaml") else JSON if kind.endswith("json") else kind
    try:
        return read_body(request.body, as_read, strict=False, accepted=_BODIES).value
    except (BadJson, StatusError):
        return None


def _said(answer: Response) -> tuple[dict[str, Any], Any]:
    """The status of an answer, and what it says."""
    try:
        body = orjson.loads(answer.body) if answer.body else None
    except orjson.JSONDecodeError:
        return {}, None
    if isinstance(body, dict) and body.get("kind") == "Status":
        return {name: body[name] for name in ("status", "message", "reason") if body.get(name)}, body
    return {}, body


def _micro_time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
