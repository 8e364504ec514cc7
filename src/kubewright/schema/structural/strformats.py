"""The formats of strings, as a server checks them (`kube-openapi/pkg/validation/strfmt`, 1.37).

`FORMATS` maps a name without dashes to a predicate; a format that is not there is not checked by anybody. Each follows
the Go function behind it, also where that is odd: `byte` refuses the empty text, `ipv4` takes leading zeros and an IPv6
address with a dotted end, `duration` takes "about 5 seconds", `datetime` takes any letter before the fraction.

Known gap: `email` follows RFC 5322 without groups and folded white space.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Callable
from datetime import date
from typing import Final

__all__ = ["FORMATS"]

_A: Final = re.ASCII
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", _A)
_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})([^\n][0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))", _A)
_GO_DURATION: Final = re.compile(r"[-+]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)", _A)
_LOOSE_DURATION: Final = re.compile(r"(?<![0-9])([0-9]+)[ \t\n\f\r]*([A-Za-zµ]+)")
_UNITS: Final = (
    ("ns", "nano"),
    ("us", "µs", "micro"),
    ("ms", "milli"),
    ("s", "sec"),
    ("m", "min"),
    ("h", "hr", "hour"),
    ("d", "day"),
    ("w", "wk", "week"),
)
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})", _A)
_DOTTED: Final = re.compile(r"[0-9]+(?:\.[0-9]+){3}", _A)
_MAC: Final = re.compile(
    r"[0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2})*|[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+|[0-9a-fA-F]+", _A
)
_MAC_BYTES: Final = frozenset({6, 8, 20})
_SHORT: Final = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_NAMES: Final = {
    "k8sshortname": (re.compile(_SHORT, _A), 63),
    "k8slongname": (re.compile(rf"{_SHORT}(?:\.{_SHORT})*", _A), 253),
}
_CARD: Final = re.compile(
    r"4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11}",
    _A,
)
_BYTE: Final = r"[ \t\n\f\r]*(?:0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[ \t\n\f\r]*"
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_BAD_PERCENT: Final = re.compile(r"%(?![0-9a-fA-F]{2})")
_HOST: Final = re.compile(r"(?:\[(?P<six>[^\]]*)\]|(?P<name>[^\[:]*))(?::(?P<port>[0-9]*))?", re.DOTALL)
_HOST_REFUSES: Final = re.compile(r"[\x00-\x20#/?:\\^`{|}\x7f]")
_USER: Final = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", _A)
_ATOM: Final = r"(?:[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]|[^\x00-\x7f])+"
_LOCAL: Final = rf'(?:{_ATOM}(?:\.{_ATOM})*|"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*")'
_DOMAIN: Final = rf"(?:{_ATOM}(?:\.{_ATOM})*|\[[^\[\]\\\x00-\x20]+\])"
_WORD: Final = rf'(?:{_ATOM}|"(?:[^"\\]|\\.)*")'
# What separates words is not optional, so that a long word can be read in one way only.
_EMAIL: Final = re.compile(
    rf"[ \t]*(?:{_LOCAL}@{_DOMAIN}|(?:{_WORD}(?:[ \t.]+{_WORD})*[ \t.]*)?<{_LOCAL}@{_DOMAIN}>)[ \t]*"
)
_LONGEST_HOST: Final = 255
_LONGEST_LABEL: Final = 63


def _pattern(regex: str, flags: int = 0) -> Callable[[str], bool]:
    compiled = re.compile(regex, flags | _A)
    return lambda text: compiled.fullmatch(text) is not None


def _date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    try:
        # Go knows the year 0, which is a leap year as 4 is.
        date(year or 4, month, day)
    except ValueError:
        return False
    return True


def _date_time(text: str) -> bool:
    parts = _lower(text).split("t")
    if len(parts) < 2 or not _date(parts[0]):
        return False
    match = _TIME.fullmatch(parts[1])
    return match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _lower(text: str) -> str:
    return text.lower()


def _duration(text: str) -> bool:
    if _GO_DURATION.fullmatch(text) and _fits_duration(text):
        return True
    found = False
    for number, unit in _LOOSE_DURATION.findall(text):
        if not _at_most(number, 2**63 - 1):
            return False
        small = unit.lower()
        found = found or any(small in names or small.startswith(names[-1]) for names in _UNITS)
    return found


_NANOSECONDS: Final = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}


def _fits_duration(text: str) -> bool:
    total = 0
    for whole, unit in re.findall(r"([0-9]*)(?:\.[0-9]*)?([a-zµμ]+)", text):
        if not _at_most(whole, 2**63 - 1):
            return False
        total += int(whole or 0) * _NANOSECONDS[unit.replace("µ", "u").replace("μ", "u")]
    return total < 2**63


def _at_most(digits: str, most: int) -> bool:
    """Whether a number is small enough. Python refuses to read one of thousands of digits."""
    digits = digits.lstrip("0")
    return len(digits) <= len(str(most)) and int(digits or 0) <= most


def _v4(text: str) -> bool:
    return _DOTTED.fullmatch(text) is not None and all(_at_most(part, 255) for part in text.split("."))


def _v6(text: str, *, loose: bool = False) -> bool:
    if "%" in text:
        return False
    head, colon, end = text.rpartition(":")
    if loose and colon and _v4(end):
        text = f"{head}:{'.'.join(str(int(part)) for part in end.split('.'))}"
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _ipv4(text: str) -> bool:
    return "." in text and (_v4(text) or _v6(text, loose=True))


def _cidr(text: str) -> bool:
    address, slash, bits = text.partition("/")
    if not slash or not bits.isascii() or not bits.isdigit():
        return False
    most = 32 if _v4(address) else 128 if _v6(address, loose=True) else -1
    return most > 0 and _at_most(bits, most)


def _mac(text: str) -> bool:
    if _MAC.fullmatch(text) is None:
        return False
    digits = sum(character not in ":-." for character in text)
    return digits // 2 in _MAC_BYTES and digits % 2 == 0


def _hostname(text: str) -> bool:
    if not text or len(text.encode()) > _LONGEST_HOST:
        return False
    labels = text.split(".")
    if any(len(label.encode()) > _LONGEST_LABEL for label in labels):
        return False
    if len(labels) == 1:
        return _host_label(text, doubled=False)
    last = labels[-1]
    if not 2 <= len(last) <= 63 or not all(map(_is_letter, last)):
        return False
    return all(_host_label(label, doubled=True) for label in labels[:-1])


def _is_letter(character: str) -> bool:
    return unicodedata.category(character).startswith("L")


def _is_host(character: str) -> bool:
    return (character.isascii() and character.isalnum()) or unicodedata.category(character)[0] in "LS"


def _host_label(label: str, *, doubled: bool) -> bool:
    """A label of letters, digits and symbols; with dashes inside, which stand second at most if it is the only one."""
    if not label or len(label) > (63 if doubled else 65) or not _is_host(label[0]):
        return False
    if doubled:
        return all(_is_host(each) or each == "-" for each in label) and _is_host(label[-1])
    rest = label[1:].removeprefix("-")
    return len(rest) <= 62 and all(map(_is_host, rest))


def _uri(text: str) -> bool:
    if not text or any(character < " " or character == "\x7f" for character in text):
        return False
    if text == "*":
        return True
    match = _SCHEME.fullmatch(text)
    scheme, rest = (match[1], match[2]) if match else ("", text)
    if match is None and text.startswith(":"):
        return False
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        return bool(scheme)
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        if not _authority(authority):
            return False
    return _BAD_PERCENT.search(rest) is None


def _authority(text: str) -> bool:
    user, at, host = text.rpartition("@")
    if at and (_USER.fullmatch(user) is None or _BAD_PERCENT.search(user)):
        return False
    match = _HOST.fullmatch(host)
    if match is None:
        return False
    name = match["six"].replace(":", "").partition("%25")[0] if match["six"] is not None else match["name"]
    if _HOST_REFUSES.search(name) or _BAD_PERCENT.search(name):
        return False
    # Only bytes beyond ASCII may be written with a percent sign.
    return all(int(each, 16) >= 0x80 for each in re.findall("%(..)", name))


def _email(text: str) -> bool:
    return _EMAIL.fullmatch(_without_comments(text) if "(" in text else text) is not None


def _without_comments(text: str) -> str:
    """A space for each comment in parentheses, which may stand after words, and inside of one another."""
    if text.lstrip(" \t").startswith("("):
        return text
    made: list[str] = []
    depth, quoted, escaped = 0, False, False
    for character in text:
        if not escaped and character == '"' and not depth:
            quoted = not quoted
        if not escaped and not quoted and character in "()":
            depth += 1 if character == "(" else -1
            made.append(" ")
        elif not depth:
            made.append(character)
        escaped = character == "\\" and not escaped
    return text if depth else "".join(made)


def _card(text: str) -> bool:
    digits = re.sub("[^0-9]+", "", text)
    if _CARD.fullmatch(digits) is None:
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0


def _isbn10(text: str) -> bool:
    digits = re.sub(r"[ \t\n\f\r-]+", "", text)
    if re.fullmatch("[0-9]{9}[0-9X]", digits, _A) is None:
        return False
    total = sum(place * int(digit) for place, digit in enumerate(digits[:9], 1))
    return (total + 10 * (10 if digits[9] == "X" else int(digits[9]))) % 11 == 0


def _isbn13(text: str) -> bool:
    digits = re.sub(r"[ \t\n\f\r-]+", "", text)
    if re.fullmatch("[0-9]{13}", digits, _A) is None:
        return False
    total = sum((1 + 2 * (place % 2)) * int(digit) for place, digit in enumerate(digits[:12]))
    return int(digits[12]) == (10 - total % 10) % 10


def _ssn(text: str) -> bool:
    return len(text) == 11 and re.fullmatch("[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}", text, _A) is not None


def _kubernetes_name(which: str) -> Callable[[str], bool]:
    regex, longest = _NAMES[which]
    return lambda text: len(text) <= longest and regex.fullmatch(text) is not None


def _uuid(version: str) -> Callable[[str], bool]:
    third, fourth = "[0-9a-f]{4}", "[0-9a-f]{4}"
    if version:
        third = f"{version}[0-9a-f]{{3}}"
        fourth = fourth if version == "3" else "[89ab][0-9a-f]{3}"
    return _pattern(f"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{third}-?{fourth}-?[0-9a-f]{{12}}", re.IGNORECASE)


FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "bsonobjectid": _pattern("[0-9a-fA-F]{24}"),
    "byte": lambda text: _BASE64.fullmatch(text) is not None,
    "cidr": _cidr,
    "creditcard": _card,
    "date": _date,
    "datetime": _date_time,
    "duration": _duration,
    "email": _email,
    "hexcolor": _pattern("#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _hostname,
    "ipv4": _ipv4,
    "ipv6": lambda text: ":" in text and _v6(text),
    "isbn": lambda text: _isbn10(text) or _isbn13(text),
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "k8slongname": _kubernetes_name("k8slongname"),
    "k8sshortname": _kubernetes_name("k8sshortname"),
    "mac": _mac,
    "password": lambda text: True,
    "rgbcolor": _pattern(rf"rgb\({_BYTE},{_BYTE},{_BYTE}\)"),
    "ssn": _ssn,
    "uri": _uri,
    "uuid": _uuid(""),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4"),
    "uuid5": _uuid("5"),
}
