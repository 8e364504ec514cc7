"""Strings: lengths, patterns, choices, and the formats that a server checks."""

from __future__ import annotations

import enum
from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from annotated_types import Len, MaxLen, MinLen
from table_rows import row

from kubewright.model import Duration, IntOrString, MicroTime, Quantity
from kubewright.schema import Format, Pattern, Rule

GOOD_UUID = "123e4567-e89b-12d3-a456-426614174000"


class Color(enum.StrEnum):
    """A color."""

    RED = "red"
    GREEN = "green"


def of(name: str) -> object:
    return Annotated[str, Format(name)]


ROWS = {
    "text": row(str, ["", "a", "é"], [1, True, {}]),
    "min_len": row(Annotated[str, MinLen(2)], ["ab", "日本"], ["a", ""]),
    "max_len": row(Annotated[str, MaxLen(3)], ["abc", "日本語"], ["abcd"]),
    "length": row(Annotated[str, Len(1, 2)], ["a", "ab"], ["", "abc"]),
    "pattern": row(Annotated[str, Pattern(r"^v\d+\.\d+\.\d+$")], ["v1.2.3"], ["1.2.3", "v1.2.3-rc1"]),
    "pattern_not_anchored": row(Annotated[str, Pattern("b")], ["abc"], ["ac"]),
    "pattern_with_flag": row(Annotated[str, Pattern("(?i)^a$")], ["A"], ["b"]),
    "pattern_of_unicode": row(Annotated[str, Pattern(r"^\p{Greek}+$")], ["αβ"], ["ab"]),
    "pattern_and_length": row(Annotated[str, Pattern("^a"), MaxLen(2)], ["ab"], ["abc", "b"]),
    "literal": row(Literal["a", "b"], ["a"], ["c", ""]),
    "literal_of_odd_words": row(Literal["y", "on", "1e3", "~"], ["y", "1e3"], ["yes"]),
    "str_enum": row(Color, ["red"], ["blue", "RED"]),
    "ipv4": row(of("ipv4"), ["10.0.0.1"], ["10.0.0", "256.0.0.1"]),
    "ipv6": row(of("ipv6"), ["::1", "fe80::1"], ["10.0.0.1", ":::"]),
    "cidr": row(of("cidr"), ["10.0.0.0/8", "fe80::/64"], ["10.0.0.0"]),
    "mac": row(of("mac"), ["00:11:22:33:44:55"], ["00:11"]),
    "uri": row(of("uri"), ["https://example.com/x?y#z"], ["x"]),
    "email": row(of("email"), ["a@example.com"], ["a"]),
    "hostname": row(of("hostname"), ["a.example.com"], ["-a-"]),
    "short_name": row(of("k8s-short-name"), ["web-1"], ["Web", "a.b"]),
    "long_name": row(of("k8s-long-name"), ["a.example.com"], ["A"]),
    "uuid": row(UUID, [GOOD_UUID], ["1234"]),
    "uuid3": row(of("uuid3"), ["a3bb189e-8bf9-3888-9912-ace4e6543002"], [GOOD_UUID[:-1]]),
    "uuid4": row(of("uuid4"), ["0e7f7a5e-9c2b-4d0e-8f43-0e5f0d7c2a11"], ["0e7f7a5e"]),
    "uuid5": row(of("uuid5"), ["74738ff5-5367-5958-9aee-98fffdcd1876"], ["x"]),
    "isbn": row(of("isbn"), ["978-3-16-148410-0"], ["978"]),
    "isbn10": row(of("isbn10"), ["3-16-148410-X"], ["3-16"]),
    "isbn13": row(of("isbn13"), ["9783161484100"], ["1234567890"]),
    "creditcard": row(of("creditcard"), ["4111 1111 1111 1111"], ["4111"]),
    "ssn": row(of("ssn"), ["111-22-3333"], ["111"]),
    "hexcolor": row(of("hexcolor"), ["#fff"], ["fffff"]),
    "rgbcolor": row(of("rgbcolor"), ["rgb(1,2,3)"], ["rgb(1,2,300)"]),
    "bsonobjectid": row(of("bsonobjectid"), ["507f1f77bcf86cd799439011"], ["507f"]),
    "password": row(of("password"), ["anything"], [1]),
    "data": row(bytes, ["AP8="], ["!", ""]),
    "instant": row(datetime, ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5+01:00"], ["2026-01-02", "soon"]),
    "micro_time": row(MicroTime, ["2026-01-02T03:04:05.000000Z"], ["03:04"]),
    "day": row(date, ["2026-01-02"], ["02.01.2026", "2026-02-30"]),
    "duration": row(Duration, ["1h30m", "0", "-1.5s", "3µs"], ["3 days", "1", "h"]),
    "duration_bounded": row(Annotated[Duration, Rule("self >= duration('1s')")], ["1m"], ["1ms"]),
    "quantity": row(Quantity, ["1Gi", 3, "0.5", "1e3", "-5m"], ["1gi", "", True]),
    "quantity_bounded": row(
        Annotated[Quantity, Rule("quantity(string(self)).compareTo(quantity('1Gi')) >= 0")], ["2Gi"], ["1Mi"]
    ),
    "int_or_string": row(IntOrString, [5, "80%"], [1.5, True, []]),
    "int_or_string_bounded": row(Annotated[IntOrString, Pattern(r"^\d+%$")], [1, "10%"], ["ten"]),
}  # fmt: skip
