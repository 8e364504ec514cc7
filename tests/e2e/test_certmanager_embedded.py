"""An operator that was not written here, nor for this: cert-manager issues a certificate on the embedded API server.

Its definitions come out of its module, its controllers are its own; only the webhook is left out.
"""

from __future__ import annotations

import base64
import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from hack.peers import build as peers

from kubewright.testing.embedded_access import embedded_access
from kubewright.testing.errors import RequestFailed
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.slow

SECONDS = 120.0
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CORE = "/api/v1/namespaces/default"
CERTS = "/apis/cert-manager.io/v1/namespaces/default"
ISSUER = {
    "apiVersion": "cert-manager.io/v1",
    "kind": "Issuer",
    "metadata": {"name": "self"},
    "spec": {"selfSigned": {}},
}
CERTIFICATE = {
    "apiVersion": "cert-manager.io/v1",
    "kind": "Certificate",
    "metadata": {"name": "web"},
    "spec": {
        "secretName": "web-tls",
        "commonName": "web.example.com",
        "dnsNames": ["web.example.com"],
        "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
        "issuerRef": {"name": "self", "kind": "Issuer"},
    },
}


@pytest.fixture(scope="module")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    """An embedded server with cert-manager at work on it."""
    program, log = peers.cert_manager(), tmp_path_factory.mktemp("certmanager") / "log"
    with embedded_access() as access, contextlib.closing(access.rest()) as asked:
        for path in peers.cert_manager_crds():
            asked.request("POST", CRDS, yaml.safe_load(path.read_text()))
        command = [str(program), "-kubeconfig", str(access.kubeconfig_path)]
        with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
            try:
                yield asked
                assert process.poll() is None, said(log)
            finally:
                process.terminate()
                print(said(log))


def said(log: Path) -> str:
    return log.read_text(errors="replace")[-5000:]


def until(what: str, is_so: Callable[[], Any]) -> Any:
    """Wait for something, and give it."""
    deadline = time.monotonic() + SECONDS
    while not (found := is_so()):
        if time.monotonic() > deadline:
            pytest.fail(f"not within {SECONDS:g} s: {what}")
        time.sleep(0.1)
    return found


def ready(rest: Rest, path: str) -> bool:
    conditions = rest.get(path).get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def secret(rest: Rest) -> dict[str, Any] | None:
    try:
        return rest.get(f"{CORE}/secrets/web-tls")
    except RequestFailed:
        return None


def certificate_in(found: dict[str, Any]) -> x509.Certificate:
    return x509.load_pem_x509_certificate(base64.b64decode(found["data"]["tls.crt"]))


def test_a_certificate_is_issued_and_issued_again_when_its_secret_is_gone(rest: Rest) -> None:
    rest.request("POST", f"{CERTS}/issuers", ISSUER)
    until("the Issuer is Ready", lambda: ready(rest, f"{CERTS}/issuers/self"))
    rest.request("POST", f"{CERTS}/certificates", CERTIFICATE)
    until("the Certificate is Ready", lambda: ready(rest, f"{CERTS}/certificates/web"))
    first = secret(rest)
    assert first is not None
    assert first["type"] == "kubernetes.io/tls"
    assert certificate_in(first).subject.rfc4514_string() == "CN=web.example.com"
    assert rest.get(f"{CERTS}/certificates/web")["status"]["revision"] == 1
    requests = rest.get(f"{CERTS}/certificaterequests")["items"]
    assert [each["metadata"]["ownerReferences"][0]["name"] for each in requests] == ["web"]
    reasons = {each["reason"] for each in rest.get(f"{CORE}/events")["items"]}
    assert {"Issuing", "Generated", "Requested"} <= reasons

    rest.request("DELETE", f"{CORE}/secrets/web-tls")
    second = until("there is a Secret again", lambda: secret(rest))
    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    until("the Certificate is Ready again", lambda: ready(rest, f"{CERTS}/certificates/web"))
    assert certificate_in(second).serial_number != certificate_in(first).serial_number


def test_what_breaks_the_schema_is_refused_before_the_operator_sees_it(rest: Rest) -> None:
    broken = {**CERTIFICATE, "metadata": {"name": "broken"}, "spec": {"secretName": "x", "duration": 5}}
    with pytest.raises(RequestFailed, match=r"spec\.issuerRef: Required value") as refused:
        rest.request("POST", f"{CERTS}/certificates", broken)
    assert refused.value.code == 422
