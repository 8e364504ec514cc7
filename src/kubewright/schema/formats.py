"""Which formats and regular expressions an API server understands.

A server ignores a format that it does not know, without a word: a typing error would switch the check off. The list is
that of `apiextensions-apiserver/pkg/apiserver/validation/formats.go` (1.37). Patterns are RE2, which has no lookaround
and no back references; a server refuses the whole CRD for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["INTEGER_FORMATS", "NUMBER_FORMATS", "STRING_FORMATS", "nearest", "pattern_problem"]

STRING_FORMATS: Final = frozenset(
    (
        *("uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5"),
        *("date", "datetime", "date-time", "duration", "byte", "password", "k8s-short-name", "k8s-long-name"),
        *("bsonobjectid", "isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor"),
    )
)
INTEGER_FORMATS: Final = frozenset({"int32", "int64"})
NUMBER_FORMATS: Final = frozenset({"float", "double"})

_TYPES: Final = {
    "quantity": "declare a Quantity",
    "int-or-string": "declare an IntOrString",
    "binary": "declare bytes",
    "int32": "declare an int",
    "int64": "declare an int",
    "double": "declare a float",
    "float": "declare a float",
}


def nearest(given: str, known: Iterable[str], what: str) -> str:
    """The cure for a name that is none of `known`."""
    if what == "string" and given in _TYPES:
        return _TYPES[given]
    import difflib  # only where something is wrong

    near = difflib.get_close_matches(given, list(known), 1)
    return f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(sorted(known))}"


_ONLY_PYTHON: Final = re.compile(
    r"(?P<look>\(\?<?[=!])|(?P<back>\\[1-9]|\(\?P=)|(?P<atomic>\(\?>)|(?P<choice>\(\?\()|(?P<note>\(\?\#)"
    r"|(?P<possessive>(?:[*+?]|\{\d+(?:,\d*)?\})\+)|(?P<end>\\Z)"
)
_NOT_IN_RE2: Final = {
    "look": ("looks ahead or behind", "say it as a Rule: self.matches(...) && !self.matches(...)"),
    "back": ("refers back to a group", "say it as a Rule"),
    "atomic": ("has an atomic group", "make it a plain group (?:...)"),
    "choice": ("has a conditional group", "write both cases with |"),
    "note": ("has a comment", "take it away"),
    "possessive": ("has a possessive quantifier", "make it a plain one"),
    "end": ("ends with \\Z", "write $"),
}


def pattern_problem(regex: str) -> tuple[str, str] | None:
    """Why a server would refuse a regular expression, and what to write: or None."""
    bare = re.sub(r"\\[^1-9Z]", "..", regex)
    bare = re.sub(r"\[\^?\]?[^\]]*\]", lambda match: "." * len(match[0]), bare)
    for match in _ONLY_PYTHON.finditer(bare):
        what, cure = _NOT_IN_RE2[str(match.lastgroup)]
        return f"{what}, which RE2 cannot", cure
    from . import re2  # a reader of regular expressions, which only a Pattern needs

    try:
        re2.compile(regex)
    except re2.Re2Error as error:
        return f"is not a regular expression ({error.rule}: {error.part})", "correct it"
    return None
