"""Several candidates with clocks, networks and processes as they are: never two that believe to lead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from election_world import Candidate, Net, World, ended
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubewright.manager.election.settings import JITTER
from kubewright.manager.election.steps import Elected, Lost, Phase, Renewed, SlowPath

LEASE, RENEW, RETRY = 15.0, 10.0, 2.0
LOOKS = 2 * JITTER * RETRY / 0.8  # between two looks of a candidate whose clock is slow, and that is not cut off
TICK = 1e-6  # of rounding, in true time
Trouble = Literal["pause", "cut", "crash", "stop", "start", "take", "delete"]


@dataclass(frozen=True)
class Fault:
    """What happens to whom, when, and for how long."""

    at: float
    what: Trouble
    who: int
    seconds: float


def faults(*what: Trouble) -> st.SearchStrategy[list[Fault]]:
    fault = st.builds(
        Fault,
        at=st.floats(0, 300),
        what=st.sampled_from(what),
        who=st.integers(0, 5),
        seconds=st.floats(0, 60),
    )
    return st.lists(fault, max_size=30)


def happen(world: World, fault: Fault, rates: list[float], net: Net) -> None:
    alive = [each for each in world.candidates if not each.is_dead and each.election.phase is not Phase.ENDED]
    who = alive[fault.who % len(alive)] if alive else None
    if fault.what == "start" or who is None:
        number = len(world.candidates)
        world.candidate(f"c{number}", rate=rates[number % len(rates)], net=Net(**vars(net)))
    elif fault.what == "pause":
        world.pause(who, fault.seconds)
    elif fault.what == "crash":
        world.crash(who)
    elif fault.what == "stop":
        world.stop(who)
    elif fault.what == "take":
        world.server.edit(holder="somebody")
    elif fault.what == "delete":
        if world.now - world.server.made_at > LOOKS:
            world.server.delete()
    else:
        who.net.is_cut = True
        world.at(fault.at + fault.seconds, lambda: setattr(who.net, "is_cut", False))


def live(seed: int, rates: list[float], net: Net, happenings: list[Fault], work_seconds: float) -> World:
    """Three candidates for five minutes of faults and one of quiet."""
    world = World(seed)
    for number in range(3):
        world.candidate(f"c{number}", rate=rates[number % len(rates)], net=Net(**vars(net)), work_seconds=work_seconds)
    world.run(until=5.0)
    for fault in happenings:
        world.at(5.0 + fault.at, lambda fault=fault: happen(world, fault, rates, net))  # type: ignore[misc]
    world.run(until=370.0)
    return world


RATES = st.lists(st.sampled_from([0.8, 1.2]) | st.floats(0.8, 1.2), min_size=1, max_size=4)
NETS = st.builds(
    Net,
    seconds=st.sampled_from([0.001, 0.1, 2.0]),
    lose=st.sampled_from([0.0, 0.05, 0.4]),
    sometimes_slow=st.sampled_from([0.0, 0.1, 0.5]),
)
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def test_never_two_lead_at_once_however_clocks_run_processes_pause_and_messages_get_lost() -> None:
    """Clocks that differ by +-20 % are what 15/10 bears, so the bound on the overlap is nothing at all."""
    steps = terms = 0

    @settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
    @given(
        seed=st.integers(0, 10**6),
        rates=RATES,
        net=NETS,
        happenings=faults("pause", "cut", "crash", "stop", "start", "take"),
        work_seconds=st.sampled_from([0.0, 2.0]),
    )
    def holds(seed: int, rates: list[float], net: Net, happenings: list[Fault], work_seconds: float) -> None:
        nonlocal steps, terms
        world = live(seed, rates, net, happenings, work_seconds)
        assert world.overlap_seconds() <= TICK
        steps += world.steps
        terms += len(world.windows())

    holds()
    assert steps >= 10_000
    assert terms >= 100


def test_a_lease_that_is_deleted_by_hand_again_and_again_makes_no_two_leaders() -> None:
    """If not just after it was made: what comes and goes between two looks of a candidate, it cannot know of."""
    steps = 0

    @settings(max_examples=40, deadline=None, suppress_health_check=SLOW)
    @given(seed=st.integers(0, 10**6), rates=RATES, happenings=faults("delete", "delete", "pause", "cut"))
    def holds(seed: int, rates: list[float], happenings: list[Fault]) -> None:
        nonlocal steps
        world = live(seed, rates, Net(), happenings, 0.0)
        assert world.overlap_seconds() <= TICK
        steps += world.steps

    holds()
    assert steps >= 5_000


def test_after_any_storm_one_of_those_that_are_left_leads() -> None:
    @settings(max_examples=30, deadline=None, suppress_health_check=SLOW)
    @given(
        seed=st.integers(0, 10**6),
        happenings=faults("pause", "cut", "crash", "start", "take", "delete"),
        lose=st.sampled_from([0.0, 0.3]),
    )
    def holds(seed: int, happenings: list[Fault], lose: float) -> None:
        world = live(seed, [1.0], Net(lose=lose), happenings, 0.0)
        if all(each.is_dead for each in world.candidates):
            world.candidate("late")
        for each in world.candidates:
            each.net.lose = 0.0
        world.run(until=world.now + LEASE + 3 * RETRY * JITTER + RENEW)
        assert len(world.leaders) == 1

    holds()


def test_clocks_that_differ_by_more_than_the_numbers_bear_make_two_leaders() -> None:
    """That the world above can tell."""
    world = World()
    slow = world.candidate("slow", rate=0.5)
    world.run(until=5.0)
    world.candidate("quick", rate=1.5)
    world.run(until=10.0)
    slow.net.is_cut = True
    world.run(until=60.0)
    assert world.overlap_seconds() > 1.0


def test_an_answer_that_was_long_on_the_way_does_not_make_the_leadership_longer() -> None:
    world = World()
    leader = world.candidate("slow clock", rate=0.8)
    world.run(until=1.0)
    other = world.candidate("quick clock", rate=1.2)
    world.run(until=9.0)
    leader.net.answer_seconds = 4.5
    renewals = len(leader.told(Renewed))
    world.run_until(lambda: len(leader.told(Renewed)) == renewals + 2, most=20.0)
    leader.net.is_cut = True
    world.run_until(lambda: other.leads, most=60.0)
    assert world.overlap_seconds() == 0.0


# How long it takes


def pair(seed: int) -> tuple[World, Candidate, Candidate]:
    """A leader that has led for a while, and who stands by."""
    world = World(seed)
    first = world.candidate("first")
    second = world.candidate("second")
    world.run(until=30.0 + world.random.uniform(0, 4.0))
    leader, other = (first, second) if first.leads else (second, first)
    assert leader.leads
    assert not other.leads
    return world, leader, other


ROUND_TRIPS = 4 * 0.02  # of a read and a write, and of the read by which the last renewal was seen


@pytest.mark.parametrize("seed", range(40))
def test_a_dead_leaders_lease_is_taken_within_its_duration_and_a_jittered_retry(seed: int) -> None:
    world, leader, other = pair(seed)
    world.crash(leader)
    died_at = world.now
    took_over_at = world.run_until(lambda: other.leads, most=60.0)
    assert LEASE - RETRY - ROUND_TRIPS <= took_over_at - died_at <= LEASE + RETRY * JITTER + ROUND_TRIPS


@pytest.mark.parametrize("seed", range(40))
def test_a_lease_that_was_given_back_is_taken_within_a_jittered_retry(seed: int) -> None:
    world, leader, other = pair(seed)
    world.stop(leader)
    stopped_at = world.now
    took_over_at = world.run_until(lambda: other.leads, most=60.0)
    assert ended(leader).released
    assert took_over_at - stopped_at <= RETRY * JITTER + ROUND_TRIPS


def test_of_many_candidates_one_takes_a_free_lease_and_the_others_stand_by() -> None:
    world = World(3)
    everybody = [world.candidate(f"c{number}") for number in range(40)]
    world.run(until=1.0)
    assert len(world.leaders) == 1
    world.run(until=120.0)
    assert len(world.windows()) == 1
    leader = next(each for each in everybody if each.leads)
    world.crash(leader)
    world.run(until=150.0)
    assert len(world.leaders) == 1
    assert len(world.windows()) == 2


def test_conflicts_at_every_renewal_cost_a_read_each_and_no_leadership() -> None:
    world, leader, _ = pair(1)

    def touch() -> None:
        world.server.edit()
        world.at(world.now + 0.5, touch)

    touch()
    world.run(until=120.0)
    assert leader.leads
    assert len(world.windows()) == 1
    assert len(leader.told(SlowPath)) >= 40


def test_a_deleted_lease_is_back_within_a_retry_and_its_holder_still_leads() -> None:
    world, leader, _ = pair(5)
    world.server.delete()
    world.run(until=world.now + RETRY + ROUND_TRIPS)
    assert leader.leads
    assert world.server.record is not None
    assert world.server.record.holder == leader.name
    world.run(until=world.now + 60)
    assert len(world.windows()) == 1


def test_who_writes_a_stranger_into_the_lease_ends_the_leadership_for_the_time_of_a_lease() -> None:
    world, leader, other = pair(6)
    world.server.edit(holder="stranger")
    edited_at = world.now
    world.run_until(lambda: not leader.leads, most=RETRY + ROUND_TRIPS)
    world.run_until(lambda: leader.leads or other.leads, most=60.0)
    assert LEASE <= world.now - edited_at <= LEASE + RETRY * JITTER + ROUND_TRIPS
    assert world.server.record is not None
    assert world.server.record.transitions == 1


def test_a_leader_that_slept_finds_itself_no_leader_the_moment_it_wakes() -> None:
    world, leader, other = pair(7)
    world.pause(leader, 40.0)
    woke_at = world.now + 40.0
    world.run(until=woke_at + 0.001)
    assert other.leads
    assert leader.told(Lost) == [woke_at]
    assert world.overlap_seconds() == 0.0


def test_a_leader_that_is_cut_off_stops_before_the_other_begins_and_stands_by_afterwards() -> None:
    world, leader, other = pair(8)
    leader.net.is_cut = True
    world.run_until(lambda: other.leads, most=60.0)
    lost_at, took_over_at = leader.told(Lost)[0], other.told(Elected)[-1]
    assert took_over_at - lost_at >= LEASE - RENEW - ROUND_TRIPS
    leader.net.is_cut = False
    world.run(until=world.now + 60)
    assert leader.election.phase is Phase.CANDIDATE
    assert leader.election.leader == other.name


def test_transitions_grow_with_each_change_of_holder_whatever_happens() -> None:
    """They are what a later leader can be told from an earlier one by."""
    world = live(11, [1.0, 1.1], Net(lose=0.2), [Fault(20.0 * n, "crash", n, 0) for n in range(1, 9)], 0.0)
    holders = [(record.transitions, record.holder) for record in world.server.history if record is not None]
    assert holders == sorted(holders, key=lambda pair: pair[0])
    assert len({transitions for transitions, _ in holders}) == len(set(holders))
