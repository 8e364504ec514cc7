"""Bodies of YAML that are compact JSON: the fast reader says what the reader of YAML says, or leaves it to that."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.apiserver.bodies import Body, compact_json, read_body
from kubewright.apiserver.yamlbodies import read_yaml

NAMES = st.text(max_size=6) | st.sampled_from(["<<", "=", "~", "null", "on", "1", "2001-01-01", "&a", "*a", "!!str"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e6, 1e6) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_what_is_read_fast_is_what_yaml_says(value: dict[str, Any]) -> None:
    body = orjson.dumps(value)
    found = compact_json(body)
    if found is not None:
        assert found == read_yaml(body, strict=True)


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": 1}',
        b'{"a":1,"a":2}',
        b'{"a":"\\u00e9"}',
        b'{"<<":{"b":1}}',
        b'{"a":1e3}',
        b'{"a":12345678901234567890}',
        b'{"' + b"n" * 1100 + b'":1}',
        b"a: 1",
        b"{a: 1}",
        b"",
    ],
)
def test_what_yaml_may_read_otherwise_is_left_to_it(body: bytes) -> None:
    assert compact_json(body) is None


def test_an_apply_in_json_is_read_fast() -> None:
    body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"text":"a\\nb\\t\\"c\\" \\\\ d"}}'
    assert compact_json(body) == read_body(body, "application/yaml", strict=True, accepted=("application/yaml",))
    assert compact_json(body) == Body(orjson.loads(body), in_yaml=True)
