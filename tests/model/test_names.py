from __future__ import annotations

import pytest

from kubewright.model.names import label_key_problem, label_value_problem, subdomain_problem


@pytest.mark.parametrize("key", ["a", "A", "9", "a-b_c.d", "example.com/a", "a.b-c.d/X", "a" * 63, "a" * 253 + "/b"])
def test_label_keys_that_kubernetes_takes(key):
    assert label_key_problem(key) is None


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("", "has no name"),
        ("a/", "has no name"),
        ("/a", "has a prefix that is empty"),
        ("a/b/c", "has more than one '/'"),
        ("-a", "has a name with other characters"),
        ("a.", "has a name with other characters"),
        ("a b", "has a name with other characters"),
        ("é", "has a name with other characters"),
        ("a\n", "has a name with other characters"),
        ("a" * 64, "has a name of more than 63 characters"),
        ("A/b", "has a prefix that is not a DNS name"),
        ("a..b/c", "has a prefix that is not a DNS name"),
        ("a" * 254 + "/b", "has a prefix that has more than 253 characters"),
    ],
)
def test_label_keys_that_kubernetes_refuses(key, problem):
    assert str(label_key_problem(key)).startswith(problem)


@pytest.mark.parametrize("value", ["", "a", "A.b-c_9", "a" * 63])
def test_label_values_that_kubernetes_takes(value):
    assert label_value_problem(value) is None


@pytest.mark.parametrize("value", ["a" * 64, "-", "a_", ".a", "a/b", "a b", "a\n", "ü"])
def test_label_values_that_kubernetes_refuses(value):
    assert label_value_problem(value) is not None


def test_subdomains():
    assert subdomain_problem("a.b-c.9") is None
    assert subdomain_problem("a" * 253) is None
    for text in ("", "A", "a_b", "-a", "a-", ".a", "a.", "a..b", "a" * 254):
        assert subdomain_problem(text) is not None
