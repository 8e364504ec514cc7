"""The flags of leader election: by the names of Kubernetes' own components, over what the operator says."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright import Context, Model, Operator, Resource, controller, resource
from kubewright.cli.election import BadFlag, with_election
from kubewright.manager import LeaderElection


class Spec(Model):
    size: int = 0


@resource(group="flags.example.com", version="v1")
class Thing(Resource[Spec]):
    """Something."""


@controller(Thing)
async def reconcile(thing: Thing, ctx: Context) -> None:
    """Does nothing."""


SAYS = LeaderElection(name="lease", release=False, lease_seconds=30, renew_seconds=20, retry_seconds=4)


def flags(operator: Operator, elect: bool | None, **given: Any) -> LeaderElection | None:
    return with_election(operator, elect, **given).leader_election


def operator(election: LeaderElection | None = None) -> Operator:
    return Operator("things", controllers=[reconcile], leader_election=election)


def test_without_flags_it_is_as_the_operator_says() -> None:
    assert flags(operator(), None) is None
    assert flags(operator(SAYS), None) == SAYS


def test_leader_elect_is_enough() -> None:
    assert flags(operator(), True) == LeaderElection()


def test_no_leader_elect_takes_it_away() -> None:
    assert flags(operator(SAYS), False) is None


def test_each_flag_goes_over_what_the_operator_says_and_leaves_the_rest() -> None:
    assert flags(operator(SAYS), None, namespace="prod", retry_period="1s500ms") == LeaderElection(
        name="lease", namespace="prod", release=False, lease_seconds=30, renew_seconds=20, retry_seconds=1.5
    )
    assert flags(operator(), True, name="a", lease_duration="1m", renew_deadline="40s") == LeaderElection(
        name="a", lease_seconds=60, renew_seconds=40
    )


@pytest.mark.parametrize(
    ("elect", "given", "said"),
    [
        (True, {"lease_duration": "15"}, "duration '15'"),
        (True, {"lease_duration": "9s"}, "lease_seconds=9: must be more than renew_seconds=10"),
        (True, {"retry_period": "9s"}, r"must be more than 1.2 \* retry_seconds=9"),
        (None, {"retry_period": "1s"}, "but the operator does not: add --leader-elect"),
    ],
)
def test_what_does_not_go_together_is_refused(elect: bool | None, given: dict[str, str], said: str) -> None:
    with pytest.raises(BadFlag, match=said):
        flags(operator(), elect, **given)


def test_the_operator_itself_stays_as_it_is() -> None:
    one = operator(SAYS)
    with_election(one, False)
    assert one.leader_election == SAYS
