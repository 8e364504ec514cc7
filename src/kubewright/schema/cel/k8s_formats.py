"""Kubernetes' named formats: `format.dns1123Label().validate(text)` gives the reasons why a text is none."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from datetime import date
from typing import ClassVar, Final

from .clock import parse_timestamp
from .k8s_urls import parse_url
from .signatures import Library
from .types import object_type, type_of_type
from .values import Optional, TypeValue

__all__ = ["FORMAT", "NamedFormat"]

FORMAT: Final = Library("kubernetes.format")

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE: Final = f"({_KEY})?"
_UUID: Final = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class NamedFormat:
    """A format: its name, its check and the size of its expression, which is what a check costs."""

    cel_type: ClassVar = "kubernetes.NamedFormat"
    __slots__ = ("check", "name", "regex_size")

    def __init__(self, name: str, check: Callable[[str], list[str]], regex_size: int) -> None:
        self.name = name
        self.check = check
        self.regex_size = regex_size

    def validate(self, text: str) -> Optional:
        reasons = self.check(text)
        return Optional(reasons) if reasons else Optional()


def _rule(rule: str, regex: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{regex}')"


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} bytes"


def _fits(regex: str, text: str) -> bool:
    return re.fullmatch(regex, text, re.ASCII) is not None


def _label(text: str) -> list[str]:
    found = [_too_long(63)] if len(text.encode()) > 63 else []
    if not _fits(_LABEL, text):
        if _fits(_SUBDOMAIN, text):
            found.append("must not contain dots")
        else:
            rule = (
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-',"
                " and must start and end with an alphanumeric character"
            )
            found.append(_rule(rule, _LABEL, "my-name", "123-abc"))
    return found


def _subdomain(text: str) -> list[str]:
    found = [_too_long(253)] if len(text.encode()) > 253 else []
    if not _fits(_SUBDOMAIN, text):
        rule = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',"
            " and must start and end with an alphanumeric character"
        )
        found.append(_rule(rule, _SUBDOMAIN, "example.com"))
    return found


def _label_1035(text: str) -> list[str]:
    found = [_too_long(63)] if len(text.encode()) > 63 else []
    if not _fits(_LABEL_1035, text):
        rule = (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic"
            " character, and end with an alphanumeric character"
        )
        found.append(_rule(rule, _LABEL_1035, "my-name", "abc-123"))
    return found


_KEY_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)


def _qualified(text: str) -> list[str]:
    parts = text.split("/")
    if len(parts) > 2:
        rule = _rule(_KEY_RULE, _KEY, "MyName", "my.name", "123-abc")
        return [f"a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    found: list[str] = []
    if len(parts) == 2:
        found = [f"prefix part {each}" for each in _subdomain(parts[0])] if parts[0] else []
        if not parts[0]:
            found = ["prefix part must be non-empty"]
    name = parts[-1]
    if not name:
        found.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        found.append(f"name part {_too_long(63)}")
    if not _fits(_KEY, name):
        found.append(f"name part {_rule(_KEY_RULE, _KEY, 'MyName', 'my.name', '123-abc')}")
    return found


def _value(text: str) -> list[str]:
    found = [_too_long(63)] if len(text.encode()) > 63 else []
    if not _fits(_VALUE, text):
        rule = (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
            " and must start and end with an alphanumeric character"
        )
        found.append(_rule(rule, _VALUE, "MyValue", "my_value", "12345"))
    return found


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """A prefix to generate names from may end with a dash."""
    return lambda text: check(text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text)


def _uri(text: str) -> list[str]:
    try:
        parse_url(text)
    except ValueError as error:
        return [str(error)]
    return []


def _uuid(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return [] if text else ["invalid base64"]


def _date(text: str) -> list[str]:
    try:
        if _DATE.fullmatch(text):
            date.fromisoformat(text)
            return []
    except ValueError:
        pass
    return ["invalid date"]


def _datetime(text: str) -> list[str]:
    try:
        parse_timestamp(text.upper())
    except ValueError:
        return ["invalid datetime"]
    return []


_DATETIME_SIZE: Final = 68
_FORMATS: Final[dict[str, NamedFormat]] = {
    "dns1123Label": NamedFormat("DNS1123Label", _label, 30),
    "dns1123Subdomain": NamedFormat("DNS1123Subdomain", _subdomain, 60),
    "dns1035Label": NamedFormat("DNS1035Label", _label_1035, 30),
    "qualifiedName": NamedFormat("QualifiedName", _qualified, 60),
    "dns1123LabelPrefix": NamedFormat("DNS1123LabelPrefix", _prefix(_label), 30),
    "dns1123SubdomainPrefix": NamedFormat("DNS1123SubdomainPrefix", _prefix(_subdomain), 60),
    "dns1035LabelPrefix": NamedFormat("DNS1035LabelPrefix", _prefix(_label_1035), 30),
    "labelValue": NamedFormat("LabelValue", _value, 40),
    "uri": NamedFormat("URI", _uri, 1103),
    "uuid": NamedFormat("uuid", _uuid, 72),
    "byte": NamedFormat("byte", _byte, 84),
    "date": NamedFormat("date", _date, _DATETIME_SIZE),
    "datetime": NamedFormat("datetime", _datetime, _DATETIME_SIZE),
}


def _named(name: str) -> Optional:
    return Optional(_FORMATS[name]) if name in _FORMATS else Optional()


_TYPE: Final = "kubernetes.NamedFormat"
FORMAT.constants[_TYPE] = (type_of_type(object_type(_TYPE)), TypeValue(_TYPE))
FORMAT.add("format-validate", f".validate ({_TYPE}, string) -> optional(list(string))", NamedFormat.validate)
FORMAT.add("format-named", f"format.named (string) -> optional({_TYPE})", _named)
for _name, _format in _FORMATS.items():
    FORMAT.add(f"format.{_name}", f"format.{_name} () -> {_TYPE}", lambda _format=_format: _format)
