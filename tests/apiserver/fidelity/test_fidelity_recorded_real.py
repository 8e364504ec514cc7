"""The recordings are what kube-apiserver answers: all cases, recorded again and compared."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kubewright.testing.controlplane import ControlPlane

from . import recorded
from .cases import load_all
from .comparing import differences
from .record import by_server, record

pytestmark = pytest.mark.control_plane


def test_the_recordings_are_what_kube_apiserver_answers(private_control_plane: Callable[..., ControlPlane]) -> None:
    for server, subjects in by_server(load_all()):
        recordings = record(private_control_plane(**server).access, subjects)
        for name, recording in recordings.items():
            text = differences(recorded.read(name), recording)
            assert not text, f"{name}: record anew and look at what changed (recorded -> answered):\n{text}"
