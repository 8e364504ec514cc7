"""No request is answered with a fault of the server's own, whatever is in it.

The requests of all cases, each with something in its body, path or query replaced by something odd: what the answer is
does not matter here, only that it is one. (`hostile.yaml` has what the real server says to a few of them.)
"""

from __future__ import annotations

import asyncio
import functools
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from kubewright.apiserver.assembly import new_server
from kubewright.apiserver.request import Request, Response

from .cases import Variables, load_all, overlaid
from .embedded import EmbeddedDoor
from .running import Names, set_up

_ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 2**31, 2**63, 1e300, "", " ", "a/b", "\x00", "é", "x" * 300, "-1", "1Gi", "a=b"),
    *([], {}, [None], [[]], [{}], {"": None}, {"a": {"b": {}}}, [1, "a", None], "2020-01-01T00:00:00Z", "10.0.0.1"),
)
_REQUESTS_A_TEST = 300


@functools.cache
def _requests() -> list[dict[str, Any]]:
    """The steps of all cases that send an object."""
    steps = [step.data for subject in load_all() for case in subject.cases for step in case.steps]
    return [dict(step) for step in steps if isinstance(step.get("body"), dict | list) and "until" not in step]


def _places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in entries:
        yield from _places(value, (*path, key))


def _with(node: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    made = dict(node) if isinstance(node, dict) else list(node)
    made[path[0]] = _with(node[path[0]], path[1:], value)
    return made


def _mutated(rng: random.Random, body: Any) -> Any:
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        path = rng.choice(list(_places(body)))
        draw = rng.random()
        if draw < 0.75 or not path:
            body = _with(body, path, rng.choice(_ODD))
        elif isinstance(path[-1], str):
            body = overlaid(body, functools.reduce(lambda inner, key: {key: inner}, reversed(path), "$none"))
    return body


_TYPES = {"merge": "merge-patch+json", "json": "json-patch+json", "strategic": "strategic-merge-patch+json"}


@pytest.mark.parametrize("seed", range(4))
def test_no_request_is_answered_with_a_fault(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    rng = random.Random(seed)

    async def run() -> list[str]:
        door = EmbeddedDoor(new_server(seed=seed))
        shared = await set_up(door, load_all()[0], Names(counted=True))
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
        await door.server.handle(Request.of("POST", "/api/v1/namespaces", body=namespace))
        groups = {"core": "/api/v1", "apps": "/apis/apps/v1", "batch": "/apis/batch/v1", "crs": f"/apis/{shared}/v1"}
        paths = {name: f"{path}/namespaces/n" for name, path in groups.items()}
        variables = Variables({**paths, "ns": "n", "shared": shared, "group": "g.example.com", "rv": "1", "uid": "u"})
        faults = []
        for _ in range(_REQUESTS_A_TEST):
            step = variables.fill(rng.choice(_requests()))
            method, _, target = (step.get("do") or step["ok"]).partition(" ")
            body = step["body"]
            if rng.random() < 0.5:
                # Something there to change or delete; the rest of the time the odd request may create it.
                await door.server.handle(Request.of("POST", target.rpartition("/")[0], body=json.dumps(body).encode()))
            sent = json.dumps(_mutated(rng, body)).encode()
            kind = step.get("as", "application/json")
            headers = {"content-type": f"application/{_TYPES[kind]}" if kind in _TYPES else "application/json"}
            answer = await door.server.handle(Request.of(method, target, headers=headers, body=sent))
            if isinstance(answer, Response) and b"nobody expected" in answer.body:
                faults.append(f"{method} {target} {headers['content-type']} {sent.decode()}")
            elif not isinstance(answer, Response):
                answer.close()
        return faults

    faults = asyncio.run(run())
    raised = sorted({record.exc_text.splitlines()[-1] for record in caplog.records if record.exc_text})
    assert not faults, "\n".join([f"{len(faults)} faults:", *raised, *faults[:5]])
