"""The promise of the supervisor, with plain programs in the place of a control plane's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kubewright.testing.errors import ControlPlaneError, StartFailed
from kubewright.testing.identity import Process
from kubewright.testing.processes import Command, Supervised, new_data_dir, read_record, sweep

Eventually = Callable[..., None]

# Two programs: one that ends when asked, one that has to be killed (ignored signals stay ignored over exec).
POLITE = Command("polite", ["/bin/sh", "-c", "exec sleep 600"])
STUBBORN = Command("stubborn", ["/bin/sh", "-c", "trap '' TERM INT HUP; exec sleep 600"])

OWNER = """
import json, os, sys, time
from pathlib import Path
from kubewright.testing.processes import Command, Supervised, new_data_dir
data_dir = new_data_dir(Path(sys.argv[1]))
supervised = Supervised(data_dir, remove=True)
for name, argv in json.loads(sys.argv[2]):
    supervised.start(Command(name, argv), dict(os.environ))
pids = {name: process.pid for name, process in supervised.children.items()}
def ready():
    print(json.dumps({"supervisor": supervised.supervisor.pid, "data_dir": str(data_dir), **pids}), flush=True)
"""


@dataclass
class Owner:
    """A process that owns a supervisor with the two programs."""

    process: subprocess.Popen[str]
    supervisor: Process
    programs: list[Process]
    data_dir: Path

    def all_gone(self) -> bool:
        alive = [process for process in (self.supervisor, *self.programs) if process.is_alive()]
        return not alive and not self.data_dir.exists()


StartOwner = Callable[[str], Owner]


@pytest.fixture
def start_owner(tmp_path: Path) -> Iterator[StartOwner]:
    """A function that starts an owner which then executes some Python, and waits until its programs run."""
    owners: list[Owner] = []

    def start(then: str) -> Owner:
        programs = json.dumps([[one.name, one.argv] for one in (POLITE, STUBBORN)])
        process = subprocess.Popen(
            [sys.executable, "-c", OWNER + then, str(tmp_path), programs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        found = [Process.of(said[name]) for name in ("supervisor", "polite", "stubborn")]
        supervisor, *programs_found = [one for one in found if one is not None]
        owner = Owner(process, supervisor, programs_found, Path(said["data_dir"]))
        owners.append(owner)
        assert len(programs_found) == 2
        return owner

    yield start
    for owner in owners:
        owner.process.kill()
        owner.process.communicate()
        owner.supervisor.terminate()


def test_nothing_is_left_when_the_owner_is_killed(start_owner: StartOwner, eventually: Eventually) -> None:
    owner = start_owner("ready(); time.sleep(600)")
    owner.process.send_signal(signal.SIGKILL)
    eventually(owner.all_gone)


def test_nothing_is_left_when_the_owner_ends_without_a_word(start_owner: StartOwner, eventually: Eventually) -> None:
    owner = start_owner("ready(); sys.stdin.readline(); os._exit(0)")
    owner.process.communicate("\n")
    eventually(owner.all_gone)


def test_nothing_is_left_when_the_owner_fails(start_owner: StartOwner, eventually: Eventually) -> None:
    owner = start_owner("ready(); sys.stdin.readline(); sys.excepthook = lambda *_: None; raise ValueError")
    owner.process.communicate("\n")
    assert owner.process.returncode == 1
    eventually(owner.all_gone)


def test_ctrl_c_reaches_the_owner_only_and_nothing_is_left(start_owner: StartOwner, eventually: Eventually) -> None:
    owner = start_owner(
        # Short sleeps: a signal that comes just before one is seen after it.
        "try:\n ready()\n while True: time.sleep(0.05)\nexcept KeyboardInterrupt:\n print('here', flush=True)\n"
        " sys.stdin.readline()\n"
    )
    # What a terminal does: SIGINT to the foreground process group.
    os.killpg(owner.process.pid, signal.SIGINT)
    assert owner.process.stdout is not None
    assert owner.process.stdout.readline() == "here\n"
    assert owner.supervisor.is_alive()
    assert all(program.is_alive() for program in owner.programs)
    owner.process.communicate("\n", timeout=10)
    eventually(owner.all_gone)


def test_nothing_is_left_when_a_thread_starts_it_and_the_owner_is_killed_later(
    start_owner: StartOwner, eventually: Eventually
) -> None:
    owner = start_owner(
        "import threading\n"
        "def more():\n supervised.start(Command('third', ['/bin/sleep', '600']), {})\n"
        "thread = threading.Thread(target=more); thread.start(); thread.join()\n"
        "ready(); sys.stdin.readline()\n"
        "print(supervised.exited, supervised.children['third'].is_alive(), flush=True); time.sleep(600)"
    )
    assert owner.process.stdin is not None
    assert owner.process.stdout is not None
    owner.process.stdin.write("\n")
    owner.process.stdin.flush()
    assert owner.process.stdout.readline() == "{} True\n"
    owner.process.kill()
    eventually(owner.all_gone)


def test_a_fork_of_the_owner_does_not_keep_it_alive(start_owner: StartOwner, eventually: Eventually) -> None:
    owner = start_owner(
        "child = os.fork()\nif child == 0:\n time.sleep(600)\npids['fork'] = child; ready(); time.sleep(600)"
    )
    owner.process.kill()
    try:
        eventually(owner.all_gone)
    finally:
        os.killpg(owner.process.pid, signal.SIGKILL)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="PR_SET_PDEATHSIG is Linux's")
def test_the_programs_die_with_a_killed_supervisor_and_the_next_start_removes_the_data(
    start_owner: StartOwner, eventually: Eventually
) -> None:
    owner = start_owner("ready(); time.sleep(600)")
    os.kill(owner.supervisor.pid, signal.SIGKILL)
    eventually(lambda: not any(program.is_alive() for program in owner.programs))
    assert owner.data_dir.exists()
    sweep(owner.data_dir.parent)
    assert not owner.data_dir.exists()


def test_the_next_start_leaves_living_control_planes_alone(start_owner: StartOwner) -> None:
    owner = start_owner("ready(); time.sleep(600)")
    sweep(owner.data_dir.parent)
    assert owner.data_dir.exists()
    assert all(program.is_alive() for program in owner.programs)


def test_sweeping_does_not_kill_a_process_that_got_a_recorded_number(tmp_path: Path) -> None:
    data_dir = new_data_dir(tmp_path)
    with subprocess.Popen(["/bin/sleep", "600"], start_new_session=True) as stranger:
        record = {"owner": {"pid": 1, "started": "x"}, "children": {"etcd": {"pid": stranger.pid, "started": "x"}}}
        (data_dir / "record.json").write_text(json.dumps(record))
        sweep(tmp_path)
        assert not data_dir.exists()
        assert stranger.poll() is None
        stranger.kill()


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Supervised]:
    supervised = Supervised(new_data_dir(tmp_path), remove=True)
    yield supervised
    supervised.shutdown(0.0)


def test_a_program_that_ends_is_noticed_with_its_exit_code_and_log(supervised: Supervised) -> None:
    supervised.start(Command("short", ["/bin/sh", "-c", "echo first; echo second >&2; exit 7"]), {})
    supervised.watch(10)
    assert supervised.exited == {"short": 7}
    assert supervised.last_lines("short") == "first\nsecond"
    assert supervised.last_lines("short", 1) == "second"


def test_a_program_that_cannot_be_executed_is_an_error_that_says_why(supervised: Supervised) -> None:
    with pytest.raises(StartFailed, match=r"gone cannot be run: .*No such file"):
        supervised.start(Command("gone", ["/nonexistent/gone"]), {})


def test_one_program_can_be_stopped_and_started_again(supervised: Supervised) -> None:
    for _ in range(2):
        supervised.start(POLITE, {})
        process = supervised.children["polite"]
        supervised.stop("polite", 5)
        assert supervised.exited == {"polite": -signal.SIGTERM}
        assert not process.is_alive()


def test_a_stubborn_program_is_killed_after_the_grace(
    supervised: Supervised, tmp_path: Path, eventually: Eventually
) -> None:
    argv = ["/bin/sh", "-c", f"trap '' TERM; touch {tmp_path}/deaf; exec sleep 600"]
    supervised.start(Command("stubborn", argv), {})
    eventually((tmp_path / "deaf").exists)
    supervised.stop("stubborn", 0.2)
    assert supervised.exited == {"stubborn": -signal.SIGKILL}


def test_shutdown_ends_everything_and_may_be_called_twice(tmp_path: Path) -> None:
    data_dir = new_data_dir(tmp_path)
    supervised = Supervised(data_dir, remove=True)
    supervised.start(STUBBORN, {})
    processes = [supervised.supervisor, *supervised.children.values()]
    assert read_record(data_dir) == (supervised.supervisor, supervised.children)
    supervised.shutdown(0.0)
    supervised.shutdown(0.0)
    assert not any(process.is_alive() for process in processes)
    assert not data_dir.exists()


def test_the_children_of_a_program_end_with_it(supervised: Supervised, tmp_path: Path, eventually: Eventually) -> None:
    supervised.start(Command("family", ["/bin/sh", "-c", f"sleep 600 & echo $! > {tmp_path}/pid; wait"]), {})
    eventually(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    grandchild = Process.of(int((tmp_path / "pid").read_text()))
    assert grandchild is not None
    supervised.shutdown(0.0)
    eventually(lambda: not grandchild.is_alive())


def test_data_that_is_not_to_be_removed_stays(tmp_path: Path) -> None:
    supervised = Supervised(tmp_path, remove=False)
    supervised.shutdown(1.0)
    assert (tmp_path / "logs").is_dir()


def test_a_killed_supervisor_is_reported(supervised: Supervised) -> None:
    os.kill(supervised.supervisor.pid, signal.SIGKILL)
    with pytest.raises(ControlPlaneError, match="the supervisor of the control plane is gone"):
        supervised.watch(10)


def test_a_detached_one_lives_on_without_its_owner_until_it_is_terminated(
    start_owner: StartOwner, eventually: Eventually
) -> None:
    owner = start_owner("supervised.detach(); ready(); sys.stdin.readline(); os._exit(0)")
    owner.process.communicate("\n")
    # Longer than the interval at which an owned one looks for its parent.
    time.sleep(1.5)
    assert owner.supervisor.is_alive()
    assert all(program.is_alive() for program in owner.programs)
    owner.supervisor.terminate()
    eventually(owner.all_gone)


SHARE = """
fifo, lock, folder = Path(sys.argv[1]) / "s" / "alive", Path(sys.argv[1]) / "lock", Path(sys.argv[1]) / "s"
folder.mkdir(); os.mkfifo(fifo)
supervised.share(fifo, lock, folder)
member = os.open(fifo, os.O_WRONLY)
supervised.let_go()
ready()
time.sleep(600)
"""


def test_a_shared_one_lives_as_long_as_any_member(
    start_owner: StartOwner, eventually: Eventually, tmp_path: Path
) -> None:
    owner = start_owner(SHARE)
    member = os.open(tmp_path / "s" / "alive", os.O_WRONLY | os.O_NONBLOCK)
    owner.process.kill()
    owner.process.wait()
    time.sleep(0.3)
    assert owner.supervisor.is_alive()
    second = os.open(tmp_path / "s" / "alive", os.O_WRONLY | os.O_NONBLOCK)
    os.close(member)
    time.sleep(0.3)
    assert owner.supervisor.is_alive()
    os.close(second)
    eventually(owner.all_gone)
    assert not (tmp_path / "s").exists()
    assert not (tmp_path / "lock").exists()


def test_a_shared_one_ends_when_its_last_member_is_killed(start_owner: StartOwner, eventually: Eventually) -> None:
    owner = start_owner(SHARE)
    owner.process.kill()
    eventually(owner.all_gone)
