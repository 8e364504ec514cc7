"""The flags of leader election, by the names that Kubernetes' own components give them (component-base)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from kubewright.manager import LeaderElection
from kubewright.model import Duration
from kubewright.operator import Operator

__all__ = ["BadFlag", "with_election"]

_PREFIX = "--leader-elect"


class BadFlag(ValueError):
    """A flag that cannot be read, or does not go with the others."""


def with_election(
    operator: Operator,
    elect: bool | None,
    *,
    name: str | None = None,
    namespace: str | None = None,
    lease_duration: str | None = None,
    renew_deadline: str | None = None,
    retry_period: str | None = None,
) -> Operator:
    """The operator as the flags say; what they leave out is as the operator says. `elect` None: whether, too.

    Raises:
        BadFlag: a duration cannot be read, or the numbers do not go together.
    """
    given: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "lease_seconds": _seconds("lease-duration", lease_duration),
        "renew_seconds": _seconds("renew-deadline", renew_deadline),
        "retry_seconds": _seconds("retry-period", retry_period),
    }
    given = {field: value for field, value in given.items() if value is not None}
    if elect is False:
        return operator.with_leader_election(None)
    if elect is None and operator.leader_election is None:
        if given:
            raise BadFlag(f"{_PREFIX}-*: say how to elect, but the operator does not: add {_PREFIX}")
        return operator
    try:
        return operator.with_leader_election(replace(operator.leader_election or LeaderElection(), **given))
    except ValueError as error:
        raise BadFlag(f"{_PREFIX}-*: {error}") from None


def _seconds(flag: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return Duration(text).seconds
    except ValueError as error:
        raise BadFlag(f"{_PREFIX}-{flag}: {error}") from None
