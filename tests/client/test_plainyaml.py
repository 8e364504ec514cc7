"""The part of YAML that is read without PyYAML: what is read is read as PyYAML does, and kubectl's files are of it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.client.plainyaml import read
from kubewright.testing.certs import KeyPair
from kubewright.testing.kubeconfig import render

BY_KUBECTL = """\
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: LS0tLS1CRUdJTg==
    extensions:
    - extension:
        last-update: Mon, 01 Jun 2026 10:00:00 UTC
        provider: minikube.sigs.k8s.io
      name: cluster_info
    server: https://192.168.49.2:8443
  name: minikube
contexts:
- context:
    cluster: arn:aws:eks:eu-west-1:123456789012:cluster/prod
    namespace: default
    user: kubernetes-admin@kubernetes
  name: minikube
current-context: minikube
kind: Config
preferences: {}
users:
- name: kubernetes-admin@kubernetes
  user:
    client-certificate: /home/a/.minikube/client.crt
    client-key-data: LS0tLS1CRUdJTg==
    insecure: false
"""
_PIECES = (
    *("a", "name", "x: y", "- ", "-", ": ", ":", " ", "  ", "\n", "\n", "\n  ", "\n- ", "\n  - ", "key:", "k: v"),
    *(
        "'q'",
        '"q"',
        '"',
        "'",
        "{}",
        "[]",
        "[a]",
        "#",
        " # c",
        "1",
        "1.5",
        "http://a:80",
        "LS0t==",
        "Mon, 01",
        "&a",
        "*a",
    ),
    *(
        "!t",
        "|",
        ">",
        "? ",
        "%",
        "@",
        "~",
        "=",
        "<<",
        "\t",
        "\r",
        "é",
        "\\n",
        "y",
        "Yes",
        "off",
        "true",
        "null",
        "a: b: c",
    ),
    *("---", "...", "a b", "2026-01-01", "0x1", "/a"),
)


def test_what_kubectl_writes_is_read() -> None:
    assert read(BY_KUBECTL) == yaml.safe_load(BY_KUBECTL)


@pytest.mark.parametrize("credentials", ["secret", KeyPair(b"certificate", b"key")])
def test_what_our_own_servers_write_is_read(credentials: str | KeyPair) -> None:
    text = render(name="a b", url="https://127.0.0.1:1", ca=b"ca", user="me", credentials=credentials)
    assert read(text) is not None
    assert read(text) == yaml.safe_load(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "# only\n",
            "a",
            "a: b\na: c\n",
            "a:\n  b: c\n d: e\n",
            "a: b\n  c\n",
            "a: b\n  c: d\n",
            "a: 1\n",
            "a: no\n",
        ),
        *(
            "a: null\n",
            "no: a\n",
            "a: {b: c}\n",
            'a: "\\n"\n',
            "a: |\n  b\n",
            "a: b # c\n",
            "a: &x b\n",
            "--- \na: b\n",
        ),
        *("a: 2026-01-01\n", "a:\tb\n", "a: é\n", "- - a\n", "a: b\r\n", "a:  b\n", "a: b \n", "a: ~\n", "a: b: c\n"),
    ],
)
def test_all_else_is_left_to_the_library(text: str) -> None:
    assert read(text) is None


@settings(max_examples=2000, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
def test_nothing_is_read_in_another_way_than_by_the_library(text: str) -> None:
    found = read(text)
    assert found is None or found == yaml.safe_load(text)


_TEXT = st.text(st.sampled_from("abz019 -:/._@=+,#'\"\\{}[]é"), max_size=8)
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=500, deadline=None)
@given(st.dictionaries(_TEXT, _VALUE, max_size=4))
def test_what_a_library_writes_is_read_as_it_was_or_left(value: dict[str, Any]) -> None:
    for text in (yaml.safe_dump(value), yaml.safe_dump(value, indent=4, sort_keys=False)):
        assert read(text) in (None, value)
