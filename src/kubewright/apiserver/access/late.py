"""Parts of this package that are loaded when they are first needed: a start needs none of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..catalog import Action, Guard

__all__ = ["late_action", "late_guard"]


def late_action(module: str, name: str) -> Action:
    """An action of a module of this package."""

    async def act(call: Any, body: dict[str, Any], is_dry_run: bool) -> dict[str, Any]:
        found: Action = getattr(import_module(f".{module}", __package__), name)
        return await found(call, body, is_dry_run)

    return act


def late_guard(module: str, name: str) -> Guard:
    """A guard of a module of this package."""

    def guard(call: Any, new: dict[str, Any], old: dict[str, Any] | None) -> None:
        found: Guard = getattr(import_module(f".{module}", __package__), name)
        found(call, new, old)

    return guard
