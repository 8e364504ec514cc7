"""Go's regular expressions: what is read, what is refused and in which words, and that nothing takes long."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.schema import re2
from kubewright.schema.re2_linear import MAX_STEPS, MAX_THREADS, Automaton
from kubewright.schema.re2_syntax import parse
from kubewright.schema.structural import Structural


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("a$", "a\n", False),
        ("(?m)a$", "a\nb", True),
        (r"\d", "\u0663", False),
        (r"\w+", "\u00e9", False),
        (r"\pL+", "\u00e9", True),
        (r"\p{Greek}", "\u03b1", True),
        (r"\P{Greek}", "\u03b1", False),
        (r"[[:alpha:]]", "1", False),
        (r"\Qa.b\E", "a.b", True),
        (r"\Qa.b\E", "axb", False),
        (r"(?i)k", "\u212a", True),
        (r"[^a]", "\n", True),
        (r".", "\n", False),
        (r"(?s).", "\n", True),
        (r"a{,2}", "a{,2}", True),
        (r"\z", "", True),
        (r"\B", "", True),
        (r"(?P<a1>x)|(?<b>y)", "y", True),
        (r"x*", "", True),
        (r"(|a)+b", "aab", True),
    ],
)
def test_an_expression_means_what_it_means_in_go(pattern: str, text: str, found: bool) -> None:
    assert re2.compile(pattern).search(text) is found
    assert Automaton(parse(pattern)).search(text) is found


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "error parsing regexp: missing closing ): `(`"),
        (")", "error parsing regexp: unexpected ): `)`"),
        ("[a", "error parsing regexp: missing closing ]: `[a`"),
        ("a**", "error parsing regexp: invalid nested repetition operator: `**`"),
        ("a*+", "error parsing regexp: invalid nested repetition operator: `*+`"),
        ("*a", "error parsing regexp: missing argument to repetition operator: `*`"),
        ("a{1001}", "error parsing regexp: invalid repeat count: `{1001}`"),
        ("(a{100}){100}", "error parsing regexp: invalid repeat count: `{100}`"),
        (r"(a)\1", "error parsing regexp: invalid escape sequence: `\\1`"),
        ("(?=a)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"),
        ("(?<!a)", "error parsing regexp: invalid named capture: `(?<!a)`"),
        ("[z-a]", "error parsing regexp: invalid character class range: `z-a`"),
        (r"\Z", "error parsing regexp: invalid escape sequence: `\\Z`"),
        (r"\x{110000}", r"error parsing regexp: invalid escape sequence: `\x{110000`"),
        (r"\x{12g}", r"error parsing regexp: invalid escape sequence: `\x{12g`"),
        (r"\x{}", r"error parsing regexp: invalid escape sequence: `\x{}`"),
        (r"\p{Nope}", "error parsing regexp: invalid character class range: `\\p{Nope}`"),
        ("a\\", "error parsing regexp: trailing backslash at end of expression: ``"),
    ],
)
def test_what_go_refuses_is_refused_in_its_words(pattern: str, message: str) -> None:
    with pytest.raises(re2.Re2Error) as refused:
        re2.compile(pattern)
    assert str(refused.value) == message


def test_all_matches_are_found_from_left_to_right() -> None:
    assert re2.compile("a*").find_all("baac") == ["", "aa", ""]
    assert re2.compile("[0-9]+").find_all("a1b22c", 1) == ["1"]
    assert re2.compile("x").find("abc") is None


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 20_000 + "!"),
        ("(a|a)*b", "a" * 20_000),
        ("(a|aa)+$", "a" * 20_000 + "b"),
        ("a*a*a*a*a*b", "a" * 20_000),
        ("(.*)(.*)(.*)(.*)(.*)[^x]x", "x" * 5_000),
        ("(a?){50}a{50}", "a" * 49),
        ("((a{0,30}){0,30})b", "a" * 2_000),
    ],
)
def test_no_expression_takes_exponential_time(pattern: str, text: str) -> None:
    begun = time.process_time()
    assert re2.compile(pattern).search(text) is False
    assert re2.compile(pattern).find(text[-500:]) is None
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("pattern", "text", "match"),
    [
        (r"(((\s[^a])*)*?){1,}", " \na", ""),
        (r"((\w)*?){1,}", "aaaa", ""),
        (r"((\PN)*?)*", "-K-1", ""),
        (r"((|(\s){2}|(\s|[^a]))){1,}", "aab", ""),
        (r"((\b|[^a]|\w)){1,}", " \naccc a", " \naccc a"),
        (r"(((?s:.))*?)+(\w|(ab){100})[a-c]", "aaaaa", "aa"),
        (r"(([^a]){0,50}?)+(([a-c])*?)*[^a]", "-K1K", "-"),
        (r"(?:a*)*", "aab", "aa"),
        (r"(a?b??)*", "abab", "a"),
        (r"(|a)*", "aa", ""),
        (r"(|a)+", "aa", ""),
        (r"(a|b|){3}", "ba", "ba"),
    ],
)
def test_loops_of_what_may_be_empty_take_the_match_that_go_takes(pattern: str, text: str, match: str) -> None:
    assert re2.compile(pattern).find(text) == match


def test_short_texts_are_no_way_around_exponential_time() -> None:
    pattern = r"(((^)*?){100})*?((\pL){0,50}?)*((((?s:.)){1,}|(^)+|\s.))+?b(\B){0,50}?(ab\d.a|(\PN|^)|\pL)"
    begun = time.process_time()
    assert re2.compile(pattern).find("_1K") is None
    assert not re2.compile("(a|a|a|a|a|a|a|a|a|a)*b").search("a" * 8)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("opening", "closing", "most"),
    [
        ("(", ")", 999),
        ("(b?", ")", 499),
        ("(b|", ")", 499),
        ("(?:", ")*", 999),
        ("(?:", ")+", 999),
    ],
)
def test_expressions_nest_as_deep_as_in_go(opening: str, closing: str, most: int) -> None:
    assert re2.compile(opening * most + "ab" + closing * most).search("xab")
    with pytest.raises(re2.Re2Error, match="nests too deeply"):
        re2.compile(opening * (most + 1) + "ab" + closing * (most + 1))


@pytest.mark.parametrize("opening", ["(?:", "(?:a", "(?:bc|"])
def test_groups_that_are_no_more_than_parentheses_nest_without_limit(opening: str) -> None:
    begun = time.process_time()
    assert re2.compile(opening * 5_000 + "a" + ")" * 5_000).find("a" * 5_001) is not None
    assert time.process_time() - begun < 10


def test_deep_expressions_are_read_where_little_of_the_stack_is_left() -> None:
    def deep(level: int) -> str | None:
        return deep(level - 1) if level else re2.compile("(x?" * 300 + "a+" + ")" * 300).find("caab")

    assert deep(800) == "aa"


@settings(max_examples=150, deadline=None)
@given(st.text("ab()|*+?.^$[]{}1,\\d-", max_size=8), st.text("ab1.\n", max_size=8))
def test_both_ways_of_matching_agree(pattern: str, text: str) -> None:
    try:
        regex = re2.compile(pattern)
    except re2.Re2Error:
        return
    automaton = Automaton(parse(pattern))
    assert automaton.search(text) == regex.search(text)
    span = automaton.find(text, 0)
    assert (None if span is None else text[span[0] : span[1]]) == regex.find(text)


#: What Go takes, and what keeps this matcher busy with each character.
HEAVY = r"(?:\pL{1000}x?)?" * 20 + "y$"


def test_a_pattern_that_takes_too_long_for_a_text_does_not_match_it() -> None:
    begun = time.process_time()
    assert not re2.compile(HEAVY).matches("a" * 100_000)
    assert re2.compile(r"(?:\pL{3}x?){2}").matches("abcabc")
    assert time.process_time() - begun < 20


def test_all_searches_within_a_limit_share_it() -> None:
    regex = re2.compile(HEAVY)
    with re2.limited(5_000):
        assert re2.compile("(a|b)*c").matches("abc")
        with re2.limited(), pytest.raises(re2.TooLong):
            regex.search("a" * 50_000)
        assert not regex.matches("b" * 300)
    with re2.limited(5_000):
        assert re2.compile("(a|b)*c").matches("bac")


def test_patterns_of_a_schema_share_one_limit_for_an_object() -> None:
    schema = Structural({"type": "array", "items": {"type": "string", "pattern": HEAVY}})
    begun = time.process_time()
    assert not schema.is_valid([f"{'é' * 300}{number}" for number in range(2_000)])
    assert time.process_time() - begun < 20


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("((a{10}){10}){11}", "invalid repeat count: `{11}`"),
        ("x" * 300_000, "expression too large"),
        ("(?:x?y?){1000}" * 500 + "(z*)*", "expression too large"),
    ],
)
def test_expressions_have_a_size(pattern: str, said: str) -> None:
    with pytest.raises(re2.Re2Error) as refused:
        re2.compile(pattern)
    assert said in str(refused.value)


def test_a_class_that_is_repeated_is_folded_once() -> None:
    begun = time.process_time()
    re2.compile(r"(?i)" + r"[\pL]" * 300)
    assert time.process_time() - begun < 10


def test_what_is_remembered_of_searches_is_bounded() -> None:
    automaton = Automaton(parse(r"(?:[ab]{1,50}c?)*d$"))
    random = Random(1)
    for _ in range(30):
        automaton.search("".join(random.choice("abcdefgh") for _ in range(3_000)))
    assert automaton._memory.threads <= 2 * MAX_THREADS
    assert len(automaton._memory.steps) <= MAX_STEPS + 1
