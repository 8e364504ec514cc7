"""What a kubeconfig means: the merge, the fields, and each error by file, field, rule and cure."""

from __future__ import annotations

import base64
import os
import textwrap
from pathlib import Path
from typing import Any

import client_certificates as certificates
import pytest
import yaml

from kubewright.client.config import ClientConfig, ConfigError, Impersonation
from kubewright.client.config_sources import load
from kubewright.client.kubeconfig import KubeConfigError

CA = certificates.authority().certificate_pem
CERT, KEY = certificates.client().certificate_pem, certificates.client().key_pem


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def kubeconfig(
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
    context: dict[str, Any] | None = None,
    **top: Any,
) -> dict[str, Any]:
    """A kubeconfig with one of each, called c, u and x."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://h:6443"} | (cluster or {})}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"} | (context or {})}],
        "current-context": "x",
    } | top


def write(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    return path


CA_DATA = {"certificate-authority-data": b64(CA)}
PAIR_DATA = {"client-certificate-data": b64(CERT), "client-key-data": b64(KEY)}
AS = {"as": "b", "as-uid": "1", "as-groups": ["g", "h"], "as-user-extra": {"k": ["v", "w"]}}


@pytest.mark.parametrize(
    ("cluster", "user", "context", "expected"),
    [
        ({}, {}, {}, {"server": "https://h:6443", "namespace": "default", "token": None, "insecure": False}),
        ({"server": "https://h/path/"}, {}, {}, {"server": "https://h/path"}),
        ({"server": "h:8080"}, {}, {}, {"server": "http://h:8080"}),
        ({"server": "h:6443"} | CA_DATA, {}, {}, {"server": "https://h:6443"}),
        ({"server": "h:6443"}, PAIR_DATA, {}, {"server": "https://h:6443"}),
        ({"server": "h:6443", "insecure-skip-tls-verify": True}, {}, {}, {"server": "https://h:6443"}),
        ({"server": "http://h"}, {}, {}, {"server": "http://h"}),
        (CA_DATA, {}, {}, {"ca_data": CA}),
        ({"certificate-authority-data": b64(CA)[:60] + "\n" + b64(CA)[60:]}, {}, {}, {"ca_data": CA}),
        ({"insecure-skip-tls-verify": True}, {}, {}, {"insecure": True, "ca_data": None}),
        ({"tls-server-name": "api"}, {}, {}, {"tls_server_name": "api"}),
        ({"disable-compression": True, "extensions": []}, {}, {}, {"gzip": False}),
        ({"proxy-url": ""}, {"exec": None}, {}, {"server": "https://h:6443"}),
        ({}, PAIR_DATA, {}, {"client_cert_data": CERT, "client_key_data": KEY}),
        ({}, {"token": "t"}, {}, {"token": "t", "token_file": None}),
        ({}, {"token": "t", "tokenFile": "/f"}, {}, {"token": "t", "token_file": Path("/f")}),
        ({}, {"as": "bob"}, {}, {"impersonation": Impersonation("bob")}),
        ({}, AS, {}, {"impersonation": Impersonation("b", ("g", "h"), "1", {"k": ("v", "w")})}),
        ({}, {}, {"namespace": "n"}, {"namespace": "n"}),
        ({}, {}, {"user": ""}, {"token": None}),
        ({}, {}, {"user": None}, {"token": None}),
    ],
    ids=range(21),
)
def test_fields(
    cluster: dict[str, Any], user: dict[str, Any], context: dict[str, Any], expected: dict[str, Any]
) -> None:
    config = ClientConfig.from_kubeconfig(kubeconfig(cluster, user, context))
    assert {name: getattr(config, name) for name in expected} == expected


C, U, X = "clusters[c].cluster.", "users[u].user.", "contexts[x].context."
ONE = {"cluster": {"server": "https://h"}}


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("a: [", "line 2, column 1: is not YAML: "),
        ("a: b\n\tc: d\n", "line 2, column 1: is not YAML: "),
        ("- a\n- b\n", ": holds a list, not a mapping; give a kubeconfig"),
        ("just text\n", ": holds a string, not a mapping; "),
        ({"kind": "Pod"}, "kind: 'Pod' is not Config; "),
        ("", "current-context: is not set; there are no contexts: is this the right kubeconfig?"),
        (kubeconfig(**{"current-context": ""}), "current-context: is not set; choose one of: x"),
        (kubeconfig(**{"current-context": None}), "current-context: is not set; "),
        (kubeconfig(**{"current-context": "xx"}), "current-context: 'xx' is not among the contexts; did you mean x?"),
        (kubeconfig(context={"cluster": "cc"}), X + "cluster: 'cc' is not among the clusters; did you mean c? choose"),
        (kubeconfig(context={"user": "zz"}), X + "user: 'zz' is not among the users; choose one of: u"),
        (kubeconfig(context={"cluster": ""}), X + "cluster: is not set; choose one of: c"),
        (kubeconfig(clusters=[]), X + "cluster: 'c' is not among the clusters; there are no clusters"),
        (kubeconfig(clusters={"c": ONE}), "clusters: is a mapping, not a list; give a list"),
        (kubeconfig(clusters=["c"]), "clusters[0]: is a string, not a mapping; give name and cluster"),
        (kubeconfig(clusters=[ONE]), "clusters[0].name: is missing; give the entry a name"),
        (kubeconfig(users=[{"name": "u"}, {"name": "u"}]), "users[1].name: 'u' stands there twice; remove one"),
        (kubeconfig({"server": ""}), C + "server: is not set; give the address"),
        (kubeconfig({"server": "ftp://h"}), C + "server: 'ftp://h' is not a URL of the form https://host"),
        (kubeconfig({"server": "https://h:99999"}), C + "server: 'https://h:99999' is not a URL"),
        (kubeconfig({"server": "https://u:p@h"}), C + "server: 'https://u:p@h' is not a URL"),
        (kubeconfig({"server": 6443}), C + "server: is a number, not a string; put it in quotes"),
        (
            kubeconfig({"insecure-skip-tls-verify": "true"}),
            C + "insecure-skip-tls-verify: is a string, not true or false",
        ),
        (
            kubeconfig({"insecure-skip-tls-verify": True, "certificate-authority-data": b64(CA)}),
            C + "insecure-skip-tls-verify: 'true' and a certificate authority exclude one another",
        ),
        (kubeconfig({"certificate-authority-data": "%%%"}), C + "certificate-authority-data: is not base64 ("),
        (kubeconfig({"certificate-authority-data": CA.decode()}), C + "certificate-authority-data: is not base64 ("),
        (
            kubeconfig({"certificate-authority-data": b64(b"junk")}),
            C + "certificate-authority-data: holds no PEM block (",
        ),
        (
            kubeconfig({"certificate-authority": "/no/such/ca.pem"}),
            C + "certificate-authority: '/no/such/ca.pem' cannot be read (No such file",
        ),
        (kubeconfig({"proxy-url": "http://p:3128"}), C + "proxy-url: 'http://p:3128' is not supported yet; remove it"),
        (kubeconfig(user={"exec": {"command": "aws"}}), U + "exec: is not supported yet; use a token"),
        (kubeconfig(user={"auth-provider": {"name": "oidc"}}), U + "auth-provider: is not supported yet; use a token"),
        (
            kubeconfig(user={"username": "a", "password": "s3cret"}),
            U + "username: is not supported yet; use a token or",
        ),
        (kubeconfig(user={"password": "s3cret"}), U + "password: is not supported yet; "),
        (
            kubeconfig(user={"client-certificate-data": b64(CERT)}),
            U + "client-key: is missing, while client-certificate is set",
        ),
        (
            kubeconfig(user={"client-key-data": b64(KEY)}),
            U + "client-certificate: is missing, while client-key is set; ",
        ),
        (kubeconfig(user={"token": 12345}), U + "token: is a number, not a string; put it in quotes"),
        (
            kubeconfig(user={"tokenFile": "/no/such/token"}),
            U + "tokenFile: '/no/such/token' cannot be read (No such file",
        ),
        (kubeconfig(user={"as-groups": ["g"]}), U + "as-groups: is set without as; name the user"),
        (kubeconfig(user={"as": "a", "as-groups": "g"}), U + "as-groups: is a string, not a list; "),
        (kubeconfig(user={"as": "a", "as-user-extra": {"k": "v"}}), U + "as-user-extra.k: is not a list of strings; "),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_errors_name_file_field_value_rule_and_cure(tmp_path: Path, document: Any, text: str) -> None:
    path = write(tmp_path / "config", document)
    with pytest.raises(KubeConfigError) as caught:
        ClientConfig.from_kubeconfig(path)
    assert str(caught.value).startswith(f"{path}: {text.removeprefix(': ')}")
    assert "\n" not in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert "12345" not in str(caught.value)


def test_only_the_chosen_context_must_be_supported() -> None:
    document = kubeconfig()
    document["users"].append({"name": "other", "user": {"exec": {"command": "aws"}}})
    assert ClientConfig.from_kubeconfig(document).token is None


def test_a_context_can_be_asked_for() -> None:
    document = kubeconfig(**{"current-context": "nowhere"})
    document["contexts"].append({"name": "y", "context": {"cluster": "c", "namespace": "n"}})
    assert ClientConfig.from_kubeconfig(document, context="y").namespace == "n"
    with pytest.raises(KubeConfigError, match=r"context: 'z' is not among the contexts; choose one of: x, y"):
        ClientConfig.from_kubeconfig(document, context="z")


def test_a_kubeconfig_can_be_given_as_path_text_or_mapping(tmp_path: Path) -> None:
    document = kubeconfig(user={"token": "t"})
    path = write(tmp_path / "config", document)
    found = [ClientConfig.from_kubeconfig(given) for given in (path, str(path), path.read_text(), document)]
    assert {config.token for config in found} == {"t"}
    assert [config.source for config in found] == [
        f"{path} (context x)",
        f"{path} (context x)",
        "the given kubeconfig text (context x)",
        "the given kubeconfig (context x)",
    ]


def test_paths_are_relative_to_the_file_that_holds_them(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "ca.pem").write_bytes(CA)
    (tmp_path / "a" / "cert.pem").write_bytes(CERT)
    (tmp_path / "key.pem").write_bytes(KEY)
    (tmp_path / "a" / "token").write_text("t\n")
    user = {"client-certificate": "cert.pem", "client-key": "../key.pem", "tokenFile": "token"}
    path = write(tmp_path / "a" / "config", kubeconfig({"certificate-authority": "ca.pem"}, user))
    config = ClientConfig.from_kubeconfig(path)
    assert (config.ca_data, config.client_cert_data, config.client_key_data) == (CA, CERT, KEY)
    assert config.token_file == tmp_path / "a" / "token"


def test_data_wins_over_a_file() -> None:
    cluster = {"certificate-authority": "/no/such/file", "certificate-authority-data": b64(CA)}
    assert ClientConfig.from_kubeconfig(kubeconfig(cluster)).ca_data == CA


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_bytes(path: Path) -> bytes:  # by hand, as root may read everything
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    path = write(tmp_path / "config", kubeconfig())
    with pytest.raises(KubeConfigError, match=r"cannot be read \(Permission denied\)"):
        ClientConfig.from_kubeconfig(path)


class TestSearch:
    """Where the configuration is looked for."""

    def pod(self, folder: Path) -> Path:
        folder.mkdir()
        (folder / "token").write_text("pod-token\n")
        (folder / "ca.crt").write_bytes(CA)
        (folder / "namespace").write_text("shop\n")
        return folder

    def environ(self, tmp_path: Path, **more: str) -> dict[str, str]:
        return {"HOME": str(tmp_path / "home")} | more

    def test_the_order_is_asked_for_then_environment_then_pod_then_home(self, tmp_path: Path) -> None:
        pod = self.pod(tmp_path / "pod")
        for name in ("asked", "environment", "home/.kube/config"):
            write(tmp_path / name, kubeconfig({"server": f"https://{name[:4]}"}))
        environ = self.environ(tmp_path)
        in_pod = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
        listed = {"KUBECONFIG": str(tmp_path / "environment")}
        assert load(tmp_path / "asked", None, environ | in_pod | listed, folder=pod).server == "https://aske"
        assert load(None, None, environ | in_pod | listed, folder=pod).server == "https://envi"
        assert load(None, None, environ | in_pod, folder=pod).server == "https://10.0.0.1:443"
        assert load(None, None, environ, folder=pod).server == "https://home"
        assert load(None, None, environ | in_pod, folder=tmp_path / "none").server == "https://home"
        assert load(None, "x", environ | in_pod, folder=pod).server == "https://home"

    def test_a_file_that_is_asked_for_must_exist(self, tmp_path: Path) -> None:
        with pytest.raises(KubeConfigError, match=r"missing: cannot be read \(No such file or directory\); correct"):
            ClientConfig.load(tmp_path / "missing", environ={"KUBECONFIG": str(write(tmp_path / "a", kubeconfig()))})

    def test_of_listed_files_the_first_one_wins_entry_by_entry(self, tmp_path: Path) -> None:
        first = write(tmp_path / "1" / "config", {"clusters": [{"name": "c", "cluster": {"server": "https://first"}}]})
        second = write(tmp_path / "2" / "config", kubeconfig({"server": "https://second"}, {"token": "second"}))
        third = kubeconfig({"server": "https://third"}, {"token": "third"}, **{"current-context": "z"})
        third["contexts"].append({"name": "z", "context": {"cluster": "c", "user": "z"}})
        third["users"].append({"name": "z", "user": {"tokenFile": "token"}})
        (tmp_path / "3").mkdir()
        (tmp_path / "3" / "token").write_text("t")
        listed = [first, tmp_path / "missing", second, second, write(tmp_path / "3" / "config", third)]
        environ = {"KUBECONFIG": ":" + os.pathsep.join(map(str, listed)) + ":"}
        config = ClientConfig.load(environ=environ)
        assert (config.server, config.token) == ("https://first", "second")
        config = ClientConfig.load(context="z", environ=environ)
        assert (config.server, config.token_file) == ("https://first", tmp_path / "3" / "token")

    def test_listed_files_of_which_none_exists_are_an_error_that_lists_them(self, tmp_path: Path) -> None:
        listed = f"{tmp_path}/a{os.pathsep}{tmp_path}/b"
        with pytest.raises(KubeConfigError) as caught:
            ClientConfig.load(environ={"KUBECONFIG": listed})
        assert str(caught.value).startswith(
            f"environment: KUBECONFIG: '{listed}' names no file that exists; correct it"
        )

    def test_an_error_names_the_listed_file_that_it_is_in(self, tmp_path: Path) -> None:
        first = write(tmp_path / "first", kubeconfig())
        bad = write(tmp_path / "bad", "a: [")
        with pytest.raises(KubeConfigError, match=f"^{bad}: line 2"):
            ClientConfig.load(environ={"KUBECONFIG": f"{first}{os.pathsep}{bad}"})

    def test_nothing_anywhere_says_where_it_was_looked_for(self, tmp_path: Path) -> None:
        with pytest.raises(KubeConfigError) as caught:
            load(None, None, self.environ(tmp_path), folder=tmp_path / "none")
        assert str(caught.value) == (
            "no cluster is configured: KUBECONFIG is not set, this is no pod with a service account, and"
            f" {tmp_path}/home/.kube/config does not exist; give a kubeconfig (--kubeconfig FILE or KUBECONFIG=FILE)"
        )

    @pytest.mark.parametrize(
        ("host", "server"), [("10.0.0.1", "https://10.0.0.1:443"), ("fd::1", "https://[fd::1]:443")]
    )
    def test_a_pod_uses_its_service_account(self, tmp_path: Path, host: str, server: str) -> None:
        environ = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": "443"}
        pod = self.pod(tmp_path / "pod")
        config = ClientConfig.in_cluster(environ=environ, folder=pod)
        assert (config.server, config.namespace, config.ca_data) == (server, "shop", CA)
        assert (config.token, config.token_file) == (None, pod / "token")
        assert ClientConfig.in_cluster(environ=environ | {"POD_NAMESPACE": "p"}, folder=pod).namespace == "p"
        (pod / "namespace").unlink()
        assert ClientConfig.in_cluster(environ=environ, folder=pod).namespace == "default"

    @pytest.mark.parametrize("name", ["token", "ca.crt"])
    def test_a_pod_without_its_service_account_says_what_is_missing(self, tmp_path: Path, name: str) -> None:
        pod = self.pod(tmp_path / "pod")
        (pod / name).unlink()
        environ = {"KUBERNETES_SERVICE_HOST": "h", "KUBERNETES_SERVICE_PORT": "443"}
        with pytest.raises(
            ConfigError, match=rf"the pod's service account: {pod / name}: does not exist; set automount"
        ):
            ClientConfig.in_cluster(environ=environ, folder=pod)

    def test_outside_of_a_pod_there_is_no_service_account(self) -> None:
        with pytest.raises(
            ConfigError, match="KUBERNETES_SERVICE_HOST: is not set; run in a pod, or give a kubeconfig"
        ):
            ClientConfig.in_cluster(environ={})


def test_a_kubeconfig_as_kind_writes_it_is_read() -> None:
    text = f"""\
        apiVersion: v1
        clusters:
        - cluster:
            certificate-authority-data: {b64(CA)}
            server: https://127.0.0.1:41233
          name: kind-kind
        contexts:
        - context:
            cluster: kind-kind
            user: kind-kind
          name: kind-kind
        current-context: kind-kind
        kind: Config
        preferences: {{}}
        users:
        - name: kind-kind
          user:
            client-certificate-data: {b64(CERT)}
            client-key-data: {b64(KEY)}
    """
    config = ClientConfig.from_kubeconfig(textwrap.dedent(text))
    assert config.server == "https://127.0.0.1:41233"
    assert config.ssl_context() is not None
