"""What is counted of requests."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest

from kubewright.client import Client, ClientConfig, ConnectionLost, HttpClient, NotFound, Response
from kubewright.client.http1_dial import Dialer
from kubewright.client.transport import ConnectFailed, Headers, TransportError
from kubewright.observe import TEXT, Registry
from kubewright.observe.instruments import RequestMetrics

OK = Response(200, {}, b"four")


class Script:
    """A transport that plays outcomes."""

    def __init__(self, *outcomes: Response | TransportError) -> None:
        self.outcomes = list(outcomes)
        self.now = 0.0

    async def request(self, method: str, target: str, **_: Any) -> Response:
        self.now += 0.5
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, TransportError):
            raise outcome
        return outcome

    async def stream(
        self,
        method: str,
        target: str,
        *,
        on_line: Callable[[bytes], None],
        on_response: Callable[[Response], None] | None = None,
        headers: Headers = (),
        body: bytes | None = None,
        idle_seconds: float | None = None,
    ) -> Response:
        response = await self.request(method, target)
        if response.status < 300 and on_response is not None:
            on_response(response)
            on_line(b"line")
            if self.outcomes:
                await self.request(method, target)
        return response

    async def close(self) -> None:
        pass


def counted(
    *outcomes: Response | TransportError, method: str = "GET", detailed: bool = False, stream: bool = False
) -> Registry:
    """The metrics of one call that goes so."""
    registry, played = Registry(), Script(*outcomes)

    async def sleep(seconds: float) -> None:
        played.now += seconds

    async def main() -> None:
        metrics = RequestMetrics(registry, "h:1", detailed=detailed)
        config = ClientConfig(server="https://h:1")
        http = HttpClient(config, played, metrics=metrics, clock=lambda: played.now, sleep=sleep, rand=lambda: 0.0)
        try:
            if stream:
                await http.stream(method, "/t", on_line=lambda _: None)
            else:
                await http.request(method, "/t", body=b"12345" if method == "POST" else None)
        except (NotFound, TransportError):
            pass

    asyncio.run(main())
    return registry


def tries(registry: Registry, name: str = "rest_client_requests_total") -> dict[tuple[str, ...], float]:
    found = {metric.name: metric for metric in registry.collect()}
    return {tuple(dict(point.labels).values()): point.value for point in found[name].points}


NOT_FOUND = Response(404, {}, b'{"kind": "Status", "reason": "NotFound"}')
LATER = Response(429, {"retry-after": "2"}, b"")
LOST = ConnectionLost("h:1", "response", "gone")


def test_an_answer_counts_by_its_code_method_and_host() -> None:
    assert tries(counted(OK)) == {("200", "h:1", "GET"): 1}


def test_a_refusal_counts_by_its_code() -> None:
    assert tries(counted(NOT_FOUND, method="DELETE")) == {("404", "h:1", "DELETE"): 1}


def test_no_answer_counts_as_an_error() -> None:
    assert tries(counted(LOST, method="POST")) == {("<error>", "h:1", "POST"): 1}


def test_each_try_counts() -> None:
    assert tries(counted(LATER, LOST, OK)) == {
        ("200", "h:1", "GET"): 1,
        ("429", "h:1", "GET"): 1,
        ("<error>", "h:1", "GET"): 1,
    }


def test_a_stream_counts_once_when_it_begins_however_it_ends() -> None:
    assert tries(counted(OK, LOST, stream=True)) == {("200", "h:1", "GET"): 1}


def test_a_stream_that_does_not_begin_counts_by_what_it_was_answered() -> None:
    assert tries(counted(LATER, NOT_FOUND, stream=True)) == {("429", "h:1", "GET"): 1, ("404", "h:1", "GET"): 1}


def test_times_sizes_and_retries_are_counted_only_if_asked_for() -> None:
    assert [metric.name for metric in counted(LATER, OK).collect()] == ["rest_client_requests_total"]


def test_the_detailed_metrics_have_the_names_labels_and_buckets_of_controller_runtime() -> None:
    registry = counted(LATER, OK, method="POST", detailed=True)
    shown = TEXT.render(registry.collect()).decode()
    assert tries(registry, "rest_client_request_retries_total") == {("429", "h:1", "POST"): 1}
    seconds = 'rest_client_request_duration_seconds_bucket{host="h:1",verb="POST",le="'
    bounds = [line.removeprefix(seconds).partition('"')[0] for line in shown.splitlines() if line.startswith(seconds)]
    assert bounds == ["0.005", "0.025", "0.1", "0.25", "0.5", "1", "2", "4", "8", "15", "30", "60", "+Inf"]
    assert 'rest_client_request_duration_seconds_sum{host="h:1",verb="POST"} 3\n' in shown, "the wait included"
    sizes = 'rest_client_request_size_bytes_bucket{host="h:1",verb="POST",le="'
    bounds = [line.removeprefix(sizes).partition('"')[0] for line in shown.splitlines() if line.startswith(sizes)]
    assert bounds == [
        *("64", "256", "512", "1024", "4096", "16384", "65536", "262144"),
        *("1.048576e+06", "4.194304e+06", "1.6777216e+07", "+Inf"),
    ]
    assert 'rest_client_request_size_bytes_sum{host="h:1",verb="POST"} 5\n' in shown
    assert 'rest_client_response_size_bytes_sum{host="h:1",verb="POST"} 4\n' in shown


def test_a_request_without_an_answer_has_a_duration_and_no_size() -> None:
    shown = TEXT.render(counted(LOST, method="POST", detailed=True).collect()).decode()
    assert 'rest_client_request_duration_seconds_count{host="h:1",verb="POST"} 1\n' in shown
    assert "rest_client_response_size_bytes_count" in shown
    assert 'rest_client_response_size_bytes_count{host="h:1",verb="POST"} 0\n' in shown


def test_a_name_look_up_is_timed() -> None:
    registry = Registry()
    metrics = RequestMetrics(registry, "localhost:1", detailed=True)

    async def main() -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            dialer = Dialer(
                "localhost", port, tls=None, tls_name=None, connect_seconds=5.0, on_lookup=metrics.looked_up
            )
            with pytest.raises(ConnectFailed):
                await dialer.dial(asyncio.Protocol)

    asyncio.run(main())
    assert registry.value("rest_client_dns_resolution_duration_seconds", "localhost") == 1


def test_an_observed_client_counts_its_own_requests_and_those_of_its_discovery() -> None:
    registry = Registry()
    played = Script(OK, OK, Response(200, {}, b"{}"))

    async def main() -> None:
        client = Client(HttpClient(ClientConfig(server="https://h:1"), played))
        observed = client.observed(RequestMetrics(registry, "h:1"))
        await client.raw("GET", "/version")
        await observed.with_options(namespace="prod").raw("GET", "/version")
        await observed.discovery._get("/apis", ())

    asyncio.run(main())
    assert tries(registry) == {("200", "h:1", "GET"): 2}


def test_what_an_observed_client_has_discovered_the_client_knows() -> None:
    async def main() -> None:
        client = Client(HttpClient(ClientConfig(server="https://h:1"), Script()))
        observed = client.observed(RequestMetrics(Registry(), "h:1"))
        assert observed.discovery._roots is client.discovery._roots

    asyncio.run(main())
