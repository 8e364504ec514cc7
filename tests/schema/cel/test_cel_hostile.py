"""No expression can hang, recurse out or grow the process: depth, size, cost and pattern limits hold."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.schema.cel import (
    CompileError,
    CostLimitExceeded,
    EvaluationError,
    Interrupted,
    compile,  # noqa: A004
)
from kubewright.schema.cel.kubernetes import PER_CALL_LIMIT, stored
from kubewright.schema.cel.program import CHECK_EVERY
from kubewright.schema.cel.types import DYN
from kubewright.schema.cel.values import SetList

ENV = stored().extend(variables={"x": DYN})


def evaluate(expression: str, x: object = None) -> object:
    return compile(expression, ENV).evaluate({"x": x}, cost_limit=PER_CALL_LIMIT)


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 300 + "1" + ")" * 300,
        "[" * 300 + "]" * 300,
        "{1: " * 300 + "1" + "}" * 300,
        "x" + ".a" * 300,
        "x" + "[0]" * 300,
        "1" + " + 1" * 300,
        "f(" * 300 + ")" * 300,
        "true ? 1 : " * 300 + "1",
        "[1].map(x, " * 300 + "x" + ")" * 300,
        "x" + " == x" * 300,
    ],
    ids=lambda text: text[:8],
)
def test_an_expression_nested_too_deep_is_refused(expression: str) -> None:
    with pytest.raises(CompileError, match="recursion limit exceeded: 250"):
        compile(expression, ENV)


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 240 + "1" + ")" * 240,
        "[" * 150 + "]" * 150,
        "1" + " + 1" * 240,
        "x" + "[0]" * 200,
        "size(" + "[" * 150 + "]" * 150 + ")",
        "true" + " && true" * 2_000,
        "false" + " || x == 1" * 500,
        "!" * 1_000 + "true",
        "[1].map(v, " * 30 + "v" + ")" * 30,
        "[1].all(v, " * 60 + "v == 1" + ")" * 60,
        "true ? 1 : " * 100 + "1",
        "(true && " * 60 + "(false || true)" + ")" * 60,
    ],
    ids=lambda text: text[:8],
)
def test_depth_and_width_within_the_limits_compile_and_run(expression: str) -> None:
    with suppress(EvaluationError):  # the variable is null
        evaluate(expression)


def test_a_deep_expression_compiles_where_little_of_the_stack_is_left() -> None:
    def deep(level: int) -> object:
        return deep(level - 1) if level else evaluate("(" * 240 + "1 + 2" + ")" * 240)

    assert deep(600) == 3


def test_an_expression_that_is_too_long_is_refused() -> None:
    with pytest.raises(CompileError, match="code point size exceeds limit"):
        compile("'" + "a" * 99_999 + "'", ENV)


@pytest.mark.parametrize(
    "expression",
    [
        "x.all(a, x.all(b, x.all(c, x.all(d, a + b + c + d >= 0))))",
        "x.map(a, x.map(b, x.map(c, x.map(d, [a, b, c, d])))).size() > 0",
        "lists.range(1000000000).size() == 1",
        "lists.range(2000000).map(a, a).size() == 1",
        "x.filter(a, x.exists(b, x.exists_one(c, a + b + c == 1))).size() == 0",
        "lists.range(1000).map(i, lists.range(1000)).flatten().size() == 0",
        "x.map(a, x.map(b, x.map(c, 'abcdefghij'))).map(y, y.map(z, z.join(','))).size() == 0",
    ],
)
def test_a_long_evaluation_is_ended_by_its_cost(expression: str) -> None:
    begun = time.process_time()
    with pytest.raises(CostLimitExceeded):
        evaluate(expression, list(range(200)))
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    "expression",
    [
        "optional.of('ab')" + ".optMap(v, v + v)" * 40 + ".value().size() == 1",
        "optional.of([1, 2])" + ".optMap(v, v + v)" * 40 + ".value().size() == 1",
        "x.replace('', x).size() == 1",
        "lists.range(10000).map(i, x).join(x).size() == 1",
    ],
)
def test_no_value_grows_beyond_all_cost(expression: str) -> None:
    begun = time.process_time()
    with pytest.raises(CostLimitExceeded):
        evaluate(expression, "a" * 100_000)
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a|b)*a(a|b){9}c", "ab" * 100_000),
        ("a*b|a", "a" * 100_000),
        ("((([a-c])?)\u00e9*((\\\\B)*){0,3}(^)*?){3,30}", "ab c1" * 40_000),
        ("([ab][cd]){500}e", "acbd" * 100_000),
        ("(a?){200}a{200}b", "a" * 100_000),
        ("\\\\pL" * 15_000, "a" * 100),
        ("(a|aa|aaa|aaaa|aaaaa|aaaaaa|aaaaaaa){1000}b", "a" * 1_000),
    ],
)
def test_no_pattern_keeps_an_evaluation_busy(pattern: str, text: str) -> None:
    begun = time.process_time()
    with suppress(CostLimitExceeded):
        evaluate(f"x.matches('{pattern}')", text)
    with suppress(CostLimitExceeded):
        evaluate(f"x.findAll('{pattern}').size() == 0", text)
    assert time.process_time() - begun < 30


DOUBLED = "[1]" + ".map(v, [v, v])" * 60


@pytest.mark.parametrize(
    "expression",
    [
        f"{DOUBLED} == {DOUBLED}",
        f"{{'a': {DOUBLED}}} == {{'a': {DOUBLED}}}",
        f"dyn({DOUBLED}) in [dyn({DOUBLED})]",
        f"'%s'.format([{DOUBLED}]).size() == 0",
        f"sets.contains([dyn({DOUBLED})], [dyn({DOUBLED})])",
        f"[dyn({DOUBLED}), dyn({DOUBLED})].distinct().size() == 0",
        f"[dyn({DOUBLED})].indexOf(dyn({DOUBLED})) == 0",
        f"[dyn({DOUBLED})]" + ".flatten(10)" * 7 + ".size() == 1",
    ],
)
def test_a_small_value_that_is_endless_to_walk_through_is_not_walked_through(expression: str) -> None:
    begun = time.process_time()
    with pytest.raises(CostLimitExceeded):
        evaluate(expression)
    assert time.process_time() - begun < 30


def test_a_set_of_many_values_is_not_compared_pair_by_pair() -> None:
    one = SetList([str(number) for number in range(20_000)])
    other = SetList(reversed(one))
    begun = time.process_time()
    program = compile("x == y && x + y == y", ENV.extend(variables={"y": DYN}))
    assert program.evaluate({"x": one, "y": other}) is True
    assert time.process_time() - begun < 10


def test_a_call_that_would_cost_more_than_is_left_does_not_begin() -> None:
    begun = time.process_time()
    with pytest.raises(CostLimitExceeded):
        evaluate("sets.equivalent(x, x)", [{"n": number} for number in range(100_000)])
    assert time.process_time() - begun < 1


LONG = "x.all(a, x.all(b, x.all(c, a + b + c >= 0)))"


def test_an_evaluation_that_is_no_longer_wanted_ends() -> None:
    asked = []

    def interrupted() -> bool:
        asked.append(True)
        return len(asked) == 3

    with pytest.raises(Interrupted, match="operation interrupted") as ended:
        compile(LONG, ENV).evaluate({"x": list(range(100))}, interrupted=interrupted)
    assert len(asked) == 3
    assert ended.value.cost <= 3 * (CHECK_EVERY + 100)


def test_an_interruption_is_not_absorbed() -> None:
    with pytest.raises(Interrupted):
        compile(f"{LONG} || true", ENV).evaluate({"x": list(range(100))}, interrupted=lambda: True)


def test_an_evaluation_that_may_be_interrupted_has_the_same_result_and_cost() -> None:
    program = compile("x.all(a, x.exists(b, a == b))", ENV)
    variables = {"x": list(range(150))}
    alone = program.evaluate_with_cost(variables)
    assert program.evaluate_with_cost(variables, interrupted=lambda: False) == alone
    with pytest.raises(CostLimitExceeded):
        program.evaluate(variables, cost_limit=alone[1] - 1, interrupted=lambda: False)


def test_a_long_call_asks_before_it_begins() -> None:
    program = compile("x.matches('[a-c]+d')", ENV)
    assert program.evaluate({"x": "abc" * 10}, interrupted=lambda: True) is False
    with pytest.raises(Interrupted):
        program.evaluate({"x": "abc" * 100_000}, interrupted=lambda: True)


def test_sets_of_many_texts_are_compared_by_hash() -> None:
    begun = time.process_time()
    expression = "sets.equivalent(x, x) && sets.contains(x, x)"
    texts = [str(number) for number in range(20_000)]
    assert compile(expression, ENV).evaluate({"x": texts}) is True
    assert time.process_time() - begun < 5


def test_the_end_of_the_budget_is_not_absorbed() -> None:
    with pytest.raises(CostLimitExceeded):
        evaluate("lists.range(1000000000).size() == 1 || true")


def test_a_long_chain_of_opt_map_compiles_in_linear_time() -> None:
    begun = time.process_time()
    assert evaluate("optional.of(0)" + ".optMap(v, v + 1)" * 10 + ".value()") == 10
    # The server evaluates each receiver twice, and so charges for it: the cost doubles with each link.
    program = compile("optional.of(0)" + ".optMap(v, v + 1)" * 60 + ".value()", ENV)
    with pytest.raises(CostLimitExceeded):
        program.evaluate({"x": None}, cost_limit=PER_CALL_LIMIT)
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("text", ["1" * 5_000, "-" + "9" * 5_000, "0x" + "f" * 5_000, "1" * 5_000 + "u", "1e99999"])
def test_a_huge_number_is_refused_and_not_computed(text: str) -> None:
    with pytest.raises(CompileError, match=r"invalid (int|uint|double) literal"):
        compile(text, ENV)


def test_huge_numbers_in_texts_are_conversion_errors() -> None:
    for expression in ("int(x)", "uint(x)", "timestamp(x)", "duration(x)", "double(x + 'e')"):
        with pytest.raises(EvaluationError):
            evaluate(expression, "9" * 10_000)
    with pytest.raises(EvaluationError):
        evaluate("duration(x)", "9" * 10_000 + "h")


def test_format_has_no_endless_precision() -> None:
    with pytest.raises(CompileError):
        compile("'%.99999999f'.format([1.0])", ENV)
    assert len(str(evaluate("'%.99999f'.format([1.0])"))) < 2_000


@settings(max_examples=300, deadline=None)
@given(st.text("xa1.'\"()[]{}?:!&|=<>+-*/%, \n\\urb0`", max_size=24))
def test_any_text_compiles_or_is_refused_with_a_place(text: str) -> None:
    with suppress(CompileError, EvaluationError):
        compile(text, ENV).evaluate({"x": 1}, cost_limit=1_000)


def test_searches_of_one_evaluation_are_bounded_together() -> None:
    heavy = "(?:\\\\pL{1000}x?)?" * 20 + "y$"
    begun = time.process_time()
    with pytest.raises(CostLimitExceeded):
        evaluate(f"x.all(t, !t.matches('{heavy}'))", ["é" * 200 + str(number) for number in range(1_000)])
    assert time.process_time() - begun < 30


def test_patterns_that_come_with_the_data_are_bounded_together() -> None:
    begun = time.process_time()
    with pytest.raises(CostLimitExceeded):
        evaluate("x.all(p, !'y'.matches(p))", ["(?:[a-z]{1000}2?)?" * 9 + f"{number}$" for number in range(1_000)])
    assert time.process_time() - begun < 30


def test_long_texts_that_a_value_has_many_times_are_not_written_out() -> None:
    with pytest.raises(CostLimitExceeded):
        evaluate("'%s'.format([x])", [["a" * 1_000_000] * 50] * 50)


LARGE = {
    "entries": list(range(20_000)),
    "nested": [[1] * 1_000 for _ in range(1_000)],
    "same": [[1] * 1_000 for _ in range(1_000)],
    "digits": "0" * 1_000_000 + "1",
    "hours": "1h" * 200_000,
    "url": "http://" + "a" * 1_000_000,
    "version": "1.0.0-" + "a." * 500_000 + "a",
    "mixed": [*range(19_999), "a"],
}
OF_DATA = stored().extend(variables=dict.fromkeys(LARGE, DYN))


@pytest.mark.parametrize(
    "operation",
    [
        "'%s'.format([entries]) == ''",
        "nested == same",
        "nested in [same]",
        "[nested].indexOf(same) < 0",
        "entries + entries == []",
        "int(digits) == 1",
        "double(digits) == 1.0",
        "duration(hours) == duration('1s')",
        "isURL(url)",
        "isSemver(version)",
        "mixed.sum() == 1",
        "mixed.sort() == []",
    ],
)
def test_what_one_operation_may_do_is_bounded_over_all_of_an_evaluation(operation: str) -> None:
    """Costs hardly count these: each takes milliseconds, and a loop of 20,000 would take minutes."""
    begun = time.process_time()
    with pytest.raises(CostLimitExceeded):
        compile(f"entries.all(v, [{operation} || true].size() == 1)", OF_DATA).evaluate(LARGE, cost_limit=10**9)
    assert time.process_time() - begun < 20


def test_lists_that_are_joined_in_a_loop_do_not_fill_the_memory() -> None:
    with pytest.raises(CostLimitExceeded):
        evaluate("x.map(v, x + x).size() > 0", list(range(20_000)))


def test_few_large_operations_are_not_refused() -> None:
    program = compile("nested == same && nested in [same] && (entries + entries).size() == 40000", OF_DATA)
    assert program.evaluate(LARGE, cost_limit=PER_CALL_LIMIT) is True
    assert compile("int(digits) == 1", OF_DATA).evaluate(LARGE) is True


def test_a_version_with_a_number_of_more_than_64_bits_is_refused() -> None:
    for version in ("99999999999999999999.0.0", f"1.0.0-{'9' * 5_000}"):
        with pytest.raises(EvaluationError, match="value out of range"):
            evaluate("semver(x).major() == 1", version)
