"""`OneOf["Always", "Never"]`: an enumeration of built-in kinds.

To a type checker it is `Literal["Always", "Never"]`; at run time it is `str`. Kubernetes adds values to enumerations in
minor releases and asks clients to take ones that they do not know: a program must not fail to read a Pod because the
server is newer than its models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["OneOf"]

if TYPE_CHECKING:
    from typing import Literal as OneOf
else:

    class OneOf:
        """See the module."""

        def __class_getitem__(cls, values: Any) -> type[str]:
            return str
