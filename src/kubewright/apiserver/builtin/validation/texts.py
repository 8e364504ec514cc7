"""Checks of single texts and numbers (`apimachinery/pkg/util/validation`, `pkg/apis/core/validation`).

The first half gives what is wrong as texts, the second half as errors of a field.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from kubewright.model.quantity import Quantity
from kubewright.schema.structural.fielderrors import FieldError, invalid, not_supported, required
from kubewright.schema.structural.metarules import dns_label, dns_subdomain, qualified_name
from kubewright.schema.structural.values import same

__all__ = [
    "Errors",
    "Object",
    "at_least_0",
    "check",
    "config_map_key",
    "dns_label_errors",
    "dns_subdomain_errors",
    "env_name",
    "fixed",
    "immutable",
    "in_range",
    "int_or_percent",
    "ip_errors",
    "one_of",
    "percent_value",
    "port_name",
    "port_number",
    "port_or_name",
    "positive",
    "qualified_errors",
    "quantity_at_least_0",
    "regex_error",
    "relative_path",
    "without_backsteps",
]

Object = dict[str, Any]
Errors = list[FieldError]

_A: Final = re.ASCII
_PORT_NAME: Final = re.compile(r"[-a-z0-9]+", _A)
_CONFIG_KEY: Final = "[-._a-zA-Z0-9]+"
_CONFIG_KEY_SAID: Final = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
_ENV_SAID: Final = "a valid environment variable name must consist only of printable ASCII characters other than '='"
_PERCENT: Final = "[0-9]+%"
_PERCENT_SAID: Final = "a valid percent string must be a numeric string followed by an ending '%'"
_IP_SAID: Final = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"


def regex_error(said: str, regex: str, *examples: str) -> str:
    """How a server says that a text does not match."""
    shown = " or ".join(f"'{each}', " for each in examples)
    return f"{said} ({'e.g. ' + shown if examples else ''}regex used for validation is '{regex}')"


def in_range(value: int, least: int, most: int) -> list[str]:
    """What keeps a number from being between two others."""
    return [] if least <= value <= most else [f"must be between {least} and {most}, inclusive"]


def port_number(port: int) -> list[str]:
    """What keeps a number from being a port."""
    return in_range(port, 1, 65535)


def port_name(name: str) -> list[str]:
    """What keeps a text from being the name of a port (an IANA service name)."""
    problems = ["must be no more than 15 characters"] if len(name.encode()) > 15 else []
    if _PORT_NAME.fullmatch(name) is None:
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if re.search("[a-z]", name) is None:
        problems.append("must contain at least one letter (a-z)")
    if "--" in name:
        problems.append("must not contain consecutive hyphens")
    if name and (name[0] == "-" or name[-1] == "-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def config_map_key(key: str) -> list[str]:
    """What keeps a text from being a key of a ConfigMap or Secret."""
    problems = ["must be no more than 253 characters"] if len(key.encode()) > 253 else []
    if re.fullmatch(_CONFIG_KEY, key) is None:
        problems.append(regex_error(_CONFIG_KEY_SAID, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    if key in (".", ".."):
        problems.append(f"must not be '{key}'")
    elif key.startswith(".."):
        problems.append("must not start with '..'")
    return problems


def env_name(name: str) -> list[str]:
    """What keeps a text from being the name of an environment variable."""
    if not name:
        return ["environment variable name must be non-empty"]
    return [_ENV_SAID] if any(not " " <= each <= "~" or each == "=" for each in name) else []


# -- as errors of a field ---------------------------------------------------------------------------------------------


def check(path: str, value: Any, rule: Callable[[Any], list[str]]) -> Errors:
    """The problems that a rule finds, as errors."""
    return [invalid(path, value, each) for each in rule(value)]


def dns_label_errors(path: str, value: str) -> Errors:
    """Errors of a DNS label."""
    return check(path, value, dns_label)


def dns_subdomain_errors(path: str, value: str) -> Errors:
    """Errors of a DNS subdomain."""
    return check(path, value, dns_subdomain)


def qualified_errors(path: str, value: str) -> Errors:
    """Errors of a qualified name, `example.com/name`."""
    return check(path, value, qualified_name)


def at_least_0(path: str, value: int | None) -> Errors:
    """Errors of a number that may not be negative."""
    return [invalid(path, value, "must be greater than or equal to 0")] if value is not None and value < 0 else []


def positive(path: str, value: int) -> Errors:
    """Errors of a number that has to be positive."""
    return [] if value > 0 else [invalid(path, value, "must be greater than zero")]


def quantity_at_least_0(path: str, value: str) -> Errors:
    """Errors of a quantity that may not be negative."""
    return [invalid(path, value, "must be greater than or equal to 0")] if Quantity(value) < 0 else []


def one_of(path: str, value: str, known: Sequence[str]) -> Errors:
    """Errors of a value that has to be there, and one of a few."""
    if not value:
        return [required(path)]
    return [] if value in known else [not_supported(path, value, known)]


def immutable(path: str, new: Any, old: Any) -> Errors:
    """Errors of a value that may not change."""
    return [] if same(new, old) else [invalid(path, new, "field is immutable")]


def fixed(path: str, new: Any, old: Any) -> Errors:
    """Errors of a value that may not change, by a rule that does not show it."""
    return [] if same(new, old) else [invalid(path, None, "field is immutable")]


def port_or_name(path: str, value: int | str) -> Errors:
    """Errors of the number or name of a port."""
    return check(path, value, port_name) if isinstance(value, str) else check(path, value, port_number)


def ip_errors(path: str, value: str) -> Errors:
    """Errors of an IP address."""
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return [invalid(path, value, _IP_SAID)]
    return []


def without_backsteps(path: str, value: str) -> Errors:
    """Errors of a file path that may not go up."""
    return [invalid(path, value, "must not contain '..'")] if ".." in value.split("/") else []


def relative_path(path: str, value: str) -> Errors:
    """Errors of a file path that stays below where it starts."""
    errors = [invalid(path, value, "must be a relative path")] if value.startswith("/") else []
    return [*errors, *without_backsteps(path, value)]


def int_or_percent(path: str, value: int | str) -> Errors:
    """Errors of a number or percentage that may not be negative."""
    if isinstance(value, str):
        if re.fullmatch(_PERCENT, value, _A) is None:
            return [invalid(path, value, regex_error(_PERCENT_SAID, _PERCENT, "1%", "93%"))]
        return []
    return at_least_0(path, value)


def percent_value(value: int | str) -> int | None:
    """The number of a percentage, None for anything else."""
    if isinstance(value, str) and re.fullmatch(_PERCENT, value, _A) is not None:
        return int(value[:-1])
    return None
