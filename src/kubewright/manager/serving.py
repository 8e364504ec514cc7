"""What a manager serves, and where: the settings. Their names are those of the flags that kubebuilder's operators have.

Everything is off unless an address is given, as it is there: on a laptop two operators must not fight for a port, and
what is embedded into another program must not open one. Generated Deployments give the addresses.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path

from msgspec import Struct

from kubewright.httpd import Address

__all__ = ["Serving"]


class Serving(Struct, frozen=True, kw_only=True):
    """Addresses are `:8080`, `127.0.0.1:8080` or `[::1]:8080`; `0` or `""` is off; port 0 is any that is free.

    Attributes:
        metrics_bind_address: where `/metrics` is.
        metrics_secure: it is served with TLS, to who may (TokenReview and SubjectAccessReview; the operator needs the
            ClusterRole `system:auth-delegator`). False: in clear, to everybody.
        metrics_cert_path: the folder of its certificate, read again when it changes; None for one of our own.
        metrics_cert_name, metrics_cert_key: the files in there.
        health_probe_bind_address: where `/healthz` and `/readyz` are.
        stale_seconds: `/readyz` fails while a kind in the cache has not been heard of for so long; None: however long.
            A watch that works is heard of at least every 10 minutes.
        profiling: beside `/metrics` and behind the same access control, `/debug/profile`, `/debug/tasks`,
            `/debug/threads` and `/debug/memory`. They show the lines of a running program.
        request_metrics: times and sizes of requests to the API server, beside their number; about 1 us a request.

    Raises:
        ValueError: something is not an address, or a number of seconds too small.
    """

    metrics_bind_address: str = "0"
    metrics_secure: bool = True
    metrics_cert_path: Path | None = None
    metrics_cert_name: str = "tls.crt"
    metrics_cert_key: str = "tls.key"
    health_probe_bind_address: str = "0"
    stale_seconds: float | None = 900.0
    profiling: bool = False
    request_metrics: bool = False

    def __post_init__(self) -> None:
        _ = self.health_address
        metrics = self.metrics_address
        if self.profiling and metrics is None:
            raise ValueError("profiling: is served beside the metrics; give --metrics-bind-address, such as :8443")
        if self.profiling and not self.metrics_secure and metrics is not None and not _is_loopback(metrics.host):
            raise ValueError(
                "profiling: would show the lines of a running program to everybody; keep --metrics-secure, or bind to "
                "a loopback address such as 127.0.0.1:8080"
            )
        if self.stale_seconds is not None and self.stale_seconds < 60:
            raise ValueError(
                f"stale_seconds: {self.stale_seconds:g} is less than 60, and a quiet kind is heard of once a minute; "
                "give more, or None for no limit"
            )

    @property
    def metrics_address(self) -> Address | None:
        return Address.parse(self.metrics_bind_address, name="--metrics-bind-address")

    @property
    def health_address(self) -> Address | None:
        return Address.parse(self.health_probe_bind_address, name="--health-probe-bind-address")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
