"""Kubernetes' IP addresses and CIDRs. IPv4-mapped IPv6 addresses and zones are refused; texts of errors are Go's."""

from __future__ import annotations

import ipaddress
from typing import ClassVar, Final

from .effort import spend_long
from .errors import EvaluationError
from .signatures import Library
from .types import opaque, type_of_type
from .values import TypeValue

__all__ = ["CIDR", "CIDR_LIBRARY", "IP", "IP_LIBRARY"]

IP_LIBRARY: Final = Library("kubernetes.net.ip")
CIDR_LIBRARY: Final = Library("kubernetes.net.cidr")

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class IP:
    """An address."""

    cel_type: ClassVar = "net.IP"
    __slots__ = ("address",)

    def __init__(self, address: _Address) -> None:
        self.address = address

    @property
    def cel_size(self) -> int:
        return self.address.max_prefixlen // 8

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IP) and self.address == other.address

    def __hash__(self) -> int:
        return hash(self.address)


class CIDR:
    """An address and the length of its prefix; not masked."""

    cel_type: ClassVar = "net.CIDR"
    __slots__ = ("address", "bits")

    def __init__(self, address: _Address, bits: int) -> None:
        self.address = address
        self.bits = bits

    @property
    def cel_size(self) -> int:
        return (self.bits + 7) // 8

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CIDR) and self.address == other.address and self.bits == other.bits

    def __hash__(self) -> int:
        return hash((self.address, self.bits))

    def __str__(self) -> str:
        return f"{self.address}/{self.bits}"

    def _prefix(self, address: _Address) -> int:
        return int(address) >> (address.max_prefixlen - self.bits)

    def contains(self, address: _Address) -> bool:
        return address.version == self.address.version and self._prefix(address) == self._prefix(self.address)

    def masked(self) -> CIDR:
        rest = self.address.max_prefixlen - self.bits
        return CIDR(type(self.address)(int(self.address) >> rest << rest), self.bits)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _address(text: str) -> _Address:
    """An address by Go's netip rules. Raises ValueError with Go's words."""
    spend_long(4 * len(text))
    for char in text:
        if char == ".":
            return _v4(text)
        if char == ":":
            try:
                return ipaddress.IPv6Address(text)
            except ValueError:
                raise ValueError(f"ParseAddr({_quoted(text)}): unable to parse IP") from None
        if char == "%":
            raise ValueError(f"ParseAddr({_quoted(text)}): missing IPv6 address")
    raise ValueError(f"ParseAddr({_quoted(text)}): unable to parse IP")


def _v4(text: str) -> ipaddress.IPv4Address:
    start = f"ParseAddr({_quoted(text)})"
    fields = text.split(".")
    for field in fields:
        if field and not (field.isascii() and field.isdigit()):
            raise ValueError(f"{start}: unexpected character (at {_quoted(text[_first_odd(text) :])})")
    for field in fields:
        if not field:
            raise ValueError(f"{start}: IPv4 field must have at least one digit (at {_quoted(text)})")
        if len(field) > 1 and field[0] == "0":
            raise ValueError(f"{start}: IPv4 field has octet with leading zero")
        if len(field) > 3 or int(field) > 255:
            raise ValueError(f"{start}: IPv4 field has value >255")
    if len(fields) != 4:
        raise ValueError(f"{start}: IPv4 address too {'short' if len(fields) < 4 else 'long'}")
    return ipaddress.IPv4Address(text)


def _first_odd(text: str) -> int:
    return next((at for at, char in enumerate(text) if char not in "0123456789."), len(text))


def parse_ip(text: str) -> _Address:
    try:
        address = _address(text)
    except ValueError as error:
        raise ValueError(f"IP Address {_quoted(text)} parse error during conversion from string: {error}") from None
    if getattr(address, "scope_id", None):
        raise ValueError(f"IP address {_quoted(text)} with zone value is not allowed")
    if getattr(address, "ipv4_mapped", None) is not None:
        raise ValueError(f"IPv4-mapped IPv6 address {_quoted(text)} is not allowed")
    return address


