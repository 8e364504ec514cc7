from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kubewright.testing import paths
from kubewright.testing.errors import ControlPlaneError
from kubewright.testing.identity import Process
from kubewright.testing.locks import FileLock
from kubewright.testing.ports import reserve_ports

HOLDER = """
import sys, time
from pathlib import Path
from kubewright.testing.locks import FileLock
FileLock(Path(sys.argv[1])).acquire(5)
print("held", flush=True)
time.sleep(60)
"""


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    assert second.try_acquire()
    second.release()


def test_the_death_of_the_holder_frees_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert not FileLock(path).try_acquire()
        holder.kill()
        holder.wait()
        with FileLock(path).held(5):
            pass


def test_waiting_for_a_lock_is_bounded_and_says_so_once(tmp_path: Path) -> None:
    told: list[str] = []
    with FileLock(tmp_path / "lock").held(1), pytest.raises(TimeoutError, match=r"was not free within 0\.12 s"):
        FileLock(tmp_path / "lock").acquire(0.12, on_wait=lambda: told.append("waiting"))
    assert told == ["waiting"]


def test_waiting_for_a_lock_can_be_cancelled(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock").held(1), pytest.raises(InterruptedError):
        FileLock(tmp_path / "lock").acquire(60, cancelled=lambda: True)


def test_a_lock_whose_file_was_removed_by_its_holder_is_not_held_by_the_one_who_had_it_open(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first = FileLock(path)
    first.acquire(1)
    first.release(unlink=True)
    second, third = FileLock(path), FileLock(path)
    assert second.try_acquire()
    assert not third.try_acquire()
    second.release()


def test_a_lock_object_is_not_acquired_twice(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    with lock.held(1), pytest.raises(RuntimeError, match="already held"):
        lock.try_acquire()


def test_reserved_ports_differ_and_are_not_given_again(tmp_path: Path) -> None:
    ports = reserve_ports(40, tmp_path) + reserve_ports(40, tmp_path)
    assert len(set(ports)) == 80


def test_a_port_with_a_listener_is_not_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setattr("kubewright.testing.ports._FIRST", port)
        monkeypatch.setattr("kubewright.testing.ports._LAST", port + 1)
        with pytest.raises(ControlPlaneError, match="no 1 free ports"):
            reserve_ports(1, tmp_path)


def test_a_reservation_ends_after_two_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubewright.testing.ports._LAST", 20003)
    (port,) = reserve_ports(1, tmp_path)
    long_ago = time.time() - 121
    os.utime(tmp_path / str(port), (long_ago, long_ago))
    assert port in reserve_ports(3, tmp_path)


def test_a_process_is_known_by_number_and_start_time() -> None:
    me = Process.of(os.getpid())
    assert me is not None
    assert me.is_alive()
    assert not Process(me.pid, "another start").is_alive()


def test_a_process_that_has_ended_is_not_alive_even_before_it_is_waited_for(eventually: Callable[..., None]) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        process = Process.of(child.pid)
        assert process is not None
        child.kill()
        eventually(lambda: not process.is_alive())
        assert Process.of(child.pid) is None
    finally:
        child.communicate()


def test_a_process_with_another_start_time_is_neither_killed_nor_terminated() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as child:
        stranger = Process(child.pid, "another start")
        stranger.kill_group()
        stranger.terminate()
        assert child.poll() is None
        process = Process.of(child.pid)
        assert process is not None
        process.kill_group()
        assert child.wait(10) == -9


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"KUBEWRIGHT_CACHE_DIR": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/h"}, "/a"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/h"}, "/b/kubewright"),
        ({"HOME": "/h"}, "/h/.cache/kubewright"),
    ],
)
def test_the_cache_folder_follows_the_environment(env: dict[str, str], expected: str) -> None:
    assert paths.cache_dir(env) == Path(expected)


def test_the_runtime_folder_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"kubewright-{os.getuid()}").mkdir(mode=0o755)
    assert paths.runtime_dir().stat().st_mode & 0o777 == 0o700


def test_a_runtime_folder_that_is_a_link_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"kubewright-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ControlPlaneError, match="set TMPDIR"):
        paths.runtime_dir()
