"""Asks the questions of a case through a door and returns the normalised answers.

Owns the order of the steps, the variables and the open streams. A case is run on its own: its namespace, and its API
group, have names that no other run uses, so that cases run side by side and again and again on one server.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping
from typing import Any

from .cases import Case, Step, Subject, Variables, resolved
from .doors import NOBODY, Answer, Door, Headers, Lines
from .normal import Exchange, at, normalised, shown

_POLL_SECONDS = 0.05
_TYPES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
    "yaml": "application/yaml",
    "text": "text/plain",
}


Until = int | Mapping[str, Any]
"""A status, or values of the body by path."""


class StepFailed(Exception):
    """A step that has to succeed did not, so the case says nothing."""


class Names:
    """Where the arbitrary names come from: random, or counted where nobody else is."""

    def __init__(self, *, counted: bool = False) -> None:
        self._count = 0
        self._counted = counted

    def next(self) -> str:
        self._count += 1
        return f"{self._count:08x}" if self._counted else uuid.uuid4().hex[:8]


async def set_up(door: Door, subject: Subject, names: Names) -> str:
    """Do the set-up of a file and return its group."""
    shared = f"s{names.next()}.example.com"
    variables = Variables({"shared": shared})
    run = _Run(door, variables)
    for step in subject.setup:
        await run.step(step)
    return shared


async def run_case(door: Door, case: Case, shared: str, names: Names) -> list[Any]:
    """Run a case and return what it records, one value a recorded step. Raises StepFailed."""
    name = names.next()
    namespace, group = f"f-{name}", f"g{name}.example.com"
    paths = {
        "core": f"/api/v1/namespaces/{namespace}",
        "apps": f"/apis/apps/v1/namespaces/{namespace}",
        "batch": f"/apis/batch/v1/namespaces/{namespace}",
        "crs": f"/apis/{shared}/v1/namespaces/{namespace}",
        "admission": "/apis/admissionregistration.k8s.io/v1",
        "hooks": f"{door.hooks.url}/{namespace}",
        "ca": door.hooks.ca,
    }
    run = _Run(door, Variables({"ns": namespace, "group": group, "shared": shared, **paths}))
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    await run.step(Step({"ok": "POST /api/v1/namespaces", "body": body}))
    try:
        for step in case.steps:
            await run.step(step)
    finally:
        await run.close()
    sent = json.dumps([resolved(dict(step.data)) for step in case.steps], ensure_ascii=False)
    shown_as = {namespace: "NS", group: "GROUP", shared: "SHARED", door.hooks.url: "HOOKS"}
    answers = normalised(run.exchanges[1:], names=shown_as, sent=sent)
    recorded = []
    for step, answer in zip(case.steps, answers, strict=True):
        if step.is_recorded:
            recorded.append({"step": str(step), **_shown(step, answer)})
    return recorded


def _shown(step: Step, answer: Exchange) -> Exchange:
    paths = step.data.get("show")
    if paths is None:
        return answer
    if "events" in answer:
        return {**answer, "events": [shown(each, paths) for each in answer["events"]]}
    if "body" not in answer or not paths:
        return {key: value for key, value in answer.items() if key != "body"}
    return {**answer, "body": shown(answer["body"], paths)}


class _Run:
    def __init__(self, door: Door, variables: Variables) -> None:
        self.exchanges: list[Exchange] = []
        self._door = door
        self._variables = variables
        self._streams: dict[str, Lines] = {}
        self._heads: dict[str, Answer] = {}
        self._configured: list[str] = []
        self._has_params = False
        """The real server reads a kind of parameters no more when the last policy of it has gone, also later on."""

    async def step(self, step: Step) -> None:
        data = self._variables.fill(dict(step.data))
        if "read" in data:
            self.exchanges.append(await self._read(data["read"], data))
        elif "end" in data:
            self.exchanges.append(await self._read(data["end"], data))
        elif "hook" in data:
            self._door.hooks.set(self._path_of(data["hook"]), data.get("answer") or {})
            self.exchanges.append({"status": 0, "headers": {}})
        elif "asked" in data:
            asked = self._door.hooks.asked(self._path_of(data["asked"]))
            self.exchanges.append({"status": 0, "headers": {}, "body": list(asked)})
        elif "close" in data:
            await self._streams.pop(data["close"]).close()
            self.exchanges.append({"status": 0, "headers": {}})
        else:
            exchange = await self._ask(data)
            self.exchanges.append(exchange)
            if "ok" in data and exchange["status"] // 100 != 2:
                raise StepFailed(f"{step}: {exchange['status']}: {_message(exchange['body'])}")

    def _path_of(self, hook: str) -> str:
        return f"/{self._variables.values.get('ns', '')}/{hook}"

    async def close(self) -> None:
        for stream in self._streams.values():
            await stream.close()
        # What configures admission concerns all cases: each has to be asked, though it is about one namespace only.
        for target in () if self._has_params else self._configured:
            await self._door.ask("DELETE", target, {}, None)

    async def _ask(self, data: Mapping[str, Any]) -> Exchange:
        method, _, target = (data.get("do") or data["ok"]).partition(" ")
        headers, body = _sent(data)
        if (token := data.get("token")) is not None:
            headers["Authorization"] = f"Bearer {token}" if token else NOBODY
        if "watch" in data:
            answer, stream = await self._door.open(method, target, headers)
            if stream is not None:
                self._streams[data["watch"]] = stream
        else:
            answer = await self._ask_until(data.get("until"), method, target, headers, body)
        exchange: Exchange = {"status": answer.status, "headers": answer.headers, "body": _parsed(answer)}
        exchange["unordered"] = data.get("unordered", False)
        if method == "POST" and "admissionregistration.k8s.io" in target and answer.status == 201:
            self._has_params |= (exchange["body"].get("spec") or {}).get("paramKind") is not None
            self._configured.append(f"{target.partition('?')[0]}/{exchange['body']['metadata']['name']}")
        for name, path in data.get("save", {}).items():
            if (value := at(exchange["body"], path)) is not None:
                self._variables.values[name] = value
        return exchange

    async def _ask_until(
        self,
        until: int | Mapping[str, Any] | None,
        method: str,
        target: str,
        headers: Headers,
        body: bytes | None,
    ) -> Answer:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._door.patience_seconds
        while True:
            answer = await self._door.ask(method, target, headers, body)
            if until is None or _is_reached(until, answer) or loop.time() > deadline:
                return answer
            await asyncio.sleep(_POLL_SECONDS)

    async def _read(self, name: str, data: Mapping[str, Any]) -> Exchange:
        if name not in self._streams:
            if "upto" in data:
                return {"status": 0, "headers": {}}
            raise StepFailed(f"there is no stream {name}: it was refused")
        stream = self._streams[name]
        count, last = data.get("events"), data.get("upto")
        events: list[Any] = []
        while count is None or len(events) < count:
            try:
                line = await stream.line()
            except TimeoutError:
                raise StepFailed(f"{name}: no more events after {len(events)}: {_types(events)}") from None
            if line is None:
                break
            event = json.loads(line)
            if data.get("bookmarks") or not _is_plain_bookmark(event):
                events.append(event)
            if last is not None and event["object"].get("metadata", {}).get("name") == last:
                break
        return {"status": 200, "headers": {}, "events": events}


def _sent(data: Mapping[str, Any]) -> tuple[dict[str, str | list[str]], bytes | None]:
    headers = {
        "Accept": "application/json",
        "User-Agent": "fidelity/1",
        **_user(data.get("user")),
        **data.get("headers", {}),
    }
    if "raw" in data:
        body = _raw(data["raw"]).encode()
    elif "body" in data:
        body = json.dumps(data["body"]).encode()
    else:
        return headers, None
    kind = data.get("as", "application/json")
    if kind != "none":
        headers["Content-Type"] = _TYPES.get(kind, kind)
    return headers, body


def _user(user: str | Mapping[str, Any] | None) -> dict[str, str | list[str]]:
    """The headers by which the administrator acts as somebody."""
    if user is None:
        return {}
    if isinstance(user, str):
        return {"Impersonate-User": user}
    headers: dict[str, str | list[str]] = {"Impersonate-User": user["name"]}
    if "uid" in user:
        headers["Impersonate-Uid"] = user["uid"]
    if "groups" in user:
        headers["Impersonate-Group"] = user["groups"]
    return {**headers, **{f"Impersonate-Extra-{key}": values for key, values in user.get("extra", {}).items()}}


def _raw(text: Any) -> str:
    if isinstance(text, list):
        return "".join(_raw(each) for each in text)
    return _raw(text["of"]) * text["times"] if isinstance(text, dict) else str(text)


def _is_reached(until: Until, answer: Answer) -> bool:
    if isinstance(until, int):
        return answer.status == until
    body = _parsed(answer)
    return all(at(body, path) == value for path, value in until.items())


def _parsed(answer: Answer) -> Any:
    """JSON where it is some: the real server calls a few of its documents plain text."""
    if "json" in answer.headers.get("content-type", "") or answer.body.startswith(b"{"):
        try:
            return json.loads(answer.body) if answer.body else None
        except ValueError:
            pass
    return answer.body.decode(errors="replace")


def _is_plain_bookmark(event: Any) -> bool:
    """Tell whether it is a bookmark that comes at a time of the server's choice."""
    return event["type"] == "BOOKMARK" and "annotations" not in event["object"]["metadata"]


def _types(events: list[Any]) -> str:
    return ", ".join(event["type"] for event in events)


def _message(body: Any) -> str:
    return str(body.get("message", body)) if isinstance(body, dict) else str(body)
