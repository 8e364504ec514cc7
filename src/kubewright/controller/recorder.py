"""Who is told of events: what `ctx.event` stands on.

A Protocol, because sending is the manager's business, and a test wants to look at what was recorded.
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from kubewright.model import Object

__all__ = ["EventType", "NoRecorder", "Recorder"]

EventType: TypeAlias = Literal["Normal", "Warning"]


class Recorder(Protocol):
    """Records that something happened to an object. Neither waits nor raises."""

    def event(
        self,
        about: Object,
        type: EventType,  # noqa: A002 - the field's name
        reason: str,
        message: str,
        *,
        action: str,
        related: Object | None,
    ) -> None: ...


class NoRecorder:
    """Tells nobody."""

    def event(
        self,
        about: Object,
        type: EventType,  # noqa: A002
        reason: str,
        message: str,
        *,
        action: str,
        related: Object | None,
    ) -> None:
        pass
