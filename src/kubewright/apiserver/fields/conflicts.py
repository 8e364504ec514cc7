"""What an apply is refused with where others own what it would change.

Owns the server's words for it, and their order.
"""

from __future__ import annotations

import orjson

from ..errors import StatusError
from .entries import UPDATE, ManagerId
from .paths import FieldPath, shown

__all__ = ["Conflicts", "conflict_error"]


class Conflicts(Exception):
    """Fields that others own: `(who, path)` each."""

    def __init__(self, found: list[tuple[ManagerId, FieldPath]]) -> None:
        super().__init__(found)
        self.found = found


def conflict_error(found: list[tuple[ManagerId, FieldPath]]) -> StatusError:
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {_named(who)}", "field": shown(path)}
        for who, path in found
    ]
    if len(found) == 1:
        who, path = found[0]
        message = f"Apply failed with 1 conflict: conflict with {_named(who)}: {shown(path)}"
    else:
        lines: list[str] = []
        by_who: dict[ManagerId, list[FieldPath]] = {}
        for who, path in found:
            by_who.setdefault(who, []).append(path)
        for who in sorted(by_who, key=_identifier):
            lines.append(f"conflicts with {_named(who)}:")
            lines += [f"- {shown(path)}" for path in by_who[who]]
        message = f"Apply failed with {len(found)} conflicts: " + "\n".join(lines)
    return StatusError(409, "Conflict", message, {"causes": causes})


def _identifier(who: ManagerId) -> str:
    """As the server sorts managers: by their JSON."""
    parts = {
        "manager": who.manager,
        "operation": who.operation,
        "apiVersion": who.api_version,
        "subresource": who.subresource,
    }
    return orjson.dumps({name: each for name, each in parts.items() if each}).decode()


def _named(who: ManagerId) -> str:
    text = f'"{who.manager}"'
    if who.subresource:
        text += f' with subresource "{who.subresource}"'
    return f"{text} using {who.api_version}" if who.operation == UPDATE else text