def parse_cidr(text: str) -> CIDR:
    fails = f"network address parse error during conversion from string: netip.ParsePrefix({_quoted(text)})"
    head, slash, length = text.rpartition("/")
    if not slash:
        raise ValueError(f"{fails}: no '/'")
    try:
        address = _address(head)
    except ValueError as error:
        raise ValueError(f"{fails}: {error}") from None
    if getattr(address, "scope_id", None):
        raise ValueError(f"{fails}: IPv6 zones cannot be present in a prefix")
    if len(length) > 1 and not "1" <= length[0] <= "9":
        raise ValueError(f"{fails}: bad bits after slash: {_quoted(length)}")
    if not (length.isascii() and length.isdigit()) or len(length) > 9:
        raise ValueError(f"{fails}: bad bits after slash: {_quoted(length)}")
    if int(length) > address.max_prefixlen:
        raise ValueError(f"{fails}: prefix length out of range")
    if getattr(address, "ipv4_mapped", None) is not None:
        raise ValueError(f"IPv4-mapped IPv6 address {_quoted(text)} is not allowed")
    return CIDR(address, int(length))


def _ip(text: str) -> IP:
    try:
        return IP(parse_ip(text))
    except ValueError as error:
        raise EvaluationError(str(error)) from None


def _cidr(text: str) -> CIDR:
    try:
        return parse_cidr(text)
    except ValueError as error:
        raise EvaluationError(f"network address parse error during conversion from string: {error}") from None


def _is_ip(text: str) -> bool:
    try:
        parse_ip(text)
    except ValueError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    try:
        parse_cidr(text)
    except ValueError:
        return False
    return True


def _is_global_unicast(ip: IP) -> bool:
    address = ip.address
    if isinstance(address, ipaddress.IPv4Address) and int(address) in (0, 0xFFFFFFFF):
        return False
    return not (address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local)


def _is_link_local_multicast(ip: IP) -> bool:
    value = int(ip.address)
    return value >> 8 == 0xE00000 if ip.address.version == 4 else value >> 112 & 0xFF0F == 0xFF02


def _contains_ip_text(cidr: CIDR, text: str) -> bool:
    # The server loses the error of the address here.
    if not _is_ip(text):
        raise EvaluationError("no such overload")
    return cidr.contains(parse_ip(text))


def _contains_cidr(cidr: CIDR, other: CIDR) -> bool:
    return cidr.bits <= other.bits and cidr.contains(other.address)


def _contains_cidr_text(cidr: CIDR, text: str) -> bool:
    return _contains_cidr(cidr, _cidr(text))


IP_LIBRARY.constants["net.IP"] = (type_of_type(opaque("net.IP")), TypeValue("net.IP"))
IP_LIBRARY.add_all(
    (
        ("string_to_ip", "ip (string) -> net.IP", _ip),
        ("ip_family", ".family (net.IP) -> int", lambda ip: ip.address.version),
        ("ip_is_canonical", "ip.isCanonical (string) -> bool", lambda text: str(_ip(text).address) == text),
        ("ip_is_unspecified", ".isUnspecified (net.IP) -> bool", lambda ip: ip.address.is_unspecified),
        ("ip_is_loopback", ".isLoopback (net.IP) -> bool", lambda ip: ip.address.is_loopback),
        ("ip_is_link_local_multicast", ".isLinkLocalMulticast (net.IP) -> bool", _is_link_local_multicast),
        ("ip_is_link_local_unicast", ".isLinkLocalUnicast (net.IP) -> bool", lambda ip: ip.address.is_link_local),
        ("ip_is_global_unicast", ".isGlobalUnicast (net.IP) -> bool", _is_global_unicast),
        ("is_ip", "isIP (string) -> bool", _is_ip),
        ("ip_to_string", "string (net.IP) -> string", lambda ip: str(ip.address)),
    )
)
CIDR_LIBRARY.constants["net.CIDR"] = (type_of_type(opaque("net.CIDR")), TypeValue("net.CIDR"))
CIDR_LIBRARY.add_all(
    (
        ("string_to_cidr", "cidr (string) -> net.CIDR", _cidr),
        ("cidr_contains_ip_string", ".containsIP (net.CIDR, string) -> bool", _contains_ip_text),
        ("cidr_contains_ip_ip", ".containsIP (net.CIDR, net.IP) -> bool", lambda cidr, ip: cidr.contains(ip.address)),
        ("cidr_contains_cidr_string", ".containsCIDR (net.CIDR, string) -> bool", _contains_cidr_text),
        ("cidr_contains_cidr", ".containsCIDR (net.CIDR, net.CIDR) -> bool", _contains_cidr),
        ("cidr_ip", ".ip (net.CIDR) -> net.IP", lambda cidr: IP(cidr.address)),
        ("cidr_prefix_length", ".prefixLength (net.CIDR) -> int", lambda cidr: cidr.bits),
        ("cidr_masked", ".masked (net.CIDR) -> net.CIDR", lambda cidr: cidr.masked()),
        ("is_cidr", "isCIDR (string) -> bool", _is_cidr),
        ("cidr_to_string", "string (net.CIDR) -> string", str),
    )
)
