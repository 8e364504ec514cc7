"""The plugins CertificateApproval, CertificateSigning and CertificateSubjectRestriction.

Who approves or signs a request needs the right to do so for its signer: verb `approve` or `sign` on `signers` of
certificates.k8s.io, by the name of the signer or `DOMAIN/*`. Rules: kubernetes/plugin/pkg/admission/certificates.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

from kubewright.schema.structural.gotext import quoted

from ...access.attributes import PRIVILEGED, AuthorizationAttributes
from ...registry.backend import Attributes
from .world import Object, World, created, refused

__all__ = ["check_approval", "check_signing", "check_subject"]

_GROUP: Final = "certificates.k8s.io"
_CLIENT_SIGNER: Final = "kubernetes.io/kube-apiserver-client"


def check_approval(attributes: Attributes, world: World) -> None:
    """Raises StatusError: who approves may not."""
    if attributes.subresource == "approval" and attributes.operation == "UPDATE":
        _check(attributes, world, "approve")


def check_signing(attributes: Attributes, world: World) -> None:
    """Raises StatusError: who writes a certificate or conditions may not."""
    if attributes.subresource != "status" or attributes.operation != "UPDATE":
        return
    new, old = ((each or {}).get("status") or {} for each in (attributes.object, attributes.old))
    if any(new.get(name) != old.get(name) for name in ("certificate", "conditions")):
        _check(attributes, world, "sign")


def _check(attributes: Attributes, world: World, verb: str) -> None:
    signer = str(((attributes.old or {}).get("spec") or {}).get("signerName", ""))
    authorizer = world.authorizer
    if authorizer is None:
        return
    names = (signer, f"{signer.partition('/')[0]}/*")
    if not any(
        authorizer.authorize(AuthorizationAttributes(attributes.user, verb, _GROUP, "signers", name=name)).allowed
        for name in names
    ):
        raise refused(attributes, f"user not permitted to {verb} requests with signerName {quoted(signer)}")


def check_subject(attributes: Attributes, world: World) -> None:
    """Raises StatusError: a certificate for a client would make an administrator."""
    request = created(attributes)
    if request is None:
        return
    spec = request.get("spec") or {}
    if spec.get("signerName") == _CLIENT_SIGNER and PRIVILEGED in _organizations(spec):
        said = f"use of {_CLIENT_SIGNER} signer with system:masters group is not allowed"
        raise refused(attributes, said)


def _organizations(spec: Object) -> list[str]:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    try:
        read = x509.load_pem_x509_csr(base64.b64decode(spec.get("request") or ""))
    except (ValueError, binascii.Error):
        return []  # the kind's own rules have refused it already
    return [str(each.value) for each in read.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
