"""Until when a certificate is valid, read from its bytes.

The one fact that every start needs of a client certificate. `ssl` does not tell it, and cryptography, which is imported
where a refused certificate has to be explained, would cost each operator 9 MiB and 60 ms for it. The structure is that
of RFC 5280 section 4.1:

    Certificate ::= SEQUENCE { TBSCertificate ::= SEQUENCE {
        [0] version OPTIONAL, serialNumber, signature, issuer, validity ::= SEQUENCE { notBefore, notAfter }, ...
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from typing import Final

__all__ = ["not_after"]

_SEQUENCE: Final = 0x30
_VERSION: Final = 0xA0
_UTC_TIME: Final = 0x17
_GENERALIZED_TIME: Final = 0x18


def not_after(pem: bytes) -> datetime:
    """`notAfter` of the first certificate in `pem`, UTC.

    Raises:
        ValueError: there is no certificate, or it is damaged.
    """
    begin, end = pem.find(ssl.PEM_HEADER.encode()), pem.find(ssl.PEM_FOOTER.encode())
    if begin < 0 or end < begin:
        raise ValueError("no PEM certificate")
    der = ssl.PEM_cert_to_DER_cert(pem[begin : end + len(ssl.PEM_FOOTER)].decode("ascii"))
    certificate, _ = _take(der, _SEQUENCE)
    rest, _ = _take(certificate, _SEQUENCE)
    if rest[:1] == bytes([_VERSION]):
        _, rest = _take(rest, _VERSION)
    for _ in ("serialNumber", "signature", "issuer"):
        _, rest = _take(rest)
    validity, _ = _take(rest, _SEQUENCE)
    _, validity = _take(validity)
    return _time(validity)


def _take(data: bytes, tag: int | None = None) -> tuple[bytes, bytes]:
    """The content of the first element, and what comes after it."""
    if len(data) < 2 or tag not in (None, data[0]):
        raise ValueError("not a certificate")
    length, start = data[1], 2
    if length & 0x80:  # the long form: so many bytes of length follow
        start += length & 0x7F
        length = int.from_bytes(data[2:start])
    if len(data) < start + length:
        raise ValueError("a damaged certificate")
    return data[start : start + length], data[start + length :]


def _time(data: bytes) -> datetime:
    """RFC 5280 section 4.1.2.5: two digits of the year up to 2049, four from then on; always with seconds, and `Z`."""
    if data[:1] == bytes([_UTC_TIME]):
        text = _take(data)[0].decode("ascii")
        century = "19" if text[:2] >= "50" else "20"
        text = century + text
    else:
        text = _take(data, _GENERALIZED_TIME)[0].decode("ascii")
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
