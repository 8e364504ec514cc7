"""kubectl of three releases on the embedded server; what the newest prints is compared with the real one."""

from __future__ import annotations

import difflib
import signal
import subprocess
import uuid
from collections.abc import Callable, Iterator

import pytest
from hack.kubectls import NEWEST, RELEASES, kubectl_of

from kubewright.testing import ClusterAccess
from kubewright.testing.embedded import EmbeddedServer, EmbeddedThread

from .session import Session
from .transcripts import TRANSCRIPTS, for_group


@pytest.fixture(scope="module")
def embedded() -> Iterator[EmbeddedServer]:
    # Like the real server beside it: an API server alone, without controllers.
    with EmbeddedThread(lambda: EmbeddedServer(garbage=False)) as served:
        yield served


@pytest.fixture
def session_on(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Session]:
    """A session of one release with a kubeconfig (its text), in a namespace of its own."""

    def make(release: str, kubeconfig: str) -> Session:
        folder = tmp_path_factory.mktemp("kubectl")
        path = folder / "kubeconfig"
        path.write_text(kubeconfig)
        session = Session(kubectl_of(release), path, folder, f"k-{uuid.uuid4().hex[:8]}")
        made = session.run("create", "namespace", session.namespace)
        assert made.code == 0, made
        return session

    return make


def transcript(session: Session, name: str) -> str:
    group = f"{session.namespace}.example.com"
    return session.transcript(for_group(TRANSCRIPTS[name], group))


@pytest.mark.control_plane
@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_kubectl_prints_the_same_on_the_embedded_server_as_on_the_real_one(
    name: str, embedded: EmbeddedServer, control_plane: ClusterAccess, session_on: Callable[[str, str], Session]
) -> None:
    real = session_on(NEWEST, control_plane.kubeconfig())
    ours = session_on(NEWEST, embedded.kubeconfig())
    try:
        expected, found = transcript(real, name), transcript(ours, name)
        lines = difflib.unified_diff(expected.splitlines(), found.splitlines(), "real", "embedded", lineterm="", n=6)
        assert not (different := list(lines)), "\n".join(different)
    finally:
        real.run("delete", "namespace", real.namespace, "--wait=false")


@pytest.mark.parametrize("name", TRANSCRIPTS)
@pytest.mark.parametrize("release", RELEASES[:-1])
def test_an_older_kubectl_is_answered_as_the_newest(
    release: str, name: str, embedded: EmbeddedServer, session_on: Callable[[str, str], Session]
) -> None:
    old, new = (transcript(session_on(each, embedded.kubeconfig()), name) for each in (release, NEWEST))
    assert _codes(old) == _codes(new)


def _codes(text: str) -> list[str]:
    """Commands and their exit codes: releases differ in what they print."""
    return [line for line in text.splitlines() if line.startswith(("$ ", "exit "))]


@pytest.mark.parametrize("release", RELEASES)
def test_get_w_shows_changes_as_they_come(
    release: str, embedded: EmbeddedServer, session_on: Callable[[str, str], Session]
) -> None:
    session = session_on(release, embedded.kubeconfig())
    session.run("create", "configmap", "first")
    with session.start("get", "configmaps", "-w", "--output-watch-events") as watching:
        assert watching.stdout is not None
        lines = iter(watching.stdout.readline, "")
        assert next(lines).split()[:2] == ["EVENT", "NAME"]
        assert next(lines).split()[:2] == ["ADDED", "first"]
        session.run("label", "configmap", "first", "a=b")
        assert next(lines).split()[:2] == ["MODIFIED", "first"]
        session.run("delete", "configmap", "first")
        assert next(lines).split()[:2] == ["DELETED", "first"]
        watching.send_signal(signal.SIGINT)
        watching.wait(timeout=20)


@pytest.mark.parametrize("release", RELEASES)
def test_wait_for_delete_waits(
    release: str, embedded: EmbeddedServer, session_on: Callable[[str, str], Session]
) -> None:
    session = session_on(release, embedded.kubeconfig())
    session.run("create", "configmap", "held")
    session.run("patch", "configmap", "held", "-p", '{"metadata":{"finalizers":["example.com/held"]}}')
    assert session.run("delete", "configmap", "held", "--wait=false").code == 0
    with session.start("wait", "--for=delete", "configmap/held", "--timeout=30s") as waiting:
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(timeout=1)
        session.run("patch", "configmap", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        assert waiting.wait(timeout=30) == 0


@pytest.mark.parametrize("release", RELEASES)
def test_events_are_shown(release: str, embedded: EmbeddedServer, session_on: Callable[[str, str], Session]) -> None:
    session = session_on(release, embedded.kubeconfig())
    session.run("create", "configmap", "thing")
    uid = session.run("get", "configmap", "thing", "-o", "jsonpath={.metadata.uid}").out
    event = f"""
apiVersion: v1
kind: Event
metadata: {{name: thing.1, namespace: {session.namespace}}}
involvedObject: {{apiVersion: v1, kind: ConfigMap, name: thing, namespace: {session.namespace}, uid: {uid}}}
reason: Happened
message: something happened
type: Warning
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
count: 3
"""
    assert session.run("create", "-f", "-", stdin=event).code == 0
    assert "something happened" in session.run("events", "--for", "configmap/thing").out
    assert "something happened" in session.run("get", "events").out
    assert "something happened" in session.run("describe", "configmap", "thing").out
