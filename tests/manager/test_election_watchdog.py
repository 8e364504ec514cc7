"""A lost leadership has an end: the work stops, or the process does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from kubewright.manager.election.leadership import Leadership, steady
from kubewright.manager.election.watchdog import Verdict, Watchdog, judge

TICK = 0.5


class World:
    """A leadership until 110 whose work must have ended at 112.5, and what the watchdog does about it."""

    def __init__(self) -> None:
        self.now = 100.0
        self.leadership = Leadership("ns/lease", "me", clock=lambda: self.now)
        self.leadership.extend(110.0, 112.5, 1)
        self.leadership.guards = True
        self.pings: list[Callable[[], None]] = []
        self.told = 0
        self.ends: list[str] = []
        self.answers = True
        self.dog = Watchdog(
            self.leadership,
            ping=self._ping,
            step_down=self._step_down,
            stall_seconds=5.0,
            tick_seconds=TICK,
            end=self.ends.append,
        )

    def _ping(self, pong: Callable[[], None]) -> None:
        self.pings.append(pong)
        if self.answers:
            pong()

    def _step_down(self) -> None:
        self.told += 1

    def look(self, after: float = TICK) -> bool:
        self.now += after
        return self.dog.look(self.now, after)

    def renew(self) -> None:
        self.leadership.extend(self.now + 10.0, self.now + 12.5, 1)


@pytest.mark.parametrize(
    ("now", "guards", "verdict"),
    [
        (109.9, True, Verdict.FINE),
        (110.0, True, Verdict.STEP_DOWN),
        (112.4, True, Verdict.STEP_DOWN),
        (112.5, True, Verdict.END),
        (999.0, True, Verdict.END),
        (111.0, False, Verdict.FINE),
        (999.0, False, Verdict.FINE),
    ],
)
def test_what_the_deadlines_say(now: float, guards: bool, verdict: Verdict) -> None:
    leadership = Leadership("ns/lease", "me")
    leadership.extend(110.0, 112.5, 1)
    leadership.guards = guards
    assert judge(leadership, now) is verdict


def test_a_leadership_that_is_renewed_is_left_alone() -> None:
    world = World()
    for _ in range(200):
        world.renew()
        assert not world.look()
    assert (world.told, world.ends) == (0, [])


def test_a_lapsed_leadership_is_told_and_work_that_ends_in_time_is_all() -> None:
    world = World()
    world.look(10.0)
    assert world.told == 1
    world.leadership.guards = False
    for _ in range(20):
        assert not world.look()
    assert world.ends == []


def test_work_that_does_not_end_in_time_ends_with_the_process_before_another_leads() -> None:
    world = World()
    for _ in range(24):
        assert not world.look()
    assert world.ends == []
    assert world.look()
    assert world.now == 112.5
    assert world.ends == [
        "leader election: Lease ns/lease was lost and reconciles did not end when they were cancelled; "
        "ending before another process leads"
    ]


def test_a_process_that_was_stopped_ends_with_its_first_look() -> None:
    world = World()
    world.look()
    assert world.look(40.0)
    assert world.ends == [
        "leader election: Lease ns/lease was lost and the process did not run for 40.0 s; "
        "ending 28.0 s late, as another process may lead"
    ]


def test_who_wakes_up_before_the_watchdog_ends_the_process_too() -> None:
    world = World()
    world.dog.enforce()
    world.now = 112.4
    world.dog.enforce()
    assert world.ends == []
    world.now = 140.0
    world.dog.enforce()
    assert len(world.ends) == 1
    assert "the process did not run for 40.0 s" in world.ends[0]


def test_a_pause_that_the_leadership_outlives_is_no_matter() -> None:
    world = World()
    assert not world.look(8.0)
    world.renew()
    assert not world.look()
    assert world.ends == []


def test_an_event_loop_that_is_blocked_keeps_its_leadership_for_a_while_and_then_ends_the_process() -> None:
    world = World()
    world.answers = False
    for _ in range(10):
        world.renew()
        assert not world.look()
    world.renew()
    assert world.look()
    assert world.ends == [
        "leader election: the event loop was blocked for 5 s while leading; ending, so that another process can take "
        "Lease ns/lease; find what blocks it, or allow more with stall_seconds"
    ]


def test_an_event_loop_that_answers_late_begins_anew() -> None:
    world = World()
    world.answers = False
    for _ in range(40):
        world.renew()
        assert not world.look()
        if len(world.pings) and world.now % 4.0 == 0.0:
            world.pings[-1]()
    assert world.ends == []


def test_a_pause_of_the_process_is_not_taken_for_a_blocked_event_loop() -> None:
    world = World()
    world.answers = False
    world.look()
    world.leadership.extend(1000.0, 1100.0, 1)
    assert not world.look(60.0)
    assert not world.look(60.0)
    assert world.ends == []


def test_a_blocked_event_loop_that_guards_nothing_is_nobodys_business() -> None:
    world = World()
    world.leadership.guards = False
    world.answers = False
    for _ in range(100):
        assert not world.look()
    assert world.ends == []


def test_the_steady_clock_goes_on() -> None:
    first = steady()
    assert first <= steady() < first + 60


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, timeout=30, check=False)


ENDING = """
from kubewright.manager.election.watchdog import end_process
import atexit, os, threading
atexit.register(print, "atexit ran")
threading.Thread(target=threading.Event().wait).start()
if {fill}:
    os.set_blocking(2, False)
    try:
        while True:
            os.write(2, b"x" * 65536)
    except BlockingIOError:
        os.set_blocking(2, True)
end_process("the reason")
"""


def test_the_process_ends_with_one_line_and_no_clean_up() -> None:
    done = python(ENDING.format(fill=False))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "error: the reason\n")


def test_a_standard_error_that_nobody_reads_does_not_hold_the_end() -> None:
    command = [sys.executable, "-c", ENDING.format(fill=True)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.wait(30) == 1


def test_the_thread_acts_by_itself() -> None:
    done = python(ALONE)
    assert done.returncode == 1
    assert done.stderr.startswith("error: leader election: Lease ns/lease was lost")
    assert done.stdout.split() == ["told"]


ALONE = """
import time
from kubewright.manager.election.leadership import Leadership, steady
from kubewright.manager.election.watchdog import Watchdog
leadership = Leadership("ns/lease", "me")
told = []
def tell():
    if not told:
        told.append(print("told", flush=True))
dog = Watchdog(leadership, ping=lambda pong: pong(), step_down=tell, stall_seconds=9, tick_seconds=0.05)
leadership.extend(steady() + 0.2, steady() + 0.5, 1)
leadership.guards = True
dog.start()
time.sleep(20)
"""
