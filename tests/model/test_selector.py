from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.model import (
    FieldRequirement,
    FieldSelector,
    LabelSelector,
    LabelSelectorRequirement,
    Model,
    Requirement,
    Selector,
    decode,
    encode,
)

from .golden import rows

LABELS = rows("selectors", "labels")

keys = st.sampled_from(["a", "b", "in", "notin", "example.com/a", "A-b_c.d"])
values = st.sampled_from(["", "a", "b", "in", "5", "12", "x-y_z.1"])
numbers = st.integers(0, 2**63 - 1).map(str)
requirements = st.one_of(
    st.builds(Requirement, keys, st.sampled_from(["=", "!="]), values.map(lambda value: [value])),
    st.builds(Requirement, keys, st.sampled_from(["in", "notin"]), st.lists(values, min_size=1, max_size=4)),
    st.builds(Requirement, keys, st.sampled_from(["exists", "!"])),
    st.builds(Requirement, keys, st.sampled_from(["<", ">"]), numbers.map(lambda value: [value])),
)
selectors = st.builds(Selector, st.lists(requirements, max_size=4))
label_sets = st.dictionaries(keys, values | numbers, max_size=4)


@pytest.mark.parametrize("row", rows("selectors", "selectors"), ids=lambda row: row[0])
def test_texts_are_taken_and_match_as_in_go(row):
    text, *answer = row
    if answer == [None]:
        with pytest.raises(ValueError, match="label"):
            Selector.parse(text)
    else:
        selector = Selector.parse(text)
        assert "".join("y" if selector.matches(labels) else "n" for labels in LABELS) == answer[1]
        assert Selector.parse(answer[0]) == selector


@given(selectors)
def test_what_is_printed_is_read_as_the_same(selector):
    again = Selector.parse(str(selector))
    assert again == selector
    assert hash(again) == hash(selector)
    assert str(again) == str(selector)


def naive(requirement, labels):
    key, operator, wanted = requirement.key, requirement.operator, set(requirement.values)
    if operator in ("!=", "notin", "!"):
        return not naive(Requirement(key, {"!=": "=", "notin": "in", "!": "exists"}[operator], wanted), labels)
    if key not in labels:
        return False
    if operator in (">", "<"):
        (bound,) = wanted
        if not labels[key].isdigit() or int(labels[key]) >= 2**63:
            return False
        return int(labels[key]) > int(bound) if operator == ">" else int(labels[key]) < int(bound)
    return operator == "exists" or labels[key] in wanted


@given(selectors, label_sets)
def test_it_matches_when_every_requirement_holds(selector, labels):
    assert selector.matches(labels) == all(naive(each, labels) for each in selector.requirements)


@given(selectors, selectors, label_sets)
def test_and_selects_what_both_select(left, right, labels):
    assert (left & right).matches(labels) == (left.matches(labels) and right.matches(labels))


def test_an_absent_key_matches_what_excludes_values():
    for text in ("a!=b", "a notin (b)", "!a"):
        assert Selector.parse(text).matches({})
    for text in ("a", "a=b", "a in (b)", "a>1", "a="):
        assert not Selector.parse(text).matches({})


