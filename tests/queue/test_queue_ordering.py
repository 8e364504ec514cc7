"""Priorities that age: the order, and the bound of `Prioritised`."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from kubewright.queue import Prioritised, QueueState


def test_a_low_priority_is_passed_over_without_limit_until_it_has_aged() -> None:
    ready: Prioritised[str] = Prioritised(age_seconds=10.0, share=4)
    ready.push("low", -100, 0.0)
    handed = []
    for turn in range(40):
        ready.push(f"high {turn}", 0, 5.0)
        handed.append(ready.pop(9.9))
    assert "low" not in handed


def test_an_aged_key_is_handed_out_though_higher_ones_keep_coming() -> None:
    ready: Prioritised[str] = Prioritised(age_seconds=10.0, share=4)
    ready.push("low", -100, 0.0)
    handed = []
    for turn in range(4):
        ready.push(f"high {turn}", 0, 10.0)
        handed.append(ready.pop(10.0))
    assert handed == ["high 0", "high 1", "high 2", "low"]


def test_aged_keys_take_no_more_than_their_share() -> None:
    """A start with many objects does not stand before what users change now."""
    ready: Prioritised[str] = Prioritised(age_seconds=10.0, share=8)
    for number in range(1000):
        ready.push(f"initial {number}", -100, 0.0)
    waited = []
    for turn in range(200):
        name = f"user {turn}"
        ready.push(name, 0, 60.0 + turn)
        gets = 1
        while ready.pop(60.0 + turn) != name:
            gets += 1
        waited.append(gets)
    assert max(waited) == 2
    assert len(ready) > 900


@pytest.mark.parametrize(("age_seconds", "share"), [(10.0, 0), (-1.0, 8), (float("nan"), 8)])
def test_a_share_or_an_age_without_a_meaning_is_refused(age_seconds: float, share: int) -> None:
    with pytest.raises(ValueError, match="must"):
        Prioritised(age_seconds=age_seconds, share=share)


@pytest.mark.parametrize("seed", range(3))
def test_no_aged_key_waits_longer_than_the_bound(seed: int) -> None:
    """Overload with three priorities, 12,000 hand-outs: k - 1 keys before it, handed out within share * k."""
    random = Random(seed)
    share, age_seconds = random.choice((2, 4, 8)), 10.0
    state: QueueState[int] = QueueState(ordering=Prioritised(age_seconds=age_seconds, share=share))
    ready: dict[int, tuple[float, int]] = {}  # since when, and the hand-out by which it has to go once it has aged
    number = gets = aged = 0
    now = 0.0
    while gets < 12_000:
        now += random.random() * 0.1
        for _ in range(random.choice((0, 1, 1, 2, 2))):
            number += 1
            now += 1e-6
            priority = 0 if random.random() < 0.8 else random.choice((-100, -7))
            state.add(number, now, None, priority)
            ready[number] = (now, 0)
        for place, (key, (since, due)) in enumerate(ready.items(), 1):
            if now - since < age_seconds:
                break
            if not due:
                ready[key] = (since, gets + share * place)
                aged += 1
        item = state.get(now)
        if item is None:
            continue
        gets += 1
        state.done(item.key, now)
        _, due = ready.pop(item.key)
        assert not due or gets <= due
        assert all(not due or gets < due for _, due in islice(ready.values(), 100))
    assert aged > 100


def test_a_steadily_busy_priority_without_ageing_would_starve_the_lower_one() -> None:
    """The reason for it: the same load, the share out of reach."""
    state: QueueState[str] = QueueState(ordering=Prioritised(age_seconds=1e9))
    state.add("low", 0.0, None, -100)
    for turn in range(5000):
        state.add(f"high {turn}", float(turn))
        item = state.get(float(turn))
        assert item is not None
        assert item.key != "low"
        state.done(item.key, float(turn))


def test_a_key_that_was_raised_and_comes_back_to_its_first_priority_stands_there_once() -> None:
    state: QueueState[str] = QueueState()
    state.add("other", 0.0, None, -100)
    state.add("a", 0.0, None, -100)
    state.add("a", 0.0, None, 0)
    item = state.get(0.0)
    assert item is not None
    state.done(item.key, 0.0)
    state.add("a", 0.0, None, -100)
    found = []
    while (item := state.get(0.0)) is not None:
        found.append(item.key)
    assert found == ["other", "a"]
