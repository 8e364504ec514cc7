"""How tests of this room ask a server: one call per request, the answer decoded."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import orjson

from kubewright.apiserver import ApiServer, Catalog, GenericStrategy, Request, ResourceType, Stream
from kubewright.apiserver.crds import CrdController, definition_type

MERGE = {"content-type": "application/merge-patch+json"}
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


class Things(GenericStrategy):
    """A kind with a status and a generation."""

    has_status = True
    has_generation = True


NAMESPACES = ResourceType("", "v1", "Namespace", "namespaces", namespaced=False)
CONFIGS = ResourceType("", "v1", "ConfigMap", "configmaps")
THINGS = ResourceType("example.com", "v1", "Thing", "things", namespaced=False, strategy=Things())


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.time = NEW_YEAR

    def __call__(self) -> datetime:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class Answer(NamedTuple):
    status: int
    body: Any
    warnings: tuple[str, ...]

    @property
    def revision(self) -> str:
        return str(self.body["metadata"]["resourceVersion"])


def server(*, with_crds: bool = False, **arguments: Any) -> ApiServer:
    """A server of three plain kinds, with the namespaces `default` and `other`."""
    types = [NAMESPACES, CONFIGS, THINGS]
    if with_crds:
        types.append(definition_type())
    made = ApiServer(Catalog(types), seed=1, now=arguments.pop("now", Clock()))
    if with_crds:
        made.add(CrdController(made.backend, **arguments))
    for name in ("default", "other"):
        done(ask(made, "POST", "/api/v1/namespaces", {"metadata": {"name": name}}))
    return made


def done(call: Coroutine[Any, Any, Any]) -> Any:
    """The result of a call that waits for nobody, as no call without a webhook does: no event loop is needed."""
    try:
        call.send(None)
    except StopIteration as end:
        return end.value
    call.close()
    raise AssertionError("the call waits for something")


async def ask(
    to: ApiServer, method: str, target: str, body: Any = b"", headers: dict[str, str] | None = None
) -> Answer:
    """One request. A body that is no bytes is sent as JSON."""
    given = dict(headers or {})
    if not isinstance(body, bytes):
        body = orjson.dumps(body)
        given.setdefault("content-type", "application/json")
    answer = await to.handle(Request.of(method, target, headers=given, body=body))
    assert not isinstance(answer, Stream), "a watch was not expected"
    warnings = tuple(value for name, value in answer.headers if name == "warning")
    is_json = any(value.startswith("application/json") for name, value in answer.headers if name == "content-type")
    return Answer(answer.status, orjson.loads(answer.body) if is_json else answer.body, warnings)


async def open_watch(to: ApiServer, target: str) -> Stream:
    """A watch, which has to be closed."""
    answer = await to.handle(Request.of("GET", target))
    assert isinstance(answer, Stream)
    return answer


async def events(stream: Stream, count: int) -> list[tuple[str, Any]]:
    """The next events of a watch, as pairs of type and object; fewer if it ends before."""
    found: list[tuple[str, Any]] = []
    while len(found) < count:
        try:
            chunk = await anext(stream.chunks)
        except StopAsyncIteration:
            break
        for line in chunk.splitlines():
            event = orjson.loads(line)
            found.append((event["type"], event["object"]))
    return found


def config(name: str = "a", **more: Any) -> dict[str, Any]:
    """A ConfigMap; `labels`, `finalizers` and the like go into its metadata, `data` beside it."""
    data = more.pop("data", {})
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **more}, "data": data}


Each = Callable[..., Any]
CONFIG_PATH = "/api/v1/namespaces/default/configmaps"