def test_equal_selectors_are_one_value_however_they_were_written():
    one = Selector.parse("b in (y,x,x), a==1,!c")
    assert one == Selector.parse(" !c,a=1,b in (x, y)")
    assert str(one) == "a=1,b in (x,y),!c"
    assert len({one, Selector.parse(str(one))}) == 1
    assert one != "a=1,b in (x,y),!c"
    assert repr(one) == "Selector.parse('a=1,b in (x,y),!c')"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b", "label selector 'a b': has 'b' at character 3 where one of = == != in notin < > is expected"),
        ("a,", "label selector 'a,': ends where a label key or '!' is expected"),
        ("a in b", "label selector 'a in b': has 'b' at character 6 where '(' is expected"),
        ("a in (b", "label selector 'a in (b': ends where ',' or ')' is expected"),
        ("!a=b", "label selector '!a=b': has '=' at character 3 where ',' or the end is expected"),
        ("-a", "label key '-a': has a name with other characters than allowed; use letters"),
        ("a/b/c", "label key 'a/b/c': has more than one '/'; write it as name or prefix/name"),
        ("a=" + "b" * 64, "has more than 63 characters; shorten it, or use an annotation"),
        ("a=b_", "label a value 'b_': has other characters than allowed; use letters"),
        ("a>x", "label a value 'x': is not a whole number; > needs one"),
        ("a<99999999999999999999", "is not a whole number; < needs one"),
    ],
)
def test_errors_name_the_text_the_place_and_what_was_expected(text, message):
    with pytest.raises(ValueError) as caught:
        Selector.parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("operator", "given_values", "rule"),
    [
        ("=", [], "has 0 values; give one"),
        ("!=", ["a", "b"], "has 2 values; give one, or use in/notin"),
        ("in", [], "has no value; give at least one"),
        ("exists", ["a"], "takes no value"),
        ("~", ["a"], "operator '~' is none of"),
    ],
)
def test_the_number_of_values_has_to_fit_the_operator(operator, given_values, rule):
    with pytest.raises(ValueError) as caught:
        Requirement("a", operator, given_values)
    assert rule in str(caught.value)


def test_a_numeric_comparison_ignores_labels_that_are_no_numbers():
    over = Selector.parse("a>5")
    assert [over.matches({"a": value}) for value in ("6", "5", "x", "", "-7", "+6")] == [
        True, False, False, False, False, True,
    ]  # fmt: skip


# -- from and to other forms ------------------------------------------------------------------------------------------


def test_an_empty_label_selector_selects_everything_and_an_absent_one_nothing():
    assert Selector.from_label_selector(LabelSelector()) == Selector.everything() == Selector.parse("")
    assert Selector.everything().matches({})
    assert not Selector.everything()
    nothing = Selector.from_label_selector(None)
    assert nothing == Selector.nothing()
    assert nothing


@given(label_sets)
def test_nothing_matches_nothing_also_after_a_trip_through_text(labels):
    assert not Selector.nothing().matches(labels)
    assert not Selector.parse(str(Selector.nothing())).matches(labels)
    assert not Selector.nothing().matches({**labels, "nothing": "x"})


def test_a_label_selector_is_all_of_its_labels_and_expressions():
    selector = Selector.of(
        LabelSelector(
            match_labels={"app": "web"},
            match_expressions=[
                LabelSelectorRequirement(key="tier", operator="In", values=["b", "a"]),
                LabelSelectorRequirement(key="env", operator="NotIn", values=["dev"]),
                LabelSelectorRequirement(key="x", operator="Exists"),
                LabelSelectorRequirement(key="y", operator="DoesNotExist"),
            ],
        )
    )
    assert str(selector) == "app=web,env notin (dev),tier in (a,b),x,!y"


def test_an_unknown_operator_of_a_label_selector_is_an_error():
    with pytest.raises(ValueError, match="operator 'Like' is none of In, NotIn, Exists, DoesNotExist"):
        Selector.of(LabelSelector(match_expressions=[LabelSelectorRequirement(key="a", operator="Like")]))


@given(selectors, label_sets)
def test_a_label_selector_made_from_one_matches_the_same(selector, labels):
    if any(each.operator in ("<", ">") for each in selector.requirements):
        with pytest.raises(ValueError, match="a LabelSelector has no operator"):
            selector.to_label_selector()
        return
    made = decode(LabelSelector, encode(selector.to_label_selector()))
    assert Selector.of(made).matches(labels) == selector.matches(labels)


