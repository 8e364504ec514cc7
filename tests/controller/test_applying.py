from __future__ import annotations

import orjson
from hypothesis import given
from hypothesis import strategies as st

from kubewright.controller.applying import AppliedMemory, projection

BODY = orjson.dumps({"spec": {"replicas": 2, "cpu": "1000m"}})
ANSWER = orjson.dumps({"spec": {"replicas": 2, "cpu": "1", "strategy": "Rolling"}, "status": {}})


def applied() -> AppliedMemory:
    memory = AppliedMemory()
    memory.note("child", BODY, ANSWER, "uid-1", "10")
    return memory


def live(**spec: object) -> bytes:
    return orjson.dumps({"spec": {"replicas": 2, "cpu": "1", "strategy": "Rolling", **spec}})


def test_what_was_never_applied_is_not_current() -> None:
    assert not AppliedMemory().is_current("child", BODY, ANSWER, "uid-1", "10")


def test_the_same_bytes_over_the_same_version_are_current() -> None:
    assert applied().is_current("child", BODY, ANSWER, "uid-1", "10")


def test_other_bytes_are_not_current() -> None:
    assert not applied().is_current("child", b'{"spec":{"replicas":3}}', ANSWER, "uid-1", "10")


def test_a_field_that_is_no_longer_said_must_be_sent_so_that_it_is_removed() -> None:
    assert not applied().is_current("child", b'{"spec":{"replicas":2}}', ANSWER, "uid-1", "10")


def test_a_status_that_moved_on_changes_nothing() -> None:
    newer = orjson.dumps({"spec": {"replicas": 2, "cpu": "1", "strategy": "Rolling"}, "status": {"ready": 2}})
    assert applied().is_current("child", BODY, newer, "uid-1", "11")


def test_a_value_that_the_server_normalised_is_not_sent_for_ever() -> None:
    assert applied().is_current("child", BODY, live(), "uid-1", "12")


def test_a_change_by_hand_to_a_field_that_we_name_is_sent_again() -> None:
    assert not applied().is_current("child", BODY, live(replicas=5), "uid-1", "12")


def test_a_change_of_a_field_that_we_do_not_name_is_left_alone() -> None:
    assert applied().is_current("child", BODY, live(strategy="Recreate"), "uid-1", "12")


def test_a_child_that_was_made_anew_is_not_current() -> None:
    assert not applied().is_current("child", BODY, live(), "uid-2", "12")


def test_a_forgotten_child_is_not_current() -> None:
    memory = applied()
    memory.forget("child")
    assert not memory.is_current("child", BODY, ANSWER, "uid-1", "10")
    assert len(memory) == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@given(JSON, JSON)
def test_a_projection_names_no_more_than_its_shape(shape: object, value: object) -> None:
    part = projection(shape, value)
    if isinstance(shape, dict) and isinstance(part, dict) and isinstance(value, dict):
        assert part.keys() == shape.keys()


@given(JSON)
def test_a_value_projected_on_itself_is_itself(value: object) -> None:
    assert projection(value, value) == value
