"""Checks of ClusterTrustBundles. Rules: `kubernetes/pkg/apis/certificates/validation`, names of signers
`pkg/apis/core/validation/names.go`."""

from __future__ import annotations

import base64
import binascii
import re
from collections import defaultdict
from typing import Final

from kubewright.schema.structural.fielderrors import FieldError, invalid, too_long
from kubewright.schema.structural.metarules import dns_label, dns_subdomain

from .texts import Errors, Object, immutable

__all__ = ["trust_bundle", "trust_bundle_update"]

_MOST_BYTES: Final = 1024 * 1024
_LONGEST_DOMAIN: Final = 253
_LONGEST_SIGNER: Final = 253 + (253 + 63 + 1) + 1
_BLOCK: Final = re.compile(
    r"^-----BEGIN (?P<type>[^\n]*)-----[ \t]*\r?\n(?P<body>.*?)^-----END (?P=type)-----[ \t]*\r?$", re.M | re.S
)
_OMITTED: Final = "<value omitted>"


def trust_bundle(obj: Object) -> Errors:
    """Errors of a ClusterTrustBundle."""
    return _naming(obj) + _anchors(obj["spec"].get("trustBundle", ""))


def trust_bundle_update(new: Object, old: Object) -> Errors:
    """Errors of a changed ClusterTrustBundle. Anchors that stay are not looked at."""
    after, before = new["spec"], old["spec"]
    errors = _naming(new)
    if after.get("trustBundle", "") != before.get("trustBundle", ""):
        errors += _anchors(after.get("trustBundle", ""))
    return errors + immutable("spec.signerName", after.get("signerName", ""), before.get("signerName", ""))


def _naming(obj: Object) -> Errors:
    name, signer = obj["metadata"].get("name", ""), obj["spec"].get("signerName", "")
    errors = [invalid("metadata.name", name, each) for each in _name_problems(name, signer)] if name else []
    return errors + (_signer_name("spec.signerName", signer) if signer else [])


def _name_problems(name: str, signer: str) -> list[str]:
    if not signer:
        if ":" in name:
            return ['ClusterTrustBundle without signer name must not have ":" in its name']
        return dns_subdomain(name)
    prefix = signer.replace("/", ":") + ":"
    if not name.startswith(prefix):
        return [f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"]
    return dns_subdomain(name.removeprefix(prefix))


def _signer_name(path: str, signer: str) -> Errors:
    domain, slash, rest = signer.partition("/")
    if not slash or "/" in rest:
        form = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        return [invalid(path, signer, form)]
    errors: Errors = [too_long(path, _LONGEST_DOMAIN)] if len(domain) > _LONGEST_DOMAIN else []
    labels = domain.split(".")
    errors += _first(path, domain, {label: dns_label(label) for label in labels})
    if len(labels) < 2:
        errors.append(invalid(path, domain, "should be a domain with at least two segments separated by dots"))
    errors += _first(path, rest, {label: dns_subdomain(label) for label in rest.split(".")})
    if len(signer) > _LONGEST_SIGNER:
        errors.append(too_long(path, _LONGEST_SIGNER))
    return errors


def _first(path: str, segment: str, problems: dict[str, list[str]]) -> Errors:
    """The problems of the first label that has any: those of others would read the same."""
    for label, said in problems.items():
        if said:
            return [invalid(path, segment, f'validating label "{label}": {each}') for each in said]
    return []


def _anchors(text: str) -> Errors:
    path = "spec.trustBundle"
    if len(text.encode()) > _MOST_BYTES:
        return [too_long(path, _MOST_BYTES)]
    errors: Errors = []
    places: dict[bytes, list[int]] = defaultdict(list)
    for number, block in enumerate(_BLOCK.finditer(text)):
        data, problem = _anchor(block)
        if problem:
            errors.append(invalid(path, _OMITTED, f"entry {number} {problem}"))
        else:
            places[data].append(number)
    if errors:
        return errors
    if not places:
        return [invalid(path, _OMITTED, "at least one trust anchor must be provided")]
    return [_twice(path, found) for found in places.values() if len(found) > 1]


def _twice(path: str, found: list[int]) -> FieldError:
    return invalid(path, _OMITTED, f"duplicate trust anchor (indices [{' '.join(map(str, found))}])")


def _anchor(block: re.Match[str]) -> tuple[bytes, str]:
    """The bytes of a certificate, and what is wrong with it."""
    from cryptography import x509

    if block["type"] != "CERTIFICATE":
        return b"", f"has bad block type: {block['type']}"
    body: str = block["body"]
    if ":" in body:
        return b"", "has PEM block headers"
    try:
        data = base64.b64decode("".join(body.split()), validate=True)
        constraints = x509.load_der_x509_certificate(data).extensions.get_extension_for_class(x509.BasicConstraints)
    except x509.ExtensionNotFound:
        return b"", "does not have the CA bit set"
    except (binascii.Error, ValueError):
        return b"", "does not parse as X.509"
    return (data, "") if constraints.value.ca else (b"", "does not have the CA bit set")