def test_from_labels_and_keywords():
    assert Selector.of({"app.kubernetes.io/name": "web"}) == Selector.parse("app.kubernetes.io/name=web")
    assert Selector.from_labels({"a": "b"}, tier="front") == Selector.parse("a=b,tier=front")
    assert Selector.from_labels() == Selector.everything()
    assert Selector.of("a=b") == Selector.from_labels(a="b")
    selector = Selector.parse("a")
    assert Selector.of(selector) is selector
    with pytest.raises(ValueError, match="label key 'a b'"):
        Selector.of({"a b": "c"})


def test_an_empty_selector_in_a_model_is_not_an_absent_one():
    class Spec(Model):
        selector: LabelSelector | None = None

    assert encode(Spec(selector=LabelSelector())) == b'{"selector":{}}'
    assert decode(Spec, b'{"selector":{}}').selector == LabelSelector()
    assert decode(Spec, b"{}").selector is None


def test_selectors_are_copied_and_pickled():
    selector = Selector.parse("a in (b,c),d>5,!e")
    assert pickle.loads(pickle.dumps(selector)) == copy.deepcopy(selector) == selector
    assert repr(selector.requirements[0]) == "Requirement('a', 'in', ['b', 'c'])"
    assert selector.requirements[0] != "a in (b,c)"


# -- field selectors --------------------------------------------------------------------------------------------------

field_names = st.sampled_from(["metadata.name", "status.phase", "a b"])
field_selectors = st.builds(
    FieldSelector,
    st.lists(
        st.builds(FieldRequirement, field_names, st.sampled_from(["=", "!="]), st.text("\\,=!ab ", max_size=5)),
        max_size=3,
    ),
)


@pytest.mark.parametrize("row", rows("selectors", "field_selectors"), ids=lambda row: row[0])
def test_field_selectors_are_taken_as_in_go(row):
    text, printed = row
    if printed is None:
        with pytest.raises(ValueError, match="field selector"):
            FieldSelector.parse(text)
    else:
        assert str(FieldSelector.parse(text)) == printed


@given(field_selectors)
def test_a_printed_field_selector_is_read_as_the_same(selector):
    assert FieldSelector.parse(str(selector)) == selector
    assert pickle.loads(pickle.dumps(selector)) == selector


@given(field_selectors, field_selectors, st.dictionaries(field_names, st.text("\\,=!ab ", max_size=5)))
def test_field_selectors_match_when_every_comparison_holds(left, right, fields):
    holds = [
        (fields.get(name, "") == value) if operator == "=" else (fields.get(name, "") != value)
        for name, operator, value in left.requirements
    ]
    assert left.matches(fields) == all(holds)
    assert (left & right).matches(fields) == (left.matches(fields) and right.matches(fields))


def test_field_selectors_from_other_forms():
    assert str(FieldSelector.of({"status.phase": "Running", "metadata.name": "a,b"})) == (
        "metadata.name=a\\,b,status.phase=Running"
    )
    selector = FieldSelector.parse("a==b")
    assert FieldSelector.of(selector) is selector
    assert FieldSelector.of("a=b") == selector
    assert hash(FieldSelector.of("a=b")) == hash(selector)
    assert selector
    assert not FieldSelector.of("")
    assert selector != "a=b"
    assert repr(selector) == "FieldSelector.parse('a=b')"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FieldSelector.parse("a"), "field selector 'a': 'a' has no = or !=; write field=value"),
        (lambda: FieldSelector.parse("a=b=c"), "bare '=' in 'b=c'; write '\\='"),
        (lambda: FieldSelector.parse("a=\\n"), "'\\n' in '\\\\n': only \\\\ \\, and \\= are escapes"),
        (lambda: FieldSelector.of({"a=": "b"}), "field name 'a=': is empty or has one of"),
        (lambda: FieldSelector.of({"": "b"}), "field name '': is empty"),
        (lambda: FieldSelector([FieldRequirement("a", ">", "1")]), "operator '>' is neither = nor !="),
    ],
)
def test_errors_of_field_selectors_name_the_term(make, message):
    with pytest.raises(ValueError) as caught:
        make()
    assert message in str(caught.value)
