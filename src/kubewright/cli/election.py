"""The flags of leader election, by the names that Kubernetes' own components give them (component-base)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import typer

from kubewright.manager import LeaderElection
from kubewright.model import Duration
from kubewright.operator import Operator

__all__ = ["with_election"]

_PREFIX = "--leader-elect"


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
        typer.BadParameter: a duration cannot be read, or the numbers do not go together.
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
            raise typer.BadParameter(
                "says how to elect, but the operator does not: add --leader-elect", param_hint=_PREFIX
            )
        return operator
    try:
        return operator.with_leader_election(replace(operator.leader_election or LeaderElection(), **given))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=_PREFIX) from None


def _seconds(flag: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return Duration(text).seconds
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=f"{_PREFIX}-{flag}") from None
