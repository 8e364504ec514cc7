"""The rules between the numbers of an election, and what is filled in where nothing is said."""

from __future__ import annotations

import re
import socket

import pytest

from kubewright.manager.election.settings import LeaderElection, default_identity


def test_the_defaults_are_client_gos() -> None:
    settings = LeaderElection()
    assert (settings.lease_seconds, settings.renew_seconds, settings.retry_seconds) == (15, 10, 2)
    assert settings.release
    assert settings.request_seconds == 5
    assert settings.grace_seconds == 2.5


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"lease_seconds": 10}, "lease_seconds=10: must be more than renew_seconds=10.*use 15"),
        ({"lease_seconds": 9}, "lease_seconds=9: must be more than renew_seconds=10"),
        ({"lease_seconds": 15.5}, "lease_seconds=15.5: a Lease holds whole seconds; use 16"),
        ({"retry_seconds": 9}, r"renew_seconds=10: must be more than 1.2 \* retry_seconds=9.*use a retry_seconds of 2"),
        ({"renew_seconds": 2.4}, r"renew_seconds=2.4: must be more than 1.2 \* retry_seconds=2"),
        ({"retry_seconds": 0}, "retry_seconds=0: must be more than 0"),
        ({"lease_seconds": float("inf")}, "lease_seconds=inf: must be more than 0"),
        ({"renew_seconds": float("nan")}, "renew_seconds=nan: must be more than 0"),
        ({"stall_seconds": -1}, "stall_seconds=-1: must be more than 0"),
        ({"identity": ""}, "identity='': must not be empty"),
        ({"name": ""}, "name='': must not be empty"),
    ],
)
def test_numbers_that_break_a_rule_are_refused_with_the_rule_and_the_cure(numbers: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        LeaderElection(**numbers)  # type: ignore[arg-type]


def test_what_is_left_out_comes_from_the_operator_and_the_process() -> None:
    settings = LeaderElection().named("web-operator", "prod")
    assert (settings.name, settings.namespace) == ("web-operator", "prod")
    assert settings.identity is not None
    assert re.fullmatch(
        re.escape(socket.gethostname()) + r"_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", settings.identity
    )
    said = LeaderElection(name="a", namespace="b", identity="c")
    assert said.named("web-operator", "prod") == said


def test_no_two_processes_have_one_identity() -> None:
    assert default_identity() != default_identity()


def test_a_request_that_hangs_is_not_the_end_of_a_short_leadership() -> None:
    settings = LeaderElection(lease_seconds=3, renew_seconds=2, retry_seconds=0.5)
    assert settings.request_seconds == 1.0
    assert settings.grace_seconds == 0.5
