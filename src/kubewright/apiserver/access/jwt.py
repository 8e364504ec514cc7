"""Signed tokens: JSON Web Tokens by one elliptic key, as compact as a header takes them. No claims are understood here.

Owns the signature and the key's identity. Keys are P-256 (`ES256`), the id is a hash of the public key. Rules: RFC
7515, 7517, 7519; `kubernetes/pkg/serviceaccount/jwt.go`.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

__all__ = ["BadSignature", "SigningKey", "claims_of"]

ALGORITHM: Final = "ES256"
_HALF_BYTES: Final = 32
_ENCODED: Final = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)


class BadSignature(Exception):
    """A token that was not signed by the key. The text is the server's."""


class SigningKey:
    """A key that signs and verifies.

    Args:
        pem: the private key, PKCS 8 or SEC 1; None makes a new one when it is first used.

    Raises ValueError, when first used: it is no P-256 key.
    """

    def __init__(self, pem: bytes | None = None) -> None:
        self._pem = pem

    @cached_property
    def _key(self) -> EllipticCurvePrivateKey:
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        if self._pem is None:
            return ec.generate_private_key(ec.SECP256R1())
        found = load_pem_private_key(self._pem, None)
        if not isinstance(found, ec.EllipticCurvePrivateKey) or not isinstance(found.curve, ec.SECP256R1):
            raise ValueError("the key of service account tokens is no P-256 key (PEM); make one with openssl ecparam")
        return found

    @cached_property
    def id(self) -> str:
        """The key's id: a hash of its public half."""
        import hashlib

        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        public = self._key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return _encoded(hashlib.sha256(public).digest())

    @cached_property
    def public(self) -> dict[str, str]:
        """The public half as a JSON Web Key."""
        numbers = self._key.public_key().public_numbers()
        x, y = (_encoded(each.to_bytes(_HALF_BYTES, "big")) for each in (numbers.x, numbers.y))
        return {"use": "sig", "kty": "EC", "kid": self.id, "crv": "P-256", "alg": ALGORITHM, "x": x, "y": y}

    def sign(self, claims: dict[str, Any]) -> str:
        """A token with these claims."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, utils

        head = orjson.dumps({"alg": ALGORITHM, "kid": self.id})
        body = orjson.dumps(claims, option=orjson.OPT_SORT_KEYS)
        signed = f"{_encoded(head)}.{_encoded(body)}"
        r, s = utils.decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{_encoded(r.to_bytes(_HALF_BYTES, 'big') + s.to_bytes(_HALF_BYTES, 'big'))}"

    def verify(self, token: str) -> None:
        """Raises BadSignature: the token was signed by another key, or not as it is now."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, utils

        signed, _, signature = token.rpartition(".")
        head = _json(signed.partition(".")[0]) or {}
        if head.get("kid") not in (None, "", self.id):
            raise BadSignature("invalid signature, no keys found")
        raw = _decoded(signature) or b""
        if head.get("alg") != ALGORITHM or len(raw) != 2 * _HALF_BYTES:
            raise BadSignature(_BROKEN)
        r, s = (int.from_bytes(raw[at : at + _HALF_BYTES], "big") for at in (0, _HALF_BYTES))
        try:
            encoded = utils.encode_dss_signature(r, s)
            self._key.public_key().verify(encoded, signed.encode(), ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            raise BadSignature(_BROKEN) from None


_BROKEN: Final = "go-jose/go-jose: error in cryptographic primitive"


def claims_of(token: str) -> dict[str, Any] | None:
    """What a token says, whoever signed it; None for what is no token."""
    parts = token.split(".")
    return _json(parts[1]) if len(parts) == 3 and _json(parts[0]) is not None else None


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes | None:
    if _ENCODED.fullmatch(text) is None:
        return None  # Python would pass over what is no part of the alphabet
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return None


def _json(text: str) -> dict[str, Any] | None:
    data = _decoded(text)
    if not data:
        return None
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None
