"""An operator that cannot start says why, and what to do, on one line, soon, and exits with a failure.

Each case is the real command against a real API server (or none). Nothing is printed before the line, or after it.
"""

from __future__ import annotations

import asyncio
import base64
import datetime
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from operator_process import REDIS_OPERATOR, kubewright, until

from kubewright.testing import CommandFailed, ControlPlane, certs
from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane

# One second where nobody else wants the processor; what hangs or tries again takes half a minute.
MOST_SECONDS = 10.0 if (os.getloadavg()[0] < 2 * (os.cpu_count() or 1)) else 20.0
RUN = ("run", REDIS_OPERATOR)
NO_INSTALL = "--no-install-crds"
Kubeconfig = dict[str, Any]
Change = Callable[[Kubeconfig], None]


def refused(*args: str | Path) -> str:
    """The one line of a command that fails, without its `error: `. It may have told before which server it asked."""
    ended = kubewright(*args)
    lines = [line for line in ended.stderr.splitlines() if " INFO " not in line]
    assert len(lines) == 1, ended.stderr
    assert lines[0].startswith("error: ")
    assert ended.stdout == ""
    assert ended.code == 1
    assert ended.seconds <= MOST_SECONDS
    assert "unexpected" not in lines[0]
    return lines[0].removeprefix("error: ")


@pytest.fixture
def kubeconfig(control_plane: ClusterAccess, tmp_path: Path) -> Callable[..., Path]:
    """A function: the administrator's kubeconfig (or another user's), changed, as a file."""

    def make(change: Change | None = None, *, user: str = "admin", groups: tuple[str, ...] | None = None) -> Path:
        content = yaml.safe_load(control_plane.kubeconfig(user, groups))
        if change is not None:
            change(content)
        path = tmp_path / "kubeconfig"
        path.write_text(yaml.safe_dump(content))
        return path

    return make


def cluster_of(content: Kubeconfig) -> dict[str, Any]:
    found: dict[str, Any] = content["clusters"][0]["cluster"]
    return found


def encoded(pem: bytes) -> str:
    return base64.b64encode(pem).decode()


# -- the kubeconfig


def test_a_kubeconfig_that_does_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "nowhere"
    said = refused(*RUN, "--kubeconfig", path)
    assert said == f"{path}: cannot be read (No such file or directory); correct the path or the file's permissions"


