"""YAML that every reader takes for what was meant."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubewright.schema import to_yaml


@pytest.mark.parametrize(
    "text",
    ["y", "N", "yes", "on", "Off", "true", "null", "~", "1e3", "0o14", "1_000", "12:30:45", ".5", "+1", "0x1F", ".inf",
     "2026-01-02", "", "1Gi", "=", "<<"],
)  # fmt: skip
def test_a_text_that_another_reader_might_take_for_something_else_is_quoted(text: str) -> None:
    assert to_yaml({"a": text}).splitlines()[1] == f"a: '{text}'"


@pytest.mark.parametrize("text", ["a", "v1", "ready", "^a$", "year", "nothing", "-a"])
def test_other_texts_are_plain(text: str) -> None:
    assert to_yaml({"a": text}).splitlines()[1] == f"a: {text}"


def test_lines_are_kept_as_lines_and_long_ones_are_folded() -> None:
    assert to_yaml({"a": "one\ntwo"}) == "---\na: |-\n  one\n  two\n"
    long = to_yaml({"a": "word " * 60 + "end"})
    assert max(map(len, long.splitlines())) <= 125
    assert yaml.safe_load(long) == {"a": "word " * 60 + "end"}


def test_documents_follow_each_other_with_sorted_keys_and_without_anchors() -> None:
    shared = {"z": 1, "a": [1, {"c": 2}]}
    assert to_yaml({"b": shared, "a": shared}) == (
        "---\na:\n  a:\n  - 1\n  - c: 2\n  z: 1\nb:\n  a:\n  - 1\n  - c: 2\n  z: 1\n"
    )
    assert to_yaml({"a": 1}, {"b": 2}) == "---\na: 1\n---\nb: 2\n"


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=5), TREES, max_size=3))
def test_what_is_written_is_read_back(tree: dict[str, Any]) -> None:
    assert yaml.safe_load(to_yaml(tree)) == tree


@pytest.mark.parametrize("text", ["a\x85b", "a\u2028b", "a\rb", "\ufeff", "a\n\x85"])
def test_what_only_some_readers_take_for_a_line_break_is_escaped(text: str) -> None:
    written = to_yaml({"a": text})
    assert text not in written
    assert yaml.safe_load(written) == {"a": text}
