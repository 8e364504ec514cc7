"""The servers of one manager: health and readiness, and the metrics.

Owns which pages there are and what stands before them. They start before everything else, so that probes are answered
while the caches fill, and stop after everything else, so that the last numbers can be read.

    health      GET /healthz, /healthz/<check>, /readyz, /readyz/<check>        in clear
    metrics     GET /metrics, /debug/... if asked   with TLS and access control, unless `metrics_secure` is off

`/metrics` is Prometheus' text, or OpenMetrics where it is asked for, compressed where that is accepted.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kubewright import httpd  # its names are loaded when used: most operators on a laptop serve nothing
from kubewright.client import Client
from kubewright.observe import Registry
from kubewright.observe.instruments import CertificateMetrics

from .health import Check, Health, ping
from .serving import Serving

if TYPE_CHECKING:
    from .access import AccessControl

__all__ = ["Servers", "metrics_page"]

logger = logging.getLogger(__name__)

_COMPRESS_FROM_BYTES = 1024
_GZIP = 16 + 15  # as zlib has it: its header, and the largest window


class Servers:
    """What one manager serves.

    Expected flow: `readyz.add(...)` checks, `start`, `close`.

    Guarantees: when `start` has raised, nothing listens. `close` may be called without it.

    Attributes:
        healthz, readyz: the checks; `healthz` has `ping`, `readyz` what it is given.

    Args:
        client: asks who may read the metrics.
        pages: more pages of the metrics server, by path, behind the same access control.
    """

    def __init__(
        self, serving: Serving, *, registry: Registry, client: Client, pages: Mapping[str, httpd.Handler] | None = None
    ) -> None:
        self._serving = serving
        self._registry = registry
        self._client = client
        self._pages = {"/metrics": metrics_page(registry), **(pages or {})}
        if serving.profiling:
            from .profiling import profiling_pages

            self._pages.update(profiling_pages())
        self._access: AccessControl | None = None
        self._started: list[httpd.HttpServer] = []
        self.healthz = Health("/healthz", ping=ping)
        self.readyz = Health("/readyz")
        self.health_port: int | None = None
        self.metrics_port: int | None = None

    def add_check(self, name: str, check: Check, *, ready: bool = True) -> None:
        """One more check of `/readyz`, or of `/healthz`: one that fails there makes the kubelet end the container."""
        (self.readyz if ready else self.healthz).add(name, check)

    async def start(self) -> None:
        """Listen on what is to be listened on.

        Raises:
            BindError: an address cannot be used. CertificateError: the certificate cannot.
        """
        serving = self._serving
        if serving.health_address is None and serving.metrics_address is None:
            return
        # What listens is loaded by who listens: an operator on a laptop mostly does not.
        from .access import AccessControl

        try:
            if serving.health_address is not None:
                health = httpd.HttpServer(self._health, serving.health_address, name="--health-probe-bind-address")
                await health.start()
                self._started.append(health)
                self.health_port = health.port
                logger.info("health probes on %s: /healthz, /readyz", serving.health_address._replace(port=health.port))
            if serving.metrics_address is not None:
                pages: httpd.Handler = self._page
                tls = None
                if serving.metrics_secure:
                    self._access = AccessControl(self._client)
                    pages, tls = self._access.guarding(pages), self._tls()
                metrics = httpd.HttpServer(pages, serving.metrics_address, name="--metrics-bind-address", tls=tls)
                await metrics.start()
                self._started.append(metrics)
                self.metrics_port = metrics.port
                scheme = "https" if serving.metrics_secure else "http"
                logger.info("metrics on %s (%s)", serving.metrics_address._replace(port=metrics.port), scheme)
        except BaseException:
            await self.close()
            raise

    async def close(self, within_seconds: float = 1.0) -> None:
        """Stop listening, and end what is open."""
        while self._started:
            await self._started.pop().close(within_seconds)
        if self._access is not None:
            await self._access.close()

    def _tls(self) -> ssl.SSLContext:
        from .certificates import from_files, self_signed

        serving = self._serving
        if serving.metrics_cert_path is None:
            return self_signed()
        return from_files(
            serving.metrics_cert_path / serving.metrics_cert_name,
            serving.metrics_cert_path / serving.metrics_cert_key,
            metrics=CertificateMetrics(self._registry),
        )

    async def _health(self, request: httpd.Request) -> httpd.Answer:
        for health in (self.healthz, self.readyz):
            if request.path == health.path or request.path.startswith(f"{health.path}/"):
                return _only_reads(request) or await health.answer(request)
        return _not_found()

    async def _page(self, request: httpd.Request) -> httpd.Answer | httpd.Streaming:
        handler = self._pages.get(request.path)
        if handler is None:
            return _not_found()
        return _only_reads(request) or await handler(request)


def _not_found() -> httpd.Answer:
    return httpd.Answer.text(404, "404 page not found")


def _only_reads(request: httpd.Request) -> httpd.Answer | None:
    if request.method in ("GET", "HEAD"):
        return None
    return httpd.Answer.text(405, "Method Not Allowed", ("Allow", "GET, HEAD"))


def metrics_page(registry: Registry) -> httpd.Handler:
    """The page that shows a registry. A collector that fails makes it a 500, as a half page would lie."""

    async def page(request: httpd.Request) -> httpd.Answer:
        import zlib

        from kubewright.observe import negotiate

        form = negotiate(request.headers.get("accept", ""))
        body = form.render(registry.collect())
        if len(body) < _COMPRESS_FROM_BYTES or not _accepts_gzip(request.headers.get("accept-encoding", "")):
            return httpd.Answer(200, body, form.content_type)
        # The fastest level: 300 KB take 3 ms and become 15 KB.
        packer = zlib.compressobj(level=1, wbits=_GZIP)
        return httpd.Answer(
            200, packer.compress(body) + packer.flush(), form.content_type, (("Content-Encoding", "gzip"),)
        )

    return page


def _accepts_gzip(accepted: str) -> bool:
    for clause in accepted.split(","):
        coding, _, quality = clause.replace(" ", "").lower().partition(";")
        if coding == "gzip":
            return quality not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