def test_a_kubeconfig_that_is_not_yaml(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("clusters: [\n- name: }\n")
    said = refused(*RUN, "--kubeconfig", path)
    assert said.startswith(f"{path}: line 2, column ")
    assert "is not YAML" in said
    assert said.endswith("; correct the file")


def test_a_context_that_is_missing(kubeconfig: Callable[..., Path]) -> None:
    path = kubeconfig(lambda content: content.update({"current-context": "prod"}))
    said = refused(*RUN, "--kubeconfig", path)
    assert said == f"{path}: current-context: 'prod' is not among the contexts; choose one of: kubewright"
    said = refused(*RUN, "--kubeconfig", path, "--context", "test")
    assert said == f"{path}: context: 'test' is not among the contexts; choose one of: kubewright"


def test_a_context_whose_user_is_missing(kubeconfig: Callable[..., Path]) -> None:
    path = kubeconfig(lambda content: content["contexts"][0]["context"].update(user="nobody"))
    said = refused(*RUN, "--kubeconfig", path)
    assert said == f"{path}: contexts[kubewright].context.user: 'nobody' is not among the users; choose one of: admin"


def test_a_client_certificate_that_is_damaged(kubeconfig: Callable[..., Path]) -> None:
    broken = encoded(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    path = kubeconfig(lambda content: content["users"][0]["user"].update({"client-certificate-data": broken}))
    said = refused(*RUN, "--kubeconfig", path)
    assert "client-certificate(-data), client-key(-data): cannot be used" in said
    assert said.endswith("; give a certificate and its unencrypted key, both in PEM form")


# -- the server


@pytest.mark.parametrize("option", ["--install-crds", NO_INSTALL])
def test_a_server_that_does_not_listen(kubeconfig: Callable[..., Path], option: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused, and nobody else gets it
        server = f"127.0.0.1:{taken.getsockname()[1]}"
        path = kubeconfig(lambda content: cluster_of(content).update(server=f"https://{server}"))
        said = refused(*RUN, "--kubeconfig", path, option)
    assert said == (
        f"{server}: connection refused: nothing listens there; start the API server, or correct the server address "
        f"(address from {path} (context kubewright))"
    )


def test_a_server_whose_authority_is_not_known(kubeconfig: Callable[..., Path]) -> None:
    stranger = certs.Authority.create("stranger").pair.certificate
    path = kubeconfig(lambda content: cluster_of(content).update({"certificate-authority-data": encoded(stranger)}))
    said = refused(*RUN, "--kubeconfig", path)
    assert "the server's certificate is signed by an authority (CN=kubewright serving CA) that is not trusted" in said
    assert "; set certificate-authority(-data) of the cluster to this server's CA" in said


def test_a_server_whose_certificates_have_expired(
    private_control_plane: Callable[..., ControlPlane], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = datetime.timedelta(days=1)

    def at(before: datetime.timedelta, valid: datetime.timedelta) -> None:
        monkeypatch.setattr(certs, "_BEFORE", before)
        monkeypatch.setattr(certs, "_VALID", valid)

    at(2 * day, 365 * day)
    good = certs.Authority.create("good CA")
    at(2 * day, -day)
    old = certs.Authority.create("old CA")
    leaf_of_good = good.serving("apiserver", ["old-leaf.test"], [])
    at(2 * day, 365 * day)
    leaf_of_old = old.serving("apiserver", ["old-authority.test"], [])
    monkeypatch.undo()

    flags = []
    for name, pair in (("old-leaf", leaf_of_good), ("old-authority", leaf_of_old)):
        (tmp_path / f"{name}.crt").write_bytes(pair.certificate)
        (tmp_path / f"{name}.key").write_bytes(pair.key)
        flags.append(f"--tls-sni-cert-key={tmp_path / name}.crt,{tmp_path / name}.key")
    control_plane = private_control_plane(api_server_args=flags)
    yesterday = f"{datetime.datetime.now(datetime.UTC) - day:%Y-%m-%d}"

    def said(name: str, authority: certs.Authority) -> str:
        content = yaml.safe_load(control_plane.kubeconfig())
        cluster_of(content)["certificate-authority-data"] = encoded(authority.pair.certificate)
        cluster_of(content)["tls-server-name"] = f"{name}.test"
        path = tmp_path / "kubeconfig"
        path.write_text(yaml.safe_dump(content))
        return refused(*RUN, "--kubeconfig", path)

    leaf = said("old-leaf", good)
    assert f"the server's certificate has expired: it was valid until {yesterday}" in leaf
    assert "; renew the API server's certificate, or set this machine's clock right" in leaf

    authority = said("old-authority", old)
    assert "the authority of the server's certificate (CN=old CA) has expired" in authority
    assert "; renew the API server's authority and certificate" in authority


# -- the user


def test_a_client_certificate_that_has_expired(
    kubeconfig: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certs, "_BEFORE", datetime.timedelta(days=2))
    monkeypatch.setattr(certs, "_VALID", -datetime.timedelta(days=1))
    path = kubeconfig()
    yesterday = f"{datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1):%Y-%m-%d}"
    for option in ("--install-crds", NO_INSTALL):
        said = refused(*RUN, "--kubeconfig", path, option)
        assert "401 Unauthorized" in said
        assert f"the client certificate of {path} (context kubewright) (it was valid until {yesterday} " in said
        assert said.endswith("; renew it, or log in again")


def test_a_user_without_rights_is_told_the_rule_for_the_crd(kubeconfig: Callable[..., Path]) -> None:
    said = refused(*RUN, "--kubeconfig", kubeconfig(user="bob"))
    assert "403 Forbidden" in said
    assert said.endswith(
        '; bind User bob to a ClusterRole with the rule {apiGroups: ["apiextensions.k8s.io"], '
        'resources: ["customresourcedefinitions"], verbs: ["get"]}'
    )


def test_a_user_without_rights_is_told_every_rule_that_the_watches_need(
    kubeconfig: Callable[..., Path], namespace: str
) -> None:
    path = kubeconfig(user="bob")
    rules = (
        '{apiGroups: [""], resources: ["configmaps", "services"], verbs: ["list", "watch"]}, '
        '{apiGroups: ["apps"], resources: ["deployments", "statefulsets"], verbs: ["list", "watch"]}, '
        '{apiGroups: ["cache.example.com"], resources: ["redisclusters"], verbs: ["list", "watch"]}'
    )
    kinds = "configmaps, deployments.apps, redisclusters.cache.example.com, services, statefulsets.apps"
    assert refused(*RUN, "--kubeconfig", path, NO_INSTALL) == (
        f"403 Forbidden: User bob cannot list {kinds} at the cluster scope; "
        f"bind User bob to a ClusterRole with the rules {rules}"
    )
    assert refused(*RUN, "--kubeconfig", path, NO_INSTALL, "--namespace", namespace) == (
        f"403 Forbidden: User bob cannot list {kinds} in namespace {namespace}; "
        f"bind User bob to a Role in namespace {namespace} with the rules {rules}"
    )


# -- the CRD


OPERATOR = """
from typing import Annotated
from kubewright import Context, Model, Resource, controller, resource
from kubewright.schema import Rule

class Spec(Model):
    size: {size} = 1

@resource(group="{group}", version="v1", plural="{plural}")
class {kind}(Resource[Spec]):
    pass

@controller({kind})
async def reconcile(obj: {kind}, ctx: Context) -> None:
    pass
"""


NO_ODDS = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-odds}
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [apiextensions.k8s.io]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [customresourcedefinitions]
  validations:
  - expression: object.metadata.name != "odds.refused.example.com"
    message: odd numbers are not for this cluster; ask for another
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-odds}
spec: {policyName: no-odds, validationActions: [Deny]}
"""


def operator_file(tmp_path: Path, *, size: str = "int", kind: str, plural: str, group: str) -> Path:
    path = tmp_path / f"{plural}.py"
    path.write_text(OPERATOR.format(size=size, kind=kind, plural=plural, group=group))
    return path


def test_a_crd_that_the_server_refuses(control_plane: ClusterAccess, tmp_path: Path) -> None:
    target = operator_file(tmp_path, kind="Odd", plural="odds", group="refused.example.com")
    control_plane.kubectl("apply", "-f", "-", stdin=NO_ODDS)
    crd = kubewright("manifests", "crd", target).stdout

    async def allowed() -> bool:
        """The API server takes a moment to obey a new policy."""
        try:
            await asyncio.to_thread(control_plane.kubectl, "create", "--dry-run=server", "-f", "-", stdin=crd)
        except CommandFailed:
            return False
        return True

    asyncio.run(until("the policy is obeyed", allowed))
    said = refused("run", target, "--kubeconfig", control_plane.kubeconfig_path)
    assert 'customresourcedefinitions.apiextensions.k8s.io "odds.refused.example.com" is forbidden: ' in said
    assert "denied request: odd numbers are not for this cluster; ask for another" in said


def test_a_crd_that_the_server_would_refuse_is_not_sent(control_plane: ClusterAccess, tmp_path: Path) -> None:
    rule = 'Annotated[int, Rule("self.width > 1")]'
    target = operator_file(tmp_path, size=rule, kind="Odd", plural="odds", group="refused.example.com")
    said = refused("run", target, "--kubeconfig", control_plane.kubeconfig_path)
    assert said.startswith("Spec.size (odds.py:7): Rule('self.width > 1') does not compile: ")
    assert "; correct the expression" in said


def test_a_crd_whose_names_are_taken(control_plane: ClusterAccess, tmp_path: Path) -> None:
    group = "taken.example.com"
    first = operator_file(tmp_path, kind="Thing", plural="things", group=group)
    second = operator_file(tmp_path, kind="Thing", plural="objects", group=group)
    control_plane.kubectl("apply", "-f", "-", stdin=kubewright("manifests", "crd", first).stdout)
    control_plane.kubectl("wait", "--for=condition=Established", f"crd/things.{group}")
    said = refused("run", second, "--kubeconfig", control_plane.kubeconfig_path)
    assert said.startswith(f"CRD objects.{group}: its names are not accepted: ")
    assert said.endswith("; choose another kind, plural or short name, or delete the other CRD")


def test_a_kind_that_is_not_installed(control_plane: ClusterAccess, tmp_path: Path) -> None:
    target = operator_file(tmp_path, kind="Absent", plural="absents", group="absent.example.com")
    said = refused("run", target, "--kubeconfig", control_plane.kubeconfig_path, NO_INSTALL)
    assert said.startswith("absents.absent.example.com: cannot be watched: ")
    assert "404 NotFound" in said
    assert "; the server does not serve this: install its CRD, or correct the group" in said


# -- the operator itself


def test_a_file_that_is_not_there_or_has_no_operator(tmp_path: Path) -> None:
    assert refused("run", "nowhere.py") == "nowhere.py: no such file"
    empty = tmp_path / "empty.py"
    empty.write_text("")
    said = refused("run", empty)
    assert said == f"{empty}: no operator and no controller in it; decorate a function with @controller(Kind)"
    broken = tmp_path / "broken.py"
    broken.write_text("import kubewright\nkubewright.nothing\n")
    said = refused("run", broken)
    assert said.startswith(f"{broken}: AttributeError: ")
    assert said.endswith(f"({broken}:2)")
