"""Checks of probes and lifecycle hooks."""

from __future__ import annotations

import re
from typing import Any, Final

from kubewright.schema.structural.fielderrors import forbidden, invalid, not_supported, required

from .texts import Errors, Object, at_least_0, port_or_name, regex_error

__all__ = ["lifecycle", "probes"]

_HEADER: Final = "[-A-Za-z0-9]+"
_HEADER_SAID: Final = "a valid HTTP header must consist of alphanumeric characters or '-'"
_COUNTS: Final = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)
_OF_PROBE: Final = ("exec", "httpGet", "tcpSocket", "grpc")
_OF_HOOK: Final = ("exec", "httpGet", "tcpSocket", "sleep")


def probes(path: str, container: Object, grace_seconds: int | None) -> Errors:
    """Errors of the three probes of a container."""
    errors: Errors = []
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe, here = container.get(name), f"{path}.{name}"
        if probe is None:
            continue
        errors += _probe(here, probe, grace_seconds)
        if name == "readinessProbe":
            if (own := probe.get("terminationGracePeriodSeconds")) is not None:
                said = "must not be set for readinessProbes"
                errors.append(invalid(f"{here}.terminationGracePeriodSeconds", own, said))
        elif probe.get("successThreshold", 0) != 1:
            errors.append(invalid(f"{here}.successThreshold", probe.get("successThreshold", 0), "must be 1"))
    return errors


def _probe(path: str, probe: Object, grace_seconds: int | None) -> Errors:
    errors = _handler(path, probe, _OF_PROBE, grace_seconds)
    for name in _COUNTS:
        errors += at_least_0(f"{path}.{name}", probe.get(name))
    own = probe.get("terminationGracePeriodSeconds")
    if own is not None and own <= 0:
        errors.append(invalid(f"{path}.terminationGracePeriodSeconds", own, "must be greater than 0"))
    return errors


def lifecycle(path: str, found: Object, grace_seconds: int | None, os_name: str) -> Errors:
    """Errors of the hooks of a container."""
    errors: Errors = []
    for name in ("postStart", "preStop"):
        if name in found:
            errors += _handler(f"{path}.{name}", found[name], _OF_HOOK, grace_seconds)
    if "stopSignal" in found and not os_name:
        said = "may not be set for containers with empty `spec.os.name`"
        errors.append(forbidden(f"{path}.stopSignal", said))
    return errors


def _handler(path: str, found: Object, kinds: tuple[str, ...], grace_seconds: int | None) -> Errors:
    errors: Errors = []
    present = [each for each in kinds if each in found]
    for place, name in enumerate(present):
        here = f"{path}.{name}"
        if place:
            errors.append(forbidden(here, "may not specify more than 1 handler type"))
        else:
            errors += _action(here, name, found[name], grace_seconds)
    return errors if present else [required(path, "must specify a handler type")]


def _action(path: str, name: str, action: Object, grace_seconds: int | None) -> Errors:
    if name == "exec":
        return [] if action.get("command") else [required(f"{path}.command")]
    if name == "httpGet":
        return _http(path, action)
    if name == "sleep":
        seconds: Any = action.get("seconds", 0)
        if grace_seconds is not None and not 0 <= seconds <= grace_seconds:
            said = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_seconds})"
            return [invalid(path, seconds, said)]
        return []
    return port_or_name(f"{path}.port", action.get("port", 0))


def _http(path: str, action: Object) -> Errors:
    errors = [] if action.get("path") else [required(f"{path}.path")]
    errors += port_or_name(f"{path}.port", action.get("port", 0))
    if action.get("scheme") not in ("HTTP", "HTTPS"):
        errors.append(not_supported(f"{path}.scheme", action.get("scheme", ""), ("HTTP", "HTTPS")))
    for header in action.get("httpHeaders", ()):
        name = header.get("name", "")
        if re.fullmatch(_HEADER, name) is None:
            said = regex_error(_HEADER_SAID, _HEADER, "X-Header-Name")
            errors.append(invalid(f"{path}.httpHeaders", name, said))
    return errors
