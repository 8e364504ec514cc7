"""The default transport keeps the contract, on the standard loop and on uvloop."""

from __future__ import annotations

import ssl
import sys
from collections.abc import Coroutine
from typing import Any

import pytest

pytest.register_assert_rewrite("transport_contract", "lifetime_contract", "stream_contract", "tls_contract")

from lifetime_contract import LifetimeContract  # noqa: E402
from stream_contract import StreamContract  # noqa: E402
from tls_contract import TlsContract  # noqa: E402
from transport_contract import RequestContract  # noqa: E402

from kubewright.client.http1 import Http1Transport  # noqa: E402
from kubewright.client.transport import Limits, Transport  # noqa: E402


class Http1:
    def make(self, url: str, *, tls: ssl.SSLContext | None = None, limits: Limits | None = None) -> Transport:
        return Http1Transport(url, tls=tls, limits=limits)


class TestHttp1(Http1, RequestContract, StreamContract, LifetimeContract, TlsContract):
    pass


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop does not exist there")
class TestHttp1OnUvloop(Http1, RequestContract, StreamContract, LifetimeContract, TlsContract):
    def run_loop(self, main: Coroutine[Any, Any, None]) -> None:
        import uvloop

        uvloop.run(main)
