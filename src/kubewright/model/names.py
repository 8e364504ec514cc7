"""Which texts Kubernetes takes as a label key, a label value or a DNS name (`apimachinery/pkg/util/validation`).

Each function returns the broken rule as a phrase to put behind the value ("has more than 63 characters; shorten it"),
or None. They do not raise: only the caller knows which field it was.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["label_key_problem", "label_value_problem", "subdomain_problem"]

_NAME: Final = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LABEL: Final = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NAME_CURE: Final = "use letters, digits, '-', '_' and '.', with a letter or a digit at both ends"


def label_key_problem(key: str) -> str | None:
    """`name` or `dns.prefix/name`: also the form of annotation keys, condition types and finalizers."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return "has more than one '/'; write it as name or prefix/name"
    if slash and (problem := subdomain_problem(prefix)):
        return f"has a prefix that {problem}"
    if not name:
        return "has no name; write it as name or prefix/name"
    if len(name) > 63:
        return "has a name of more than 63 characters; shorten it"
    if _NAME.fullmatch(name) is None:
        return f"has a name with other characters than allowed; {_NAME_CURE}"
    return None


def label_value_problem(value: str) -> str | None:
    """At most 63 characters; may be empty."""
    if len(value) > 63:
        return "has more than 63 characters; shorten it, or use an annotation"
    if value and _NAME.fullmatch(value) is None:
        return f"has other characters than allowed; {_NAME_CURE}"
    return None


def subdomain_problem(text: str) -> str | None:
    """An RFC 1123 subdomain: what most object names and all API groups are."""
    if not text:
        return "is empty; write a DNS name such as example.com"
    if len(text) > 253:
        return "has more than 253 characters; shorten it"
    if _SUBDOMAIN.fullmatch(text) is None:
        return "is not a DNS name; use lower case letters, digits, '-' and '.', with a letter or a digit at both ends"
    return None
