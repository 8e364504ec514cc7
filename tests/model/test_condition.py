from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.model import (
    Condition,
    encode,
    find_condition,
    is_false,
    is_true,
    merge_conditions,
    remove_condition,
    set_condition,
)

T0 = datetime(2026, 1, 1, tzinfo=UTC)
T1 = T0 + timedelta(minutes=1)


def ready(status="True", reason="Up", **more):
    return Condition(type="Ready", status=status, reason=reason, **more)


def test_a_new_type_is_appended_with_the_time_given():
    conditions = [Condition(type="Other", status="Unknown", reason="New", last_transition_time=T0)]
    assert set_condition(conditions, ready(), now=T1)
    assert [each.type for each in conditions] == ["Other", "Ready"]
    assert conditions[1].last_transition_time == T1


def test_the_transition_time_stays_while_the_status_stays():
    conditions = [ready(last_transition_time=T0)]
    assert set_condition(conditions, ready(reason="StillUp", message="3 of 3"), now=T1)
    assert conditions == [ready(reason="StillUp", message="3 of 3", last_transition_time=T0)]


def test_the_transition_time_stays_even_when_the_new_one_brings_its_own():
    conditions = [ready(last_transition_time=T0)]
    assert not set_condition(conditions, ready(last_transition_time=T1))
    assert conditions == [ready(last_transition_time=T0)]


def test_the_transition_time_moves_when_the_status_changes():
    conditions = [ready(last_transition_time=T0)]
    assert set_condition(conditions, ready("False"), now=T1)
    assert conditions[0].last_transition_time == T1
    assert set_condition(conditions, ready(last_transition_time=T0), now=T1)
    assert conditions[0].last_transition_time == T0


def test_a_missing_transition_time_is_filled_in():
    conditions = [ready()]
    assert set_condition(conditions, ready(), now=T1)
    assert conditions[0].last_transition_time == T1


def test_times_are_cut_to_the_second_that_the_server_keeps():
    conditions = []
    set_condition(conditions, ready(), now=T1.replace(microsecond=999_999))
    assert conditions[0].last_transition_time == T1
    set_condition(conditions, ready("False"))
    assert conditions[0].last_transition_time.microsecond == 0


def test_setting_the_same_again_changes_nothing():
    conditions = []
    set_condition(conditions, ready(), now=T0, observed_generation=3)
    before = encode(conditions[0])
    assert not set_condition(conditions, ready(), now=T1, observed_generation=3)
    assert encode(conditions[0]) == before


def test_the_observed_generation_is_set_and_counts_as_a_change():
    conditions = []
    set_condition(conditions, ready(), now=T0, observed_generation=3)
    assert conditions[0].observed_generation == 3
    assert set_condition(conditions, ready(), now=T1, observed_generation=4)
    assert (conditions[0].observed_generation, conditions[0].last_transition_time) == (4, T0)
    assert set_condition(conditions, ready(observed_generation=7), observed_generation=4)
    assert conditions[0].observed_generation == 7


def test_the_argument_is_neither_changed_nor_shared():
    conditions, new = [], ready()
    set_condition(conditions, new, now=T0)
    assert new == ready()
    assert conditions[0] is not new


def test_on_the_wire_an_empty_message_is_there_and_an_absent_generation_is_not():
    assert encode(ready(last_transition_time=T0)) == (
        b'{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"Up","message":""}'
    )


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"type": ""}, "condition type '': has no name"),
        ({"type": "Is Ready"}, "condition type 'Is Ready': has a name with other characters"),
        ({"type": "Ex.com/Ready"}, "condition type 'Ex.com/Ready': has a prefix that is not a DNS name"),
        ({"status": "true"}, "condition Ready status 'true': is none of True, False, Unknown"),
        ({"observed_generation": -1}, "condition Ready observedGeneration -1: is below 0; use the object's"),
        ({"reason": ""}, "condition Ready reason '': is empty; write CamelCase"),
        ({"reason": "not ready"}, "condition Ready reason 'not ready': is not one word; write CamelCase"),
        ({"reason": "Up:"}, "condition Ready reason 'Up:': is not one word"),
        ({"reason": "A" * 1025}, "has more than 1024 characters"),
        ({"message": "x" * 32769}, "has more than 32768 characters; shorten it"),
    ],
)
def test_what_breaks_the_conventions_is_refused_and_changes_nothing(change, rule):
    conditions = [ready(last_transition_time=T0)]
    with pytest.raises(ValueError) as caught:
        set_condition(conditions, msgspec.structs.replace(ready("False"), **change), now=T1)
    assert rule in str(caught.value)
    assert conditions == [ready(last_transition_time=T0)]


