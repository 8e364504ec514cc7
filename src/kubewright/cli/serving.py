"""The flags of the health and metrics servers, by the names that kubebuilder's operators have."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

if TYPE_CHECKING:
    from kubewright.operator import Operator

__all__ = ["add_options", "seconds_of", "with_serving"]

_FIELDS = (
    "metrics_bind_address",
    "metrics_secure",
    "metrics_cert_path",
    "metrics_cert_name",
    "metrics_cert_key",
    "health_probe_bind_address",
    "profiling",
    "request_metrics",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add them to the parser of `run`."""
    option, flag = parser.add_argument, argparse.BooleanOptionalAction
    option("--health-probe-bind-address", help="where /healthz and /readyz are, such as :8081; 0 for none, the default")
    option("--metrics-bind-address", help="where /metrics is, such as :8443; 0 for none, the default")
    secure = "with TLS, to who may by RBAC (the default), or in clear to everybody"
    option("--metrics-secure", action=flag, help=secure)
    cert = "the folder of its certificate, read again when it changes; one of our own unless given"
    option("--metrics-cert-path", type=Path, help=cert)
    option("--metrics-cert-name", help="the certificate in there; tls.crt")
    option("--metrics-cert-key", help="its key in there; tls.key")
    option("--profiling", action=flag, help="/debug/profile, tasks, threads and memory beside /metrics, for who may")
    option(
        "--request-metrics", action=flag, help="times and sizes of requests to the API server too; only their number"
    )
    stale = "not ready while a kind has not been heard of for so long, such as 15m, the default; 0 for however long"
    option("--ready-stale-after", help=stale)


def with_serving(operator: Operator, given: argparse.Namespace) -> Operator:
    """The operator as the options say; what they leave out is as the operator says.

    Raises:
        ValueError: they cannot be meant; one line.
    """
    values: dict[str, Any] = {name: value for name in _FIELDS if (value := getattr(given, name)) is not None}
    if given.ready_stale_after is not None:
        values["stale_seconds"] = seconds_of(given.ready_stale_after, "--ready-stale-after") or None
    if not values:
        return operator
    return operator.with_serving(replace(operator.serving, **values))


def seconds_of(text: str, flag: str) -> float:
    """A flag's duration, such as 1m30s, or 0. Raises ValueError, with one line that names the flag."""
    from kubewright.model import Duration

    if text == "0":
        return 0.0
    try:
        return Duration(text).seconds
    except ValueError as error:
        raise ValueError(f"{flag}: {error}") from None
