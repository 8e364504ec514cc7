"""The kernel's deadline: what was checked before it and not sent is never sent, whatever state the process is in.

The child processes are real, and so is their time: an instant in which nothing runs cannot be had otherwise.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kubewright.manager.election.deadman import DeadManSwitch
from kubewright.manager.election.leadership import Leadership

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the timers are Linux'")

PREAMBLE = """
import asyncio, ctypes, os, signal, sys, threading, time
from kubewright.client import ClientConfig
from kubewright.client.http1_connection import Connection
from kubewright.manager.election.deadman import DeadManSwitch
from kubewright.manager.election.kerneltimer import kernel_timer
from kubewright.manager.election.fence import Fence, FencedTransport, fenced_http1
from kubewright.manager.election.leadership import Leadership, steady

leadership = Leadership("ns/lease", "me")
def leads(for_seconds, timer=None):
    leadership.extend(steady() + for_seconds, steady() + for_seconds, 1)
    leadership.guards = True
    switch = DeadManSwitch(leadership, timer or kernel_timer(), margin_seconds=0.05)
    switch.follow()
    return switch
"""

WRITES = """
stopped = Connection.send
def send(self, exchange):
    if exchange.target.startswith("/second"):
        write = self._transport.write
        class Stopping:
            def __getattr__(_, name): return getattr(transport, name)
            def write(_, data):
                os.kill(os.getpid(), signal.SIGSTOP)  # the check has been made, the system call has not
                return write(data)
        transport, self._transport = self._transport, Stopping()
    stopped(self, exchange)
Connection.send = send

async def main():
    connect = fenced_http1(ClientConfig(server=sys.argv[1]))
    transport = FencedTransport(Fence(leadership, "s", kernel_seconds=1.0), connect)
    leads(0.4)
    await transport.request("PATCH", "/first", body=b"{}")
    await transport.request("PATCH", "/second", body=b"{}")
    os._exit(0)
asyncio.run(main())
"""


def child(code: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", PREAMBLE + code, *args], stdout=subprocess.PIPE, text=True)


def outcome(code: str) -> tuple[int, str]:
    """Its exit code, and what it printed."""
    process = child(code)
    out, _ = process.communicate(timeout=20)
    return process.returncode, out


@contextmanager
def server() -> Iterator[tuple[str, list[str]]]:
    """Answers each request, and says which have come."""
    requests: list[str] = []

    def serve(connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(65536):
                requests.append(data.decode().split("?")[0])
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}")

    def accept() -> None:
        try:
            while True:
                serve(listener.accept()[0])
        except OSError:
            pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", requests
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(5)


@pytest.mark.parametrize(("paused_seconds", "code", "sent"), [(0.6, 64, ["/first"]), (0.0, 0, ["/first", "/second"])])
def test_a_process_stopped_between_check_and_system_call_sends_only_what_goes_out_in_time(
    paused_seconds: float, code: int, sent: list[str]
) -> None:
    with server() as (url, requests):
        process = child(WRITES, url)
        os.waitpid(process.pid, os.WUNTRACED)
        time.sleep(paused_seconds)
        process.send_signal(signal.SIGCONT)
        assert process.wait(20) == code
        process.communicate()
    assert requests == [f"PATCH {path}" for path in sent]


def test_a_process_whose_interpreter_is_held_ends_at_the_deadline() -> None:
    hold = "leads(0.2); ctypes.PyDLL(None).sleep(15); print('went on')"  # PyDLL keeps the lock of the interpreter
    assert outcome(hold) == (64, "")


def test_a_leadership_that_is_renewed_goes_on_and_ends_only_with_the_last_deadline() -> None:
    code = """
switch = leads(0.3)
for _ in range(8):
    time.sleep(0.1)
    leadership.extend(steady() + 0.3, steady() + 0.3, 1)
    switch.follow()
print("renewed", flush=True)
time.sleep(15)
"""
    assert outcome(code) == (64, "renewed\n")


@pytest.mark.parametrize("how", ["leadership.guards = False; switch.follow()", "switch.close()"])
def test_what_is_not_guarded_any_more_outlives_the_deadline(how: str) -> None:
    assert outcome(f"switch = leads(0.2); {how}; switch.follow(); time.sleep(0.5); print('lives')") == (0, "lives\n")


def test_a_signal_that_the_program_uses_is_left_to_it() -> None:
    code = "signal.signal(signal.SIGRTMAX, lambda *_: print('mine', flush=True)); leads(0.3); "
    assert outcome(code + "os.kill(os.getpid(), signal.SIGRTMAX); time.sleep(5)") == (63, "mine\n")


def test_two_elections_of_one_process_have_a_deadline_each() -> None:
    assert outcome("first = leads(0.2); first.close(); leads(0.4); time.sleep(5)") == (64, "")
    assert outcome("leads(0.2); leads(100); time.sleep(5)") == (64, "")


class Noted:
    """A timer that only notes."""

    def __init__(self) -> None:
        self.at: list[float | None] = []
        self.closed = 0

    def set(self, at: float | None) -> None:
        self.at.append(at)

    def close(self) -> None:
        self.closed += 1


def test_the_deadline_is_that_of_what_is_guarded_and_a_margin_later() -> None:
    leadership, timer = Leadership("ns/lease", "me", clock=lambda: 100.0), Noted()
    switch = DeadManSwitch(leadership, timer, margin_seconds=0.5)
    leadership.extend(110.0, 112.5, 1)
    switch.follow()
    leadership.guards = True
    switch.follow()
    leadership.extend(112.0, 114.5, 1)
    switch.follow()
    leadership.revoke()
    switch.follow()
    leadership.guards = False
    switch.follow()
    assert timer.at == [None, 113.0, 115.0, 115.0, None]


def test_a_closed_switch_is_not_set_again() -> None:
    leadership, timer = Leadership("ns/lease", "me"), Noted()
    switch = DeadManSwitch(leadership, timer, margin_seconds=0.5)
    switch.close()
    leadership.guards = True
    switch.follow()
    switch.close()
    assert (timer.at, timer.closed) == ([], 1)
