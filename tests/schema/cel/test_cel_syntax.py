"""What is said of texts that are no expression: a real API server's words and carets, as `cel_syntax` recorded them."""

from __future__ import annotations

import pytest
from cel_syntax import ours, recorded

TABLE = recorded()


@pytest.mark.parametrize("text", TABLE, ids=lambda text: ascii(text)[:50])
def test_a_broken_expression_is_refused_in_the_words_of_a_server(text: str) -> None:
    assert ours(text) == TABLE[text]


def test_there_are_many() -> None:
    assert sum("Syntax error" in said for said in TABLE.values()) >= 500
