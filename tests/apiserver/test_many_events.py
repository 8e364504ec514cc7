"""Many watchers of many writes: each hears of everything in order, and requests go on meanwhile."""

from __future__ import annotations

import asyncio

import orjson
import pytest

import virtual
from kubewright.apiserver.assembly import new_server
from kubewright.apiserver.request import Request, Response, Stream

_PATH = "/api/v1/namespaces/default/configmaps"
_WATCHERS = 1_000


@pytest.mark.parametrize("writes", [50, pytest.param(1_000, marks=pytest.mark.soak)])
def test_a_thousand_watchers_hear_of_every_write_and_starve_no_request(writes: int) -> None:
    async def main() -> None:
        server = new_server(seed=1)

        async def ask(method: str, target: str, value: int = 0) -> Response | Stream:
            data = {"value": str(value)}
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}
            return await server.handle(Request.of(method, target, body=body if method != "GET" else b""))

        made = await ask("POST", _PATH)
        assert isinstance(made, Response)
        revision = made.json["metadata"]["resourceVersion"]

        async def heard() -> list[str]:
            stream = await ask("GET", f"{_PATH}?watch=true&resourceVersion={revision}")
            assert isinstance(stream, Stream)
            values: list[str] = []
            async for chunk in stream.chunks:
                values += [orjson.loads(line)["object"]["data"]["value"] for line in chunk.splitlines()]
                if len(values) == writes:
                    break
            stream.close()
            return values

        watchers = [asyncio.ensure_future(heard()) for _ in range(_WATCHERS)]
        await virtual.settle()
        for value in range(1, writes + 1):
            written = await ask("PUT", f"{_PATH}/a", value)
            # One turn of the loop between two writes: nobody is waited for, and nobody has fallen behind.
            await asyncio.sleep(0)
            read = await ask("GET", f"{_PATH}/a")
            assert isinstance(written, Response)
            assert isinstance(read, Response)
            assert read.json["data"] == {"value": str(value)}
        expected = [str(value) for value in range(1, writes + 1)]
        assert all(values == expected for values in await asyncio.gather(*watchers))
        server.close()

    virtual.run(main())
