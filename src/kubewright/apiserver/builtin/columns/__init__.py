"""The cells of the Tables of built-in kinds, as a server prints them (`pkg/printers/internalversion`).

Which columns a kind has is in the data file, as the server gave them. Here is what stands in them: for each kind a
function from the object to its cells by the name of the column. Name and Age are those of all kinds. Wide columns are
always filled in; kubectl leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from . import batch, core, others, pods, workloads
from .parts import age

__all__ = ["cells_of"]

Object = dict[str, Any]
Row = Callable[[Object, datetime], dict[str, Any]]

_ROWS: Final[Mapping[tuple[str, str], Row]] = {
    **pods.ROWS,
    **core.ROWS,
    **workloads.ROWS,
    **batch.ROWS,
    **others.ROWS,
}


def cells_of(
    api_version: str, kind: str, columns: Sequence[Mapping[str, Any]]
) -> Callable[[Object, datetime], list[Any]]:
    """What makes the row of an object, for these columns. A cell that nobody fills is empty."""
    names = [str(column["name"]) for column in columns]
    row = _ROWS.get((api_version, kind))

    def cells(obj: Object, now: datetime) -> list[Any]:
        found = {"Name": obj["metadata"].get("name", ""), "Age": age(obj, now)}
        if row is not None:
            found |= row(obj, now)
        return [found.get(name, "") for name in names]

    return cells
