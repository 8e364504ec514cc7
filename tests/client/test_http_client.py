"""What is tried again, how long is waited, and what comes out: over a transport that is a list of outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import client_certificates as certificates
import orjson
import pytest

from kubewright.client import errors
from kubewright.client.config import ClientConfig, ConfigError, Impersonation
from kubewright.client.http import HttpClient, RetryPolicy
from kubewright.client.transport import (
    ConnectionLost,
    ConnectRefused,
    Headers,
    RequestTimeout,
    Response,
    StreamIdle,
    TLSError,
    TransportError,
)

OK = Response(200, {}, b"ok")
Outcome = Response | TransportError


def refusal(code: int, retry_after: str | None = None) -> Response:
    body = {"kind": "Status", "code": code, "message": "m"}
    return Response(code, {} if retry_after is None else {"retry-after": retry_after}, orjson.dumps(body))


def lost() -> ConnectionLost:
    return ConnectionLost("h:1", "response", "gone")


@dataclass
class Sent:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None
    timeout_seconds: float | None


@dataclass
class Script:
    """A transport that plays outcomes, and a clock that its waits move."""

    outcomes: list[Outcome]
    now: float = 1000.0
    call_seconds: float = 0.0
    lines: list[bytes] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    closed: int = 0

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def _next(self) -> Response:
        self.now += self.call_seconds
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, TransportError):
            raise outcome
        return outcome

    async def request(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes | None = None,
        timeout_seconds: float | None = None,
    ) -> Response:
        self.sent.append(Sent(method, target, dict(headers), body, timeout_seconds))
        return self._next()

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
        self.sent.append(Sent(method, target, dict(headers), body, idle_seconds))
        if self.lines:
            if on_response is not None:
                on_response(OK)
            for line in self.lines:
                on_line(line)
        return self._next()

    async def close(self) -> None:
        self.closed += 1

    def client(self, *, rand: float = 0.0, retry: RetryPolicy = RetryPolicy(), **config: Any) -> HttpClient:
        made = ClientConfig(**({"server": "https://h:1", "source": "test", "user_agent": "me/1"} | config))
        return HttpClient(made, self, retry=retry, clock=self.clock, sleep=self.sleep, rand=lambda: rand)

    def request_once(
        self, method: str = "GET", target: str = "/t", *, client: HttpClient | None = None, **arguments: Any
    ) -> Response:
        return asyncio.run((client or self.client()).request(method, target, **arguments))


def script(*outcomes: Outcome) -> Script:
    return Script(list(outcomes))


def test_who_asks_goes_before_what_is_asked() -> None:
    played = script(OK)
    client = played.client(token="t", impersonation=Impersonation("bob"), server="https://h/k8s/c-1/")
    response = played.request_once("PATCH", "/api?x=y", client=client, headers=(("Accept", "a"),), body=b"{}")
    assert response is OK
    (sent,) = played.sent
    assert (sent.method, sent.target, sent.body) == ("PATCH", "/k8s/c-1/api?x=y", b"{}")
    assert list(sent.headers.items()) == [
        ("User-Agent", "me/1"),
        ("Authorization", "Bearer t"),
        ("Impersonate-User", "bob"),
        ("Accept", "a"),
    ]


def test_headers_of_calls_that_say_the_same_are_equal_tuples_for_the_transport_to_know_again() -> None:
    seen: list[Headers] = []

    class Spy(Script):
        async def request(self, method: str, target: str, **arguments: Any) -> Response:
            seen.append(arguments["headers"])
            return OK

    client = Spy([OK]).client(token="t")

    async def main() -> None:
        await client.request("GET", "/", headers=(("Accept", "a"),))
        await client.request("GET", "/", headers=[("Accept", "a")])

    asyncio.run(main())
    assert seen[0] == seen[1]
    assert hash(seen[0]) == hash(seen[1])


@pytest.mark.parametrize("code", [200, 201, 202, 204])
def test_every_2xx_is_an_answer(code: int) -> None:
    assert script(Response(code, {}, b"")).request_once().status == code


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
@pytest.mark.parametrize("code", [429, 500, 503, 504])
def test_who_is_told_to_come_later_comes_later_whatever_the_method(method: str, code: int) -> None:
    played = script(refusal(code, "3"), refusal(code, "5"), OK)
    assert played.request_once(method, body=b"x") is OK
    assert played.waits == [3.0, 5.0]
    assert [sent.body for sent in played.sent] == [b"x"] * 3


@pytest.mark.parametrize(
    ("code", "retry_after"),
    [
        (429, None),
        (500, None),
        (503, None),
        (409, "1"),
        (404, "1"),
        (401, "1"),
        (429, "soon"),
        (429, "1.5"),
        (503, "-1"),
    ],
)
def test_everything_else_is_an_error_at_once(code: int, retry_after: str | None) -> None:
    played = script(refusal(code, retry_after))
    with pytest.raises(errors.ApiError) as caught:
        played.request_once("PUT")
    assert caught.value.code == code
    assert str(caught.value).startswith(f"PUT /t: {code} ")
    assert (len(played.sent), played.waits) == (1, [])


def test_after_ten_times_the_servers_word_is_final() -> None:
    played = script(refusal(429, "1"))
    with pytest.raises(errors.TooManyRequests) as caught:
        played.request_once()
    assert caught.value.retry_after_seconds == 1.0
    assert len(played.sent) == 11


def test_a_wait_is_never_shorter_than_asked_and_longer_by_the_jitter_at_most() -> None:
    for rand in (0.0, 0.5, 0.999):
        played = script(refusal(429, "10"), OK)
        played.request_once(client=played.client(rand=rand))
        assert played.waits == [pytest.approx(10 * (1 + 0.1 * rand))]


def test_who_is_asked_to_wait_too_long_does_not_wait_at_all() -> None:
    played = script(refusal(503, "31"))
    with pytest.raises(errors.ServiceUnavailable):
        played.request_once()
    assert played.waits == []


def test_the_waits_of_a_call_are_bounded_together() -> None:
    played = script(refusal(429, "25"))
    with pytest.raises(errors.TooManyRequests):
        played.request_once()
    assert played.waits == [25.0, 25.0]


def test_a_timeout_bounds_the_whole_call() -> None:
    played = script(refusal(429, "4"))
    played.call_seconds = 1.0
    with pytest.raises(errors.TooManyRequests):
        played.request_once(timeout_seconds=10.5)
    assert played.waits == [4.0, 4.0]
    assert [sent.timeout_seconds for sent in played.sent] == [10.5, pytest.approx(5.5), pytest.approx(0.5)]


def test_without_a_timeout_each_try_has_the_transports() -> None:
    played = script(refusal(429, "1"), OK)
    played.request_once()
    assert [sent.timeout_seconds for sent in played.sent] == [None, None]


def test_a_lost_get_is_sent_again_after_a_second() -> None:
    played = script(lost(), lost(), OK)
    assert played.request_once() is OK
    assert played.waits == [1.0, 1.0]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD"])
def test_a_lost_request_of_another_kind_is_not_sent_again(method: str) -> None:
    played = script(lost(), OK)
    with pytest.raises(ConnectionLost):
        played.request_once(method)
    assert len(played.sent) == 1


@pytest.mark.parametrize(
    "error", [ConnectRefused("h:1", "connect", "refused"), RequestTimeout("h:1", "response", "late")]
)
def test_other_failures_of_the_transport_are_for_the_caller(error: TransportError) -> None:
    played = script(error, OK)
    with pytest.raises(type(error)) as caught:
        played.request_once()
    assert caught.value is error
    assert str(error).endswith(" (address from test)")
    assert len(played.sent) == 1


def test_retries_can_be_switched_off() -> None:
    for outcome in (refusal(429, "1"), lost()):
        played = script(outcome, OK)
        with pytest.raises((errors.TooManyRequests, ConnectionLost)):
            played.request_once(client=played.client(retry=RetryPolicy(max_tries=0)))
        assert len(played.sent) == 1


def test_a_refused_token_is_renewed_from_its_file_once(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    played = script(OK, refusal(401), OK)
    client = played.client(token_file=token)

    async def main() -> None:
        await client.request("POST", "/1")
        token.write_text("new")
        await client.request("POST", "/2")

    asyncio.run(main())
    assert [sent.headers["Authorization"] for sent in played.sent] == ["Bearer old", "Bearer old", "Bearer new"]
    assert played.waits == []


def test_a_refused_token_without_a_newer_one_is_an_error_that_names_it(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    for outcomes, content in (([refusal(401)], "old"), ([refusal(401), refusal(401)], "new")):
        token.write_text("old")
        played = script(OK, *outcomes)
        client = played.client(token_file=token)

        async def main(client: HttpClient = client, content: str = content) -> None:
            await client.request("GET", "/")
            token.write_text(content)
            with pytest.raises(errors.Unauthorized, match=f"does not accept the bearer token in {token}; renew it"):
                await client.request("GET", "/")

        asyncio.run(main())
        assert len(played.sent) == 1 + len(outcomes)


def test_a_refused_client_certificate_that_has_expired_is_said_to_have() -> None:
    expired = certificates.client_expired()
    fields = {"client_cert_data": expired.certificate_pem, "client_key_data": expired.key_pem}
    until = f"client certificate of test (it was valid until {certificates.PAST:%Y-%m-%d %H:%M:%S} UTC)"
    played = script(refusal(401))
    with pytest.raises(errors.Unauthorized) as unauthorized:
        played.request_once(client=played.client(**fields))
    assert until in str(unauthorized.value)
    played = script(TLSError("h:1", "tls", "the server refused it", "renew it", "client"))
    with pytest.raises(TLSError) as refused:
        played.request_once(client=played.client(**fields))
    assert str(refused.value) == f"h:1: the server refused it ({until}); renew it (address from test)"


def test_a_token_file_that_cannot_be_read_is_an_error_before_anything_is_sent(tmp_path: Path) -> None:
    played = script(OK)
    with pytest.raises(ConfigError, match="cannot be read"):
        played.request_once(client=played.client(token_file=tmp_path / "none"))
    assert not played.sent


def test_a_cancelled_wait_sends_nothing_more() -> None:
    played = script(refusal(429, "10"), OK)

    async def main() -> None:
        waiting = asyncio.Event()

        async def sleep(seconds: float) -> None:
            waiting.set()
            await asyncio.Event().wait()

        client = HttpClient(ClientConfig(server="https://h"), played, sleep=sleep)
        call = asyncio.ensure_future(client.request("GET", "/"))
        await waiting.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(main())
    assert len(played.sent) == 1


def test_leaving_the_context_closes_the_transport() -> None:
    played = script(OK)

    async def main() -> None:
        async with played.client() as client:
            await client.request("GET", "/")

    asyncio.run(main())
    assert played.closed == 1


class TestStream:
    def stream(self, played: Script, **arguments: Any) -> tuple[Response, list[bytes], list[Response]]:
        lines: list[bytes] = []
        heads: list[Response] = []
        client = played.client(token="t")
        response = asyncio.run(client.stream("GET", "/w", on_line=lines.append, on_response=heads.append, **arguments))
        return response, lines, heads

    def test_lines_and_head_are_handed_over(self) -> None:
        played = script(OK)
        played.lines = [b"1", b"2"]
        assert self.stream(played, idle_seconds=7.0) == (OK, [b"1", b"2"], [OK])
        assert played.sent[0].timeout_seconds == 7.0
        assert played.sent[0].headers["Authorization"] == "Bearer t"

    def test_a_refused_stream_is_an_error(self) -> None:
        with pytest.raises(errors.Gone):
            self.stream(script(refusal(410)))

    def test_a_stream_that_may_not_begin_yet_is_tried_again(self) -> None:
        played = script(refusal(429, "2"), lost(), OK)
        assert self.stream(played)[0] is OK
        assert played.waits == [2.0, 1.0]

    @pytest.mark.parametrize("error", [lost(), StreamIdle("h:1", "stream", "silent")])
    def test_a_stream_that_has_begun_is_never_begun_again(self, error: TransportError) -> None:
        played = script(error, OK)
        played.lines = [b"1"]
        with pytest.raises(type(error), match="address from test"):
            self.stream(played)
        assert len(played.sent) == 1

    def test_what_a_callback_raises_comes_out(self) -> None:
        def fail(line: bytes) -> None:
            raise LookupError

        played = script(OK)
        played.lines = [b"1"]
        with pytest.raises(LookupError):
            asyncio.run(played.client().stream("GET", "/", on_line=fail))