@pytest.mark.parametrize("reason", ["A", "Ab_1", "Foo:Bar", "Foo,Bar", "a_"])
def test_reasons_of_the_conventions_are_taken(reason):
    ready(reason=reason).check()
    Condition(type="example.com/Ready", status="Unknown", reason=reason, message="x" * 32768).check()


def test_finding_and_asking():
    conditions = [ready(), Condition(type="Stalled", status="False", reason="No"), ready("False")]
    assert find_condition(conditions, "Ready") is conditions[0]
    assert find_condition(conditions, "Gone") is None
    assert find_condition(None, "Ready") is None
    assert is_true(conditions, "Ready")
    assert not is_false(conditions, "Ready")
    assert is_false(conditions, "Stalled")
    assert not is_true(conditions, "Gone")
    assert not is_false(conditions, "Gone")
    assert not is_true([ready("Unknown")], "Ready")
    assert not is_false([ready("Unknown")], "Ready")
    assert not is_true(None, "Ready")


def test_removing_says_whether_it_was_there():
    conditions = [ready(), Condition(type="Other", status="True", reason="X")]
    same = conditions
    assert remove_condition(conditions, "Ready")
    assert not remove_condition(conditions, "Ready")
    assert [each.type for each in same] == ["Other"]


# -- merging ----------------------------------------------------------------------------------------------------------

some = st.builds(
    Condition,
    type=st.sampled_from(["A", "B", "C", "D"]),
    status=st.sampled_from(["True", "False"]),
    reason=st.sampled_from(["X", "Y"]),
    last_transition_time=st.sampled_from([T0, T1]),
)
lists = st.lists(some, max_size=4, unique_by=lambda each: each.type)


def by_type(conditions):
    return {each.type: each for each in conditions}


@given(lists, lists)
def test_without_a_change_of_ours_theirs_is_kept_as_it_is(theirs, base):
    assert merge_conditions(theirs, base, base) == theirs


@given(lists, lists)
def test_without_a_change_of_theirs_ours_is_written(ours, base):
    merged = by_type(merge_conditions(base, ours, base))
    assert merged.keys() == by_type(ours).keys()
    for name, each in by_type(ours).items():
        assert (merged[name].status, merged[name].reason) == (each.status, each.reason)


@given(lists, lists, lists)
def test_each_type_is_from_the_side_that_changed_it(theirs, ours, base):
    merged = merge_conditions(theirs, ours, base)
    result, mine, other, read = by_type(merged), by_type(ours), by_type(theirs), by_type(base)
    assert len(result) == len(merged)
    for name in "ABCD":
        if mine.get(name) == read.get(name):
            assert result.get(name) == other.get(name)
        elif name not in mine:
            assert name not in result
        else:
            assert (result[name].status, result[name].reason) == (mine[name].status, mine[name].reason)


def test_another_writers_condition_is_never_overwritten():
    base = [ready(last_transition_time=T0)]
    theirs = [*base, Condition(type="Scaled", status="True", reason="Yes", last_transition_time=T1)]
    ours = [ready("False", last_transition_time=T1)]
    assert merge_conditions(theirs, ours, base) == [ours[0], theirs[1]]


def test_where_both_changed_to_the_same_status_the_earlier_transition_counts():
    base = [ready("False", last_transition_time=T0)]
    theirs = [ready(last_transition_time=T0 + timedelta(seconds=5))]
    ours = [ready(reason="Mine", last_transition_time=T1)]
    assert merge_conditions(theirs, ours, base) == [
        ready(reason="Mine", last_transition_time=T0 + timedelta(seconds=5))
    ]


def test_new_types_of_ours_come_last_and_a_type_twice_counts_once():
    a, b, c = (Condition(type=name, status="True", reason="X") for name in "abc")
    assert merge_conditions([c, c], [a, b], []) == [c, a, b]
